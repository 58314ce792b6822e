--- JSON for the specs: exact and strict. Whole numbers up to 2^53 are Lua numbers, beyond that int64_t or uint64_t
-- cdata; null is a sentinel, so that it differs from a missing field; arrays are marked, so that [] differs from {}.
-- Encoding is canonical: names sorted, whole numbers without a fraction, the shortest of 15 to 17 digits for others.
local ffi = require "ffi"

local int64, uint64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"
local array_mt = {}
local json = { null = setmetatable({}, { __tostring = function() return "null" end }) }

function json.array(t) return setmetatable(t, array_mt) end
function json.is_array(t) return type(t) == "table" and getmetatable(t) == array_mt end
function json.is_map(t) return type(t) == "table" and getmetatable(t) == nil end

local escapes = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}
local unescapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function number_text(n)
  if n ~= n or n == math.huge or n == -math.huge then return "null" end
  if n == 0 then return "0" end
  if n == math.floor(n) and math.abs(n) <= 2 ^ 53 then return ("%.0f"):format(n) end
  for digits = 15, 17 do
    local text = ("%." .. digits .. "g"):format(n)
    if tonumber(text) == n then return text end
  end
end

local function string_text(s)
  return '"' .. s:gsub('[%z\1-\31"\\]', function(c) return escapes[c] or ("\\u%04x"):format(c:byte()) end) .. '"'
end

local function encode(v)
  local kind = type(v)
  if v == nil or v == json.null then return "null" end
  if kind == "number" then return number_text(v) end
  if kind == "boolean" then return tostring(v) end
  if kind == "string" then return string_text(v) end
  if kind == "cdata" then return (tostring(v):gsub("U?LL$", "")) end
  assert(kind == "table", "no JSON for a " .. kind)
  local out = {}
  if json.is_array(v) or #v > 0 then
    for i = 1, #v do out[i] = encode(v[i]) end
    return "[" .. table.concat(out, ",") .. "]"
  end
  local names = {}
  for name in pairs(v) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do out[i] = string_text(name) .. ":" .. encode(v[name]) end
  return "{" .. table.concat(out, ",") .. "}"
end
json.encode = encode

-- A whole number of any length as a Lua number or cdata; nil outside of 64 bits.
local function whole(text)
  local n = tonumber(text)
  if math.abs(n) < 2 ^ 53 or text:match "^-?9007199254740992$" then return n end
  local sign, digits = text:match "^(-?)(%d+)$"
  local limit = sign == "-" and "9223372036854775808" or "18446744073709551615"
  if #digits > #limit or #digits == #limit and digits > limit then return nil end
  local sum = uint64(0)
  for d in digits:gmatch "%d" do sum = sum * 10 + uint64(tonumber(d)) end
  if sign == "-" then return -ffi.cast(int64, sum) end
  if digits:len() < 19 or digits:len() == 19 and digits <= "9223372036854775807" then return ffi.cast(int64, sum) end
  return sum
end

local function utf8(c)
  if c < 0x80 then return string.char(c) end
  if c < 0x800 then return string.char(0xc0 + math.floor(c / 64), 0x80 + c % 64) end
  if c < 0x10000 then
    return string.char(0xe0 + math.floor(c / 4096), 0x80 + math.floor(c / 64) % 64, 0x80 + c % 64)
  end
  return string.char(0xf0 + math.floor(c / 262144), 0x80 + math.floor(c / 4096) % 64, 0x80 + math.floor(c / 64) % 64,
    0x80 + c % 64)
end

-- One text; raises what is wrong with it.
function json.decode(text)
  local at = 1
  local value

  local function fail(what) error(("%s at byte %d"):format(what, at), 0) end
  local function skip() at = text:find("[^ \t\r\n]", at) or #text + 1 end

  local function code_unit()
    local digits = text:match("^\\u(%x%x%x%x)", at) or fail "bad escape"
    at = at + 6
    return tonumber(digits, 16)
  end

  local function escape()
    local plain = unescapes[text:sub(at + 1, at + 1)]
    if plain then
      at = at + 2
      return plain
    end
    local high = code_unit()
    if high < 0xd800 or high > 0xdfff then return utf8(high) end
    if high > 0xdbff then fail "half a surrogate pair" end
    local low = code_unit()
    if low < 0xdc00 or low > 0xdfff then fail "half a surrogate pair" end
    return utf8(0x10000 + (high - 0xd800) * 0x400 + low - 0xdc00)
  end

  local function str()
    local out = {}
    at = at + 1
    while true do
      local stop = text:find('[%z\1-\31"\\]', at) or fail "unterminated string"
      out[#out + 1] = text:sub(at, stop - 1)
      at = stop
      local c = text:sub(at, at)
      if c == '"' then
        at = at + 1
        return table.concat(out)
      end
      if c ~= "\\" then fail "control character in a string" end
      out[#out + 1] = escape()
    end
  end

  local function number()
    local int = text:match("^-?0", at) or text:match("^-?[1-9]%d*", at) or fail "unexpected character"
    local tail = at + #int
    local fraction = text:match("^%.%d+", tail) or ""
    local exponent = text:match("^[eE][+-]?%d+", tail + #fraction) or ""
    at = tail + #fraction + #exponent
    if fraction == "" and exponent == "" then return whole(int) or fail "whole number outside of 64 bits" end
    return tonumber(int .. fraction .. exponent)
  end

  local function items(close, item)
    at = at + 1
    skip()
    if text:sub(at, at) == close then
      at = at + 1
      return
    end
    while true do
      skip()
      item()
      skip()
      local c = text:sub(at, at)
      at = at + 1
      if c == close then return end
      if c ~= "," then fail("expected ',' or '" .. close .. "'") end
    end
  end

  function value()
    skip()
    local c = text:sub(at, at)
    if c == '"' then return str() end
    local out = {}
    if c == "{" then
      items("}", function()
        if text:sub(at, at) ~= '"' then fail "expected a name" end
        local name = str()
        skip()
        if text:sub(at, at) ~= ":" then fail "expected ':'" end
        at = at + 1
        out[name] = value()
      end)
      return out
    end
    if c == "[" then
      items("]", function() out[#out + 1] = value() end)
      return json.array(out)
    end
    for word, meaning in pairs { ["true"] = true, ["false"] = false, null = json.null } do
      if text:sub(at, at + #word - 1) == word then
        at = at + #word
        return meaning
      end
    end
    return number()
  end

  local v = value()
  skip()
  if at <= #text then fail "trailing characters" end
  return v
end

return json
