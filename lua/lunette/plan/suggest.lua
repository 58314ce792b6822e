--- "Did you mean": the known name nearest to one that is not known.
local min, floor, max = math.min, math.floor, math.max

local M = {}

--- How many letters must be put in, left out, changed or swapped with their neighbour to turn `a` into `b`.
---@param a string
---@param b string
---@return integer
function M.distance(a, b)
  local before, above = {}, {}
  for j = 0, #b do above[j] = j end
  for i = 1, #a do
    local row, x = { [0] = i }, a:byte(i)
    for j = 1, #b do
      local y = b:byte(j)
      row[j] = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x == y and 0 or 1))
      if i > 1 and j > 1 and x == b:byte(j - 1) and a:byte(i - 1) == y then row[j] = min(row[j], before[j - 2] + 1) end
    end
    before, above = above, row
  end
  return above[#b]
end

--- The name of `list` that was probably meant; nil where none is near. Among equally near ones the first in the list.
---@param name any
---@param list string[]
---@return string?
function M.nearest(name, list)
  if type(name) ~= "string" or #name > 64 then return nil end
  local best, least
  for _, known in ipairs(list) do
    local longest = max(#name, #known)
    local d = M.distance(name:lower(), known:lower())
    if d < longest and d <= max(1, floor(longest * 0.4)) and (not least or d < least) then best, least = known, d end
  end
  return best
end

--- The remedy for an unknown name: the nearest one, or else `otherwise`.
---@param name any
---@param list string[]
---@param otherwise string
---@return string
function M.how(name, list, otherwise)
  local known = M.nearest(name, list)
  return known and ('did you mean "%s"?'):format(known) or otherwise
end

return M
