--- Folds that declare their state: what they are to the loops over operations. Their accumulators are structs in the
-- engine's memory, one for each slot, behind a pointer that may move between two steps. A reference to one lives during
-- a call only.
local ffi = require "lunette.ffi"
local struct = require "lunette.struct"

local lib, fill, copy = ffi.lib, ffi.fill, ffi.copy
local FRESH, BEGUN, BROKEN = struct.FRESH, struct.BEGUN, struct.BROKEN

local M = {}
M.__index = M

-- The fields as a table, for a fold without a result: generated, so that no name is looked up.
local function fields_reader(state)
  local lines = {}
  for i, field in ipairs(state) do lines[i] = ("%s = acc.%s"):format(field.name, field.name) end
  local text = "return function(acc) return { " .. table.concat(lines, ", ") .. " } end"
  return assert(load(text, "=lunette/folds (fields)"))()
end

--- A fold as the loops know one: `init` begins a slot, `result` is what one shows. `cell` holds the pointer.
-- @param index of the aggregate in the plan
function M.new(fold, index)
  local made = struct.of(fold.state)
  local bytes, init, result = made.bytes, fold.init, fold.result or fields_reader(fold.state)

  local function begin(acc)
    fill(acc, bytes)
    if init then init(acc) end
    acc.__status = BEGUN
  end

  return setmetatable({
    name = fold.name, declared = true, cell = made.cell(), bytes = bytes, index = index,
    init = begin, add = fold.add, merge_fn = fold.merge,
    -- A slot that has not begun shows what it would begin with, and does not begin by that.
    result = function(acc)
      local status = acc.__status
      if status == BROKEN then return nil end
      if status == BEGUN then return result(acc) end
      begin(acc)
      acc.__status = FRESH
      local x = result(acc)
      fill(acc, bytes)
      return x
    end,
  }, M)
end

--- Where the structs are now.
function M:locate(engine)
  self.cell[0] = lib.ln_engine_fold(engine, self.index)
end

function M:clear(slot) fill(self.cell[0] + slot, self.bytes) end

--- Takes slot `from` into slot `into`, and clears it. An error is returned.
function M:merge(into, from)
  local a, b = self.cell[0] + into, self.cell[0] + from
  local ok, message = true, nil
  if b.__status == BROKEN or a.__status == BROKEN then
    a.__status = BROKEN
  elseif b.__status == BEGUN and a.__status == FRESH then
    copy(a, b, self.bytes)
  elseif b.__status == BEGUN then
    ok, message = pcall(self.merge_fn, a, b)
    if not ok then a.__status = BROKEN end
  end
  fill(b, self.bytes)
  return ok, message
end

return M
