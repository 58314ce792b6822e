--- What each window holds, and when it is complete and gone.
local section = require "lunette.explain.section"

local place = section.place

local M = {}

local function say_grid(s, p, d)
  local w = p.window
  if w.hop_us == w.size_us then
    s:say("Tumbling windows of %s: a record belongs to one, [start, start + %s).", d(w.size_us), d(w.size_us))
  else
    s:say("Hopping windows of %s, one every %s.", d(w.size_us), d(w.hop_us))
    local least, most = math.floor(w.size_us / w.hop_us), math.ceil(w.size_us / w.hop_us)
    if w.hop_us > w.size_us then
      s:say("A record belongs to one or to none: after each window %s are left out.", d(w.hop_us - w.size_us))
    elseif least == most then
      s:say("A record belongs to %s of them.", section.number(most))
    else
      s:say("A record belongs to %s or %s of them.", section.number(least), section.number(most))
    end
  end
  local zero = p.time.unit == "tick" and "tick 0" or "time 0 (1970-01-01 UTC)"
  s:say("They start at multiples of %s, counted from %s%s.", d(w.hop_us), zero,
    w.offset_us ~= 0 and " and shifted by " .. d(w.offset_us) or "")
end

local function say_session(s, p, d)
  local w = p.window
  s:say("Sessions: a run of records of one key, each less than %s after the one before.", d(w.gap_us))
  s:say("A window goes from its first record to %s after its last one.", d(w.gap_us))
  if w.max_us then
    s:say("It ends %s after its start at the latest; the first record from there on opens the next one.", d(w.max_us))
    s:say "Records ahead of the watermark wait until it reaches them, so the order of arrival does not matter."
  else
    s:say "A record that fills the gap between two sessions makes one of them."
  end
end

local function say_assigner(s, p, d)
  local w = p.window
  s:say("The function at %s says which windows a record belongs to.", place(w.fn))
  if w.merge then
    s:say("Windows of a key that overlap become one; that of one record is at most %s long.", d(w.longest_us))
  end
end

function M.section(p)
  local s = section.new "Windows"
  local function d(us) return section.duration(p, us) end
  local kind = p.window.kind
  if kind == "grid" then say_grid(s, p, d)
  elseif kind == "session" then say_session(s, p, d)
  elseif kind == "global" then s:say "One window for each key, without bounds: it holds all records there ever were."
  else say_assigner(s, p, d)
  end
  if p.fill then
    s:say("Empty windows are shown too: up to %s in a row after the last one of a key that holds a record.",
      section.number(p.fill))
  end
  return s
end

local function say_sources(s, p, d, streams)
  local w = p.watermark
  if w.source then
    s:say("It is the least promise of all sources; the field %s tells them apart.", w.source)
  elseif streams then
    s:say "It is the least promise of all sources; each connection is one."
  else
    s:say "All input is one source; of sockets each connection is one, and the least promise counts."
  end
  if w.sources > 1 then s:say("It does not start before %s sources have been heard.", section.number(w.sources)) end
  local idle_us = w.idle_us or streams and not w.source and 30e6
  if idle_us then
    s:say("A source that is silent for %s no longer holds it back.", d(idle_us))
    if w.on_idle == "advance" then s:say "When all are silent it goes on with the clock." end
  elseif w.source then
    s:say "A source that falls silent holds it for good: watermark.idle lets the others go on."
  end
end

--- How far event time has come.
---@param p table
---@param streams boolean records come in several streams
function M.watermark(p, streams)
  local s = section.new "Watermark"
  local w = p.watermark
  local function d(us) return section.duration(p, us) end
  if p.time.kind == "processing" then
    s:say "It is the clock. No record is late."
    return s
  end
  if w.delay_us == math.huge then
    s:say("It rises to what the function at %s returns; nothing else moves it.", place(w.mark))
  else
    s:say("Each source promises its greatest time%s%s.", w.delay_us > 0 and " minus " .. d(w.delay_us) or "",
      w.mark and ", or what the function at " .. place(w.mark) .. " returns" or "")
    if w.delay_us == 0 and not w.mark then
      s:say "A record behind the greatest time so far is out of order, and may be late: watermark.delay gives it room."
    end
  end
  say_sources(s, p, d, streams)
  s:say "At the end of the input it completes every window."
  return s
end

return M
