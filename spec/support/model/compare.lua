--- Compares panes as the rules promise them: per pipeline and key the same panes in the same order; the order across
-- keys is free. Missing and null are the same, numbers may differ by rounding.
local json = require "spec.support.json"
local value = require "spec.support.model.value"

local compare = {}

local function same(a, b)
  if a == json.null then a = nil end
  if b == json.null then b = nil end
  if value.is_number(a) and value.is_number(b) then
    if type(a) == "number" and type(b) == "number" then
      return a == b or math.abs(a - b) <= 1e-9 * math.max(math.abs(a), math.abs(b))
    end
    return not value.less(a, b) and not value.less(b, a)
  end
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for k, item in pairs(a) do
    if not same(item, b[k]) then return false end
  end
  for k, item in pairs(b) do
    if a[k] == nil and item ~= json.null then return false end
  end
  return true
end
compare.same = same

-- Lists of panes by pipeline and key.
function compare.by_key(panes)
  local groups = {}
  for _, pane in ipairs(panes) do
    local id = tostring(pane.pipeline) .. " " .. (value.identity(pane.key) or json.encode(pane.key))
    groups[id] = groups[id] or {}
    table.insert(groups[id], pane)
  end
  return groups
end

-- nil, or the first difference in words.
function compare.panes(want, got)
  local a, b = compare.by_key(want), compare.by_key(got)
  local ids = {}
  for id in pairs(a) do ids[#ids + 1] = id end
  for id in pairs(b) do
    if not a[id] then ids[#ids + 1] = id end
  end
  table.sort(ids)
  for _, id in ipairs(ids) do
    local left, right = a[id] or {}, b[id] or {}
    for i = 1, math.max(#left, #right) do
      if left[i] == nil or right[i] == nil or not same(left[i], right[i]) then
        return ("key %s, pane %d of it\n  want %s\n  got  %s"):format(id, i, json.encode(left[i]),
          json.encode(right[i]))
      end
    end
  end
  return nil
end

-- nil, or the first difference of two lists of rejects in words.
function compare.rejects(want, got)
  for i = 1, math.max(#want, #got) do
    local a, b = want[i] or {}, got[i] or {}
    if a.reason ~= b.reason or not same(a.record, b.record) then
      return ("reject %d\n  want %s\n  got  %s"):format(i, json.encode(a), json.encode(b))
    end
  end
  return nil
end

return compare
