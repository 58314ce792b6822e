--- The accumulators of a pipeline's folds, which live here under the slots of their windows, and the panes that pass
-- through the script: the engine's operations are worked off in order, so that each pane sees its folds as they were.
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local lib, null = ffi.lib, value.null
local ADD, MERGE, CLEAR = lib.LN_OP_ADD, lib.LN_OP_MERGE, lib.LN_OP_CLEAR
local PANE, WITHDRAW = lib.LN_OP_PANE, lib.LN_OP_WITHDRAW

local M = {}
M.__index = M

-- An accumulator whose merge failed: its value is null until the window starts anew.
local BROKEN = {}

--- @param context { engine, output, record, move }
function M.new(p, folds, context, failed)
  local self = setmetatable({
    emit = p.emit,
    folds = folds,
    held = {}, -- fold number -> slot -> accumulator
    kept = {}, -- handle -> a pane that may be withdrawn, as msgpack
    context = context,
    failed = failed,
    at = { op = 0, fold = 1 },
    count = ffi.new "size_t[1]",
    staged_len = ffi.new "size_t[1]",
  }, M)
  for i = 1, #folds do self.held[i] = {} end
  self.add = #folds > 0 and self:compile_add() or nil
  return self
end

-- The loop over operations that add records, up to the first of another kind, generated so that the folds' functions
-- are part of its trace. Returns the operation at which it stopped.
function M:compile_add()
  local lines = { "local folds, held, record, move, at, BROKEN, ADD, engine = ..." }
  local function line(...) lines[#lines + 1] = (...):format(select(2, ...)) end
  for i = 1, #self.folds do
    line("local init%d, add%d, held%d = folds[%d].init, folds[%d].add, held[%d]", i, i, i, i, i, i)
  end
  line "return function(ops, from, count, fold)"
  line "  for i = from, count - 1 do"
  line "    if ops[i].kind ~= ADD then return i end"
  line "    local slot = ops[i].a"
  line "    at.op = i"
  line "    move(ops[i].b, engine)"
  for i = 1, #self.folds do
    line("    if fold <= %d then", i)
    line("      at.fold = %d", i)
    line("      local acc = held%d[slot]", i)
    line("      if acc == nil then acc = init%d() end", i)
    line("      if acc ~= BROKEN then held%d[slot] = add%d(acc, record) end", i, i)
    line "    end"
  end
  line "    fold = 1"
  line "  end"
  line "  return count"
  line "end"
  local chunk = assert(load(table.concat(lines, "\n"), "=lunette/folds (add)"))
  return chunk(self.folds, self.held, self.context.record, self.context.move, self.at, BROKEN, ADD,
    self.context.engine)
end

-- Works off the additions from operation `from` on; an error skips that record for that fold alone.
function M:add_from(ops, from, count)
  local at, fold = self.at, 1
  while true do
    local ok, result = pcall(self.add, ops, from, count, fold)
    if ok then return result end
    self.failed("add of fold " .. self.folds[at.fold].name, result)
    from, fold = at.op, at.fold + 1
  end
end

function M:merge(into, from)
  for i, fold in ipairs(self.folds) do
    local held = self.held[i]
    local a, b = held[into], held[from]
    held[from] = nil
    if a == nil or b == nil or a == BROKEN or b == BROKEN then
      held[into] = (a == BROKEN or b == BROKEN) and BROKEN or a == nil and b or a
    else
      local ok, merged = pcall(fold.merge, a, b)
      if not ok then self.failed("merge of fold " .. fold.name, merged) end
      held[into] = ok and merged or BROKEN
    end
  end
end

function M:clear(slot)
  for i = 1, #self.folds do self.held[i][slot] = nil end
end

--- Puts the folds' values of a slot into a pane's value; `nothing` stands for null.
function M:results(into, slot, nothing)
  for i, fold in ipairs(self.folds) do
    local acc, ok = self.held[i][slot], true
    if acc == nil then ok, acc = pcall(fold.init) end
    if ok and acc ~= BROKEN and fold.result then ok, acc = pcall(fold.result, acc) end
    if not ok then self.failed("result of fold " .. fold.name, acc) end
    if not ok or acc == nil or acc == BROKEN then acc = nothing end
    into[fold.name] = acc
  end
end

-- What a script sees of a pane has nil for null. Takes the nulls out of it; returns a function that puts back those of
-- the same tables that still have nothing in their place.
local function without_nulls(pane)
  local values, names, names_of_values = pane.value, {}, {}
  local function take(t, into)
    for name, x in pairs(t) do
      if x == null then into[#into + 1] = name end
    end
    for _, name in ipairs(into) do t[name] = nil end
  end
  take(pane, names)
  take(values, names_of_values)
  local function put_back(t, from)
    for _, name in ipairs(from) do
      if t[name] == nil then t[name] = null end
    end
  end
  return function(shaped)
    if shaped == pane then put_back(pane, names) end
    if type(shaped) == "table" and rawequal(shaped.value, values) then put_back(values, names_of_values) end
  end
end

-- A pane leaves: as it is, or as `emit` shapes it. `bytes` is the pane, packed.
function M:send(bytes)
  local output, emit = self.context.output, self.emit
  if emit then
    local pane = value.unpack(bytes)
    local restore = without_nulls(pane)
    local ok, shaped = pcall(emit, pane)
    if ok and shaped == nil then return end
    if ok then
      restore(shaped)
      ok, shaped = pcall(value.write, output, shaped)
      if ok then return end
    end
    self.failed("emit", shaped)
  end
  lib.ln_output_raw(output, bytes, #bytes)
end

-- The next staged pane, finished: its folds' values in place. A value that can't leave a script is null.
function M:pack(pane, slot)
  if #self.folds == 0 then return value.pack(pane) end
  self:results(pane.value, slot, null)
  local ok, bytes = pcall(value.pack, pane)
  if ok then return bytes end
  for _, fold in ipairs(self.folds) do
    local fits, message = pcall(value.pack, pane.value[fold.name])
    if not fits then
      self.failed("result of fold " .. fold.name, message)
      pane.value[fold.name] = null
    end
  end
  return value.pack(pane)
end

function M:withdraw(handle)
  local pane = value.unpack(self.kept[handle])
  pane.retract = true
  self.kept[handle] = nil
  self:send(value.pack(pane))
end

--- Works off the operations since the last call.
function M:run()
  local engine, count = self.context.engine, self.count
  local ops = lib.ln_engine_ops(engine, count)
  local n = tonumber(count[0])
  if n == 0 then return end
  local place = lib.ln_engine_staged(engine, self.staged_len)
  local stop = place + self.staged_len[0]
  local i = 0
  while i < n do
    local op = ops[i]
    local kind = op.kind
    if kind == ADD then
      i = self:add_from(ops, i, n)
    else
      if kind == PANE then
        local pane
        pane, place = value.read_whole(place, stop)
        local bytes = self:pack(pane, op.a)
        if op.b ~= 0 then self.kept[op.b] = bytes end
        self:send(bytes)
      elseif kind == WITHDRAW then self:withdraw(op.a)
      elseif kind == MERGE then self:merge(op.a, op.b)
      elseif kind == CLEAR then self:clear(op.a)
      else self.kept[op.a] = nil
      end
      i = i + 1
    end
  end
end

return M
