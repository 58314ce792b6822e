--- What was expected against what came. Of each thing expected (a pane, a reject) only the fields that it names count,
-- and of its inner map (`value`, `record`) likewise; deeper inside all must be equal. Both lists are aligned so that as
-- much as possible agrees, and what does not is a step of its own.
local value = require "lunette.value"

local null = value.null

local M = {}

-- What does not agree is aligned within so many things of each list, and in so many places; the rest one by one.
local ALIGNED_MAX, PLACES_MAX = 400, 50

local near_mt = {}

--- A number within `tolerance` of `x`.
function M.near(x, tolerance) return setmetatable({ x = x, tolerance = tolerance }, near_mt) end

local function is_matcher(e)
  if type(e) == "function" then return true end
  local mt = type(e) == "table" and getmetatable(e)
  return type(mt) == "table" and mt.__call ~= nil
end

--- How an expected value reads where its JSON would not tell; nil otherwise.
function M.says(e)
  if type(e) == "table" and getmetatable(e) == near_mt then return ("%s +- %s"):format(e.x, e.tolerance) end
  if is_matcher(e) then return "what a function accepts" end
end

local function absent(x) return x == nil or x == null end

local equal

local function equal_tables(e, a)
  for name, item in pairs(e) do
    if not equal(item, a[name]) then return false end
  end
  for name, item in pairs(a) do
    if e[name] == nil and not absent(item) then return false end
  end
  return true
end

function equal(e, a)
  if type(e) == "table" and getmetatable(e) == near_mt then
    return type(a) == "number" and math.abs(a - e.x) <= e.tolerance
  end
  if is_matcher(e) then return e(a) and true or false end
  if absent(e) or absent(a) then return absent(e) and absent(a) end
  local kind, other = type(e), type(a)
  if kind == "table" and other == "table" then return equal_tables(e, a) end
  if kind == other then return e == a end
  local numeric = (kind == "number" or kind == "cdata") and (other == "number" or other == "cdata")
  return numeric and e == a
end
M.equal = equal

---@class lunette.Shape what is compared
---@field inner string the map inside of it
---@field fields table<string, true> its own names
---@field alias table<string, string>
---@field names? table<string, true> all names that the inner map can have; nil where nobody can tell

-- One field: what was expected, what is there, and its full name.
local function look_up(shape, name, item)
  name = shape.alias[name] or name
  if shape.fields[name] or item[name] ~= nil then return item[name], name end
  local inner = item[shape.inner]
  return type(inner) == "table" and inner[name] or nil, name
end

--- The named fields that differ, by name, and how many are named.
---@param shape lunette.Shape
function M.differences(shape, expected, item)
  local out, named = {}, 0
  local function one(name, e, a, own)
    named = named + 1
    local unset = e == false and a == nil and name == "retract"
    if unset or equal(e, a) then return end
    local unknown = a == nil and not own and shape.names and not shape.names[name]
    out[#out + 1] = { name = name, expected = e, came = a, unknown = unknown or nil }
  end
  for name, e in pairs(expected) do
    if name == shape.inner and type(e) == "table" and not is_matcher(e) then
      local inner = type(item[name]) == "table" and item[name] or {}
      for field, x in pairs(e) do one(field, x, inner[field]) end
    else
      local a, full = look_up(shape, name, item)
      one(full, e, a, shape.fields[full])
    end
  end
  table.sort(out, function(a, b) return tostring(a.name) < tostring(b.name) end)
  return out, named
end

-- What setting these two side by side costs: 0 where they agree, up to 2 (leaving both alone) where nothing does.
local function cost_of(shape, e, a)
  local differences, named = M.differences(shape, e, a)
  if #differences == 0 then return 0 end
  return 0.5 + 1.5 * #differences / named
end

-- The cheapest way from the end of both lists: cost[i][j] for what begins at i and j.
local function costs_of(shape, expected, came)
  local m, n = #expected, #came
  local cost, pair = {}, {}
  for i = m + 1, 1, -1 do
    cost[i], pair[i] = {}, {}
    for j = n + 1, 1, -1 do
      if i > m then cost[i][j] = n + 1 - j
      elseif j > n then cost[i][j] = m + 1 - i
      else
        pair[i][j] = cost_of(shape, expected[i], came[j])
        cost[i][j] = math.min(pair[i][j] + cost[i + 1][j + 1], 1 + cost[i + 1][j], 1 + cost[i][j + 1])
      end
    end
  end
  return cost, pair
end

-- Steps over two short lists, up to where they agree again: how far that is in each.
local function align_short(shape, expected, came, steps)
  local cost, pair = costs_of(shape, expected, came)
  local i, j = 1, 1
  while i <= #expected or j <= #came do
    local e, a = expected[i], came[j]
    if e and a and cost[i][j] == pair[i][j] + cost[i + 1][j + 1] then
      if pair[i][j] == 0 then break end
      steps[#steps + 1] = { expected = e, came = a, differences = M.differences(shape, e, a) }
      i, j = i + 1, j + 1
    elseif e and cost[i][j] == 1 + cost[i + 1][j] then
      steps[#steps + 1] = { expected = e }
      i = i + 1
    else
      steps[#steps + 1] = { came = a }
      j = j + 1
    end
  end
  return i - 1, j - 1
end

local function part(list, first)
  local out = {}
  for i = first, math.min(#list, first + ALIGNED_MAX - 1) do out[#out + 1] = list[i] end
  return out
end

--- The steps from one list to the other: { expected, came, differences }, where a side is nil that has nothing there.
---@param shape lunette.Shape
---@param expected table[]
---@param came table[]
---@return table[] steps
---@return boolean agrees
function M.align(shape, expected, came)
  local steps, places, i, j = {}, 0, 1, 1
  while i <= #expected or j <= #came do
    local e, a = expected[i], came[j]
    local differences = e and a and M.differences(shape, e, a)
    if differences and #differences == 0 or places == PLACES_MAX then
      steps[#steps + 1] = { expected = e, came = a, differences = differences or nil }
      i, j = i + 1, j + 1
    else
      local by_i, by_j = align_short(shape, part(expected, i), part(came, j), steps)
      i, j, places = i + by_i, j + by_j, places + 1
    end
  end
  return steps, places == 0
end

-- The group of a pane or of what is expected of one: its pipeline and its key.
local function group_of(x) return value.json { x.pipeline or null, x.key or null } end

--- Lists by pipeline and key, each { expected, came }, in the order in which they come first: across keys the order of
-- panes means nothing. Where something expected names no plain key, all is one group, in the order in which it left.
function M.groups(expected, came)
  for _, list in ipairs { expected, came } do
    for _, x in ipairs(list) do
      if x.key == nil and list == expected or M.says(x.key) or M.says(x.pipeline) then
        return { { expected = expected, came = came } }
      end
    end
  end
  local several, named = false, true
  for _, a in ipairs(came) do several = several or a.pipeline ~= nil end
  for _, e in ipairs(expected) do named = named and e.pipeline ~= nil end
  if several and not named then return { { expected = expected, came = came } } end
  local groups, by_id = {}, {}
  local function put(x, side)
    local id = group_of(x)
    if not by_id[id] then
      by_id[id] = { expected = {}, came = {}, key = x.key, pipeline = x.pipeline }
      groups[#groups + 1] = by_id[id]
    end
    table.insert(by_id[id][side], x)
  end
  for _, e in ipairs(expected) do put(e, "expected") end
  for _, a in ipairs(came) do put(a, "came") end
  return groups
end

return M
