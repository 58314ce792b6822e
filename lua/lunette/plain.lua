--- Plain data of Lua as bytes and back: nil, booleans, numbers, texts, 64-bit integers, `ln.null`, and tables of these
-- within each other, which are told from all else: what is no plain data is refused by what it is and where it stands.
-- Nothing of the bytes is trusted.
local ffi = require "lunette.ffi"
local node = require "lunette.node"

local M = {}

-- Not compiled: traces of this recursion through tables have been seen to crash LuaJIT 2.1.
jit.off(true, true)

local DEPTH_MAX = 64
local null = node.null
local word = ffi.new "union { double d; int64_t i; uint64_t u; uint8_t byte[8]; }"

local function put_word(out, tag)
  out[#out + 1] = tag .. ffi.string(word.byte, 8)
end

local function put_length(out, tag, n)
  word.u = n
  put_word(out, tag)
end

local put

-- Is it one of the keys 1 to n?
local function is_item(k, n) return type(k) == "number" and k >= 1 and k <= n and k % 1 == 0 end

local function put_table(out, t, place, depth, seen)
  if depth > DEPTH_MAX then error(("%s holds tables deeper than %d within each other"):format(place, DEPTH_MAX), 0) end
  if getmetatable(t) ~= nil then error(place .. " holds a table with a metatable", 0) end
  if seen[t] then error(place .. " holds one table in two places", 0) end
  seen[t] = true
  local n, others = #t, 0
  for k in pairs(t) do
    if not is_item(k, n) then others = others + 1 end
  end
  put_length(out, "t", n)
  put_length(out, "", others)
  for i = 1, n do put(out, t[i], place, depth + 1, seen) end
  for k, v in pairs(t) do
    if not is_item(k, n) then
      put(out, k, place, depth + 1, seen)
      put(out, v, place, depth + 1, seen)
    end
  end
end

function put(out, x, place, depth, seen)
  local kind = type(x)
  if x == nil then out[#out + 1] = "n"
  elseif x == null then out[#out + 1] = "N"
  elseif kind == "boolean" then out[#out + 1] = x and "T" or "F"
  elseif kind == "number" then
    word.d = x
    put_word(out, "d")
  elseif kind == "string" then
    put_length(out, "s", #x)
    out[#out + 1] = x
  elseif kind == "table" then put_table(out, x, place, depth, seen)
  elseif kind == "cdata" and ffi.whole_kind(x) == "int64" then
    word.i = x
    put_word(out, "i")
  elseif kind == "cdata" and ffi.whole_kind(x) == "uint64" then
    word.u = x
    put_word(out, "u")
  else error(("%s holds a %s"):format(place, kind), 0)
  end
end

--- Appends a value to a list of texts. Raises what is in the way, beginning with `place`.
function M.put(out, x, place) put(out, x, place, 1, {}) end

-- ---- reading: `from` is { at, stop }, pointers into bytes

local function broken() error("bytes that are broken", 0) end

local function take(from, n)
  if from.stop - from.at < n then broken() end
  local at = from.at
  from.at = at + n
  return at
end

local function take_word(from) ffi.copy(word.byte, take(from, 8), 8) end

-- So many things, each of which takes a byte at least.
local function take_length(from)
  take_word(from)
  if word.u > ffi.cast("uint64_t", from.stop - from.at) then broken() end
  return tonumber(word.u)
end

local get

local function get_table(from, depth)
  if depth > DEPTH_MAX then broken() end
  local t, n = {}, take_length(from)
  local pairs_count = take_length(from)
  for i = 1, n do t[i] = get(from, depth + 1) end
  for _ = 1, pairs_count do
    local k = get(from, depth + 1)
    local v = get(from, depth + 1)
    if k == nil or k ~= k then broken() end
    t[k] = v
  end
  return t
end

function get(from, depth)
  local tag = string.char(take(from, 1)[0])
  if tag == "n" then return nil end
  if tag == "N" then return null end
  if tag == "T" then return true end
  if tag == "F" then return false end
  if tag == "t" then return get_table(from, depth) end
  if tag == "s" then
    local n = take_length(from)
    return ffi.string(take(from, n), n)
  end
  take_word(from)
  if tag == "d" then return word.d end
  if tag == "i" then return ffi.new("int64_t", word.i) end
  if tag == "u" then return ffi.new("uint64_t", word.u) end
  return broken()
end

--- Reads the next value; raises where there is none.
function M.get(from) return get(from, 1) end

--- Bytes to be read from: a pointer and a length.
function M.from(at, len)
  local start = ffi.cast("const uint8_t *", at)
  return { at = start, stop = start + len }
end

--- Values as one string.
function M.encode(x, place)
  local out = {}
  M.put(out, x, place or "it")
  return table.concat(out)
end

--- The value of such a string.
function M.decode(bytes)
  local from = M.from(bytes, #bytes)
  local x = M.get(from)
  if from.at ~= from.stop then broken() end
  return x
end

return M
