--- Ticks of an axis: round numbers of the unit, seconds, minutes, hours and days where they are times.
local words = require "lunette.trace.words"

local M = {}

-- In microseconds.
local STEPS = {}
for _, s in ipairs {
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 10e6, 15e6, 30e6,
  60e6, 120e6, 300e6, 600e6, 900e6, 1800e6, 3600e6, 7200e6, 10800e6, 21600e6, 43200e6, 86400e6, 172800e6, 604800e6,
  2592000e6, 31536000e6,
} do
  STEPS[#STEPS + 1] = s
end

local function round_step(least)
  local power = 10 ^ math.floor(math.log10(least))
  for _, n in ipairs { 1, 2, 5, 10 } do
    if n * power >= least then return n * power end
  end
end

local function step_of(extent, count, unit)
  local least = extent / count
  if unit == "tick" then return math.max(1, round_step(least)) end
  local least_us = words.us(least, unit)
  for _, step in ipairs(STEPS) do
    if step >= least_us then return words.number(step, unit) end
  end
  return round_step(least)
end

-- A date is shown by what tells it from its neighbours.
local function label(x, step, unit)
  local date = words.date(x, unit)
  if not date then return words.plain(x) end
  local step_us = words.us(step, unit)
  if step_us >= 86400e6 then return date:sub(1, 10) end
  if step_us >= 60e6 then return date:sub(12, 16) end
  return (date:sub(12):gsub("Z$", ""))
end

--- The unit behind the name of an axis, where its ticks are no dates.
function M.unit(x, unit) return words.date(x, unit) and "" or " (" .. unit .. ")" end

--- About `count` ticks of [least, most]: { number, label } each.
function M.ticks(least, most, count, unit)
  local step, out = step_of(most - least, count, unit), {}
  for i = math.ceil(least / step), math.floor(most / step) do
    out[#out + 1] = { i * step, label(i * step, step, unit) }
  end
  return out
end

return M
