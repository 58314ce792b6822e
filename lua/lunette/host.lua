--- What a C host calls: one set of pipelines for a Lua state, with plain numbers and texts in and out.
local account = require "lunette.account"
local checkpoints = require "lunette.host.checkpoint"
local driver = require "lunette.driver"
local ffi = require "lunette.ffi"
local jit_report = require "lunette.jit_report"
local loader = require "lunette.loader"
local reloads = require "lunette.host.reload"
local value = require "lunette.value"

local lib = ffi.lib
local FAILED = 3

local M = {}
local app

--- Set by the host: judges an address that a script names.
-- @param text string
-- @param sink boolean
-- @return a problem or nil; true where it is a socket
function M.judge_address() error("the host has not set it", 0) end

local rejects_taken

-- Adds what is wrong with the addresses that a script names; the list of the good ones, the sink (or "") first. The
-- second result tells whether records come in several streams.
local function read_addresses(addresses, problems)
  local texts, streams = { "" }, false
  for _, address in ipairs(addresses) do
    local problem, is_socket = M.judge_address(address.text, address.sink)
    if problem then
      problems[#problems + 1] = ("%s: %s: %s"):format(address.place, address.text, problem)
    elseif address.sink then
      texts[1] = address.text
    else
      texts[#texts + 1] = address.text
      streams = streams or is_socket
    end
  end
  return texts, streams
end

-- Where all input is one source, nobody could wait for a second one.
local function check_sources(pipelines, problems)
  for _, p in ipairs(pipelines) do
    if p.watermark.sources > 1 and not p.watermark.source then
      problems[#problems + 1] = ("%s: watermark.sources: without source all input is one source: add source = "
        .. '"the field that tells them apart", or read from sockets, where each connection is one'):format(p.origin)
    end
  end
end

-- `streams` as the host says: above 0, below 0, or 0 where the script decides.
local function load(path, params, streams, files)
  local pipelines, problems, addresses = loader.load(path, { params = params, texts = files })
  problems = problems or {}
  local texts, named = read_addresses(addresses or {}, problems)
  if streams == 0 then streams = named and 1 or -1 end
  if pipelines and streams and streams < 0 then check_sources(pipelines, problems) end
  if #problems > 0 then return nil, problems end
  return pipelines, texts, streams == 1
end

-- An app that runs from now on, with the options that it was opened with.
local function begin(opened, options)
  app, rejects_taken = opened, options.rejects
  app.own_options = options
end

--- File number i that the last load has read: its path and its text; nil behind the last.
function M.file(i)
  local file = loader.files()[i]
  if file then return file.path, file.text end
end

--- Checks a script without running it. `files` has texts that stand for files, by path. One that names no source may be
-- run on sockets.
-- @return true, or nil and a list of problems
function M.check(path, params, files)
  local pipelines, problems = load(path, params, nil, files)
  if pipelines then return true end
  return nil, problems
end

--- Loads a script and opens its pipelines.
-- @return true, the addresses in memory of the reader and the output, and a list of texts: the sink that the script
-- names (or ""), and its sources; or nil and a list of problems
function M.open(path, params, options, files)
  options = options or {}
  local pipelines, texts, streams = load(path, params, options.streams or 0, files)
  if not pipelines then return nil, texts end
  options.streams = streams
  local own = {}
  for name, x in pairs(options) do own[name] = x end
  local ok, opened = pcall(driver.open, pipelines, options)
  if not ok then return nil, { ("%s: %s"):format(path, opened) } end
  begin(opened, own)
  return true, ffi.address(app.reader), ffi.address(app.output), texts
end

local LOOKS = {
  windows = function(look, args)
    local open, wrong = look.windows(app, args)
    if not open then return nil, wrong end
    return value.json(open)
  end,
  why = function(look, args) return look.why(app, args) end,
  metrics = function() return require("lunette.metrics").text(app) end,
}

--- Looks into what runs: "windows" gives JSON, "why" words, "metrics" the text format of Prometheus.
-- @return a text; or nil and what is wrong with what was asked
function M.look(what, args)
  local o = {}
  for _, arg in ipairs(args) do o[arg[1]] = arg[2] end
  if not LOOKS[what] then return nil, what .. ": there is windows, why and metrics" end
  return LOOKS[what](require "lunette.look", o)
end

local TOOLS = "lunette.tools"

--- Runs a tool: a module that takes a list of { name, value } and returns an exit status.
function M.tool(name, args) return require(TOOLS .. "." .. name)(args) end

local function guarded(status_of, ...)
  local ok, status, more = pcall(status_of, app, ...)
  if ok then return status, more end
  return FAILED, status
end

-- What did not count: a line at the end says so, where nobody takes the rejects themselves. Without it a stream of
-- nothing but rejects would leave no pane and no word.
local function tell_what_did_not_count()
  for i = 1, #app.parts do
    local s = app:stats_of(i)
    local parts, total = {}, 0
    for reason = 0, lib.LN_REASONS - 1 do
      local n = tonumber(s.rejected[reason])
      total = total + n
      if n > 0 then parts[#parts + 1] = ("%s %.0f"):format(ffi.string(lib.ln_reason_name(reason)), n) end
    end
    if total > 0 then
      app.news[#app.news + 1] = ("%s: %.0f of %.0f records rejected: %s; --rejects FILE keeps them"):format(
        app.parts[i].name, total, tonumber(s.read), table.concat(parts, ", "))
    end
    if s.values_skipped > 0 then
      app.news[#app.news + 1] = ("%s: values skipped that an aggregate could not take, such as a text in ln.sum: %.0f")
        :format(app.parts[i].name, tonumber(s.values_skipped))
    end
  end
end

--- @return a status of the driver, or 3 and a message
function M.pump(now_us) return guarded(app.pump, now_us) end

--- @return the same
function M.finish()
  local status, message = guarded(app.finish)
  if status == driver.NEEDS_INPUT then M.conclude() end
  return status, message
end

--- Says what a person should know at the end.
function M.conclude()
  app:conclude()
  if not rejects_taken then tell_what_did_not_count() end
end

--- @param source the number by which the watermark tells the stream apart; nil: its own
-- @return the number of the new stream and the address of its reader
function M.open_stream(messages, source)
  local number, reader = app:open_stream(messages, source)
  return number, ffi.address(reader)
end

--- @return the same as pump
function M.pump_stream(now_us, number) return guarded(app.pump_stream, number, now_us) end
function M.close_stream(_, number) return guarded(app.close_stream, number) end

function M.clock_set(by_us) app:clock_set(by_us) end
function M.unheard(by_us) app:unheard(by_us) end

function M.notices() return app:notices() end

-- ---- hosts that step

local MORE = 5 -- of lunette.h

--- Steps are short from now on, and so much output may wait.
function M.step_shortly(output_max)
  app.short, app.output_max = true, output_max
  return 0
end

--- How much is done at once: rows of a batch, work of an engine's step.
function M.pace(rows, work)
  lib.ln_reader_rows(app.reader, rows)
  for _, part in ipairs(app.parts) do lib.ln_engine_pace(part.engine, work, app.output_max) end
  return 0
end

-- One piece of work: goes on with what is under way, and takes a batch of a stream. Where that is broken, what is left
-- of it is one malformed record.
local function feed(_, number, now_us)
  local reader = app.streams[number].reader
  local status, rows = app:feed_one(reader, now_us), 0
  if status == driver.BROKEN_INPUT then
    if lib.ln_reader_rest(reader, app.batches) ~= lib.LN_OK then error("out of memory for the input", 0) end
    rows = app.batches[0].rows
    if rows > 0 then app:take_batch(reader, now_us) end
  elseif status == driver.MORE_INPUT then
    rows = app.batches[0].rows
    status = app:go_on() and MORE or driver.DRAIN
  end
  return status, rows
end

--- @return a status, or 3 and a message; and how many rows a batch has that was taken
function M.feed(number, now_us) return guarded(feed, number, now_us) end

--- @return the same as pump
function M.tick(now_us)
  return guarded(function() return app:tick(now_us) and driver.NEEDS_INPUT or driver.DRAIN end)
end
function M.advance(watermark_us) return guarded(app.advance, watermark_us) end

--- The clock from which on a call without input may do something; math.huge: never.
function M.due()
  local due = math.huge
  for _, part in ipairs(app.parts) do
    local at = lib.ln_engine_due(part.engine)
    if at ~= 9223372036854775807LL then due = math.min(due, tonumber(at)) end
  end
  return 0, due
end

--- The address of the counters of pipeline i (from 0), which are valid until the next call; 0 where there is none.
function M.counters(i) return 0, app.parts[i + 1] and ffi.address(app:stats_of(i + 1)) or 0 end

--- What the pipelines do, in words.
function M.explain()
  local explain = require "lunette.explain"
  local pipelines = {}
  for i, part in ipairs(app.parts) do pipelines[i] = part.pipeline end
  return table.concat(explain.lines(explain.of(pipelines, {}, {})), "\n")
end

local function count(n) return tonumber(n) end

--- The account of every pipeline, as a line of JSON without its line end.
function M.stats()
  local pipelines = value.array {}
  for i = 1, #app.parts do pipelines[i] = account.of(app, i) end
  local aborted, not_compiled = jit_report.counts()
  local line = value.json { pipelines = pipelines, script_errors = app.script_errors, traces_aborted = aborted,
    not_compiled = not_compiled }
  return (line:gsub("\n$", ""))
end

--- What LuaJIT could not compile, as lines.
M.jit_report = jit_report.text

-- W of the first pipeline as a text: UTC where times are moments.
local function watermark_text(us)
  if us == -9223372036854775807LL - 1 then return "none yet" end
  if us == 9223372036854775807LL then return "the end" end
  local p = app.parts[1]
  if p.ticks then return ("tick %.0f"):format(count(us)) end
  local seconds = math.floor(count(us) / 1e6)
  local ok, text = pcall(os.date, "!%Y-%m-%dT%H:%M:%SZ", seconds)
  return ok and text or ("%.0f s"):format(seconds)
end

--- For a line of progress.
-- @return watermark as a text, open windows, late records and refusals, records read
function M.progress()
  local windows, late, watermark = 0, 0, nil
  local read = 0
  for i = 1, #app.parts do
    local s = app:stats_of(i)
    windows = windows + count(s.windows)
    late = late + count(s.rejected[lib.LN_REASON_LATE]) + count(s.refusals_late)
    if i == 1 then
      read = count(s.read)
      watermark = watermark_text(s.watermark_us)
    end
  end
  return watermark, windows, late, read
end

checkpoints(M, { app = function() return app end })
reloads(M, { load = load, begin = begin, guarded = guarded, app = function() return app end })

return M
