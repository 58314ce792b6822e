--- Durations: a text with units ("1h30m", "250ms", "1.5s"), or a number in the pipeline's unit, to microseconds. Exact:
-- the result is a whole number below 2^53, or there is none. In ticks the result is the number itself.
local describe = require "lunette.plan.describe"

local abs, floor = math.abs, math.floor
local quote = describe.quote

local M = {}

-- Beyond this a double no longer holds every whole number.
M.LIMIT = 2 ^ 53

local UNITS = "us, ms, s, m, h, d, w"
local us_per = { us = 1, ms = 1e3, s = 1e6, m = 60e6, h = 3600e6, d = 86400e6, w = 7 * 86400e6 }
local us_per_number = { s = 1e6, ms = 1e3, us = 1, ns = 1e-3, tick = 1, rfc3339 = 1e3 }
local plural = {
  s = "seconds", ms = "milliseconds", us = "microseconds", ns = "nanoseconds", tick = "ticks", rfc3339 = "milliseconds",
}

--- "milliseconds" for "ms".
---@param unit string
---@return string
function M.plural(unit) return plural[unit] end

local function gcd(a, b)
  while b > 0 do a, b = b, a % b end
  return a
end

-- Microseconds of one part, "1.25" and "h"; nil where they are not whole. Fractions are worked out in whole numbers.
local function part_us(whole, fraction, per)
  local us = tonumber(whole) * per
  fraction = fraction:gsub("0+$", "")
  if fraction == "" then return us end
  if #fraction > 15 then return nil end
  local scale = 10 ^ #fraction
  local common = gcd(per, scale)
  local digits, divisor = tonumber(fraction), scale / common
  if digits % divisor ~= 0 then return nil end
  return us + digits / divisor * (per / common)
end

local function units_missing(text, unit)
  if not text:find "^%-?%d+%.?%d*$" then
    return "units missing in " .. quote(text), 'put a unit after every number, as in "1h30m"'
  end
  return "units missing: " .. quote(text),
    ('write "%ss" or "%sms", or the number %s for %s'):format(text, text, text, plural[unit])
end

local function from_text(text, unit)
  local sign, rest = text:match "^(%-?)(.*)$"
  if text:find "%s" then
    return nil, quote(text) .. " has a space", "write " .. quote((text:gsub("%s+", "")))
  end
  local total = 0
  repeat
    local whole, fraction, name, tail = rest:match "^(%d+)%.?(%d*)(%a*)(.*)$"
    if not whole then
      return nil, quote(text) .. " is no duration", 'write numbers with units, as in "250ms" or "1h30m"'
    end
    if name == "" then return nil, units_missing(text, unit) end
    local per = us_per[name]
    if not per then
      return nil, ("unknown unit %s in %s"):format(quote(name), quote(text)), "the units are " .. UNITS
    end
    local us = part_us(whole, fraction, per)
    if not us then return nil, quote(text) .. " is not a whole number of microseconds", "round it" end
    total, rest = total + us, tail
  until rest == ""
  return sign == "-" and -total or total
end

local function from_number(n, unit)
  if n - n ~= 0 then
    return nil, describe.value(n) .. " is not finite", "write a finite duration"
  end
  local us = n * us_per_number[unit]
  local whole = floor(us + 0.5)
  -- 0.3 s is not exactly 300,000 us as a double: what a few roundings explain counts as whole.
  if abs(us - whole) > abs(us) * 2 ^ -50 or (unit == "tick" and us ~= whole) then
    local name = unit == "tick" and "ticks" or "microseconds"
    return nil, ("%s is not a whole number of %s"):format(tostring(n), name), "round it"
  end
  return whole
end

--- The duration in microseconds, or nil, what is wrong, and how to mend it. The sign is the caller's to judge.
---@param value string|number
---@param unit string the pipeline's
---@return number?
---@return string? what
---@return string? how
function M.parse(value, unit)
  local us, what, how
  if type(value) == "number" then
    us, what, how = from_number(value, unit)
  elseif unit == "tick" then
    return nil, quote(value) .. " is a text, and ticks take numbers only", "write the number of ticks"
  else
    us, what, how = from_text(value, unit)
  end
  if us and abs(us) >= M.LIMIT then
    local most = unit == "tick" and "2^53 ticks" or "2^53 microseconds (285 years)"
    return nil, ("%s is beyond %s"):format(describe.value(value), most), "write a shorter one"
  end
  return us, what, how
end

return M
