--- The loop over a batch that calls a pipeline's functions. It is generated for each pipeline, as source text with the
-- functions as its upvalues, so that LuaJIT compiles them into one trace. An error in a function ends the loop; it is
-- noted for its row, and the loop goes on with the next one.
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local lib = ffi.lib

local M = {}

local HEAD = [[
local engine, record, cursor, texts, keep, to_column, fns, lib, C, window = ...
local TAKE, FILTERED, ERROR, ERROR_FIELD, ERROR_TIME = C.TAKE, C.FILTERED, C.ERROR, C.ERROR_FIELD, C.ERROR_TIME
local DOUBLE, TEXT = C.DOUBLE, C.TEXT
%s
return function(frame, from)
  local state, time_us, computed = frame.row, frame.time_us, frame.computed
%s
  for row = from, frame.rows - 1 do
    if state[row] == TAKE then
      cursor.row, cursor.column = row, 0
%s
    end
  end
end]]

-- Function i's result x goes into its column. A number is stored as it is. A text that the function has just read is
-- the record's own, in place; any other is the Lua string's own bytes, kept until the next batch: neither is copied.
-- Measured with a text key and a number: 20 ns a record less than through value.to_column.
local STORE = [[
      cursor.stage = $STATE
      do
        local x = $F(record)
        if type(x) == "number" then
          local cell = $OUT[row]
          cell.type, cell.d = DOUBLE, x
        elseif type(x) == "string" then
          local cell, text = $OUT[row], texts[cursor.column]
          if text and text.strings[cursor.id] == x then
            local read = text.cells[row]
            cell.type, cell.len, cell.at = TEXT, read.len, read.at
          else
            $KEEP[row + 1] = x
            cell.type, cell.len, cell.at = TEXT, #x, x
          end
        else
          to_column(engine, $OUT, $COLUMN, row, x)
        end
      end]]

local constants = { TAKE = lib.LN_ROW_TAKE, FILTERED = lib.LN_ROW_FILTERED, ERROR = lib.LN_ROW_ERROR,
  ERROR_FIELD = lib.LN_ROW_ERROR_FIELD, ERROR_TIME = lib.LN_ROW_ERROR_TIME, DOUBLE = lib.LN_DOUBLE,
  TEXT = lib.LN_TEXT }

-- So many functions and tables of kept texts are upvalues of the loop; LuaJIT allows 60. The rest are looked up.
local LOCALS_MAX = 20

local function name_of(near, far, i) return (i <= LOCALS_MAX and near .. "%d" or far .. "[%d]"):format(i) end

-- A pass under construction: its lines, its functions, and the computed columns that it fills.
local function new_pass(name) return { name = name, lines = {}, outs = {}, fns = {}, keep = {}, columns = {} } end

local function add_line(pass, fmt, ...) pass.lines[#pass.lines + 1] = fmt:format(...) end

local function add_function(pass, fn)
  pass.fns[#pass.fns + 1] = fn
  return name_of("f", "fns", #pass.fns)
end

local function add_column(pass, c, state)
  local near = #pass.fns < LOCALS_MAX
  local fields = { STATE = state, F = add_function(pass, c.fn), COLUMN = c.column,
    OUT = (near and "c%d" or "computed[%d]"):format(c.index), KEEP = name_of("k", "keep", #pass.fns) }
  add_line(pass, "%s", (STORE:gsub("%$(%u+)", fields)))
  if near then pass.outs[#pass.outs + 1] = ("  local c%d = computed[%d]"):format(c.index, c.index) end
  pass.keep[#pass.fns] = {}
  pass.columns[#pass.columns + 1] = c.column
end

-- The loop, with its functions as locals.
local function compile(p, context, pass)
  local locals = {}
  for i = 1, math.min(#pass.fns, LOCALS_MAX) do
    locals[i] = ("local f%d, k%d = fns[%d], keep[%d]"):format(i, i, i, i)
  end
  local text = HEAD:format(table.concat(locals, "\n"), table.concat(pass.outs, "\n"),
    table.concat(pass.lines, "\n"))
  local chunk = assert(load(text, ("=lunette/rows (%s of %s)"):format(pass.name, p.name)))
  pass.loop = chunk(context.engine, context.record, context.cursor, context.columns.texts, pass.keep, value.to_column,
    pass.fns, lib, constants, context.window)
end

local function pass_of(name, state, computed)
  local pass = new_pass(name)
  for _, c in ipairs(computed) do
    if c.pass == name then add_column(pass, c, state) end
  end
  return #pass.fns > 0 and pass or nil
end

-- `where`, then the key, then the aggregates' functions, then the assigner.
local function main_pass(p, context, computed)
  local pass = new_pass "main"
  if p.where then
    add_line(pass, "cursor.stage = ERROR\nif not %s(record) then state[row] = FILTERED else",
      add_function(pass, p.where))
  end
  for _, name in ipairs { "key", "field" } do
    for _, c in ipairs(computed) do
      if c.pass == name then add_column(pass, c, name == "field" and "ERROR_FIELD" or "ERROR") end
    end
  end
  if p.window.kind == "assigner" then
    add_line(pass, "cursor.stage = ERROR_FIELD window(row, %s(lib.ln_time_number(time_us[row], %d), record))",
      add_function(pass, p.window.fn), context.unit)
  end
  if p.where then add_line(pass, "end") end
  return #pass.fns > 0 and pass or nil
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
  context.window = window_taker(p, context.engine)
  return {
    p = p,
    context = context,
    time = pass_of("time", "ERROR_TIME", computed),
    mark = pass_of("mark", "TAKE", computed),
    main = main_pass(p, context, computed),
  }
end

--- Runs a pass over the frame. `failed(row, message)` hears of each row whose function raised an error.
function M.run(passes, pass, frame, failed)
  local context, from = passes.context, 0
  local cursor = context.cursor
  if pass.version ~= context.columns.version then
    -- Made anew with the functions that read columns: what was compiled with the old ones would stay in its way.
    compile(passes.p, context, pass)
    pass.version = context.columns.version
  end
  while true do
    cursor.row = -1
    local ok, message = pcall(pass.loop, frame, from)
    if ok then break end
    if cursor.row < from then error(message, 0) end -- of no row: memory is short
    frame.row[cursor.row] = cursor.stage
    failed(cursor.row, message)
    from = cursor.row + 1
  end
  for i = 1, #pass.columns do lib.ln_engine_computed(context.engine, pass.columns[i]) end
end

return M
