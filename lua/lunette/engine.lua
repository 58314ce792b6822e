--- `lunette.open(pipeline, options)`: an engine inside of the Lua state that runs it, on the host's own loop and clock.
-- The host gives it bytes or tables, steps it, and takes panes. Nothing here waits, prints or reads a clock that
-- windows go by; several engines share nothing but code.
--
-- What the program does wrong (a call with the wrong arguments, or after `close`) is raised. What depends on data comes
-- back as nil and a message.
local account = require "lunette.account"
local changes = require "lunette.engine.change"
local driver = require "lunette.driver"
local ffi = require "lunette.ffi"
local inputs = require "lunette.engine.input"
local node = require "lunette.node"
local opening = require "lunette.engine.opening"
local value = require "lunette.value"

local lib = ffi.lib
local OUTPUT_MAX = 65536 -- bytes of panes or of rejects past which they must be taken first
local INPUT_BYTES = 16777216
local ROWS = 256 -- records of a batch: a step ends between two
local CARRY_US, CARRY_MIN_US = 10000, 250 -- for a piece of state in a reload, without a budget and with one
local DISPOSED = 2048 -- windows of a pipeline that has been reloaded are freed at once
local NEEDS_INPUT, BROKEN_INPUT = driver.NEEDS_INPUT, driver.BROKEN_INPUT
local INT64_MAX, TIME_MAX = 9223372036854775807LL, 2 ^ 53

---@alias lunette.Status
---| "idle" all that was given has been worked off
---| "more" the budget is spent: step again
---| "drain" panes or rejects must be taken first, then step again
---| "broken" what was pushed is no msgpack, or too large: it is a malformed record up to its end; the engine goes on
---| "reloaded" the other pipeline has taken over: step again
---| "kept" it could not, and the old one goes on: step again

---@class lunette.Stats
---@field pipelines lunette.Account[]
---@field script_errors integer
---@field input_bytes integer bytes that wait to be read

---@class lunette.Engine
local Engine = {}
Engine.__index = Engine
Engine.__name = "lunette.Engine"

local M = {}

-- ---- opening

--- Opens a pipeline, or a list of them. Since 0.1.
---@param pipeline string|lunette.Script|lunette.Pipeline|lunette.Pipeline[] a path, a script, or what it would return
---@param options? lunette.Options
---@return lunette.Engine? engine nil where the script is not right
---@return string? message its problems, one a line
---@return string[]? problems the same as a list
function M.open(pipeline, options)
  options = opening.check_options(options)
  local pipelines, message, problems = opening.load(pipeline, options.params, node.caller())
  if not pipelines then return nil, message, problems end
  local ok, app = pcall(driver.open, pipelines, {
    out_format = options.format == "json" and lib.LN_FORMAT_JSON or lib.LN_FORMAT_MSGPACK,
    rejects = options.rejects, clock = options.clock_field, rows_max = ROWS, seed = options.seed,
  })
  if not ok then return opening.refused { tostring(app) } end
  local made, input = pcall(inputs.new, app, opening.limits(pipelines), options.input_bytes or INPUT_BYTES)
  if not made then
    app:close()
    return opening.refused { tostring(input) }
  end
  local by_clock
  for _, p in ipairs(pipelines) do by_clock = by_clock or p.time.kind == "processing" end
  return setmetatable({
    app = app, input = input, format = options.format or "msgpack", by_clock = by_clock,
    ticked = false, -- whether the clock has moved since the last input was worked off
    ended = false, finished = false, failed = nil,
    len = ffi.new "size_t[1]",
    panes_taken = { stream = lib.LN_STREAM_PANES }, rejects_taken = { stream = lib.LN_STREAM_REJECTS },
  }, Engine)
end

-- ---- what goes in

local function usable(self, name)
  if not self.app then error(name .. ": the engine is closed", 3) end
end

local function takes_input(self)
  if self.failed then return nil, self.failed end
  if self.ended then return nil, "the engine has been told that its input has ended" end
  return true
end

local FULL = "the engine is full: step it, then push again"
local TOO_MANY = "these are more bytes than options.input_bytes: push them in pieces"

