--- A checked pipeline as the numbers that the engine works with (`ln_plan`). Fields become columns of the reader;
-- functions become columns that the driver computes, each with the pass in which it is called.
local ffi = require "lunette.ffi"
local struct = require "lunette.struct"

local lib = ffi.lib

local M = {}

local WINDOWS = { grid = lib.LN_WINDOW_GRID, session = lib.LN_WINDOW_SESSION, global = lib.LN_WINDOW_GLOBAL,
  assigner = lib.LN_WINDOW_ASSIGNER }
local PANES = { accumulating = lib.LN_ACCUMULATING, discarding = lib.LN_DISCARDING, retracting = lib.LN_RETRACTING }
local UNITS = { s = lib.LN_UNIT_S, ms = lib.LN_UNIT_MS, us = lib.LN_UNIT_US, ns = lib.LN_UNIT_NS,
  tick = lib.LN_UNIT_TICK, rfc3339 = lib.LN_UNIT_RFC3339 }
local AGGREGATES = { count = lib.LN_COUNT, sum = lib.LN_SUM, min = lib.LN_MIN, max = lib.LN_MAX, avg = lib.LN_AVG,
  variance = lib.LN_VARIANCE, stddev = lib.LN_STDDEV, first = lib.LN_FIRST, last = lib.LN_LAST,
  distinct = lib.LN_DISTINCT, fold = lib.LN_FOLD, distinct_approx = lib.LN_DISTINCT_APPROX,
  quantile = lib.LN_QUANTILE, top = lib.LN_TOP, min_by = lib.LN_MIN_BY, max_by = lib.LN_MAX_BY,
  collect = lib.LN_COLLECT, histogram = lib.LN_HISTOGRAM, rate = lib.LN_RATE, ratio = lib.LN_RATIO }
local TRIGGERS = { never = lib.LN_NEVER, each = lib.LN_EACH, after_count = lib.LN_AFTER_COUNT, every = lib.LN_EVERY,
  after_delay = lib.LN_AFTER_DELAY, after_idle = lib.LN_AFTER_IDLE, when = lib.LN_WHEN, any = lib.LN_ANY,
  all = lib.LN_ALL, sequence = lib.LN_SEQUENCE, once = lib.LN_ONCE }

