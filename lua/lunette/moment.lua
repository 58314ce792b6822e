--- Moments as people write them: a date of RFC 3339 ("2026-12-01T10:00:00Z"), or a number in a pipeline's unit.
local M = {}

local US_PER = { s = 1e6, ms = 1e3, us = 1, ns = 1e-3, tick = 1, rfc3339 = 1e3 }
local LIMIT_US = 2 ^ 53
local DATE = "^(%d%d%d%d)%-(%d%d)%-(%d%d)[Tt ](%d%d):(%d%d):(%d%d)(%.?%d*)([Zz+-])(.*)$"

-- Days since 1970-01-01 of a date of the Gregorian calendar, years beginning in March so that the leap day is the last.
local function days(year, month, day)
  if month <= 2 then year, month = year - 1, month + 12 end
  local era = math.floor(year / 400)
  local of_era = year - era * 400
  local of_year = math.floor((153 * (month - 3) + 2) / 5) + day - 1
  return era * 146097 + of_era * 365 + math.floor(of_era / 4) - math.floor(of_era / 100) + of_year - 719468
end

local function month_days(year, month)
  if month == 2 then return (year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0)) and 29 or 28 end
  return (month == 4 or month == 6 or month == 9 or month == 11) and 30 or 31
end

local function offset_s(sign, rest)
  if sign == "Z" or sign == "z" then return rest == "" and 0 or nil end
  local hour, minute = rest:match "^(%d%d):(%d%d)$"
  if not hour or tonumber(hour) > 23 or tonumber(minute) > 59 then return nil end
  return (sign == "-" and -1 or 1) * (hour * 3600 + minute * 60)
end

--- Microseconds since 1970 of a date of RFC 3339; nil for any other text.
---@param text string
---@return number?
function M.date_us(text)
  local year, month, day, hour, minute, second, fraction, sign, rest = text:match(DATE)
  if not year then return nil end
  local offset = offset_s(sign, rest)
  year, month, day = tonumber(year), tonumber(month), tonumber(day)
  hour, minute, second = tonumber(hour), tonumber(minute), tonumber(second)
  if not offset or month < 1 or month > 12 or day < 1 or day > month_days(year, month) then return nil end
  if hour > 23 or minute > 59 or second > 59 or fraction == "." then return nil end
  local us = math.floor((tonumber("0" .. fraction) or 0) * 1e6 + 0.5)
  return (days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset) * 1e6 + us
end

--- Microseconds (in ticks: counts) of a moment that a person wrote, or nil and what is wrong with it.
---@param value number|string
---@param unit string the pipeline's
---@return number?
---@return string? problem
function M.parse(value, unit)
  local number = tonumber(value)
  local us
  if number then
    us = math.floor(number * US_PER[unit] + 0.5)
  elseif type(value) ~= "string" then
    return nil, ("a moment is a number or a date, and not a %s"):format(type(value))
  elseif unit == "tick" then
    return nil, ("%s: a moment in ticks is a number"):format(value)
  else
    us = M.date_us(value)
  end
  if not us or us ~= us then
    return nil, ("%s: write a number in the pipeline's unit, or a date such as 2026-12-01T10:00:00Z"):format(value)
  end
  if math.abs(us) >= LIMIT_US then return nil, ("%s is out of range"):format(value) end
  return us
end

return M
