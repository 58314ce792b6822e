--- The windows of one record: a copy of the pipeline that keeps nothing but counts is run on it, so that what is told
-- is what the engine does.
local ffi = require "lunette.ffi"
local driver = require "lunette.driver"
local moment = require "lunette.moment"
local section = require "lunette.explain.section"
local value = require "lunette.value"
local words = require "lunette.trace.words"

local lib = ffi.lib
local WINDOWS_MAX = 20 -- listed in words

local M = {}

-- Puts x at a path of names, "meta.at", without changing what else is there.
local function put(record, path, x)
  local at = record
  local names = {}
  for name in path:gmatch "[^.]+" do names[#names + 1] = name end
  for i = 1, #names - 1 do
    if type(at[names[i]]) ~= "table" then at[names[i]] = {} end
    at = at[names[i]]
  end
  at[names[#names]] = x
end

-- A time as a record of this pipeline would carry it.
local function as_field(us, unit)
  if unit == "rfc3339" then
    local date = os.date("!%Y-%m-%dT%H:%M:%S", math.floor(us / 1e6))
    return ("%s.%06.0fZ"):format(date, us % 1e6)
  end
  if unit == "ns" then return ffi.int64(us) * 1000 end
  return words.number(us, unit)
end

-- The pipeline with the same windows, keys and filter, and nothing that a single record could be late for or early by.
local function bare(p)
  local out = {}
  for name, x in pairs(p) do out[name] = x end
  out.trigger = { root = "at_watermark", early = { kind = "never" }, late = { kind = "never" } }
  out.watermark = { sources = 1, on_idle = "hold", delay_us = 0 }
  out.aggregates = { { kind = "count", name = "n" } }
  out.lateness_us, out.panes, out.closing_always, out.fill, out.emit = 0, "accumulating", false, nil, nil
  return out
end

local function drive(app, panes, rejects, method, ...)
  local len = ffi.new "size_t[1]"
  local status
  repeat
    status = app[method](app, ...)
    for stream, into in pairs { [lib.LN_STREAM_PANES] = panes, [lib.LN_STREAM_REJECTS] = rejects } do
      local at = lib.ln_output_take(app.output, stream, len)
      local stop = at + len[0]
      while at < stop do into[#into + 1], at = value.read_whole(at, stop) end
      lib.ln_output_clear(app.output, stream)
    end
  until status ~= driver.DRAIN
  return status
end

local function run(p, bytes, clock_us)
  local panes, rejects = {}, {}
  local app = driver.open({ bare(p) }, { out_format = lib.LN_FORMAT_MSGPACK, rejects = true, seed = 1 })
  if lib.ln_reader_push(app.reader, bytes, #bytes) ~= lib.LN_OK then error("out of memory", 0) end
  lib.ln_reader_end(app.reader)
  drive(app, panes, rejects, "pump", clock_us)
  drive(app, panes, rejects, "finish")
  local filtered = app:stats_of(1).filtered > 0
  app:close()
  return panes, rejects[1], filtered
end

local function read_record(text)
  local record = value.from_json(text)
  if type(record) ~= "table" then error(("--record %s: write a map of JSON on one line"):format(text), 0) end
  return record
end

-- The record to run, and the clock at which it comes.
local function prepare(p, time, text)
  local record = text and read_record(text) or {}
  if not time then
    if p.time.kind == "processing" then error("--at TIME is missing: time is the clock's here", 0) end
    return record, 0
  end
  local us, problem = moment.parse(time, p.time.unit)
  if not us then error("--at " .. problem, 0) end
  if p.time.kind == "processing" then return record, us end
  if p.time.kind == "function" then
    if not text then
      error(("--record is missing: the function at %s makes the time of it"):format(section.place(p.time.fn)), 0)
    end
    error(("--at and --record: the function at %s makes the time of the record: leave out --at"):format(
      section.place(p.time.fn)), 0)
  end
  put(record, p.time.path, as_field(us, p.time.unit))
  return record, us
end

local function plain(x) return x ~= value.null and x or nil end

--- What becomes of a record: { reason, message }, { filtered }, or { key, windows = { { start, stop, complete_at,
-- gone_at } } }, all in the pipeline's unit; nil for what has no bound.
---@param p table
---@param time string?
---@param record string? as JSON
function M.of(p, time, record)
  local made, clock_us = prepare(p, time, record)
  local panes, reject, filtered = run(p, value.pack(made), clock_us)
  if reject then return { reason = reject.reason, message = plain(reject.message) } end
  if filtered then return { filtered = true } end
  local out = { windows = value.array {} }
  local function number(us) return words.number(us, p.time.unit) end
  local delay = p.time.kind ~= "processing" and p.watermark.delay_us or 0
  for i, pane in ipairs(panes) do
    out.key = pane.key
    local w = { start = plain(pane.start), stop = plain(pane["end"]) }
    if w.stop and delay ~= math.huge then
      w.complete_at = w.stop + number(delay)
      w.gone_at = w.complete_at + number(p.lateness_us)
    end
    out.windows[i] = w
  end
  table.sort(out.windows, function(a, b)
    if a.start ~= b.start then return (a.start or 0) < (b.start or 0) end
    return (a.stop or 0) < (b.stop or 0)
  end)
  return out
end

local function say_window(s, p, w)
  local unit = p.time.unit
  if not w.stop then
    s:say "[none, none): it has no bounds, and is complete at the end of the input."
    return
  end
  local from, to = words.date(w.start, unit), words.date(w.stop, unit)
  s:say("[%s, %s)%s", words.plain(w.start), words.plain(w.stop), from and to and ("  %s to %s"):format(from, to) or "")
  if p.time.kind == "processing" then
    s:say("  complete when the clock reaches %s", words.moment(w.stop, unit))
  elseif w.complete_at then
    s:say("  complete when a record with time %s or later has come%s", words.moment(w.complete_at, unit),
      p.watermark.source and ", from every source" or "")
    if p.lateness_us > 0 then s:say("  gone when one with time %s or later has", words.moment(w.gone_at, unit)) end
  else
    s:say("  complete when a mark reaches %s", words.moment(w.stop, unit))
  end
end

--- The same in words.
function M.section(p, time, record, found)
  local s = section.new(("A record%s%s"):format(time and " at " .. time or "", record and " " .. record or ""))
  if found.reason then
    s:say("It is rejected as %s%s.", found.reason, found.message and ": " .. found.message or "")
    if found.reason == "script_error" and not record then
      s:say "The script's functions read its fields: --record '{...}' gives them."
    end
    return s
  end
  if found.filtered then
    s:say("It is filtered: the function at %s is not true for it.", section.place(p.where))
    return s
  end
  if p.key.kind ~= "none" and record then s:say("Its key is %s.", (value.json(found.key):gsub("\n$", ""))) end
  local n = #found.windows
  s:say(n == 1 and "It belongs to one window:" or ("It belongs to %s windows:"):format(section.number(n)))
  for i, w in ipairs(found.windows) do
    if n <= WINDOWS_MAX or i <= WINDOWS_MAX / 2 or i > n - WINDOWS_MAX / 2 then
      say_window(s, p, w)
    elseif i == WINDOWS_MAX / 2 + 1 then
      s:say("...")
    end
  end
  if p.window.kind == "session" then
    s:say("That is the record's own: it grows by every record of its key that comes less than %s after its last one.",
      section.duration(p, p.window.gap_us))
  elseif p.window.merge then
    s:say "That is the record's own: windows of its key that overlap become one."
  end
  return s
end

return M