-- Appends a trigger's nodes, parts before the whole; returns the number of the last. Predicates are numbered in
-- `whens`.
local function add_node(trigger, t, whens)
  local children = 0ULL
  for _, part in ipairs(t.list or { t.trigger }) do
    children = children + ffi.new("uint64_t", 2 ^ add_node(trigger, part, whens))
  end
  local at = trigger.count
  local n = trigger.node[at]
  trigger.count = at + 1
  n.kind, n.children = TRIGGERS[t.kind], children
  n.n = t.n or t.period_us or t.delay_us or 0
  n.event_time, n.if_new = t.time == "event" and 1 or 0, t.if_new and 1 or 0
  if t.kind == "when" then
    whens[#whens + 1] = t.fn
    n.n = #whens
  elseif t.kind == "sequence" then
    n.step_slot = trigger.sequences
    trigger.sequences = trigger.sequences + 1
  end
  return at
end

-- A trigger that is never ready is no program at all: nothing is asked.
local function add_trigger(to, t, whens)
  if t.kind ~= "never" then add_node(to, t, whens) end
end

local function lower_trigger(plan, trigger, whens)
  if trigger.root == "plain" then
    plan.at_watermark = 0
    add_trigger(plan.early, trigger.tree, whens)
  else
    plan.at_watermark = 1
    add_trigger(plan.early, trigger.early, whens)
    add_trigger(plan.late, trigger.late, whens)
  end
end

local function lower_window(plan, w)
  plan.window = WINDOWS[w.kind]
  plan.merging = ((w.kind == "session" and not w.max_us) or w.merge) and 1 or 0
  plan.size_us, plan.hop_us, plan.offset_us = w.size_us or 0, w.hop_us or 0, w.offset_us or 0
  plan.gap_us, plan.max_us = w.gap_us or w.longest_us or 0, w.max_us or -1
end

local function gcd(a, b)
  while b ~= 0 do a, b = b, a % b end
  return a
end

-- Does the trigger look at nothing but what predicates answer?
local function is_when(t)
  if t.kind ~= "any" then return t.kind == "when" end
  for _, part in ipairs(t.list) do
    if not is_when(part) then return false end
  end
  return true
end

-- Why a window that shares its time with others has a cell of its own, or nil. Those that do not overlap may keep folds
-- and be asked by predicates in their slice.
local function why_overlapping(p)
  if p.trigger.early.kind ~= "never" then return "its early trigger looks at each window" end
  for _, a in ipairs(p.aggregates) do
    if a.kind == "fold" then return "the fold " .. a.name .. " keeps a state for each window" end
  end
end

-- The most slices to a hop: past that a window is put together from too many, and a cell for each is better.
local SLICES_MAX = 16

--- The width of the slices that a pipeline's windows are made of, or nil and why each window has a cell of its own.
function M.slices(p)
  local w = p.window
  if w.kind ~= "grid" then return nil, "its windows lie on no grid" end
  if w.hop_us > w.size_us then return nil, "there are gaps between its windows" end
  if p.trigger.root ~= "at_watermark" then return nil, "its trigger looks at each window" end
  if p.lateness_us > 0 then return nil, "late records change windows that have been shown" end
  if p.fill then return nil, "empty windows are filled in" end
  if w.hop_us < w.size_us then
    local why = why_overlapping(p)
    if why then return nil, why end
  elseif p.trigger.early.kind ~= "never" then
    if not is_when(p.trigger.early) then return nil, "its early trigger looks at each window" end
    if p.panes == "retracting" then return nil, "its early panes may be withdrawn" end
  end
  local width = gcd(w.size_us, w.hop_us)
  if w.hop_us / width > SLICES_MAX then return nil, "size and hop have too small a common divisor" end
  return width
end

-- A stream without a word for so long no longer holds the watermark, where the script says nothing of it.
local STREAM_IDLE_US = 30e6

local function lower_watermark(plan, w, column, streams)
  local idle_us = w.idle_us or (streams and not w.source and STREAM_IDLE_US) or -1
  plan.source_column = w.source and column(w.source) or -1
  plan.delay_us = w.delay_us == math.huge and 9223372036854775807LL or w.delay_us
  plan.sources_min = w.sources
  plan.idle_us, plan.advance_on_idle = idle_us, w.on_idle == "advance" and 1 or 0
  plan.max_ahead_us = w.max_ahead_us or -1
end

-- Asks the reader for fields by their paths. All pipelines ask in one go, so that computed columns come behind them.
local function columns_of(reader, view)
  return function(path)
    local column = lib.ln_reader_column(reader, path, #path)
    if column < 0 then error("more than 256 fields are read: read fewer", 0) end
    view.columns.know(path, column)
    return column
  end
end

--- Asks the reader for every field that the pipeline names.
function M.columns(p, reader, view, clock)
  local column = columns_of(reader, view)
  if p.time.kind == "field" then column(p.time.path) end
  if clock then column(clock) end
  if p.watermark.source then column(p.watermark.source) end
  for _, path in ipairs(p.key.paths or { p.key.path }) do column(path) end
  for _, a in ipairs(p.aggregates) do
    if a.path then column(a.path) end
    if a.by and a.by.path then column(a.by.path) end
  end
end

-- Numbers the pipeline's functions: each gets a computed column and stands in the pass that calls it. One that several
-- aggregates were given is called once for a record.
local function computer(first)
  local computed, columns = { count = 0 }, {}
  return computed, function(pass, fn)
    if pass == "field" and columns[fn] then return columns[fn] end
    local column = first + computed.count
    computed[#computed + 1] = { pass = pass, fn = fn, column = column, index = computed.count }
    computed.count = computed.count + 1
    if pass == "field" then columns[fn] = column end
    return column
  end
end

local function lower_key(plan, key, column, compute)
  local paths = key.paths or { key.path }
  plan.key_composite = key.kind == "composite" and 1 or 0
  if key.kind == "function" then
    plan.key_columns = 1
    plan.key_column[0] = compute("key", key.fn)
    return
  end
  plan.key_columns = #paths
  for i, path in ipairs(paths) do plan.key_column[i - 1] = column(path) end
end

-- Whether a function's result is true, as a boolean.
local function truth(fn)
  return function(record) return fn(record) and true or false end
end

-- What an aggregate is told beside its columns. `anchors` keeps arrays that it points to.
local function lower_parameters(to, a, anchors)
  local numbers = a.shares or a.bounds
  if numbers then
    local array = ffi.new("double[?]", #numbers, numbers)
    anchors[#anchors + 1] = array
    to.number, to.numbers = array, #numbers
  end
  to.n = a.precision or a.k or (a.list or a.refuse) and 1 or 0
  to.limit, to.accuracy, to.per_us = a.limit or a.capacity or 0, a.accuracy or 0, a.per_us or 0
end

local function lower_aggregates(plan, p, column, compute)
  local list = ffi.new("ln_aggregate[?]", #p.aggregates + 1)
  local folds, anchors = {}, { list }
  local function column_of(a) return a.path and column(a.path) or a.fn and compute("field", a.fn) or -1 end
  for i, a in ipairs(p.aggregates) do
    local to = list[i - 1]
    to.kind, to.name, to.name_len = AGGREGATES[a.kind], a.name, #a.name
    if a.kind == "fold" then
      folds[#folds + 1] = a
      to.column = -1
      local made = a.state and struct.of(a.state)
      if made then to.n, to.limit = made.bytes, made.number end
    else
      to.column = a.kind == "ratio" and compute("field", truth(a.fn)) or column_of(a)
    end
    if a.by then to.has_by, to.by_column = 1, column_of(a.by) end
    if a.kind ~= "fold" then lower_parameters(to, a, anchors) end
  end
  plan.aggregate, plan.aggregates = list, #p.aggregates
  return anchors, folds
end

--- A unit as the engine numbers it.
function M.unit(name) return UNITS[name] end

local function lower_limits(plan, limits)
  for name, n in pairs(limits) do plan.limits[name] = n end
end

--- The engine of a pipeline, and what the driver needs beside it: functions by pass, folds, predicates.
-- `first` is the number of columns that all pipelines together asked the reader for.
function M.engine(p, reader, view, sink, options, first)
  local column = columns_of(reader, view)
  local plan = ffi.new "ln_plan"
  local computed, compute = computer(first)
  local whens = {}
  plan.name, plan.name_len, plan.show_name = p.name, #p.name, options.show_name and 1 or 0
  plan.unit = UNITS[p.time.unit]
  plan.time_kind = p.time.kind == "processing" and lib.LN_TIME_PROCESSING or lib.LN_TIME_COLUMN
  plan.time_column = p.time.kind == "field" and column(p.time.path)
    or p.time.kind == "function" and compute("time", p.time.fn) or -1
  plan.clock_column = options.clock and column(options.clock) or -1
  plan.mark_column = p.watermark.mark and compute("mark", p.watermark.mark) or -1
  lower_watermark(plan, p.watermark, column, options.streams)
  lower_key(plan, p.key, column, compute)
  lower_window(plan, p.window)
  lower_trigger(plan, p.trigger, whens)
  local anchors, folds = lower_aggregates(plan, p, column, compute)
  plan.slice_us = options.slices ~= false and not options.celled and M.slices(p) or 0
  plan.lateness_us, plan.panes = p.lateness_us, PANES[p.panes]
  plan.closing_always, plan.fill = p.closing_always and 1 or 0, p.fill or 0
  plan.staged = (#folds > 0 or p.emit or options.kept) and 1 or 0
  plan.computed_first, plan.computed_columns = first, computed.count
  lower_limits(plan, p.limits)
  plan.hash_seed = options.seed or 0
  local engine = ffi.new_engine(plan, sink)
  plan.aggregate = anchors and nil -- the lists must live until here, since the plan pointed to them
  return { engine = engine, computed = computed, folds = folds, whens = whens, sliced = plan.slice_us > 0,
    staged = plan.staged == 1 }
end

return M
