--- The accumulators of a pipeline's folds, which live here under the slots of their windows, and the panes that pass
-- through the script: the engine's operations are worked off in order, so that each pane sees its folds as they were.
-- Additions and panes are worked off by generated loops, of which the folds' functions are a part: see folds.loops.
local ffi = require "lunette.ffi"
local declared = require "lunette.folds.declared"
local loops = require "lunette.folds.loops"
local value = require "lunette.value"

local lib, null = ffi.lib, value.null
local ADD, MERGE, CLEAR = lib.LN_OP_ADD, lib.LN_OP_MERGE, lib.LN_OP_CLEAR
local PANE, WITHDRAW = lib.LN_OP_PANE, lib.LN_OP_WITHDRAW

local RETRACT_PACKED = value.pack "retract" .. value.pack(true)
local BROKEN = loops.BROKEN

local M = { BROKEN = BROKEN }
M.__index = M

--- @param context { engine, output, record, cursor, columns, move }
function M.new(p, folds, context, failed)
  local self = setmetatable({
    emit = p.emit,
    folds = { unpack(folds) },
    declared = {},
    held = {}, -- fold number -> slot -> accumulator
    kept = {}, -- handle -> a pane that may be withdrawn, as msgpack
    context = context,
    failed = failed,
    at = ffi.cursor(), -- row: of the operations; stage: the fold whose function runs, -1 between two
    count = ffi.new "size_t[1]",
    len = ffi.new "size_t[1]",
    number = {}, -- of a fold, by its name
    -- Panes that are kept or reshaped are put together here.
    aside = ffi.new_output(lib.LN_FORMAT_MSGPACK),
  }, M)
  for i, fold in ipairs(folds) do
    self.held[i] = {}
    self.number[fold.name] = i
    if fold.state then self:declare(i, p.aggregates) end
  end
  return self
end

-- Fold i keeps its accumulators in the engine's memory.
function M:declare(i, aggregates)
  for index, a in ipairs(aggregates) do
    if a == self.folds[i] then
      local fold = declared.new(a, index - 1)
      self.folds[i], self.held[i], self.declared[#self.declared + 1] = fold, fold.cell, fold
      return
    end
  end
end

-- Finds what the engine may have moved.
function M:locate()
  for _, fold in ipairs(self.declared) do fold:locate(self.context.engine) end
end

-- The loops, made anew when functions that read columns are: what was compiled with the old ones would be in the way.
function M:prepare()
  if self.version == self.context.columns.version then return end
  self.version = self.context.columns.version
  self.add = loops.add(self.context, self.folds, self.held, self.at)
  self.panes = self.panes or loops.panes(self.folds, self.held, self.at)
end

-- Calls a generated loop from operation `i` on; where it stopped. An error costs the value of one fold: in a pane that
-- goes to `output` null stands in its place, and the loop goes on behind it. One of no fold's function (memory is
-- short) can't be gone on from.
function M:guarded(loop, i, what, output, ...)
  local at, fold = self.at, 1
  while true do
    at.stage = -1
    local ok, result = pcall(loop, i, fold, ...)
    if ok then return result end
    if at.stage < 0 then error(result, 0) end
    i, fold = at.row, at.stage + 1
    self.failed(what .. self.folds[at.stage].name, result)
    if output then lib.ln_output_nil(output) end
  end
end

function M:merge(into, from)
  for i, fold in ipairs(self.folds) do
    if fold.declared then
      local ok, message = fold:merge(into, from)
      if not ok then self.failed("merge of fold " .. fold.name, message) end
    else
      self:merge_held(i, into, from)
    end
  end
end

function M:merge_held(i, into, from)
  local fold, held = self.folds[i], self.held[i]
  local a, b = held[into], held[from]
  held[from] = nil
  if a == BROKEN or b == BROKEN then
    held[into] = BROKEN
  elseif a == nil then
    held[into] = b
  elseif b ~= nil then
    local ok, merged = pcall(fold.merge, a, b)
    if ok and merged == nil then ok, merged = false, "it returned nothing: return the accumulator" end
    if not ok then self.failed("merge of fold " .. fold.name, merged) end
    if not ok then merged = BROKEN end
    held[into] = merged
  end
end

function M:clear(slot)
  for i, fold in ipairs(self.folds) do
    if fold.declared then fold:clear(slot) else self.held[i][slot] = nil end
  end
end

function M:result_declared(fold, slot)
  fold:locate(self.context.engine)
  local ok, x = pcall(fold.result, fold.cell[0] + slot)
  if ok then return x end
  self.failed("result of fold " .. fold.name, x)
