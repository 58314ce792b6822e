--- The driver: pulls batches from the reader, calls the pipelines' functions over each in generated loops, and steps
-- the engines until the batch is worked off. Lua is entered once per batch; nothing in the engine calls Lua.
local ffi = require "lunette.ffi"
local folds = require "lunette.folds"
local lower = require "lunette.lower"
local question = require "lunette.question"
local record = require "lunette.record"
local rows = require "lunette.rows"
local succession = require "lunette.driver.succession"
local value = require "lunette.value"

local lib = ffi.lib
local DONE, MORE = lib.LN_STEP_DONE, lib.LN_STEP_MORE
local OK = lib.LN_OK
local ALL_ROWS = 4294967295
local OUTPUT_MAX = 65536 -- bytes of panes after which the host should take them
local WINDOWS_MAX, STAGED_MAX = 512, 64 -- of a short step, and where each pane passes through Lua
local LINE_MAX = 500 -- bytes of such a message
local NOTICES_MAX = 100 -- distinct messages of script errors that are told

--- What `pump` and `finish` return; MORE only `feed_one`. Since 0.1.
local NEEDS_INPUT, DRAIN, BROKEN_INPUT, MORE_INPUT = 0, 1, 2, 3

local App = {}
App.__index = App

local M = { NEEDS_INPUT = NEEDS_INPUT, DRAIN = DRAIN, BROKEN_INPUT = BROKEN_INPUT, MORE_INPUT = MORE_INPUT }

-- ---- errors of scripts

-- What was raised, as a text; also where it has none, or making it raises again.
local function text_of(message)
  if type(message) ~= "string" then
    local made, ok = getmetatable(message), false
    if type(made) == "table" and made.__tostring then ok, message = pcall(tostring, message) end
    if not ok or type(message) ~= "string" then return "an error that is no text" end
  end
  return message
end

-- The same for a terminal: one line, without control characters, of bounded length.
local function line_of(message)
  local text = text_of(message):gsub("%c+", " ")
  return #text <= LINE_MAX and text or text:sub(1, LINE_MAX) .. "..."
end

