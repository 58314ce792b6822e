--- The accumulators of a pipeline's folds, which live here under the slots of their windows, and the panes that pass
-- through the script: the engine's operations are worked off in order, so that each pane sees its folds as they were.
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local lib, null = ffi.lib, value.null
local ADD, MERGE, CLEAR = lib.LN_OP_ADD, lib.LN_OP_MERGE, lib.LN_OP_CLEAR
local PANE, WITHDRAW = lib.LN_OP_PANE, lib.LN_OP_WITHDRAW

local NULL_PACKED = "\192"
local RETRACT_PACKED = value.pack "retract" .. value.pack(true)

local M = {}
M.__index = M

-- So many folds have their functions as upvalues of the loop; LuaJIT allows 60 of them. The rest are looked up.
local LOCALS_MAX = 15

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
    cell = ffi.new "ln_value",
    number = {}, -- of a fold, by its name
  }, M)
  for i = 1, #folds do
    self.held[i] = {}
    self.number[folds[i].name] = i
  end
  self.add = #folds > 0 and self:compile_add() or nil
  return self
end

-- The loop over operations that add records, up to the first of another kind, generated so that the folds' functions
-- are part of its trace. Returns the operation at which it stopped.
function M:compile_add()
  local lines = { "local folds, held, record, move, at, BROKEN, ADD, engine = ..." }
  local function line(...) lines[#lines + 1] = (...):format(select(2, ...)) end
  for i = 1, math.min(#self.folds, LOCALS_MAX) do
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
    local near = i <= LOCALS_MAX
    local held = (near and "held%d" or "held[%d]"):format(i)
    line("      local acc = %s[slot]", held)
    line("      if acc == nil then acc = %s() end", (near and "init%d" or "folds[%d].init"):format(i))
    line "      if acc ~= BROKEN then"
    line("        %s[slot] = acc", held)
    line("        acc = %s(acc, record)", (near and "add%d" or "folds[%d].add"):format(i))
    line("        if acc == nil then error('it returned nothing: return the accumulator', 0) end")
    line("        %s[slot] = acc", held)
    line "      end"
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
end

function M:clear(slot)
  for i = 1, #self.folds do self.held[i][slot] = nil end
end

--- The value of the fold of that name in a slot; nil stands for null.
function M:result(name, slot)
  local i = self.number[name]
  local fold = self.folds[i]
  local acc, ok = self.held[i][slot], true
  if acc == nil then ok, acc = pcall(fold.init) end
  if ok and acc ~= BROKEN and fold.result then ok, acc = pcall(fold.result, acc) end
  if not ok then self.failed("result of fold " .. fold.name, acc) end
  if not ok or acc == BROKEN then return nil end
  return acc
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
    local ok, message = pcall(function()
      local pane = value.unpack(bytes)
      local restore = without_nulls(pane)
      local shaped = emit(pane)
      if shaped == nil then return end
      restore(shaped)
      value.write(output, shaped)
    end)
    if ok then return end
    self.failed("emit", message)
  end
  lib.ln_output_raw(output, bytes, #bytes)
end

-- What a fold has come to, packed; null where that can't leave a script.
function M:packed_result(i, slot)
  local ok, bytes = pcall(value.pack, self:result(self.folds[i].name, slot))
  if ok then return bytes end
  self.failed("result of fold " .. self.folds[i].name, bytes)
  return NULL_PACKED
end

-- A staged pane, packed, with its folds' values in the places that the engine has left for them. All else stays as the
-- engine has written it.
function M:finish(bytes, slot)
  if #self.folds == 0 then return bytes end
  local _, parts = value.parts_of_pane(bytes)
  local pieces, done = {}, 1
  for _, part in ipairs(parts) do
    local name, from, after = part[1], part[2], part[3]
    local i = self.number[name]
    if i then
      pieces[#pieces + 1] = bytes:sub(done, from - 1)
      pieces[#pieces + 1] = self:packed_result(i, slot)
      done = after
    end
  end
  pieces[#pieces + 1] = bytes:sub(done)
  return table.concat(pieces)
end

-- The pane that was kept, as a withdrawal: with one field more, before its value.
function M:withdraw(handle)
  local bytes = self.kept[handle]
  self.kept[handle] = nil
  local before = value.parts_of_pane(bytes)
  self:send(string.char(bytes:byte() + 1) .. bytes:sub(2, before) .. RETRACT_PACKED .. bytes:sub(before + 1))
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
        local after = lib.ln_value_read(place, stop, 1, self.cell)
        local bytes = self:finish(ffi.string(place, after - place), op.a)
        place = after
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
