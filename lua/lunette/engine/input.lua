--- What a host has given to an engine and the engine has not yet read: pieces in their order, each bytes of a stream,
-- records, or a promise of the host's for the watermark. The reader takes them in slices, between two batches; so a
-- host may give more at any time, and what is under way is never touched.
local ffi = require "lunette.ffi"
local packer = require "lunette.engine.packer"

local lib = ffi.lib

local SLICE = 65536 -- bytes that a reader is given at once
local SHORT_SLICE = 8192 -- likewise, where steps are to be short

local M = {}

-- Kinds of pieces; the first two are also the numbers of their streams.
M.BYTES, M.RECORDS, M.PROMISE = 1, 2, 3

local Input = {}
Input.__index = Input

--- The input of what runs.
-- @param limits of its records
-- @param bytes_max the most that waits
function M.new(app, limits, bytes_max)
  local _, bytes = app:open_stream(true, 0)
  local _, records = app:open_stream(true, 0)
  return setmetatable({
    readers = { bytes, records },
    buffer = packer.new(limits), at = 0, -- the bytes of all pieces, and where the first begins
    bytes_max = bytes_max,
    kinds = {}, stops = {}, first = 1, last = 0, -- a piece ends at its stop in the buffer; a promise holds a time
    current = M.BYTES, -- the stream that was read last
  }, Input)
end

--- Bytes that wait to be read.
function Input:waiting()
  local bytes = self.buffer.len - self.at
  for i = 1, #self.readers do bytes = bytes + tonumber(lib.ln_reader_pending(self.readers[i])) end
  return bytes
end

local function extend(self, kind, stop)
  if self.last < self.first or self.kinds[self.last] ~= kind then
    self.last = self.last + 1
    self.kinds[self.last] = kind
  end
  self.stops[self.last] = stop
end

-- Whether `more` bytes may wait beside those that do. What has been read makes room where it is the larger part.
local function has_room(self, more)
  if self.at > 0 and self.at * 2 >= self.buffer.len then
    packer.forget(self.buffer, self.at)
    for i = self.first, self.last do
      if self.kinds[i] ~= M.PROMISE then self.stops[i] = self.stops[i] - self.at end
    end
    self.at = 0
  end
  return self.buffer.len - self.at + more <= self.bytes_max
end

--- Records stay within these limits from here on.
function Input:limit(limits)
  for name, most in pairs(limits) do self.buffer[name] = most end
end

--- Appends bytes; false where they find no room.
function Input:push(bytes, len)
  if not has_room(self, len) then return false end
  packer.bytes(self.buffer, bytes, len)
  if len > 0 then extend(self, M.BYTES, self.buffer.len) end
  return true
end

--- Appends a record; nil and why not where it is refused.
function Input:add(record)
  local buffer = self.buffer
  if not has_room(self, 0) then return nil, "full" end
  local before = buffer.len
  local bytes, message = packer.record(buffer, record)
  if not bytes then return nil, message end
  if before > self.at and buffer.len - self.at > self.bytes_max then
    buffer.len = before
    return nil, "full"
  end
  extend(self, M.RECORDS, buffer.len)
  return true
end

--- Appends a promise.
function Input:promise(watermark_us) extend(self, M.PROMISE, watermark_us) end

-- The first piece has been worked off.
local function drop_first(self)
  self.first = self.first + 1
  if self.first <= self.last then return end
  self.first, self.last, self.at, self.buffer.len = 1, 0, 0, 0
  packer.trim(self.buffer)
end

--- Hands the reader of the first piece its next slice. Returns the piece's kind, for a promise with its time; nil where
-- nothing waits.
function Input:feed(short)
  if self.last < self.first then return nil end
  local kind, stop = self.kinds[self.first], self.stops[self.first]
  if kind == M.PROMISE then
    drop_first(self)
    return kind, stop
  end
  local len = math.min(stop - self.at, short and SHORT_SLICE or SLICE)
  if lib.ln_reader_push(self.readers[kind], self.buffer.data + self.at, len) ~= lib.LN_OK then
    error("out of memory for the input", 0)
  end
  self.at, self.current = self.at + len, kind
  if self.at == stop then drop_first(self) end
  return kind
end

--- The reader of the stream that was read last.
function Input:reader() return self.readers[self.current] end

--- The stream that was read last is broken: what follows in its piece is dropped, and the next one begins anew.
function Input:restart()
  lib.ln_reader_restart(self:reader())
  if self.last >= self.first and self.kinds[self.first] == self.current then
    self.at = self.stops[self.first]
    drop_first(self)
  end
end

--- No more bytes come: what is left in a reader must be whole.
function Input:finish()
  self.current = M.BYTES
  lib.ln_reader_end(self:reader())
end

return M
