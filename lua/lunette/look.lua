--- Looks into pipelines that run: their open windows, their sources, and why a window has shown nothing yet. What has
-- been, such as which records were late, only a trace knows.
local ffi = require "lunette.ffi"
local pending = require "lunette.trace.pending"
local reports = require "lunette.trace.report"
local stories = require "lunette.trace.story"
local trace = require "lunette.trace"
local value = require "lunette.value"
local words = require "lunette.trace.words"

local lib, huge = ffi.lib, math.huge
local MOST = 100 -- windows listed, unless told
local MOST_EVER = 10000
local SOURCES_MOST = 256
local LIST_MAX = 12

local M = {}

-- ---- the engine's numbers in the pipeline's unit

local PAST, FUTURE = -9223372036854775807LL - 1, 9223372036854775807LL

local function time(us, unit)
  if us == PAST then return -huge elseif us == FUTURE then return huge end
  return words.number(tonumber(us), unit)
end

-- For JSON: what has no bound is null.
local function shown(x) return x ~= huge and x ~= -huge and x or nil end

local function source_name(s, streams)
  if s.len == 0 then return nil end
  if streams then return tonumber(ffi.cast("const uint64_t *", s.name)[0]) end
  return (value.read(s.name, s.name + s.len))
end

local function sources_of(part, most)
  most = most or SOURCES_MOST
  local list, out = ffi.new("ln_open_source[?]", most), {}
  local known = tonumber(lib.ln_engine_sources(part.engine, list, most))
  local p = part.pipeline
  for i = 0, math.min(known, most) - 1 do
    local s = list[i]
    out[i + 1] = { source = source_name(s, not p.watermark.source), promise = time(s.promise_us, part.unit),
      heard = time(s.heard_us, part.unit), idle = s.idle ~= 0, holds = s.holds ~= 0 }
  end
  return out, known
end