end

--- The value of the fold of that name in a slot; nil stands for null.
function M:result(name, slot)
  local i = self.number[name]
  local fold = self.folds[i]
  if fold.declared then return self:result_declared(fold, slot) end
  local acc, ok = self.held[i][slot], true
  if acc == nil then ok, acc = pcall(fold.init) end
  if ok and acc ~= BROKEN and fold.result then ok, acc = pcall(fold.result, acc) end
  if not ok then self.failed("result of fold " .. fold.name, acc) end
  if not ok or acc == BROKEN then return nil end
  return acc
end

-- The nulls of what a script sees of a pane are nil: takes them out of `t`, and notes their names in `into`.
local function take_nulls(t, into)
  local n = 0
  for name, x in pairs(t) do
    if x == null then
      n = n + 1
      into[n] = name
    end
  end
  for i = 1, n do t[into[i]] = nil end
  return n
end

-- Puts back those that still have nothing in their place.
local function put_nulls(t, from, n)
  for i = 1, n do
    if t[from[i]] == nil then t[from[i]] = null end
  end
end

local pane_nulls, value_nulls = {}, {}

local function shape(emit, output, start, stop)
  local pane = value.read_whole(start, stop)
  local values = pane.value
  local n, m = take_nulls(pane, pane_nulls), take_nulls(values, value_nulls)
  local shaped = emit(pane)
  if shaped == nil then return end
  if shaped == pane then put_nulls(pane, pane_nulls, n) end
  if type(shaped) == "table" and rawequal(shaped.value, values) then put_nulls(values, value_nulls, m) end
  value.write(output, shaped)
end

-- A pane leaves, packed: as it is, or as `emit` shapes it.
function M:send(start, len)
  local output, emit = self.context.output, self.emit
  if emit then
    local ok, message = pcall(shape, emit, output, start, start + len)
    if ok then return end
    self.failed("emit", message)
  end
  lib.ln_output_raw(output, start, len)
end

-- The same for one that was kept as a string.
function M:send_string(bytes) self:send(value.bytes(bytes), #bytes) end

-- The pane that was kept, as a withdrawal: with one field more, before its value.
function M:withdraw(handle)
  local bytes = self.kept[handle]
  self.kept[handle] = nil
  local before = value.place_of_value(bytes)
  self:send_string(string.char(bytes:byte() + 1) .. bytes:sub(2, before) .. RETRACT_PACKED .. bytes:sub(before + 1))
end

-- Operation i is a pane that is kept or reshaped: it is put together aside, unless it has no folds.
function M:pane_aside(i, ops, staged, places)
  local op, len = ops[i], self.len
  local start = staged + places[op.at]
  if #self.folds == 0 then
    len[0] = places[op.at + 1] - places[op.at]
  else
    local aside = self.aside
    lib.ln_output_clear(aside, lib.LN_STREAM_PANES)
    self:guarded(self.panes, i, "result of fold ", aside, i + 1, ops, staged, places, op.b, aside)
    start = lib.ln_output_take(aside, lib.LN_STREAM_PANES, len)
    if lib.ln_output_status(aside) ~= lib.LN_OK then error("out of memory", 0) end
  end
  if op.b ~= 0 then self.kept[op.b] = ffi.string(start, len[0]) end
  self:send(start, tonumber(len[0]))
end

--- Works off the operations since the last call.
function M:run()
  local engine = self.context.engine
  local ops = lib.ln_engine_ops(engine, self.count)
  local n = tonumber(self.count[0])
  if n == 0 then return end
  self:prepare()
  self:locate()
  local staged, places = lib.ln_engine_staged(engine, self.len), lib.ln_engine_places(engine)
  local output = self.context.output
  local i = 0
  while i < n do
    local op = ops[i]
    local kind = op.kind
    if kind == ADD then i = self:guarded(self.add, i, "add of fold ", nil, n, ops)
    elseif kind == PANE and (op.b ~= 0 or self.emit) then
      self:pane_aside(i, ops, staged, places)
      i = i + 1
    elseif kind == PANE then
      i = self:guarded(self.panes, i, "result of fold ", output, n, ops, staged, places, 0, output)
    else
      if kind == WITHDRAW then self:withdraw(op.a)
      elseif kind == MERGE then self:merge(op.a, op.b)
      elseif kind == CLEAR then self:clear(op.a)
      else self.kept[op.a] = nil
      end
      i = i + 1
    end
  end
end

return M
