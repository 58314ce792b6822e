--- What a C host calls: one set of pipelines for a Lua state, with plain numbers and texts in and out.
local account = require "lunette.account"
local driver = require "lunette.driver"
local ffi = require "lunette.ffi"
local jit_report = require "lunette.jit_report"
local loader = require "lunette.loader"
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
local function load(path, params, streams)
  local pipelines, problems, addresses = loader.load(path, { params = params })
  problems = problems or {}
  local texts, named = read_addresses(addresses or {}, problems)
  if streams == 0 then streams = named and 1 or -1 end
  if pipelines and streams and streams < 0 then check_sources(pipelines, problems) end
  if #problems > 0 then return nil, problems end
  return pipelines, texts, streams == 1
end

--- Checks a script without running it. One that names no source may be run on sockets.
-- @return true, or nil and a list of problems
function M.check(path, params)
  local pipelines, problems = load(path, params, nil)
  if pipelines then return true end
  return nil, problems
end

--- Loads a script and opens its pipelines.
-- @return true, the addresses in memory of the reader and the output, and a list of texts: the sink that the script
-- names (or ""), and its sources; or nil and a list of problems
function M.open(path, params, options)
  options = options or {}
  local pipelines, texts, streams = load(path, params, options.streams or 0)
  if not pipelines then return nil, texts end
  options.streams = streams
  local ok, opened = pcall(driver.open, pipelines, options)
  if not ok then return nil, { ("%s: %s"):format(path, opened) } end
  app, rejects_taken = opened, options.rejects
  return true, ffi.address(app.reader), ffi.address(app.output), texts
end

local LOOKS = {
  windows = function(look, args) return value.json(look.windows(app, args)) end,
  why = function(look, args) return look.why(app, args) end,
}

--- Looks into what runs: "windows" gives JSON, "why" words.
-- @return a text; or nil and what is wrong with what was asked
function M.look(what, args)
  local o = {}
  for _, arg in ipairs(args) do o[arg[1]] = arg[2] end
  if not LOOKS[what] then return nil, what .. ": there is windows and why" end
  return LOOKS[what](require "lunette.look", o)
end

-- ---- reload: this state is the old one, or the new one

--- What a new state must know of this one, as a text.
function M.about()
  return plain.encode { describe = reload.describe(app:pipelines()), shape = reload.shape(app),
    output = ffi.address(app.output), streams = app.options.streams and 1 or -1, options = app.options.kept_options }
end

--- Loads a script and opens its pipelines beside those of another state, of which `about` tells.
-- @return true and the texts of addresses, or nil and a list of problems
function M.open_beside(path, params, about)
  about = plain.decode(about)
  local pipelines, texts, streams = load(path, params, about.streams)
  if not pipelines then return nil, texts end
  local problems = reload.compare(about.describe, reload.describe(pipelines))
  if #problems > 0 then return nil, problems end
  local options = about.options
  options.kept_options = about.options
  options.output, options.streams = ffi.at("ln_output *", about.output), streams
  options.celled, options.kept = about.shape.celled, about.shape.kept
  local ok, opened = pcall(driver.open, pipelines, options)
  if not ok then return nil, { ("%s: %s"):format(path, opened) } end
  app, rejects_taken = opened, options.rejects
  carried = { loader = reload.loader(app), forgets = reload.forgotten(about.describe, reload.describe(pipelines)) }
  for _, note in ipairs(reload.notes(about.describe, reload.describe(pipelines))) do app.news[#app.news + 1] = note end
  return true, texts
end

-- The old side.
function M.carry_begin()
  local ok, out = pcall(reload.out, app)
  if not ok then return FAILED, out end
  carried = out
  return 0
end

--- @return a status (0: the last bytes), the address of the bytes and their length; or 3 and a message
function M.carry_out(budget_us)
  local ok, status, at, len = pcall(function()
    carried.saver:clear()
    if not app:go_on() then return driver.DRAIN, 0, 0 end
    local last = carried:piece(budget_us)
    local bytes, n = carried.saver:taken()
    return last and driver.NEEDS_INPUT or driver.DRAIN, ffi.address(bytes), n
  end)
  if ok then return status, at, len end
  return FAILED, status
end

function M.carry_end()
  if carried then carried:close() end
  carried = nil
end

--- The objects of this state, which are the other's now, as a text.
function M.hand_over()
  M.carry_end()
  local out = app:hand_over()
  out.reader, out.output = ffi.address(out.reader), ffi.address(out.output)
  for _, stream in pairs(out.streams) do stream.reader = ffi.address(stream.reader) end
  return plain.encode(out)
end

--- Frees some of what this state holds, which has handed over; whether all is free that would take long.
function M.dispose()
  if not app:dispose(2048) then return false end
  for _, part in ipairs(app.parts) do part.work = nil end
  return collectgarbage("step", 100)
end

-- The new side.
function M.carry_in(address, len)
  local ok, message = pcall(function()
    if carried.loader:take(ffi.at("const uint8_t *", address), len) ~= len then error("bytes that are broken", 0) end
  end)
  if ok then return 0 end
  return FAILED, message
end

--- All has come: the last check of what was loaded, after which nothing can be in the way.
function M.carry_done()
  local ok, message = pcall(carried.loader.finish, carried.loader, function(part) return carried.forgets[part.name] end)
  if ok then return 0 end
  return FAILED, message
end

function M.take_over(text)
  local from = plain.decode(text)
  from.reader, from.output = ffi.at("ln_reader *", from.reader), ffi.at("ln_output *", from.output)
  for _, stream in pairs(from.streams) do stream.reader = ffi.at("ln_reader *", stream.reader) end
  carried = nil
  return guarded(app.take_over, from)
end

local TOOLS = "lunette.tools"

--- Runs a tool: a module that takes a list of { name, value } and returns an exit status.
function M.tool(name, args) return require(TOOLS .. "." .. name)(args) end

local function guarded(status_of, ...)
  local ok, status = pcall(status_of, app, ...)
  if ok then return status end
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

--- @return the number of the new stream and the address of its reader
function M.open_stream(messages)
  local number, reader = app:open_stream(messages)
  return number, ffi.address(reader)
end

--- @return the same as pump
function M.pump_stream(now_us, number) return guarded(app.pump_stream, number, now_us) end
function M.close_stream(_, number) return guarded(app.close_stream, number) end

function M.clock_set(by_us) app:clock_set(by_us) end
function M.unheard(by_us) app:unheard(by_us) end

function M.notices() return app:notices() end

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

return M
