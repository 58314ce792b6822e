--- Where a check stands: the line of the nearest word, the path of the field, the pipeline's unit, and the common list
-- of problems. A scope never changes; entering a field makes another one.
local describe = require "lunette.plan.describe"
local node = require "lunette.node"

---@class lunette.Scope
---@field origin string "file:line"
---@field path string
---@field unit string of the pipeline
---@field problems string[]
---@field private seen table<string, true>
local Scope = {}
Scope.__index = Scope

local M = {}

--- The outermost scope, with no problems yet.
---@param origin string
---@return lunette.Scope
function M.new(origin)
  return setmetatable({ origin = origin, path = "", unit = "ms", problems = {}, seen = {} }, Scope)
end

local function derived(scope, origin, path, unit)
  local fields = { origin = origin, path = path, unit = unit, problems = scope.problems, seen = scope.seen }
  return setmetatable(fields, Scope)
end

--- The scope of the field `key`.
---@param key any
---@return lunette.Scope
function Scope:enter(key)
  local path = self.path .. describe.step(key)
  return derived(self, self.origin, (path:gsub("^%.", "")), self.unit)
end

--- The same field, at the line of the word that made `value`.
---@param value any
---@return lunette.Scope
function Scope:at(value)
  local mark = node.mark(value)
  return derived(self, mark and mark.origin or self.origin, self.path, self.unit)
end

--- The same place, in a pipeline of that unit.
---@param unit string
---@return lunette.Scope
function Scope:with_unit(unit) return derived(self, self.origin, self.path, unit) end

--- Adds a problem; the same one twice, where a script uses one table in two places, counts once.
---@param what string
---@param how string
function Scope:problem(what, how)
  local place = self.path == "" and self.origin or self.origin .. ": " .. self.path
  local line = place .. ": " .. what .. ": " .. how
  if not self.seen[line] then
    self.seen[line] = true
    self.problems[#self.problems + 1] = line
  end
end

return M