-- Up to `most` windows of a key, the first `skip` left out; how many it has.
local function windows_of(part, packed, most, skip)
  skip = skip or 0
  local known = tonumber(lib.ln_engine_windows_of(part.engine, packed, #packed, nil, 0))
  local upto = math.min(known, skip + most)
  local list, out = ffi.new("ln_open_window[?]", upto), {}
  lib.ln_engine_windows_of(part.engine, packed, #packed, list, upto)
  for i = skip, upto - 1 do
    local w = list[i]
    local counted = w.counted ~= 0
    out[#out + 1] = { start = time(w.start_us, part.unit), stop = time(w.end_us, part.unit), counted = counted,
      panes = w.panes, completed = w.completed ~= 0,
      new = { count = counted and tonumber(w.records) or 0, first = time(w.first_us, part.unit),
        last = time(w.last_us, part.unit) } }
  end
  return out, known
end

-- ---- choosing

local function choose(app, name)
  local names = {}
  for i, part in ipairs(app.parts) do
    if part.name == name then return i end
    names[i] = part.name
  end
  names = table.concat(names, ", ")
  if name then return nil, ("there is no pipeline %s: there is %s"):format(name, names) end
  if #app.parts > 1 then return nil, "there are several pipelines: name one of " .. names end
  return 1
end

-- Calls `see` with each key as msgpack and its number, from number `first` on, until it returns false.
local function each_key(part, see, first)
  local at, len = ffi.new("uint32_t[1]", first or 0), ffi.new "size_t[1]"
  while true do
    local bytes = lib.ln_engine_key_next(part.engine, at, len)
    if bytes == nil or see(ffi.string(bytes, len[0]), at[0] - 1) == false then return end
  end
end

local function read_packed(packed)
  local start = value.bytes(packed)
  return (value.read(start, start + #packed))
end

-- The key that a text means, packed: the one of its meanings that has windows open, else the first.
local function find_key(part, text)
  local meanings = trace.meanings(text)
  for _, packed in ipairs(meanings) do
    if lib.ln_engine_windows_of(part.engine, packed, #packed, nil, 0) > 0 then return packed end
  end
  return meanings[1]
end

-- ---- lists

-- A place in the list of windows, as `next` gives and `from` takes it: a key's number, and how many of its windows lie
-- before it.
local function read_place(text)
  local key, skip = tostring(text):match "^(%d+)%.(%d+)$"
  key, skip = tonumber(key), tonumber(skip)
  if key and key < 2 ^ 32 and skip < 2 ^ 32 then return key, skip end
end

-- Windows from a place on; the place of the next one, where more are open.
local function list_windows(part, options, most, waits_of)
  local out, left, next_place = value.array {}, most, nil
  local first, skip = 0, 0
  if options.from then first, skip = read_place(options.from) end
  local function take(packed, id)
    local before = id == first and skip or 0
    local windows, known = windows_of(part, packed, left, before)
    for _, w in ipairs(windows) do
      out[#out + 1] = { key = read_packed(packed), start = shown(w.start), ["end"] = shown(w.stop), panes = w.panes,
        records_new = w.counted and w.new.count or nil, completed = w.completed or nil, waits = waits_of(w) }
    end
    left = left - #windows
    if before + #windows < known then next_place = ("%d.%d"):format(id, before + #windows) end
    return next_place == nil
  end
  if options.key then take(find_key(part, options.key), 0) else each_key(part, take, first) end
  return out, next_place
end

local function list_sources(part)
  local out = value.array {}
  local sources, known = sources_of(part)
  for i, s in ipairs(sources) do
    out[i] = { source = s.source, promise = shown(s.promise), heard = shown(s.heard), idle = s.idle or nil,
      holds = s.holds or nil }
  end
  return out, known
end

-- The engine as the story of a trace that has just begun: pending reads it.
local function story_of(app, i)
  local part = app.parts[i]
  local s = app:stats_of(i)
  local story = { facts = trace.facts(part.pipeline), moves = {},
    clock = time(lib.ln_engine_clock_us(part.engine), part.unit),
    stood = time(s.watermark_us, part.unit), sources = sources_of(part), read = tonumber(s.read),
    late = tonumber(s.rejected[lib.LN_REASON_LATE]), refusals = tonumber(s.refusals_late), keys = tonumber(s.keys) }
  for _, source in ipairs(story.sources) do
    source.name = source.source ~= nil and stories.text_of(source.source) or nil
    if source.holds then story.holder = source.name end
  end
  return story
end

local function silence_of(story)
  return function(name)
    for _, s in ipairs(story.sources) do
      if s.name == name and s.heard > -huge and story.clock > s.heard then return story.clock - s.heard end
    end
  end
end

--- How far a pipeline has come, for metrics: its sources are the `most` that are furthest behind, by name.
---@return table
function M.progress(app, i, most)
  local part = app.parts[i]
  local sources, known = sources_of(part, most)
  for _, s in ipairs(sources) do
    s.name = type(s.source) == "string" and s.source or s.source == nil and "input" or stories.text_of(s.source)
    s.promise = shown(s.promise)
  end
  return { name = part.name, unit = part.unit, watermark = shown(time(app:stats_of(i).watermark_us, part.unit)),
    clock = shown(time(lib.ln_engine_clock_us(part.engine), part.unit)), sources = sources, sources_known = known }
end

local function look_into(app, i, options, most)
  local part, s = app.parts[i], app:stats_of(i)
  local keys, open = tonumber(s.keys), tonumber(s.windows)
  local watermark = time(s.watermark_us, part.unit)
  local sources, known = list_sources(part)
  local story = story_of(app, i)
  local report = reports.new(story.facts, silence_of(story))
  local windows, next_place = list_windows(part, options, most, function(w)
    return (pending.of(story, w, report)[1])
  end)
  return { name = part.name, unit = part.unit, watermark = shown(watermark), keys = keys,
    clock = shown(time(lib.ln_engine_clock_us(part.engine), part.unit)), windows_open = open, sources = sources,
    sources_known = known, windows = windows, next = next_place }
end

--- What is open: of each pipeline, or one, its watermark, sources, and up to `most` windows, of all keys or one, with
-- what each waits for. Where more are open, `next` is the `from` of the next call; nil and what is wrong.
---@param options { pipeline: string?, key: string?, most: string?, from: string? }
---@return table for JSON
function M.windows(app, options)
  local most = tonumber(options.most or MOST)
  local out = value.array {}
  local only, wrong
  if options.pipeline or options.from then
    only, wrong = choose(app, options.pipeline)
    if not only then return nil, wrong end
  end
  if not most or most < 0 or most % 1 ~= 0 then
    return nil, ("most: %s: write a whole number, how many windows to list"):format(tostring(options.most))
  end
  if options.from and not read_place(options.from) then
    return nil, ("from: %s is no place in a list: it is what `next` of an answer says"):format(options.from)
  end
  for i = only or 1, only or #app.parts do
    out[#out + 1] = look_into(app, i, options, math.min(most, MOST_EVER))
  end
  return out
end

-- ---- why

local function choose_window(windows, start)
  if start then
    for _, w in ipairs(windows) do
      if w.start == start then return w end
    end
    return nil
  end
  for _, w in ipairs(windows) do
    if w.panes == 0 or w.new.count > 0 then return w end
  end
  return windows[1]
end

local function answer(report, story, w, key)
  local name, waits = report:bounds(w.start, w.stop) .. report:of(key), pending.of(story, w, report)
  local state = " has shown nothing yet"
  if w.panes > 0 then
    state = (" has shown %s, and has %s that none has shown"):format(reports.times(w.panes, "pane"),
      reports.times(w.new.count, "record"))
  end
  report:line("%s%s: it waits %s.", name, state, waits[1] or "for its trigger")
  report:title(("The window %s"):format(name))
  report:line("  %s; trigger: %s", story.facts.window.words, story.facts.trigger.words)
  for i = 2, #waits do report:line("  or it waits %s", waits[i]) end
end

local function say_sources(report, story)
  local facts = story.facts
  report:title "The watermark"
  report:line("  at %s", report:moment(story.stood))
  if facts.delay then report:line("  each source promises its greatest time minus the delay of %s",
    report:length(facts.delay)) end
  if (facts.sources or 1) > 1 and story.stood == -huge then
    report:line("  it begins when %.0f sources have been heard; %.0f were", facts.sources, #story.sources)
  end
  for i, s in ipairs(story.sources) do
    if i > LIST_MAX then
      report:line("  and %.0f sources more", #story.sources - LIST_MAX)
      break
    end
    local silent = s.name and report.silent(s.name)
    report:line("  %s has promised %s%s%s%s", s.name and "source " .. s.name or "the input", report:moment(s.promise),
      silent and ", silent for " .. report:about(silent) or "", s.idle and ", idle" or "",
      s.holds and s.name and ", and holds it" or "")
  end
end

local function say_windows(report, windows, known, key)
  if known < 2 then return end
  report:title(("Open windows%s: %.0f"):format(report:of(key), known))
  for i, w in ipairs(windows) do
    if i > LIST_MAX then break end
    report:line("  %s: %s%s%s", report:bounds(w.start, w.stop), reports.times(w.panes, "pane"),
      w.counted and (", %s since"):format(reports.times(w.new.count, "record")) or "",
      w.completed and ", complete" or "")
  end
end

local function say_none(report, story, part, key, start)
  local of = report:of(key)
  if start then
    report:line("No open window%s begins at %s.", of, report:bound(start))
  else
    report:line("No window%s is open: either no record of it was taken, or all has come out.", of)
  end
  if not report.keyed then return end
  report:title(("Keys with open windows: %.0f"):format(story.keys))
  local n = 0
  each_key(part, function(packed)
    n = n + 1
    report:line("  %s", n <= LIST_MAX and stories.text_of(read_packed(packed)) or "...")
    return n <= LIST_MAX
  end)
end

local function say_late(report, story)
  report:line ""
  report:line("%s read; %.0f rejected as late, %s refused a record that another took. Which, and by how much, a trace "
    .. "tells: lunette run --trace FILE.", reports.times(story.read, "record"), story.late,
    reports.times(story.refusals, "window"))
end

--- Why has nothing come out for a key, or one of its windows? The answer as a text; nil and what is wrong.
---@param options { pipeline: string?, key: string?, window: string? }
function M.why(app, options)
  local i, wrong = choose(app, options.pipeline)
  if not i then return nil, wrong end
  local part, start = app.parts[i], nil
  local story = story_of(app, i)
  local report = reports.new(story.facts, silence_of(story))
  if report.keyed and not options.key then return nil, "of which key is it asked? name it" end
  if options.window then
    start = reports.read_start(options.window, part.unit)
    if not start then
      return nil, ("%s is no start of a window: write a number in the pipeline's unit, which is %s"):format(
        options.window, part.unit)
    end
  end
  local packed = find_key(part, options.key or "null")
  local key = stories.text_of(read_packed(packed))
  local windows, known = windows_of(part, packed, MOST)
  local w = choose_window(windows, start)
  if w then answer(report, story, w, key) else say_none(report, story, part, key, start) end
  say_sources(report, story)
  say_windows(report, windows, known, key)
  say_late(report, story)
  return table.concat(report, "\n") .. "\n"
end

return M
