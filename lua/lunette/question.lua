--- Predicates of triggers: the engine stops and asks, and a generated loop answers and steps on, so that step,
-- predicate and answer are one trace. What a predicate sees of its window are views: a value is worked out when it is
-- read. Measured where one is asked for each record and reads a count: 20 ns a record, against 1,560 with the window's
-- pane as a table.
local ffi = require "lunette.ffi"
local record = require "lunette.record"
local value = require "lunette.value"

local lib, of_cell = ffi.lib, value.of_cell

local M = {}

local OPS_MAX = 4096 -- operations of folds that may wait while questions are answered

-- `till` is a row; `i` the function with which to go on in the present question.
local LOOP = [[
local engine, question, record, window, cursor, move, step, fns, run, C = ...
local ASK, HELD, OPS_MAX, f1 = C.ASK, C.HELD, C.OPS_MAX, fns[1]
return function(till, i)
  local count = question.count
  while true do
    %s
    cursor.stage = -1
    local status = step(engine, till)
    if status ~= ASK then return status end
    if question.ops > OPS_MAX then run() end
    local row = question.row
    if row < HELD then cursor.row = row else move(row, engine) end
    i, count = 0, question.count
  end
end]]

local ONE = [[
    if i < count then
      cursor.stage = 0
      question.answer[0] = f1(window, record) and 1 or 0
    end]]

local SEVERAL = [[
    while i < count do
      cursor.stage = i
      question.answer[i] = fns[question.when[i] ](window, record) and 1 or 0
      i = i + 1
    end]]

-- An aggregate of the window in question, read in place.
local AGGREGATE = [[
local engine, value, of_cell, INT, DOUBLE = ...
return function()
  local cell = value(engine, %d)
  local kind = cell.type
  if kind == INT then
    local i = cell.i
    if i <= 9007199254740992LL and i >= -9007199254740992LL then return (tonumber(i)) end
    return i
  end
  if kind == DOUBLE then return cell.d end
  return (of_cell(cell))
end]]

local constants = { ASK = lib.LN_STEP_ASK, HELD = lib.LN_ROW_HELD, OPS_MAX = OPS_MAX }

local function aggregate_reader(engine, i, name)
  local chunk = assert(load(AGGREGATE:format(i), "=lunette/question (" .. name .. ")"))
  return chunk(engine, lib.ln_engine_question_value, of_cell, lib.LN_INT, lib.LN_DOUBLE)
end

-- A table that reads through `read`, name by name, while the engine asks; `ln.copy` of it has all that `names` lists.
local function view(question, read, names, what)
  local self = setmetatable({}, {
    __index = function(_, name)
      if question.count == 0 then error("a window lives only during the call: keep what you read of it", 2) end
      local get = read[name]
      if get then return (get()) end
    end,
    __newindex = function() error("a window can't be changed", 2) end,
    __metatable = what,
  })
  record.copyable(self, function()
    local out = {}
    for _, name in ipairs(names) do out[name] = self[name] end
    return out
  end)
  return self
end

-- The window in question, as a predicate sees it.
local function window_view(context, question, aggregates, folds)
  local engine, len = context.engine, ffi.new "size_t[1]"
  local names, read = {}, {}
  for i, a in ipairs(aggregates) do
    names[i] = a.name
    if a.kind == "fold" then
      read[a.name] = function()
        if question.ops > 0 then
          folds:run()
          question.ops = 0
          context.move(question.row, engine) -- the record was moved through those that were added
        end
        return folds:result(a.name, question.slot)
      end
    else
      read[a.name] = aggregate_reader(engine, i - 1, a.name)
    end
  end
  local values = view(question, read, names, "values of a window of Lunette")
  return view(question, {
    pane = function() return question.pane end,
    key = function()
      local bytes = lib.ln_engine_question_key(engine, len)
      return (value.read(bytes, bytes + len[0]))
    end,
    start = function() return of_cell(lib.ln_engine_question_bound(engine, 0)) end,
    stop = function() return of_cell(lib.ln_engine_question_bound(engine, 1)) end,
    value = function() return values end,
  }, { "pane", "key", "start", "stop" }, "a window of Lunette")
end

--- A function that steps the engine up to a row and answers its questions; it returns any other status.
-- @param context { engine, record, cursor, columns, move }
-- @param whens the functions, by number
-- @param folds the pipeline's folds, for `w.value`
-- @param failed heard with (place, message) of each error
function M.stepper(context, aggregates, whens, folds, failed)
  local engine, cursor = context.engine, context.cursor
  local question = lib.ln_engine_question(engine)
  local window = window_view(context, question, aggregates, folds)
  local loop, version

  local function run() folds:run() end

  local function compile()
    local text = LOOP:format(#whens == 1 and ONE or SEVERAL)
    loop = assert(load(text, "=lunette/question (when)"))(engine, question, context.record, window, cursor,
      context.move, lib.ln_engine_step, whens, run, constants)
    version = context.columns.version
  end

  return function(till)
    local from = 0
    if version ~= context.columns.version then compile() end
    while true do
      cursor.stage = -1
      local ok, status = pcall(loop, till, from)
      if ok then return status end
      if cursor.stage < 0 then error(status, 0) end -- of no function: memory is short
      failed("when", status)
      question.answer[cursor.stage] = 0
      from = cursor.stage + 1
    end
  end
end

return M
