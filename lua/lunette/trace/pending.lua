--- What an open window still waits for, in words: part by part of its trigger, from what has come since its last pane.
-- Of a window that only the end of the input has shown, what it waited for until then.
local huge = math.huge

local M = {}

--- The source that holds the watermark; nil where input is one source, or none does.
function M.holder(story)
  local move = story.moves[#story.moves]
  return story.holder or move and move.source
end

local function new_of(w) return w.at_end or w.new end

local function at(report, number) return report:moment(number) end

-- The next multiple of a period after a time.
local function next_multiple(period, after) return (math.floor(after / period) + 1) * period end

local part

local function parts(t, w, story, report, joint)
  local out = {}
  for i, p in ipairs(t.parts) do out[i] = part(p, w, story, report) end
  return table.concat(out, joint)
end

local KINDS = {}

function KINDS.each() return "for a record" end

function KINDS.never() return "for nothing before it is gone" end

function KINDS.after_count(t, w)
  return ("for %.0f records since its last pane, and has %.0f"):format(t.n, new_of(w).count)
end

function KINDS.every(t, w, story, report)
  local now = t.time == "event" and story.stood or story.clock
  local what = t.time == "event" and "the watermark" or "the clock"
  local when = now > -huge and now < huge and
    report[t.time == "event" and "moment" or "clock"](report, next_multiple(t.period, now)) or
    "a multiple of " .. report:length(t.period)
  return ("for %s to pass %s%s"):format(what, when, t.if_new and new_of(w).count == 0 and " with a new record" or "")
end

function KINDS.after_delay(t, w, _, report)
  if new_of(w).count == 0 then return ("for a record, and then %s of the clock"):format(report:length(t.delay)) end
  return ("for the clock to reach %s, %s after its first new record"):format(report:clock(new_of(w).first + t.delay),
    report:length(t.delay))
end

function KINDS.after_idle(t, w, _, report)
  if new_of(w).count == 0 then return ("for a record, and then %s of silence"):format(report:length(t.delay)) end
  return ("for the clock to reach %s without a record before, %s after the latest"):format(
    report:clock(new_of(w).last + t.delay), report:length(t.delay))
end

KINDS["when"] = function() return "for a record at which the script's function says yes" end

function KINDS.any(t, w, story, report) return parts(t, w, story, report, ", or ") end
function KINDS.all(t, w, story, report) return "until all of these have been: " .. parts(t, w, story, report, "; ") end


function KINDS.sequence(t, w, story, report)
  return "for its turn in a sequence: " .. parts(t, w, story, report, ", then ")
end

function KINDS.once(t, w, story, report) return "(at most once) " .. part(t.parts[1], w, story, report) end

function part(t, w, story, report) return KINDS[t.kind](t, w, story, report) end

-- What takes W to the end of the window.
local function until_complete(story, w, report)
  local facts = story.facts
  local text
  if story.stood == -huge then
    return ("for the watermark, which has not begun, to reach its end at %s"):format(at(report, w.stop))
  else
    text = ("for the watermark to reach its end at %s, %s from where it %s at %s"):format(at(report, w.stop),
      report:length(w.stop - story.stood), story.finished and "stood" or "stands", at(report, story.stood))
  end
  if facts.time == "processing" then
    return ("for the clock to reach its end at %s, and it is at %s"):format(report:clock(w.stop),
      report:clock(story.clock))
  end
  local source = M.holder(story)
  if source then
    local silent = report.silent(source)
    text = text .. ", held there by source " .. source
    if silent then text = text .. ", silent for " .. report:about(silent) end
  elseif facts.delay and not facts.source then
    text = ("%s; a record at %s or later %s it there"):format(text, at(report, w.stop + facts.delay),
      story.finished and "would have brought" or "brings")
  end
  return text
end

local function expiry(story, w) return w.stop + (story.facts.lateness or 0) end

-- When it goes, and shows what no pane has shown.
local function closing(story, w, report)
  if w.stop == huge then return "until the input ends, which shows the rest" end
  return ("until the watermark reaches %s, when it goes and what is left is shown"):format(at(report, expiry(story, w)))
end

--- The list of what the window waits for, the likeliest first. Each goes on from "it waits".
---@param story table
---@param w lunette.Window
---@param report table for its words
---@return string[]
function M.of(story, w, report)
  local trigger, out = story.facts.trigger, {}
  local ended = story.stood >= w.stop
  if trigger.at_watermark then
    if not ended then
      out[1] = w.stop == huge and "until the input ends: a global window has no other end" or
        until_complete(story, w, report)
      if trigger.early.kind ~= "never" then out[2] = part(trigger.early, w, story, report) .. " (early)" end
      return out
    end
    if trigger.late.kind ~= "never" then out[1] = part(trigger.late, w, story, report) .. " (late)" end
  elseif trigger.early.kind ~= "never" then
    out[1] = part(trigger.early, w, story, report)
  end
  out[#out + 1] = closing(story, w, report)
  return out
end

return M
