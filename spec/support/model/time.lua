--- Time as the rules see it: microseconds as Lua numbers (exact for 285 years each way), infinite ones for "before all"
-- and "after all"; what a record, a script or a pane says is in the unit of the pipeline.
local ffi = require "ffi"

jit.off(true, true)
local time = {}

local micros = { s = 1e6, ms = 1e3, us = 1, tick = 1, rfc3339 = 1e3 }

-- Days from 1970-01-01 to a date of the Gregorian calendar, counted one year and one month after the other.
local function days(year, month, day)
  local function leap(y) return y % 4 == 0 and (y % 100 ~= 0 or y % 400 == 0) end
  local lengths = { 31, leap(year) and 29 or 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }
  if month < 1 or month > 12 or day < 1 or day > lengths[month] then return nil end
  local sum = 0
  for y = 1970, year - 1 do sum = sum + (leap(y) and 366 or 365) end
  for y = year, 1969 do sum = sum - (leap(y) and 366 or 365) end
  for m = 1, month - 1 do sum = sum + lengths[m] end
  return sum + day - 1
end

local function rfc3339(text)
  local date = "^(%d%d%d%d)%-(%d%d)%-(%d%d)[Tt ](%d%d):(%d%d):(%d%d)(.*)$"
  local year, month, day, hour, minute, second, rest = text:match(date)
  if not year then return nil end
  local fraction, zone = rest:match "^(%.%d+)(.+)$"
  if not fraction then fraction, zone = "0", rest end
  local sign, zone_hour, zone_minute = zone:match "^([+-])(%d%d):(%d%d)$"
  if not sign and zone ~= "Z" and zone ~= "z" then return nil end
  local offset = sign and (zone_hour * 60 + zone_minute) * (sign == "-" and -1 or 1) or 0
  local day_number = days(tonumber(year), tonumber(month), tonumber(day))
  if not day_number or hour + 0 > 23 or minute + 0 > 59 or second + 0 > 59 then return nil end
  return ((day_number * 24 + hour) * 60 + minute - offset) * 60e6 + second * 1e6 + math.floor(fraction * 1e6)
end

-- A timestamp as microseconds; nil for what is none.
function time.read(v, unit)
  if unit == "rfc3339" and type(v) == "string" then return rfc3339(v) end
  if unit == "ns" and (ffi.istype("int64_t", v) or ffi.istype("uint64_t", v)) then
    local below = ffi.istype("int64_t", v) and v % 1000 < 0
    return tonumber(v / 1000) - (below and 1 or 0)
  end
  if type(v) == "cdata" then v = tonumber(v) end
  if type(v) ~= "number" or v ~= v then return nil end
  local us
  if unit == "ns" then
    us = v == math.floor(v) and math.floor(v / 1000) or math.floor(v / 1000 + 0.5)
  else
    us = math.floor(v * micros[unit] + 0.5)
  end
  if us <= -2 ^ 63 or us >= 2 ^ 63 then return nil end
  return us
end

-- Microseconds in the unit of the pipeline; nil for the ends of time.
function time.show(us, unit)
  if us == math.huge or us == -math.huge then return nil end
  if unit ~= "ns" then return us / micros[unit] end
  if math.abs(us) * 1000 <= 2 ^ 53 then return us * 1000 end
  return ffi.new("int64_t", us) * 1000
end

-- True where a multiple of `period` lies in (from, to]; moves from or to infinity pass none.
function time.crosses(period, from, to)
  if from == -math.huge or to == math.huge then return false end
  return math.floor(to / period) > math.floor(from / period)
end

return time
