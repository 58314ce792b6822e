--- When panes leave, and what a consumer must do with them.
local section = require "lunette.explain.section"
local words = require "lunette.trace.words"

local place, list = section.place, section.list

local M = {}

local function merges(p) return p.window.merge or p.window.kind == "session" and not p.window.max_us end

--- Whether each window has exactly one pane.
function M.only_one(p)
  return p.trigger.root == "at_watermark" and p.trigger.early.kind == "never"
    and (p.lateness_us == 0 or p.window.kind == "global")
end

-- What brings the watermark (or the clock) to so far past a window's end.
local function reached(p, past_us)
  local w = p.watermark
  local function d(us) return section.duration(p, us) end
  local what = p.time.kind == "processing" and "the clock" or "the watermark"
  local text = past_us > 0 and ("%s is %s past the window's end"):format(what, d(past_us))
    or what .. " reaches the window's end"
  if p.time.kind == "processing" or w.delay_us == math.huge then return text end
  local total = w.delay_us + past_us
  return ("%s, that is when a record %s past it has come%s"):format(text,
    total > 0 and d(total) .. " or more" or "at or", w.source and " from every source" or "")
end

local function say_global(s, p, unit)
  if p.trigger.root == "plain" then
    s:say("A pane leaves %s.", words.part(p.trigger.tree, unit))
  elseif p.trigger.early.kind ~= "never" then
    s:say("Early: %s.", words.part(p.trigger.early, unit))
  else
    s:say "Nothing leaves before the end of the input: an early trigger, such as ln.every \"10s\", shows more."
    return
  end
  s:say "The window is complete at the end of the input alone."
end

local function say_at_watermark(s, p, unit)
  local t = p.trigger
  if t.early.kind ~= "never" then s:say("Early: before the window is complete, %s.", words.part(t.early, unit)) end
  s:say("On time: when %s.", reached(p, 0))
  if p.lateness_us == 0 then
    s:say "The window is then gone; its pane on time is its last one."
    return
  end
  if t.late.kind == "never" then
    s:say("Late: records that come within the lateness of %s are taken; one last pane shows them in the end.",
      section.duration(p, p.lateness_us))
  else
    s:say("Late: for %s more, %s.", section.duration(p, p.lateness_us), words.part(t.late, unit))
  end
  s:say("Gone: when %s.", reached(p, p.lateness_us))
end

local function say_plain(s, p, unit)
  s:say("A pane leaves %s, before and after the window's end. None marks the end.", words.part(p.trigger.tree, unit))
  s:say("Gone: when %s. One last pane then shows what no pane has shown.", reached(p, p.lateness_us))
end

local function has_every(t)
  if not t then return false end
  if t.kind == "every" and not t.if_new then return true end
  for _, part in ipairs(t.list or { t.trigger }) do
    if has_every(part) then return true end
  end
  return false
end

function M.section(p, addresses)
  local s = section.new "Panes leave"
  local unit, t = p.time.unit, p.trigger
  if p.window.kind == "global" then say_global(s, p, unit)
  elseif t.root == "plain" then say_plain(s, p, unit)
  else say_at_watermark(s, p, unit)
  end
  if has_every(t.early) or has_every(t.tree) or p.lateness_us > 0 and has_every(t.late) then
    s:say "ln.every shows a window also where nothing is new; with if_new = true it would not."
  end
  if p.closing_always then
    s:say "closing = \"always\": the last pane of a window is final, whatever came before."
  elseif p.window.kind ~= "global" and (t.root == "plain" or p.lateness_us > 0) then
    s:say "A window may go without a pane marked final, if nothing is new then: closing = \"always\" always has one."
  end
  if p.emit then s:say("The function at %s reshapes each pane, or drops it.", place(p.emit)) end
  local to
  for _, address in ipairs(addresses) do
    if address.sink then to = address.text end
  end
  s:say("They go to %s.", to and to .. ", unless --out says otherwise" or "standard output, or where --out says")
  return s
end

-- ---- the consumer

-- How the values of two panes that add up become one.
local JOINED = { count = "add", sum = "add", histogram = "add class by class", min = "take the least",
  max = "take the greatest", collect = "put one list behind the other" }

local function say_discarding(s, p)
  s:say "Adds: a pane holds what has come since the pane before."
  local lost = {}
  for _, a in ipairs(p.aggregates) do
    local how = a.kind == "rate" and p.window.kind == "grid" and "add" or JOINED[a.kind]
    if how then s:say("%s: %s.", a.name, how) else lost[#lost + 1] = a.name end
  end
  if #lost > 0 then
    s:say("%s: can't be put together from panes that each hold a part.", list(lost))
  end
  if merges(p) then
    s:say "Move: where a pane lists starts as absorbed, what was kept under these belongs to its window."
  end
end

local function identity(p)
  if p.window.kind == "global" then return p.key.kind == "none" and "there is one" or "by key" end
  local by = p.window.kind == "assigner" and not p.window.merge and "start and end" or "start"
  return p.key.kind == "none" and "by " .. by or "by key and " .. by
end

--- "append", "replace", "add" or "withdraw".
function M.way(p)
  if p.panes == "retracting" and not M.only_one(p) then return "withdraw" end
  if M.only_one(p) then return "append" end
  return p.panes == "discarding" and "add" or "replace"
end

function M.consumer(p)
  local s = section.new "A consumer"
  local way = M.way(p)
  if way == "append" then
    s:say "Appends: each window has exactly one pane, which is final. There is nothing to take back."
  elseif way == "add" then
    say_discarding(s, p)
  elseif way == "withdraw" then
    s:say "Withdraws and adds: before each new pane of a window the one before comes again, with \"retract\":true."
    s:say "What it has added for that one it takes away again: so also sums over all windows stay right."
  else
    s:say("Replaces: a pane holds all that its window holds so far. The latest of each window counts (%s).",
      identity(p))
    if merges(p) then
      s:say "Withdraws: when windows merge, the pane of one that is no more comes again, with \"retract\":true."
    end
  end
  return s
end

return M
