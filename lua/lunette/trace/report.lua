--- The lines of an answer, and the small words that they are made of.
local words = require "lunette.trace.words"

local huge = math.huge

local M = {}

local Report = {}
Report.__index = Report

function Report:line(text, ...) self[#self + 1] = select("#", ...) > 0 and text:format(...) or text end
function Report:title(text) self[#self + 1] = "" self[#self + 1] = text end

function M.times(n, one, many) return ("%.0f %s"):format(n, n == 1 and one or many or one .. "s") end

function M.bound(x) return (x == huge or x == -huge) and (x < 0 and "-inf" or "inf") or words.plain(x) end
function M.bounds(start, stop) return ("[%s, %s)"):format(M.bound(start), M.bound(stop)) end

function Report:moment(number)
  if number == huge then return "the end" elseif number == -huge then return "none yet" end
  return words.moment(number, self.unit)
end

-- A length in the pipeline's unit.
function Report:length(number) return words.duration(words.us(number, self.unit), self.unit) end

function Report:clock(number)
  return words.date(number, self.unit) or self:moment(number)
end

-- " of KEY", where the pipeline has keys.
function Report:of(key) return self.keyed and " of " .. key or "" end

function Report:at(place)
  local out = place.record and ("record %.0f"):format(place.record)
    or place.watermark == huge and "the end of the input" or "a move of the clock"
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
