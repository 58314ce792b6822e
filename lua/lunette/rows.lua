--- The loop over a batch that calls a pipeline's functions. It is generated for each pipeline, as source text with the
-- functions as its upvalues, so that LuaJIT compiles them into one trace. An error in a function ends the loop; it is
-- noted for its row, and the loop goes on with the next one.
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local lib = ffi.lib

local M = {}

local HEAD = [[
local engine, record, move, at, to_column, fns, lib, C, window = ...
local TAKE, FILTERED, ERROR, ERROR_FIELD, ERROR_TIME = C.TAKE, C.FILTERED, C.ERROR, C.ERROR_FIELD, C.ERROR_TIME
%s
return function(frame, from)
  local state, time_us, computed = frame.row, frame.time_us, frame.computed
  for row = from, frame.rows - 1 do
    if state[row] == TAKE then
      at.row = row
      move(row)
%s
    end
  end
end]]

local constants = { TAKE = lib.LN_ROW_TAKE, FILTERED = lib.LN_ROW_FILTERED, ERROR = lib.LN_ROW_ERROR,
  ERROR_FIELD = lib.LN_ROW_ERROR_FIELD, ERROR_TIME = lib.LN_ROW_ERROR_TIME }

-- So many functions are upvalues of the loop; LuaJIT allows 60. The rest are looked up.
local LOCALS_MAX = 40

local function name_of(i) return (i <= LOCALS_MAX and "f%d" or "fns[%d]"):format(i) end

-- A pass: its functions as locals, and the lines that call them.
local function compile(p, name, context, lines, fns)
  local locals = {}
  for i = 1, math.min(#fns, LOCALS_MAX) do locals[i] = ("local f%d = fns[%d]"):format(i, i) end
  local text = HEAD:format(table.concat(locals, "\n"), table.concat(lines, "\n"))
  local chunk = assert(load(text, ("=lunette/rows (%s of %s)"):format(name, p.name)))
  return chunk(context.engine, context.record, context.move, context.at, value.to_column, fns, lib, constants,
    context.window)
end

-- The lines that put function i's result into its column.
local function column_line(i, c, state)
  return ("at.state = %s to_column(engine, computed[%d], %d, row, %s(record))"):format(state, c.index, c.column,
    name_of(i))
end

local function pass_of(p, name, state, context, computed)
  local lines, fns = {}, {}
  for _, c in ipairs(computed) do
    if c.pass == name then
      fns[#fns + 1] = c.fn
      lines[#lines + 1] = column_line(#fns, c, state)
    end
  end
  if #fns > 0 then return compile(p, name, context, lines, fns) end
end

-- `where`, then the key, then the aggregates' functions, then the assigner.
local function main_pass(p, context, computed)
  local lines, fns = {}, {}
  if p.where then
    fns[1] = p.where
    lines[1] = "at.state = ERROR\nif not f1(record) then state[row] = FILTERED else"
  end
  for _, pass in ipairs { "key", "field" } do
    for _, c in ipairs(computed) do
      if c.pass == pass then
        fns[#fns + 1] = c.fn
        lines[#lines + 1] = column_line(#fns, c, pass == "field" and "ERROR_FIELD" or "ERROR")
      end
    end
  end
  if p.window.kind == "assigner" then
    fns[#fns + 1] = p.window.fn
    lines[#lines + 1] = ("at.state = ERROR_FIELD window(row, %s(lib.ln_time_number(time_us[row], %d), record))")
      :format(name_of(#fns), context.unit)
  end
  if #fns == 0 then return end
  if p.where then lines[#lines + 1] = "end" end
  return compile(p, "main", context, lines, fns)
end

-- Takes an assigner's bounds to the engine: pairs start < stop; where windows merge, exactly one.
local function window_taker(p, engine)
  return function(row, ...)
    local n = select("#", ...)
    if n % 2 ~= 0 then error("an assigner returns pairs start, stop; this one returned an odd number of values", 0) end
    if p.window.merge and n ~= 2 then
      error(("a merging assigner returns one pair start, stop; this one returned %d values"):format(n), 0)
    end
    for i = 1, n, 2 do
      local start, stop = select(i, ...)
      if type(start) ~= "number" or type(stop) ~= "number" then
        error(("an assigner returns numbers; this one returned a %s and a %s"):format(type(start), type(stop)), 0)
      end
      if lib.ln_engine_window(engine, row, start, stop) ~= 0 then
        error(("an assigner's window [%s, %s) has start >= stop, or is out of range%s"):format(start, stop,
          p.window.merge and ", or is longer than `longest`" or ""), 0)
      end
    end
  end
end

--- The passes of a pipeline, each nil where it has no function to call: `time`, `mark`, `main`.
function M.passes(p, context, computed)
  context.at = { row = 0, state = 0 }
  context.window = window_taker(p, context.engine)
  return {
    at = context.at,
    time = pass_of(p, "time", "ERROR_TIME", context, computed),
    mark = pass_of(p, "mark", "TAKE", context, computed),
    main = main_pass(p, context, computed),
  }
end

--- Runs a pass over the frame. `failed(row, message)` hears of each row whose function raised an error.
function M.run(passes, pass, frame, failed)
  local at, from = passes.at, 0
  while true do
    local ok, message = pcall(pass, frame, from)
    if ok then return end
    frame.row[at.row] = at.state
    failed(at.row, message)
    from = at.row + 1
  end
end

return M
