--- The lines of an answer, and the small words that they are made of.
local words = require "lunette.trace.words"

local huge = math.huge

local M = {}

local Report = {}
Report.__index = Report

function Report:line(text, ...) self[#self + 1] = select("#", ...) > 0 and text:format(...) or text end
function Report:title(text) self[#self + 1] = "" self[#self + 1] = text end

function M.times(n, one, many) return ("%.0f %s"):format(n, n == 1 and one or many or one .. "s") end

-- A time in the pipeline's unit: as a date where it is one.
function Report:bound(x)
  if x == huge then return "inf" elseif x == -huge then return "-inf" end
  return words.date(x, self.unit) or words.plain(x)
end

-- Of two dates on one day the second is told without it.
function Report:bounds(start, stop)
  local from, to = self:bound(start), self:bound(stop)
  if from:find "T" and from:sub(1, 11) == to:sub(1, 11) then to = to:sub(12) end
  return ("[%s, %s)"):format(from, to)
end

function Report:moment(number)
  if number == huge then return "the end" elseif number == -huge then return "none yet" end
  return self:bound(number)
end

-- A length in the pipeline's unit.
function Report:length(number) return words.duration(words.us(number, self.unit), self.unit) end

-- The same where nothing depends on its last digits.
function Report:about(number)
  local us = words.us(number, self.unit)
  local grain = self.unit == "tick" and 1 or us >= 60e6 and 1e6 or us >= 1e6 and 1e5 or us >= 1e3 and 1e3 or 1
  return words.duration(math.floor(us / grain) * grain, self.unit)
end

-- A reading of the clock, to the millisecond.
function Report:clock(number)
  local date = words.date(number, self.unit)
  return date and (date:gsub("(%.%d%d%d)%d+Z$", "%1Z")) or self:moment(number)
end

-- " of KEY", where the pipeline has keys.
function Report:of(key) return self.keyed and " of " .. key or "" end

function Report:at(place)
  local out = place.record and ("record %.0f"):format(place.record)
    or place.watermark == huge and "the end of the input"
  if not out then return "clock " .. self:clock(place.clock) end
  if place.clock > -huge then out = out .. " (clock " .. self:clock(place.clock) .. ")" end
  return out
end

--- A start as a person writes it: a number in the unit, or a moment in UTC; nil where it is neither.
function M.read_start(text, unit)
  local number = tonumber(text)
  if number then return number end
  local y, mo, d, h, mi, s, rest = text:match "^(%d%d%d%d)%-(%d%d)%-(%d%d)[T ](%d%d):(%d%d):?(%d*)(%.?%d*)Z?$"
  if not y or unit == "tick" then return nil end
  local days = os.time { year = y, month = mo, day = d, hour = 12 } -- in local time: only what differs counts
  days = math.floor((days - os.time { year = 1970, month = 1, day = 1, hour = 12 }) / 86400 + 0.5)
  local seconds = days * 86400 + h * 3600 + mi * 60 + (tonumber(s) or 0) + (tonumber(rest) or 0)
  return words.number(math.floor(seconds * 1e6 + 0.5), unit)
end

--- Lines about a pipeline. `silent` gives for how long a source has been silent, or nil.
---@param facts table
---@param silent fun(source: string): number?
function M.new(facts, silent)
  return setmetatable({ unit = facts.unit, silent = silent, keyed = facts.key ~= nil }, Report)
end

return M
