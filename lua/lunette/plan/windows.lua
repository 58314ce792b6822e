--- Checks a window and puts it in numbers.
local node = require "lunette.node"
local values = require "lunette.plan.values"

local M = {}

-- More than that is a slip of the unit, and would stop the engine at its first record.
local WINDOWS_MAX = 100000

local function grid(scope, w, has_hop)
  local options = values.options(scope, w, { "offset" })
  local size = values.duration(scope:enter "size", w.size, "above")
  local hop = size
  if has_hop then hop = values.duration(scope:enter "hop", w.hop, "above") end
  local offset = 0
  if options.offset ~= nil then offset = values.duration(scope:enter "offset", options.offset, "any") end
  if not (size and hop and offset) then return nil end
  if size / hop > WINDOWS_MAX then
    scope:enter("hop"):problem(("a record would be in %.0f windows, and 100,000 is the most"):format(
      math.ceil(size / hop)), "write a larger hop or a smaller size")
    return nil
  end
  return { kind = "grid", size_us = size, hop_us = hop, offset_us = offset % hop }
end

local check = {}

function check.tumbling(scope, w) return grid(scope, w, false) end
function check.hopping(scope, w) return grid(scope, w, true) end

function check.session(scope, w)
  local options = values.options(scope, w, { "max" })
  local gap = values.duration(scope:enter "gap", w.gap, "above")
  local max
  if options.max ~= nil then
    max = values.duration(scope:enter "max", options.max, "above")
    if gap and max and max < gap then
      scope:enter("max"):problem("is shorter than the gap", "write a max of at least the gap")
    end
  end
  return { kind = "session", gap_us = gap, max_us = max }
end

function check.global(scope, w)
  values.arguments(scope, w)
  return { kind = "global" }
end

function check.assigner(scope, w)
  local options = values.options(scope, w, { "merge", "longest" })
  local fn = values.func(scope:enter "fn", w.fn, "function(t, record) return start, stop end")
  local merge, longest = false, nil
  if options.merge ~= nil then merge = values.boolean(scope:enter "merge", options.merge) end
  if options.longest ~= nil then longest = values.duration(scope:enter "longest", options.longest, "above") end
  if merge == true and options.longest == nil then
    scope:enter("longest"):problem("missing, and merge needs it", "write how long the window of a record can be")
  elseif merge == false and options.longest ~= nil then
    scope:enter("longest"):problem("does nothing without merge", "add merge = true, or leave it out")
  end
  return { kind = "assigner", fn = fn, merge = merge, longest_us = longest }
end

--- The window in numbers; what it returns beside a problem is of no use.
---@param scope lunette.Scope of the field `window`
---@param value any
---@return table?
function M.check(scope, value)
  local window = values.made(scope, value, "window", 'ln.tumbling("1m")')
  return window and check[window.kind](scope:at(window), window)
end

--- Whether windows of that kind become one where they overlap. A session with a maximum never does.
---@param value any
---@return boolean
function M.merges(value)
  local mark = node.mark(value)
  local options = mark and type(value.options) == "table" and value.options or {}
  if not mark then return false end
  if value.kind == "session" then return rawget(options, "max") == nil end
  return value.kind == "assigner" and rawget(options, "merge") == true
end

--- Whether the window stands on a grid; nil where it is none.
---@param value any
---@return boolean?
function M.on_grid(value)
  if not node.mark(value) then return nil end
  return value.kind == "tumbling" or value.kind == "hopping"
end

return M
