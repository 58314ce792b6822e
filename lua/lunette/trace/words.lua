--- Durations, moments and triggers as a person says them.
local M = {}

local PER_US = { s = 1e-6, ms = 1e-3, us = 1, ns = 1e3, tick = 1, rfc3339 = 1e-3 }
local PARTS = { { "d", 86400e6 }, { "h", 3600e6 }, { "m", 60e6 }, { "s", 1e6 }, { "ms", 1e3 }, { "us", 1 } }

--- Microseconds (in ticks: counts) as a number in the pipeline's unit.
function M.number(us, unit) return us * PER_US[unit] end

--- And back.
function M.us(number, unit) return number / PER_US[unit] end

local function plain(n)
  local text = ("%.6f"):format(n):gsub("0+$", ""):gsub("%.$", "")
  return text == "-0" and "0" or text
end
M.plain = plain

--- "1m30s", "250ms", "12 ticks": as scripts write it, at most three parts of it.
function M.duration(us, unit)
  if unit == "tick" then return plain(us) .. (us == 1 and " tick" or " ticks") end
  if us == 0 then return "0s" end
  local out, parts = us < 0 and "-" or "", 0
  us = math.abs(us)
  if us < 1 then return out .. plain(us * 1e3) .. "ns" end
  for _, part in ipairs(PARTS) do
    local n = math.floor(us / part[2])
    if n > 0 and parts < 3 then
      out, parts = out .. ("%.0f%s"):format(n, part[1]), parts + 1
      us = us - n * part[2]
    end
  end
  return out
end

-- From here on a number of seconds is a date, and below a count from some beginning.
local DATES_FROM_S = 86400 * 365

--- A moment that is a number in the unit as a date in UTC; nil where it is none.
function M.date(number, unit)
  if unit == "tick" then return nil end
  local us = M.us(number, unit)
  if us < DATES_FROM_S * 1e6 or us >= 253402300800e6 then return nil end
  local rest = math.floor(us % 1e6)
  local date = os.date("!%Y-%m-%dT%H:%M:%S", math.floor(us / 1e6))
  if rest > 0 then date = date .. ("%.6f"):format(rest / 1e6):sub(2):gsub("0+$", "") end
  return date .. "Z"
end

--- The number and, where it is a date, that too.
function M.moment(number, unit)
  if number == nil then return "none" end
  local text, date = plain(number), M.date(number, unit)
  return date and ("%s (%s)"):format(text, date) or text
end

local say

local function list(parts, unit, joint)
  local out = {}
  for i, part in ipairs(parts) do out[i] = say(part, unit) end
  return table.concat(out, joint)
end

local KINDS = {
  each = function() return "at every record" end,
  never = function() return "never" end,
  after_count = function(t) return t.n == 1 and "at every record" or ("after %.0f records"):format(t.n) end,
  every = function(t, unit)
    return ("every %s of %s%s"):format(M.duration(t.period_us, unit),
      t.time == "event" and "event time" or "the clock", t.if_new and ", if something is new" or "")
  end,
  after_delay = function(t, unit) return M.duration(t.delay_us, unit) .. " after the first new record" end,
  after_idle = function(t, unit) return M.duration(t.delay_us, unit) .. " without a record" end,
  when = function() return "when the script's function says so" end,
  any = function(t, unit) return list(t.list, unit, ", or ") end,
  all = function(t, unit) return "when all of these have been: " .. list(t.list, unit, "; ") end,
  sequence = function(t, unit) return "first " .. list(t.list, unit, ", then ") end,
  once = function(t, unit) return "once, " .. say(t.trigger, unit) end,
}

function say(t, unit) return KINDS[t.kind](t, unit) end

--- A checked trigger in words.
function M.trigger(trigger, unit)
  if trigger.root == "plain" then return say(trigger.tree, unit) end
  local out = "when the window is complete"
  if trigger.early.kind ~= "never" then out = out .. "; before that " .. say(trigger.early, unit) end
  return out .. "; after that " .. (trigger.late.kind == "never" and "no more" or say(trigger.late, unit))
end

--- One part of it.
M.part = say

--- A checked window in words.
function M.window(w, unit)
  local function d(us) return M.duration(us, unit) end
  if w.kind == "grid" and w.hop_us == w.size_us then return "tumbling " .. d(w.size_us) end
  if w.kind == "grid" then return ("hopping %s, every %s"):format(d(w.size_us), d(w.hop_us)) end
  if w.kind == "session" then
    return "session with a gap of " .. d(w.gap_us) .. (w.max_us and ", at most " .. d(w.max_us) or "")
  end
  if w.kind == "global" then return "global" end
  return "assigner" .. (w.merge and ", merging" or "")
end

return M
