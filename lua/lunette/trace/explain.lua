--- Why has nothing come out? Answers from a trace for one key, and one of its windows where one is named: the first
-- line is the answer, the rest is what it rests on.
local pending = require "lunette.trace.pending"
local reports = require "lunette.trace.report"
local stories = require "lunette.trace.story"

local huge = math.huge
local LIST_MAX = 12 -- of windows, records and keys listed

local M = {}

local times = reports.times

-- ---- which window

-- Records of a window, with those of the windows that have become part of it.
local function records_of(w)
  local n = #w.records
  for _, old in ipairs(w.absorbed) do n = n + records_of(old) end
  return n
end

local function find_key(story, text)
  for _, form in ipairs { stories.text_of(text), text } do
    if story.keys[form] and #story.keys[form].records + #story.keys[form].windows > 0 then return story.keys[form] end
  end
end

local function find_window(key, start)
  for i = #key.windows, 1, -1 do
    if key.windows[i].start == start then return key.windows[i] end
  end
end

-- What a person asks for who names no window: the oldest one that is open and has shown nothing, else the oldest one
-- with something that is not yet shown, else the newest.
local function choose_window(key)
  local unshown
  for _, w in ipairs(key.windows) do
    if w.panes_before == 0 then return w end -- the end alone has shown it
    if not w.expired and not w.into then
      if #w.panes == 0 then return w end
      if w.new.count > 0 then unshown = unshown or w end
    end
  end
  return unshown or key.windows[#key.windows]
end

-- ---- sections

local function last_move(story)
  for i = #story.moves, 1, -1 do
    local move, before = story.moves[i], story.moves[i - 1]
    if not before or before.watermark ~= move.watermark then return move end
  end
end

local function last_record_of(story, source)
  for i = #story.records, 1, -1 do
    if story.records[i].source == source and story.records[i].time then return story.records[i] end
  end
end

local function told_source(story, source)
  for _, s in ipairs(story.last and story.last.sources or {}) do
    if s.name == source then return s end
  end
end

-- How many sources have been heard, as far as the trace tells.
local function sources_heard(story)
  if story.last then return #story.last.sources end
  local seen, n = {}, 0
  for _, r in ipairs(story.records) do
    if r.source and not seen[r.source] then seen[r.source], n = true, n + 1 end
  end
  return n
end

-- The source that holds the watermark: what it promised, and for how long it has been silent.
local function say_source(report, story, source)
  local told, last = told_source(story, source), last_record_of(story, source)
  local silent = report.silent(source)
  report:line("  source %s holds it%s", source, told and told.promise and (": it has promised " ..
    report:moment(told.promise)) or "")
  if last then
    report:line("  its last record was %s, with time %s", report:at { record = last.n, clock = last.clock },
      report:moment(last.time))
  end
  if silent then
    report:line("  it has been silent for %s", report:about(silent))
    if not story.facts.idle then
      report:line("  no silence makes it idle: with watermark.idle = \"30s\" the others would go on without it")
    else
      report:line("  it becomes idle after %s of silence", report:length(story.facts.idle))
    end
  end
end

local function say_watermark(report, story)
  local facts, move = story.facts, last_move(story)
  report:title "The watermark"
  if facts.time == "processing" then
    report:line("  it is the clock, now at %s", report:clock(story.watermark))
    return
  end
  report:line("  %s %s%s%s", story.finished and "stood at" or "now at", report:moment(story.stood),
    move and ", since " .. report:at(move) or "", story.finished and ", until the input ended" or "")
  local source = pending.holder(story)
  if source then say_source(report, story, source) end
  if story.stood == -huge and (facts.sources or 1) > 1 then
    local heard = sources_heard(story)
    report:line("  it begins when %.0f sources have been heard; %.0f %s", facts.sources, heard,
      heard == 1 and "was" or "were")
  end
  if facts.delay then
    report:line("  each source promises its greatest time minus the delay of %s%s", report:length(facts.delay),
      facts.marks and ", or what a mark says" or "")
  elseif facts.marks then
    report:line "  only the script's marks promise anything"
  end
end

local function value_text(value)
  local text = stories.text_of(value)
  return #text > 100 and text:sub(1, 100) .. "..." or text
end

local function say_panes(report, w)
  if #w.panes == 0 then
    report:line "  no pane has come out"
    return
  end
  report:line("  panes: %.0f", #w.panes)
  for i = math.max(1, #w.panes - LIST_MAX + 1), #w.panes do
    local p = w.panes[i]
    report:line("    %.0f, %s%s, by %s, at %s: %s", p.pane, p.timing, p.final and ", final" or "",
      p.cause == "record" and "a record" or p.cause == "clock" and "the clock" or "the watermark", report:at(p),
      value_text(p.value))
  end
end

local function say_records(report, w)
  local list = {}
  for i = math.max(1, #w.records - LIST_MAX + 1), #w.records do
    list[#list + 1] = ("%.0f (time %s)"):format(w.records[i].n, report:bound(w.records[i].time))
  end
  local cut = #w.records > #list and "..., " or ""
  report:line("  records: %.0f%s", records_of(w), #list > 0 and ": " .. cut .. table.concat(list, ", ") or "")
end

local function say_window(report, story, w)
  report:title(("The window %s%s"):format(report:bounds(w.start, w.stop), report:of(w.key)))
  report:line("  %s, opened by %s", story.facts.window.words, report:at(w.opened))
  say_records(report, w)
  for _, old in ipairs(w.absorbed) do
    report:line("  %s became part of it at %s", report:bounds(old.start, old.stop), report:at(old.merged))
  end
  if w.into then report:line("  part of %s since %s", report:bounds(w.into.start, w.into.stop), report:at(w.merged)) end
  report:line("  trigger: %s", story.facts.trigger.words)
  say_panes(report, w)
  if w.completed then report:line("  completed at %s", report:at(w.completed)) end
  if w.expired then report:line("  gone since %s", report:at(w.expired)) end
  if w.panes_before == 0 or not w.expired and not w.into then
    local waits = pending.of(story, w, report)
    for i = 2, #waits do -- the first is the answer
      report:line("  or it %s %s", w.panes_before == 0 and "waited" or "waits", waits[i])
    end
  end
end

local function say_late(report, story, r)
  local parts = {}
  for i, b in ipairs(r.refused) do
    if i <= 3 then parts[i] = report:bounds(b[1], b[2]) end
  end
  if #r.refused > 3 then parts[#parts + 1] = "..." end
  report:line("  record %.0f, time %s: late%s for %s; the watermark was at %s", r.n, report:bound(r.time),
    r.late_by and " by " .. report:length(r.late_by) or "", table.concat(parts, ", "), report:moment(r.watermark))
  if r.lateness_over then
    report:line("    a lateness above %s would have taken it; it is %s", report:length(r.lateness_over),
      report:length(story.facts.lateness or 0))
  end
end

local REASONS = {
  no_time = "it has no time that can be read as one (no_time)",
  future = "it is too far ahead of the clock (future)",
  malformed = "it is no record (malformed)",
  bad_key = "its key can't be one (bad_key)",
  no_window = "it lies in a gap between windows (no_window)",
  script_error = "the script met an error (script_error)",
  limit = "memory had reached limits.state_bytes (limit)",
}

local function is_refused(r) return r.fate == "rejected" or r.fate == "filtered" or #r.refused > 0 end

local function say_refused(report, story, key)
  local refused = {}
  for _, r in ipairs(key.records) do
    if is_refused(r) then refused[#refused + 1] = r end
  end
  if #refused == 0 then return end
  report:title(("Records%s that were not taken: %.0f of %.0f"):format(report:of(key.text), #refused, #key.records))
  for i = math.max(1, #refused - LIST_MAX + 1), #refused do
    local r = refused[i]
    if #r.refused > 0 then
      say_late(report, story, r)
    elseif r.fate == "filtered" then
      report:line("  record %.0f, time %s: `where` said no", r.n, r.time and report:bound(r.time) or "none")
    else
      report:line("  record %.0f%s: %s%s", r.n, r.time and ", time " .. report:bound(r.time) or "",
        REASONS[r.reason] or r.reason, r.message and ": " .. r.message or "")
    end
  end
end

local function say_others(report, key, chosen)
  if #key.windows < 2 and chosen then return end
  report:title(("Windows%s: %.0f"):format(report:of(key.text), #key.windows))
  for i = math.max(1, #key.windows - LIST_MAX + 1), #key.windows do
    local w = key.windows[i]
    local state = w.into and "part of " .. report:bounds(w.into.start, w.into.stop)
      or w.expired and "gone" or w.completed and "complete, still open" or "open"
    report:line("  %s: %s, %s, %s", report:bounds(w.start, w.stop), times(records_of(w), "record"),
      times(#w.panes, "pane"), state)
  end
end

local function say_end(report, story)
  report:line ""
  if story.finished then
    report:line("The input ended after %s, which completed every window.", times(#story.records, "record"))
  elseif story.last then
    report:line("The trace ends at clock %s, after %.0f records.", report:clock(story.clock), story.last.read)
  else
    report:line("The trace breaks off at clock %s: the run still goes on, or was ended by force.",
      report:clock(story.clock))
  end
  local left = story.last and story.last.left_out or 0
  if left > 0 then
    report:line("%.0f events are missing from it, past the limit of %.0f bytes: --trace-limit raises it, --trace-key "
      .. "narrows it.", left, story.head.limit)
  end
  if story.head.keys then
    report:line("It was narrowed to the keys %s: other records are not in it.", table.concat(story.head.keys, ", "))
  end
end

-- ---- the answer

local function answer_without_window(report, key, start)
  local n, of = #key.records, report:of(key.text)
  if start then
    local first
    for _, r in ipairs(key.records) do
      for _, b in ipairs(r.refused) do
        if b[1] == start then first = first or r end
      end
    end
    if first then
      return ("No window%s begins at %s: record %.0f would have opened it, and was late."):format(of,
        report:bound(start), first.n)
    end
    return ("No window%s begins at %s: no record%s lies there."):format(of, report:bound(start), of)
  end
  local counts, list = {}, {}
  for _, r in ipairs(key.records) do
    local why = r.reason or r.fate
    if not counts[why] then list[#list + 1] = why end
    counts[why] = (counts[why] or 0) + 1
  end
  if counts.waiting == n then
    return ("All %s%s wait until the watermark reaches them."):format(times(n, "record"), of)
  end
  for i, why in ipairs(list) do list[i] = ("%.0f %s"):format(counts[why], why) end
  return ("No record%s was taken: %s."):format(of, table.concat(list, ", "))
end

local function answer(report, story, w)
  local name = report:bounds(w.start, w.stop) .. report:of(w.key)
  if w.into then
    return ("%s is no window by itself any more: it is part of %s since %s."):format(name,
      report:bounds(w.into.start, w.into.stop), report:at(w.merged))
  end
  local last = w.panes[#w.panes]
  if w.panes_before == 0 then
    return ("%s has come out only when the input ended: until then it waited %s."):format(name,
      pending.of(story, w, report)[1])
  end
  if w.expired then
    local text = last and ("%s has come out: %s, the last at %s; it is gone."):format(name, times(#w.panes, "pane"),
      report:at(last)) or name .. " is gone without a pane."
    if story.facts.shaped then text = text .. " The script's `emit` may have dropped what came." end
    return text
  end
  local waits = pending.of(story, w, report)
  if last and w.new.count == 0 then
    return ("%s has come out: %s, the last at %s. Nothing is new since."):format(name, times(#w.panes, "pane"),
      report:at(last))
  end
  local head = last and ("%s has %s that no pane has shown yet"):format(name, times(w.new.count, "record")) or
    name .. " has shown nothing yet"
  return ("%s: it waits %s."):format(head, waits[1] or "for its trigger")
end

local function unknown_key(report, story, text)
  report:line(report.keyed and "No record with the key %s was read." or "No record was read.", stories.text_of(text))
  if not report.keyed then return end
  report:title(("Keys in the trace: %.0f"):format(#story.key_order))
  for i = 1, math.min(LIST_MAX, #story.key_order) do
    local key = story.key_order[i]
    report:line("  %s: %s, %s", key.text, times(#key.records, "record"), times(#key.windows, "window"))
  end
  if #story.key_order > LIST_MAX then report:line "  ..." end
  report:line ""
  report:line "A key is written as in JSON, a text also without quotes: --key ann, --key 7, --key '[\"ann\",\"eu\"]'."
end

-- How long a source has been silent at the end of the trace; nil where it has not.
local function silence_of(story)
  return function(source)
    local told, last = told_source(story, source), last_record_of(story, source)
    local heard = told and told.heard or last and last.clock
    return heard and story.clock > heard and story.clock - heard or nil
  end
end

--- The answer as a list of lines; nil and what is wrong with the options.
---@param options { trace: string, key: string?, window: string?, pipeline: string? }
---@return string[]?
---@return string? wrong
function M.lines(options)
  local story = stories.read(options.trace, options)
  local unit, start = story.facts.unit, nil
  local report = reports.new(story.facts, silence_of(story))
  if not options.key and report.keyed then return nil, "--key KEY is missing: of which key is it asked?" end
  if options.key and not report.keyed and options.key ~= "null" then
    return nil, ("--key %s: the pipeline has no key: leave it out"):format(options.key)
  end
  if options.window then
    start = reports.read_start(options.window, unit)
    if not start then
      return nil, ("--window %s: write the window's start as a number in the pipeline's unit, which is %s"):format(
        options.window, unit)
    end
  end
  local key = find_key(story, options.key or "null")
  if not key then
    unknown_key(report, story, options.key or "null")
    say_end(report, story)
    return report
  end
  local w
  if start then w = find_window(key, start) else w = choose_window(key) end
  report:line(w and answer(report, story, w) or answer_without_window(report, key, start))
  if w then say_window(report, story, w) end
  if not (w and w.expired) or w.panes_before == 0 then say_watermark(report, story) end
  say_refused(report, story, key)
  say_others(report, key, w)
  say_end(report, story)
  return report
end

return M