--- Gives the engine bytes of a stream of records, split anywhere: msgpack or JSON lines, whichever the first byte
-- shows. They are copied. Since 0.1.
---@param bytes string|ffi.cdata* a string, or an address with a length
---@param len? integer of what an address points to
---@return true? ok nil where they were not taken
---@return string? message
function Engine:push(bytes, len)
  usable(self, "push")
  local kind = type(bytes)
  if kind == "string" then len = #bytes end
  if kind ~= "string" and not (kind == "cdata" and type(len) == "number" and len >= 0) then
    error("push takes a string, or an address and a length", 2)
  end
  local ok, message = takes_input(self)
  if not ok then return nil, message end
  if self.input:push(bytes, len) then return true end
  return nil, len > self.input.bytes_max and TOO_MANY or FULL
end

--- Gives the engine one record or several, as tables. They are copied. What a record holds may be texts, numbers,
-- booleans, int64 and uint64, null (`lunette.null`, or a NULL of the host's), and tables of these. Since 0.1.
---@param record table
---@param ... table more records
---@return true? ok nil where a record was not taken, and none behind it
---@return string? message
---@return integer? taken how many records were, before that one
function Engine:add(record, ...)
  usable(self, "add")
  if type(record) ~= "table" then error("add takes a record, which is a table", 2) end
  local ok, message = takes_input(self)
  if not ok then return nil, message, 0 end
  ok, message = self.input:add(record)
  if not ok then return nil, message == "full" and FULL or message, 0 end
  if select("#", ...) == 0 then return true end
  for i = 1, select("#", ...) do
    local taken
    ok, message, taken = self:add((select(i, ...)))
    if not ok then return nil, message, i + taken end
  end
  return true
end

local function time_of(us, name)
  if type(us) == "number" and us >= -TIME_MAX and us <= TIME_MAX then return us end
  if type(us) == "cdata" and ffi.whole_kind(us) == "int64" then return us end
  if type(us) == "cdata" and ffi.whole_kind(us) == "uint64" and us <= 2ULL ^ 53 then return (tonumber(us)) end
  error(name .. " takes a time in microseconds: a number below 2^53, or an int64", 3)
end

--- Promises that no record before this time still comes, behind all that has been given so far: the watermark rises to
-- it, if that is ahead. In microseconds, or in ticks where time is counted in ticks. Since 0.1.
---@param watermark_us number|ffi.cdata*
---@return true? ok
---@return string? message
function Engine:advance(watermark_us)
  usable(self, "advance")
  watermark_us = time_of(watermark_us, "advance")
  if self.by_clock then error("advance: the watermark of time = \"processing\" is the clock", 2) end
  if watermark_us == INT64_MAX then error("advance: to complete every window use finish", 2) end
  local ok, message = takes_input(self)
  if not ok then return nil, message end
  self.input:promise(watermark_us)
  return true
end

-- ---- working

-- Goes on with a stream that can't be read: what is left of it is one malformed row, and the next bytes begin anew.
-- Returns a message when that row has been worked off.
local function mend(self, now_us)
  local app, reader = self.app, self.input:reader()
  local message = ffi.string(lib.ln_reader_error(reader))
  if lib.ln_reader_rest(reader, app.batches) ~= lib.LN_OK then error("out of memory for the input", 0) end
  if app.batches[0].rows > 0 then
    app:take_batch(reader, now_us)
    return nil
  end
  self.input:restart()
  return message
end

-- What comes when a reader has nothing more: the next piece of the input, then the clock. True when all is done.
local function go_further(self, now_us)
  local app = self.app
  local kind, promised = self.input:feed(app.short)
  if kind == inputs.PROMISE then
    app:advance(promised)
  elseif not kind and not self.ticked then
    self.ticked = true
    return app:tick(now_us)
  elseif not kind then
    return true
  end
end

local function must_drain(self)
  local output = self.app.output
  if lib.ln_output_size(output) > OUTPUT_MAX then return true end
  lib.ln_output_take(output, lib.LN_STREAM_REJECTS, self.len)
  return self.len[0] > OUTPUT_MAX
end

-- A piece of a reload. Returns a status where it has ended.
local function go_on_changing(self, till_us)
  local change = self.change
  local left_us = till_us and math.max((till_us - ffi.clock_us()) / 2, CARRY_MIN_US) or CARRY_US
  local done, message = change:step(left_us)
  if done == false then return nil end
  self.change = nil
  if not done then
    if not self.app.reader then error(message, 0) end -- it has handed over already
    return "kept", message
  end
  self.app, self.retired = change.fresh, self.app
  self.input:limit(opening.limits(change.pipelines))
  return "reloaded"
end

local function free_retired(self)
  if not self.retired or not self.retired:dispose(DISPOSED) then return end
  self.retired:close()
  self.retired = nil
end

-- One piece of work after the other, until there is none, the budget is spent or the output is full.
local function work(self, now_us, till_us)
  local app = self.app
  free_retired(self)
  while true do
    if must_drain(self) then return "drain" end
    if self.change then
      local ended, why = go_on_changing(self, till_us)
      if ended then return ended, why end
    end
    local status = app:feed_one(self.input:reader(), now_us)
    if status == BROKEN_INPUT then
      local message = mend(self, now_us)
      if message then return "broken", message end
    elseif status == NEEDS_INPUT and go_further(self, now_us) and not self.change then
      return "idle"
    end
    if till_us and ffi.clock_us() >= till_us then return "more" end
  end
end

-- Runs `body` within a budget. After an error the engine is good for closing only.
local function guarded(self, body, now_us, budget_us, name)
  usable(self, name)
  now_us = time_of(now_us, name)
  if budget_us ~= nil and not (type(budget_us) == "number" and budget_us >= 0) then
    error(name .. " takes a budget in microseconds", 3)
  end
  if self.failed then return nil, self.failed end
  self.app:shorten(budget_us ~= nil)
  local ok, status, message = pcall(body, self, now_us, budget_us and ffi.clock_us() + budget_us)
  if ok then return status, message end
  self.failed = tostring(status)
  return nil, self.failed
end

local function step(self, now_us, till_us)
  if not self.ended then self.ticked = false end
  return work(self, now_us, till_us)
end

--- Works on what has been given, and moves the clock. Without a budget it ends when all is worked off, or panes must be
-- taken; with one, soon after it is spent. Since 0.1.
---@param now_us number|ffi.cdata* the host's clock in microseconds (in ticks, where time is), which should not go back
---@param budget_us? number
---@return lunette.Status? status nil where the engine has failed, and is good for closing only
---@return string? message
function Engine:step(now_us, budget_us) return guarded(self, step, now_us, budget_us, "step") end

local function give_up_change(self)
  if self.change then self.change:cancel() end
  self.change = nil
end

local function finish(self, now_us, till_us)
  if self.finished then return "idle" end
  give_up_change(self)
  self.ticked = true
  local status, message = work(self, now_us, till_us)
  if status ~= "idle" then return status, message end
  if not self.ended then
    self.ended = true
    self.input:finish()
    return finish(self, now_us, till_us)
  end
  while self.app:finish() ~= NEEDS_INPUT do
    if must_drain(self) then return "drain" end
    if till_us and ffi.clock_us() >= till_us then return "more" end
  end
  self.finished = true
  return "idle"
end

--- Begins to put another pipeline in the place of the one that runs; steps go on with it, beside the records, until one
-- returns "reloaded" or "kept". Windows, watermark and pane numbers go on. What may change is told in lua/hosts.md.
-- Since 0.1.
---@param pipeline string|lunette.Script|lunette.Pipeline|lunette.Pipeline[]
---@param params? table<string, string|number|boolean> what `ln.param` of a script returns
---@return true? ok nil where the script is not right or changes too much; the old one goes on
---@return string? message
---@return string[]? problems
function Engine:reload(pipeline, params)
  usable(self, "reload")
  if params ~= nil and type(params) ~= "table" then error("reload: the parameters are no table", 2) end
  local ok, message = takes_input(self)
  if not ok then return opening.refused { message } end
  if self.change then return opening.refused { "a reload is under way: step until it has ended" } end
  local pipelines, problems
  pipelines, message, problems = opening.load(pipeline, params, node.caller())
  if not pipelines then return nil, message, problems end
  self.change, problems = changes.begin(self.app, pipelines)
  if not self.change then return opening.refused(problems) end
  return true
end

--- Ends the input and completes every window. To be called again, panes taken in between, until it says "idle".
-- Since 0.1.
---@param now_us number|ffi.cdata*
---@param budget_us? number
---@return lunette.Status? status
---@return string? message
function Engine:finish(now_us, budget_us) return guarded(self, finish, now_us, budget_us, "finish") end

-- ---- what comes out

local function take(self, stream)
  local output = self.app.output
  local bytes = lib.ln_output_take(output, stream, self.len)
  if self.len[0] == 0 then return "" end
  local text = ffi.string(bytes, self.len[0])
  lib.ln_output_clear(output, stream)
  return text
end

-- The next value of a stream: from the bytes that were taken last, else from new ones.
local function next_value(self, taken)
  if not taken.bytes then
    if not self.app then return nil end
    local bytes = take(self, taken.stream)
    if bytes == "" then return nil end
    taken.bytes, taken.at, taken.stop = bytes, value.bytes(bytes), value.bytes(bytes) + #bytes
  end
  if self.app then value.in_unit(self.app.parts[1].unit) end
  local out, after = value.read(taken.at, taken.stop)
  taken.at = after
  if after >= taken.stop then taken.bytes, taken.at, taken.stop = nil, nil, nil end
  return out
end

local function next_pane(self) return next_value(self, self.panes_taken) end
local function next_reject(self) return next_value(self, self.rejects_taken) end

local function values_of(self, iterator, name)
  usable(self, name)
  if self.format ~= "msgpack" then
    error(("%s: the engine was opened with format = %q: use take"):format(name, self.format), 3)
  end
  return iterator, self
end

-- The bytes of a stream, with what an iterator has left.
local function bytes_of(self, taken, name)
  usable(self, name)
  local rest = taken.bytes and ffi.string(taken.at, taken.stop - taken.at) or ""
  taken.bytes, taken.at, taken.stop = nil, nil, nil
  return rest .. take(self, taken.stream)
end

--- Iterates over the panes that have come, each a table of its own. A pane is taken when the loop comes to it: those
-- behind a `break` are there the next time. Whole numbers beyond 2^53 are int64 or uint64, a null is nil, and
-- `lunette.null` inside of an array. Since 0.1.
---@return fun(engine: lunette.Engine): lunette.Pane?
---@return lunette.Engine
function Engine:panes() return values_of(self, next_pane, "panes") end

--- The panes that have come, as bytes in the engine's format: "" where there are none. Since 0.1.
---@return string
function Engine:take() return bytes_of(self, self.panes_taken, "take") end

---@class lunette.Reject
---@field reason string
---@field record any
---@field message? string of a script error
---@field pipeline? string

--- Iterates over the rejected records, where options.rejects was set. Since 0.1.
---@return fun(engine: lunette.Engine): lunette.Reject?
---@return lunette.Engine
function Engine:rejects() return values_of(self, next_reject, "rejects") end

--- The rejected records as bytes. Since 0.1.
---@return string
function Engine:take_rejects() return bytes_of(self, self.rejects_taken, "take_rejects") end

--- The account of every pipeline. Since 0.1.
---@return lunette.Stats
function Engine:stats()
  usable(self, "stats")
  local app, pipelines = self.app, {}
  for i = 1, #app.parts do pipelines[i] = account.of(app, i) end
  return { pipelines = pipelines, script_errors = app.script_errors, input_bytes = self.input:waiting() }
end

--- What a person should know of, each once and on one line: errors in a script's functions, limits that were met.
-- Since 0.1.
---@return string[] lines empty where there is nothing new
function Engine:notices()
  usable(self, "notices")
  return self.app:notices() or {}
end

--- Frees everything now; an engine that is collected frees it too. Since 0.1.
function Engine:close()
  if not self.app then return end
  give_up_change(self)
  if self.retired then self.retired:close() end
  self.app:close()
  self.app, self.retired, self.input, self.panes_taken.bytes, self.rejects_taken.bytes = nil, nil, nil, nil, nil
end

return M
