--- Structs of declared folds: a state as C sees it, from a checked list of its fields. A struct has one field more,
-- which tells whether its slot has begun. All bytes zero is a slot that has not.
local ffi = require "lunette.ffi"

local M = {}

M.FRESH, M.BEGUN, M.BROKEN = 0, 1, 2

local TYPES = { double = "double", float = "float", int64 = "int64_t", uint64 = "uint64_t", int32 = "int32_t",
  uint32 = "uint32_t", bool = "bool" }

local made = {} -- by text, since a type is never given back

-- A number below 2^47 for a text.
local function number_of(text)
  local n = 7
  for i = 1, #text do n = (n * 37 + text:byte(i)) % 2 ^ 47 end
  return n
end

--- The struct of a state: the type of a cell for a pointer to it, its size, and a number that tells it from others.
-- @param state a list of { name, type }
function M.of(state)
  local lines = {}
  for i, field in ipairs(state) do lines[i] = TYPES[field.type] .. " " .. field.name .. "; " end
  local text = "struct { " .. table.concat(lines) .. "uint8_t __status; }"
  if not made[text] then
    made[text] = { cell = ffi.typeof(text .. " *[1]"), bytes = ffi.sizeof(text), number = number_of(text) }
  end
  return made[text]
end

return M
