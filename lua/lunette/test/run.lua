--- A script under test: its pipelines run in this very process, on records that a spec adds one after the other. Time
-- stands still unless the spec moves it: no clock is read, and the watermark moves with records or when it is told to.
local account = require "lunette.account"
local driver = require "lunette.driver"
local duration = require "lunette.plan.duration"
local ffi = require "lunette.ffi"
local moment = require "lunette.moment"
local suggest = require "lunette.plan.suggest"
local value = require "lunette.value"
local words = require "lunette.trace.words"

local lib = ffi.lib
local PANES, REJECTS = lib.LN_STREAM_PANES, lib.LN_STREAM_REJECTS
local BYTES_MAX = 256 * 1024 * 1024 -- of panes and rejects in one run: more is an output without an end
local READ_BYTES = 65536
local PAST_US = -9223372036854775807LL - 1
local FUTURE_US = 9223372036854775807LL

local methods = {}

-- A name that no run has is a slip of the spec.
local Run = {
  __index = function(_, name)
    if methods[name] then return methods[name] end
    local known = {}
    for method in pairs(methods) do known[#known + 1] = method end
    table.sort(known)
    error(("p:%s: there is no such method: %s"):format(tostring(name),
      suggest.how(tostring(name), known, "there are " .. table.concat(known, ", "))), 2)
  end,
}

local M = {}

---@class lunette.TestOptions
---@field params? table<string, any> values for ln.param
---@field clock? string the processing clock is this field of each record, as with --clock
---@field now? number|string where the clock stands at first, in the pipeline's unit or as a date; default 0
---@field streams? boolean records come in several streams, as those of sockets do; default as the script's source says

-- What has come since the last look, as Lua values.
local function take(self, stream, into)
  local bytes = lib.ln_output_take(self.app.output, stream, self.len)
  local len = tonumber(self.len[0])
  if len == 0 then return end
  self.taken = self.taken + len
  if self.taken > BYTES_MAX then error("more panes than a test should have: 256 MiB of them", 0) end
  local at, stop = bytes, bytes + len
  while at < stop do into[#into + 1], at = value.read(at, stop) end
  lib.ln_output_clear(self.app.output, stream)
end

local function collect(self)
  take(self, PANES, self.new_panes)
  take(self, REJECTS, self.new_rejects)
  for _, notice in ipairs(self.app:notices() or {}) do self.new_notices[#self.new_notices + 1] = notice end
end

-- Calls a method of the driver's until it is done.
local function drive(self, method, ...)
  local app = self.app
  local status
  repeat
    status = app[method](app, ...)
    collect(self)
  until status ~= driver.DRAIN
  return status == driver.NEEDS_INPUT
end

local function check_open(self, level)
  if not self.app.reader then error("the pipeline is closed", level + 1) end
  if self.finished then error("the input has ended: p:finish() was called", level + 1) end
end

-- One piece of input, of whole records, each piece in a format of its own.
local function feed(self, bytes, stream)
  local reader = stream and stream.reader or self.app.reader
  lib.ln_reader_restart(reader)
  if lib.ln_reader_push(reader, bytes, #bytes) ~= lib.LN_OK then error("out of memory", 0) end
  lib.ln_reader_end(reader)
  local whole
  if stream then
    whole = drive(self, "pump_stream", stream.number, self.now_us)
  else
    whole = drive(self, "pump", self.now_us)
  end
  if not whole then return ffi.string(lib.ln_reader_error(reader)) end
end

local function add(self, stream, ...)
  check_open(self, 3)
  for i = 1, select("#", ...) do
    local record = select(i, ...)
    local bytes
    if type(record) == "string" then
      bytes = record:gsub("\n*$", "\n")
    elseif type(record) == "table" then
      local ok, packed = pcall(value.pack, record)
      if not ok then error(("record %d: %s"):format(i, packed), 3) end
      bytes = packed
    else
      error(("record %d is a %s: a record is a table, or a text of JSON"):format(i, type(record)), 3)
    end
    local broken = feed(self, bytes, stream)
    if broken then error(("record %d: %s"):format(i, broken), 3) end
  end
end

--- Adds records, in order: tables, or texts of one or several JSON lines. What is no record is rejected as in any run.
function methods:add(...)
  add(self, nil, ...)
  return self
end

--- Adds all records of a file (beside the spec, or else from where the tests are run), JSON lines or msgpack, at one
-- moment of the clock.
function methods:add_file(path)
  check_open(self, 2)
  path = self.find and self.find(path) or path
  local file, message = io.open(path, "rb")
  if not file then error(message, 2) end
  local reader = self.app.reader
  lib.ln_reader_restart(reader)
  local whole
  repeat
    local bytes = file:read(READ_BYTES)
    if bytes then
      if lib.ln_reader_push(reader, bytes, #bytes) ~= lib.LN_OK then error("out of memory", 0) end
    else
      lib.ln_reader_end(reader)
    end
    whole = drive(self, "pump", self.now_us)
  until not bytes or not whole
  file:close()
  if not whole then error(("%s: %s"):format(path, ffi.string(lib.ln_reader_error(reader))), 2) end
  return self
end

local Stream = {}
Stream.__index = Stream

--- One more stream of records beside the others, such as a connection: a source of the watermark by itself.
function methods:stream()
  check_open(self, 2)
  if not self.streams then
    error("the script's source is no socket: test.load(script, { streams = true }) has streams all the same", 2)
  end
  local number, reader = self.app:open_stream(false)
  return setmetatable({ run = self, number = number, reader = reader }, Stream)
end

function Stream:add(...)
  if not self.reader then error("the stream is closed", 2) end
  add(self.run, self, ...)
  return self
end

function Stream:close()
  if not self.reader then return end
  self.reader = nil
  drive(self.run, "close_stream", self.number)
end

--- Moves the processing clock forward by a duration ("10s", or a number in the pipeline's unit).
function methods:advance_clock(by)
  check_open(self, 2)
  local us, what, how
  if type(by) == "number" or type(by) == "string" then us, what, how = duration.parse(by, self.unit) end
  if not us then error(("advance_clock: %s: %s"):format(what or "no duration", how or 'write "10s"'), 2) end
  if us < 0 then error("advance_clock: the clock does not go back", 2) end
  if self.clock then error(("advance_clock: the clock is the field %s of each record"):format(self.clock), 2) end
  self.now_us = self.now_us + us
  drive(self, "pump", self.now_us)
  return self
end

--- Moves the watermark to a time, as if nothing older could follow: a number in the pipeline's unit, or a date.
function methods:advance_watermark(to)
  check_open(self, 2)
  local us, problem = moment.parse(to, self.unit)
  if not us then error("advance_watermark: " .. problem, 2) end
  local at, goes = PAST_US, false
  for i, p in ipairs(self.pipelines) do
    if p.time.kind ~= "processing" then
      local w = self.app:stats_of(i).watermark_us
      at, goes = w > at and w or at, true
    end
  end
  if not goes then error("advance_watermark: time is the clock's here: use p:advance_clock", 2) end
  if us < at then
    error(("advance_watermark: it is at %s already, and does not go back"):format(
      words.moment(words.number(tonumber(at), self.unit), self.unit)), 2)
  end
  drive(self, "advance", us)
  return self
end

--- The input has ended: every window is completed.
function methods:finish()
  check_open(self, 2)
  drive(self, "finish")
  self.finished = true
  return self
end

local function handed_out(self, name)
  local list = self[name]
  self[name] = {}
  return list
end

--- The panes since the last look (by this or by an assertion), as tables; nulls are nil, inside of arrays test.null.
function methods:panes() return handed_out(self, "new_panes") end
--- Likewise the rejected records: { reason, record }.
function methods:rejects() return handed_out(self, "new_rejects") end
--- Likewise what the errors of the script's functions say, each distinct one once.
function methods:script_errors() return handed_out(self, "new_notices") end

--- The account of a pipeline (by its name; default the first), as with --stats.
function methods:stats(name)
  for i, p in ipairs(self.pipelines) do
    if not name or p.name == name then return account.of(self.app, i) end
  end
  error(("stats: no pipeline is named %s"):format(tostring(name)), 2)
end

--- The watermark of the first pipeline in its unit; nil before there is one, math.huge when the input has ended.
function methods:watermark()
  local us = self.app:stats_of(1).watermark_us
  if us == PAST_US then return nil end
  if us == FUTURE_US then return math.huge end
  return words.number(tonumber(us), self.unit)
end

--- Frees it at once; otherwise it goes with the garbage.
function methods:close() self.app:close() end

local function names_socket(addresses)
  for _, address in ipairs(addresses or {}) do
    if not address.sink and (address.text:find "^%a+://" or address.text:find "^unix:") then return true end
  end
  return false
end

--- Opens checked pipelines.
---@param pipelines table[]
---@param addresses table[]? that the script names
---@param options lunette.TestOptions
function M.open(pipelines, addresses, options)
  local streams = options.streams
  if streams == nil then streams = names_socket(addresses) end
  local unit = pipelines[1].time.unit
  local now_us, problem = moment.parse(options.now or 0, unit)
  if not now_us then error("now: " .. problem, 0) end
  local app = driver.open(pipelines, { out_format = lib.LN_FORMAT_MSGPACK, rejects = true, clock = options.clock,
    streams = streams, seed = 1 })
  return setmetatable({
    app = app, pipelines = pipelines, unit = unit, clock = options.clock or false, streams = streams, now_us = now_us,
    finished = false,
    new_panes = {}, new_rejects = {}, new_notices = {}, taken = 0, len = ffi.new "size_t[1]",
  }, Run)
end

--- For what else can be asked of a run.
M.methods = methods

--- Whether a value is such a run.
function M.is(x) return getmetatable(x) == Run end

return M
