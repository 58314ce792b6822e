--- Lua tables to msgpack, into memory that the engine's reader takes as it is. A record that is no value, or too large
-- for the limits of the pipelines, is refused as a whole: what has been packed can always be read.
local bit = require "bit"
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local bswap, floor = bit.bswap, math.floor
local copy, cast = ffi.copy, ffi.cast
local null, is_array = value.null, value.is_array
local next, type, error, pcall = next, type, error, pcall

local FIRST_BYTES = 4096
local KEPT_BYTES = 1048576 -- of an empty buffer
local HEAD_MAX = 9 -- of any value
local WHOLE_MAX = 9007199254740992

local word_pointer, bytes_type = ffi.typeof "uint32_t *", ffi.typeof "uint8_t[?]"
local wide = ffi.new "union { double d; int64_t i; uint64_t u; uint32_t half[2]; }"

local M = {}

-- Room for `more` bytes behind `at`.
local function grow(b, at, more)
  local cap = b.cap
  repeat cap = cap * 2 until at + more <= cap
  local data = ffi.new(bytes_type, cap)
  copy(data, b.data, at)
  b.data, b.cap = data, cap
end

local function put_word(p, at, x) cast(word_pointer, p + at)[0] = bswap(x) end

-- The eight bytes of `wide`, the high half first.
local function put_wide(p, at, head)
  p[at] = head
  put_word(p, at + 1, wide.half[1])
  put_word(p, at + 5, wide.half[0])
  return at + 9
end

local function put_number(p, at, x)
  if x >= -2147483648 and x <= 2147483647 and floor(x) == x then
    if x >= 0 and x <= 127 then
      p[at] = x
      return at + 1
    end
    p[at] = 0xd2
    put_word(p, at + 1, x)
    return at + 5
  end
  if x >= -WHOLE_MAX and x <= WHOLE_MAX and floor(x) == x then
    wide.i = x
    return put_wide(p, at, 0xd3)
  end
  wide.d = x
  return put_wide(p, at, 0xcb)
end

local function put_text(b, at, s)
  local len = #s
  if len > b.record_bytes then error("is longer than limits.record_bytes", 0) end
  if at + len + HEAD_MAX > b.cap then grow(b, at, len + HEAD_MAX) end
  local p = b.data
  if len < 32 then
    p[at] = 0xa0 + len
    at = at + 1
  elseif len < 256 then
    p[at], p[at + 1] = 0xd9, len
    at = at + 2
  else
    p[at] = 0xdb
    put_word(p, at + 1, len)
    at = at + 5
  end
  copy(p + at, s, len)
  return at + len
end

local put

local function put_head(b, at, head, n)
  if at + HEAD_MAX > b.cap then grow(b, at, HEAD_MAX) end
  b.data[at] = head
  put_word(b.data, at + 1, n)
  return at + 5
end

local function count(b, n)
  b.left = b.left - n
  if b.left < 0 then error("takes the record past limits.elements", 0) end
end

local function put_table(b, at, t, depth)
  if depth > b.nesting then error("is nested deeper than limits.nesting", 0) end
  if is_array(t) then
    local n = #t
    count(b, n)
    at = put_head(b, at, 0xdd, n)
    for i = 1, n do at = put(b, at, t[i], depth) end
    return at
  end
  local start, n = at, 0
  at = put_head(b, at, 0xdf, 0)
  for name, item in next, t do
    n = n + 1
    count(b, 2)
    at = put(b, put(b, at, name, depth), item, depth)
  end
  put_word(b.data, start + 1, n)
  return at
end

-- A null of the host's: cdata and light userdata that are no address.
local function is_null(x)
  if x == null then return true end
  local kind = type(x)
  return kind == "cdata" and x == nil or kind == "userdata" and cast("void *", x) == nil
end

local function put_other(b, at, x)
  local kind = type(x)
  local whole = kind == "cdata" and ffi.whole_kind(x)
  if whole == "int64" then
    wide.i = x
    return put_wide(b.data, at, 0xd3)
  elseif whole == "uint64" then
    wide.u = x
    return put_wide(b.data, at, 0xcf)
  elseif not is_null(x) then
    error(("is a %s, which is no value of a record"):format(kind), 0)
  end
  b.data[at] = 0xc0
  return at + 1
end

function put(b, at, x, depth)
  local kind = type(x)
  if kind == "string" then return (put_text(b, at, x)) end
  if at + HEAD_MAX > b.cap then grow(b, at, HEAD_MAX) end
  if kind == "number" then return (put_number(b.data, at, x)) end
  if kind == "boolean" then
    b.data[at] = x and 0xc3 or 0xc2
    return at + 1
  end
  if kind == "table" and x ~= null then return (put_table(b, at, x, depth + 1)) end
  return (put_other(b, at, x))
end

-- The fields of a record, always as a map.
local function put_record(b, at, record)
  local start, n = at, 0
  at = put_head(b, at, 0xdf, 0)
  b.left = b.elements
  for name, item in next, record do
    b.field = name
    n = n + 1
    count(b, 2)
    at = put(b, put(b, at, name, 1), item, 1)
  end
  put_word(b.data, start + 1, n)
  return at
end

--- A buffer of packed bytes: `data` holds `len` of them. Records stay within `limits`.
-- @param limits { record_bytes, nesting, elements }
function M.new(limits)
  return { data = ffi.new(bytes_type, FIRST_BYTES), cap = FIRST_BYTES, len = 0, left = 0, field = nil,
    record_bytes = limits.record_bytes, nesting = limits.nesting, elements = limits.elements }
end

--- Appends a record.
-- @return how many bytes it takes; or nil and what is wrong with it, and nothing is appended
function M.record(b, record)
  local start = b.len
  local ok, stop = pcall(put_record, b, start, record)
  if not ok then return nil, ("the field %s of the record %s"):format(tostring(b.field), tostring(stop)) end
  local bytes = stop - start
  if bytes > b.record_bytes then return nil, "the record is longer than limits.record_bytes" end
  b.len = stop
  return bytes
end

--- Appends bytes: a string, or an address and a length.
function M.bytes(b, bytes, len)
  if b.len + len > b.cap then grow(b, b.len, len) end
  copy(b.data + b.len, bytes, len)
  b.len = b.len + len
end

--- Forgets the first `n` bytes.
function M.forget(b, n)
  local rest = b.len - n
  if rest > 0 then
    local data = ffi.new(bytes_type, b.cap)
    copy(data, b.data + n, rest)
    b.data = data
  end
  b.len = rest
end

--- Gives memory back where the buffer is empty and large.
function M.trim(b)
  if b.len == 0 and b.cap > KEPT_BYTES then b.data, b.cap = ffi.new(bytes_type, FIRST_BYTES), FIRST_BYTES end
end

return M