-- A function that counts an error of a pipeline's script, and tells it once.
local function listener(app, pipeline)
  return function(place, message)
    app.script_errors = app.script_errors + 1
    local text = ("%s: %s: %s"):format(pipeline.name, place, line_of(message))
    if app.told[text] or app.told_count >= NOTICES_MAX then return end
    app.told[text], app.told_count = true, app.told_count + 1
    app.news[#app.news + 1] = text
    if app.told_count == NOTICES_MAX then
      app.news[#app.news + 1] = "more distinct script errors are counted, and not told"
    end
  end
end

-- A seed that nobody outside can know, for the hashes of keys. What is written does not depend on it.
local function entropy()
  local file = io.open("/dev/urandom", "rb")
  local bytes = file and file:read(6) or tostring({}):sub(-6)
  if file then file:close() end
  local seed = 0
  for i = 1, #bytes do seed = seed * 256 + bytes:byte(i) end
  return seed
end

-- ---- one pipeline

local function new_part(app, p, options, first)
  local view = app.view
  local part = lower.engine(p, app.reader, view, lib.ln_output_sink(app.output), options, first)
  local context = { engine = part.engine, output = app.output, record = view.record, move = view.move,
    cursor = view.cursor, columns = view.columns, unit = p.time.unit and lower.unit(p.time.unit) }
  local failed = listener(app, p)
  if options.plain then lib.ln_engine_plain(part.engine, type(options.plain) == "number" and options.plain or 0) end
  if options.traced and lib.ln_engine_trace(part.engine) ~= OK then error("out of memory for a trace", 0) end
  part.name, part.pipeline = p.name, p
  part.ticks = p.time.unit == "tick"
  part.pipeline = p
  part.unit = p.time.unit or "ms"
  if options.traced and part.staged then
    part.emitted = require("lunette.trace").emitted(app.output, options.show_name and p.name, options.trace_keys)
  end
  for _, a in ipairs(p.aggregates) do part.refuses = part.refuses or a.refuse end
  part.passes = rows.passes(p, context, part.computed)
  part.rejected = function(row, message)
    failed("record", message)
    local text = text_of(message)
    lib.ln_engine_message(part.engine, row, text, #text)
  end
  part.unmarked = function(_, message) failed("mark", message) end
  part.work = folds.new(p, part.folds, context, failed)
  part.step = #part.whens > 0 and question.stepper(context, p.aggregates, part.whens, part.work, failed) or nil
  return part
end

local function raise(part)
  error(("%s: %s"):format(part.name, ffi.string(lib.ln_engine_error(part.engine))), 0)
end

-- The batch as this pipeline sees it: what functions say of each row.
local function begin(app, part, batch, now_us)
  local engine, passes = part.engine, part.passes
  value.in_unit(part.unit)
  if lib.ln_engine_begin(engine, batch, now_us) ~= OK then raise(part) end
  local frame = lib.ln_engine_frame(engine)
  if passes.time then rows.run(passes, passes.time, frame, part.rejected) end
  lib.ln_engine_judge(engine)
  if passes.mark then rows.run(passes, passes.mark, frame, part.unmarked) end
  if passes.main then rows.run(passes, passes.main, frame, part.rejected) end
  app.view.leave()
end

-- Steps until row `till` is reached; false where the output should be taken first.
local function step(app, part, till)
  value.in_unit(part.unit)
  while true do
    local status
    if part.step then
      status = part.step(till)
      app.view.leave()
    else
      status = lib.ln_engine_step(part.engine, till)
    end
    if part.staged then
      if part.emitted then part.emitted.mark() end
      part.work:run()
      if part.emitted then part.emitted.tell() end
      app.view.leave()
      if lib.ln_output_status(app.output) ~= OK then error("out of memory for the output", 0) end
    end
    if status == DONE then return true end
    if status ~= MORE then raise(part) end
    if not part.staged or part.step or app.short then return false end
    if lib.ln_output_size(app.output) > app.output_max then return false end
  end
end

-- ---- the whole

--- Opens checked pipelines over one input and one output.
function M.open(pipelines, options)
  local limits = ffi.new "ln_limits"
  for _, p in ipairs(pipelines) do
    for _, name in ipairs { "record_bytes", "nesting", "elements" } do
      if p.limits[name] > tonumber(limits[name]) then limits[name] = p.limits[name] end
    end
  end
  local app = setmetatable({
    reader = ffi.new_reader(options.in_format or 0, limits, options.rows_max or 0),
    output = options.output or ffi.new_output(options.out_format or 0),
    borrows = options.output ~= nil, -- the output is another's
    options = options,
    parts = {},
    batches = ffi.new "const ln_batch *[1]",
    stats = ffi.new "ln_stats",
    at_row = 0, at_part = 1, -- where the present batch, or a round of all engines, stands
    batch = nil,
    round = nil,
    finishing = false,
    streams = {}, streams_opened = 0,
    short = false, -- whether steps are short, which takes more of them: for a host that looks at a clock in between
    output_max = OUTPUT_MAX,
    set_us = 0, unheard_us = 0, -- of the clock, not yet told to the engines
    script_errors = 0, told = {}, told_count = 0, news = {},
  }, App)
  lib.ln_output_want_rejects(app.output, options.rejects and 1 or 0)
  local seed = options.seed or entropy()
  app.view = record.view(app.reader, { seed = seed, texts_max = options.texts_max })
  for _, p in ipairs(pipelines) do lower.columns(p, app.reader, app.view, options.clock) end
  local first = lib.ln_reader_columns(app.reader)
  local traced = (options.trace_bytes or 0) > 0
  if traced and not options.output then
    require("lunette.trace").begin(app.output, pipelines, options)
  elseif traced then -- by the output of another app, whose place it may take
    app.announce = function() require("lunette.trace").announce(app.output, pipelines, options) end
  end
  local slices = options.slices
  if traced then slices = false end -- each window is seen
  function app.make(p, celled, kept)
    return new_part(app, p, { show_name = #pipelines > 1, clock = options.clock, seed = seed, slices = slices,
      plain = options.plain, streams = options.streams, traced = traced, trace_keys = options.trace_keys,
      celled = celled, kept = kept }, first)
  end
  for i, p in ipairs(pipelines) do
    local celled, kept = options.celled or {}, options.kept or {}
    app.parts[i] = app.make(p, celled[p.name], kept[p.name])
  end
  return app
end

-- Works on the present batch; false where the output should be taken first. One pipeline goes through it at once;
-- several go row by row, so that what they write does not depend on where batches end.
function App:work()
  local parts = self.parts
  if #parts == 1 then return step(self, parts[1], ALL_ROWS) end
  while self.at_row < self.batch.rows do
    while self.at_part <= #parts do
      local till = self.at_row + 1 == self.batch.rows and ALL_ROWS or self.at_row + 1
      if not step(self, parts[self.at_part], till) then return false end
      self.at_part = self.at_part + 1
    end
    self.at_row, self.at_part = self.at_row + 1, 1
  end
  return true
end

-- What the host has told of its clock concerns what happens from now on.
function App:adjust()
  if self.set_us == 0 and self.unheard_us == 0 then return end
  for _, part in ipairs(self.parts) do
    lib.ln_engine_clock_set(part.engine, self.set_us)
    lib.ln_engine_unheard(part.engine, self.unheard_us)
  end
  self.set_us, self.unheard_us = 0, 0
end

function App:take_batch(reader, now_us)
  local batch = self.batches[0]
  if lib.ln_output_format_used(self.output) == 0 then
    lib.ln_output_format(self.output, lib.ln_reader_format(reader))
  end
  self:adjust()
  self.view.enter(batch)
  self.batch, self.at_row, self.at_part = batch, 0, 1
  for _, part in ipairs(self.parts) do begin(self, part, batch, now_us) end
end

-- What is done with all engines, one after the other, each stepped until it is worked off.
local function clock(engine, now_us) return lib.ln_engine_clock(engine, now_us) end
local function close(engine, number) return lib.ln_engine_close(engine, number) end
local function finish(engine) return lib.ln_engine_finish(engine) end

-- Where time is the clock's there is nothing to move.
local function advance(engine, watermark_us)
  local code = lib.ln_engine_advance(engine, watermark_us)
  return code == lib.LN_EINVALID and OK or code
end

-- Goes on with such a round; false where the output should be taken first.
function App:go_round()
  while self.at_part <= #self.parts do
    local part = self.parts[self.at_part]
    if not self.started then
      if self.round(part.engine, self.round_about) ~= OK then raise(part) end
      self.started = true
    end
    if not step(self, part, ALL_ROWS) then return false end
    self.started, self.at_part = false, self.at_part + 1
  end
  self.round = nil
  return true
end

function App:begin_round(round, about)
  self:adjust()
  self.round, self.round_about, self.started, self.at_part = round, about, false, 1
  return self:go_round()
end

-- Goes on with what is under way; false where the output should be taken first.
function App:go_on()
  if self.round then return self:go_round() end
  if not self.batch then return true end
  if not self:work() then return false end
  self.batch = nil
  return lib.ln_output_size(self.output) <= self.output_max
end

--- Goes on with what is under way, and takes one batch that a reader holds.
function App:feed_one(reader, now_us)
  if not self:go_on() then return DRAIN end
  if lib.ln_reader_next(reader, self.batches) ~= OK then return BROKEN_INPUT end
  if self.batches[0].rows == 0 then return NEEDS_INPUT end
  self:take_batch(reader, now_us)
  return MORE_INPUT
end

-- Works on what a reader holds.
function App:feed(reader, now_us)
  local status
  repeat status = self:feed_one(reader, now_us) until status ~= MORE_INPUT
  return status
end

--- Works on what the reader holds. `now_us` is the host's clock, in microseconds; when the reader is empty it moves.
function App:pump(now_us)
  local ticked = self.round ~= nil
  local status = self:feed(self.reader, now_us)
  if status ~= NEEDS_INPUT or ticked then return status end
  return self:tick(now_us) and NEEDS_INPUT or DRAIN
end

--- Whether steps are short, which takes more of them: for a host that looks at a clock in between.
function App:shorten(short)
  if self.short == short then return end
  self.short = short
  for _, part in ipairs(self.parts) do
    lib.ln_engine_work(part.engine, short and (part.staged and STAGED_MAX or WINDOWS_MAX) or 0)
  end
end

--- Moves the clock, where nothing is under way; false where the output should be taken first.
function App:tick(now_us) return self:begin_round(clock, now_us) end

--- Opens a stream beside others: its number, and its reader. Of one that is made of whole messages, such as datagrams,
-- what is broken in a message is a malformed record and no more. `source` is the number by which the watermark tells it
-- apart; default its own.
function App:open_stream(messages, source)
  local number = self.streams_opened + 1
  local reader = ffi.owned(lib.ln_reader_beside(self.reader, source or number), lib.ln_reader_delete)
  self.streams[number], self.streams_opened = { reader = reader, messages = messages }, number
  return number, reader
end

--- Works on what that stream's reader holds.
function App:pump_stream(number, now_us)
  local stream = self.streams[number]
  local status = self:feed(stream.reader, now_us)
  if status ~= BROKEN_INPUT or not stream.messages then return status end
  if lib.ln_reader_rest(stream.reader, self.batches) ~= OK then error("out of memory for the input", 0) end
  if self.batches[0].rows == 0 then return status end
  self:take_batch(stream.reader, now_us)
  return self:go_on() and status or DRAIN
end

--- The stream has ended. Until this has returned NEEDS_INPUT, it is called again.
function App:close_stream(number)
  if not self:go_on() then return DRAIN end
  local stream = self.streams[number]
  if not stream then return NEEDS_INPUT end
  self.streams[number] = nil
  ffi.free(stream.reader, lib.ln_reader_delete)
  return self:begin_round(close, number) and NEEDS_INPUT or DRAIN
end

--- The host's clock is set forward by so much; for so long no stream was read.
function App:clock_set(by_us) self.set_us = self.set_us + by_us end
function App:unheard(by_us) self.unheard_us = self.unheard_us + by_us end

--- The watermark rises to that time, where it is not there yet. Until this has returned NEEDS_INPUT it is called again.
function App:advance(watermark_us)
  if not self:go_on() then return DRAIN end
  return self:begin_round(advance, watermark_us) and NEEDS_INPUT or DRAIN
end

--- Completes every window: the input has ended.
function App:finish()
  if not self:go_on() then return DRAIN end
  if self.finishing then return NEEDS_INPUT end
  self.finishing = true
  if lib.ln_output_format_used(self.output) == 0 then lib.ln_output_format(self.output, lib.LN_FORMAT_JSON) end
  return self:begin_round(finish) and NEEDS_INPUT or DRAIN
end

-- Tells, once for each pipeline, that a distinct went past its limit where the script wants an error then.
local function tell_refusals(app)
  for i, part in ipairs(app.parts) do
    if part.refuses and app:stats_of(i).distinct_refused > 0 then
      part.refuses = nil
      app.news[#app.news + 1] = part.name .. ": ln.distinct: more different values than limits.distinct_values in a "
        .. "window, whose value is null: raise the limit, or leave out past_limit for an estimate"
    end
  end
end

--- Nothing more happens: what is traced is told its end.
function App:conclude()
  for _, part in ipairs(self.parts) do lib.ln_engine_trace_end(part.engine) end
end

--- New one-line notices of script errors, each distinct one told once; nil where there are none.
function App:notices()
  tell_refusals(self)
  if #self.news == 0 then return nil end
  local news = self.news
  self.news = {}
  return news
end

--- The counters of pipeline i: an `ln_stats`, valid until the next call.
function App:stats_of(i)
  lib.ln_engine_stats(self.parts[i].engine, self.stats)
  return self.stats
end

--- What is wrong inside of an engine, or nil. For tests.
function App:verify()
  for _, part in ipairs(self.parts) do
    local wrong = lib.ln_engine_verify(part.engine)
    if wrong ~= nil then return ffi.string(wrong) end
  end
end

--- Frees everything now.
function App:close()
  for _, part in ipairs(self.parts) do ffi.free(part.engine, lib.ln_engine_delete) end
  for _, stream in pairs(self.streams) do ffi.free(stream.reader, lib.ln_reader_delete) end
  if self.reader then ffi.free(self.reader, lib.ln_reader_delete) end
  if self.output and not self.borrows then ffi.free(self.output, lib.ln_output_delete) end
  self.parts, self.streams, self.reader, self.output = {}, {}, nil, nil
end

succession(App)

return M
