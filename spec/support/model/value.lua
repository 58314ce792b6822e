--- Values as the rules see them: what a script is shown, which values are one key, exact comparison and exact sums of
-- whole numbers. A 64-bit whole number is split into hi * 2^32 + lo, both of which a Lua number holds exactly.
local ffi = require "ffi"
local json = require "spec.support.json"

jit.off(true, true)
local value = {}
local script_null = require("lunette").null

-- What a script sees: a plain copy, where null is nil, and ln.null inside of arrays.
function value.plain(v)
  if v == json.null then return nil end
  if type(v) ~= "table" then return v end
  local out = {}
  for k, item in pairs(v) do
    out[k] = value.plain(item)
    if item == json.null and json.is_array(v) then out[k] = script_null end
  end
  return out
end

-- The way back: what a script returned, with arrays marked.
function value.from_script(v)
  if v == script_null or v == json.null then return json.null end
  if type(v) ~= "table" then return v end
  local out = #v > 0 and json.array {} or {}
  for k, item in pairs(v) do out[k] = value.from_script(item) end
  return out
end

function value.copy(v)
  if type(v) ~= "table" or v == json.null then return v end
  local out = setmetatable({}, getmetatable(v))
  for k, item in pairs(v) do out[k] = value.copy(item) end
  return out
end

-- The value at a dotted path; nil where it is missing or null.
function value.at(record, path)
  local v = record
  for name in path:gmatch "[^.]+" do
    if not json.is_map(v) then return nil end
    v = v[name]
  end
  if v == json.null then return nil end
  return v
end

function value.is_number(v)
  return type(v) == "number" and v == v or ffi.istype("int64_t", v) or ffi.istype("uint64_t", v)
end

-- hi, lo of a whole number of at most 64 bits; nil for any other.
function value.split(n)
  if type(n) == "number" then
    if n == 0 then n = 0 end -- -0 too
    if n ~= math.floor(n) or n < -2 ^ 63 or n >= 2 ^ 64 then return nil end
    local hi = math.floor(n / 2 ^ 32)
    return hi, n - hi * 2 ^ 32
  end
  local low = tonumber(n % 2 ^ 32)
  if low < 0 then low = low + 2 ^ 32 end
  local half = n / 2 ^ 32
  local hi = tonumber(half)
  if n < 0 and not ffi.istype("uint64_t", n) and low > 0 then hi = hi - 1 end
  return hi, low
end

-- The whole number hi * 2^32 + lo: a Lua number up to 2^53, then cdata, and a rounded double beyond 64 bits.
function value.whole(hi, lo)
  hi, lo = hi + math.floor(lo / 2 ^ 32), lo % 2 ^ 32
  local n = hi * 2 ^ 32 + lo
  if math.abs(n) < 2 ^ 53 or hi < -2 ^ 31 or hi >= 2 ^ 32 then return n end
  local kind = hi < 2 ^ 31 and "int64_t" or "uint64_t"
  return ffi.new(kind, hi) * ffi.new(kind, 2 ^ 32) + ffi.new(kind, lo)
end

-- a < b, exactly, whatever their representations.
function value.less(a, b)
  if type(a) == "number" and type(b) == "number" then return a < b end
  local function parts(n)
    if type(n) ~= "number" then
      local hi, lo = value.split(n)
      return hi, lo, 0
    end
    local floor = math.floor(n)
    local hi = math.floor(floor / 2 ^ 32)
    if math.abs(floor) == math.huge then return floor, 0, 0 end
    return hi, floor - hi * 2 ^ 32, n - floor
  end
  local a1, a2, a3 = parts(a)
  local b1, b2, b3 = parts(b)
  if a1 ~= b1 then return a1 < b1 end
  if a2 ~= b2 then return a2 < b2 end
  return a3 < b3
end

local function atom(v)
  if v == nil or v == json.null then return "null" end
  if type(v) == "boolean" then return tostring(v) end
  if type(v) == "string" then return ("s%d:%s"):format(#v, v) end
  if not value.is_number(v) then return nil end
  local hi, lo = value.split(v)
  if not hi then return ("d%.17g"):format(v) end
  return ("i%.0f:%.0f"):format(hi, lo)
end

-- A text that is the same for values that are the same key; nil for what can't be a key.
function value.identity(v)
  if type(v) ~= "table" or v == json.null then return atom(v) end
  if not json.is_array(v) then return nil end
  local out = {}
  for i = 1, #v do
    out[i] = atom(v[i])
    if not out[i] then return nil end
  end
  return "[" .. table.concat(out, ",") .. "]"
end

return value
