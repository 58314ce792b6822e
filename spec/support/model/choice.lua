--- Aggregates that choose records, list them or sort them into classes, worked out from all entries: { t, arrival,
-- value }, where value is a pair for those that go by another field.
package.loaded["lunette.core_path"] = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
local json = require "spec.support.json"
local pack = require("lunette.value").pack
local value = require "spec.support.model.value"

jit.off(true, true)
local choice = { results = {} }
local results = choice.results

-- What an aggregate can go by.
function choice.takes(spec, by)
  if not value.is_number(by) then return false end
  return spec.kind ~= "top" or tonumber(by) >= 0 and tonumber(by) < math.huge
end

local function by_time(a, b) return a.t < b.t or a.t == b.t and a.arrival < b.arrival end

local function in_time(entries)
  local sorted = {}
  for i, e in ipairs(entries) do sorted[i] = e end
  table.sort(sorted, by_time)
  return sorted
end

local function best(entries, better)
  local found
  for _, e in ipairs(in_time(entries)) do
    if not found or better(e.value[2], found[2]) then found = e.value end
  end
  return found and found[1]
end

function results.min_by(entries) return best(entries, value.less) end
function results.max_by(entries) return best(entries, function(a, b) return value.less(b, a) end) end

function results.collect(entries, spec)
  local list = json.array {}
  for i, e in ipairs(in_time(entries)) do
    if i > spec.limit then return list, true end
    list[i] = e.value
  end
  return list
end

function results.ratio(entries)
  local yes = 0
  for _, e in ipairs(entries) do yes = yes + (e.value and 1 or 0) end
  return #entries > 0 and yes / #entries or nil
end

function results.histogram(entries, spec)
  local counts = json.array {}
  for i = 1, #spec.bounds + 1 do counts[i] = 0 end
  for _, e in ipairs(entries) do
    local class = 1
    while spec.bounds[class] and not value.less(e.value, spec.bounds[class]) do class = class + 1 end
    counts[class] = counts[class] + 1
  end
  return counts
end

-- By falling weight, then by their bytes as msgpack.
function results.top(entries, spec)
  local items, list = {}, json.array {}
  for _, e in ipairs(entries) do
    local v, weight = e.value, 1
    if spec.by then v, weight = e.value[1], tonumber(e.value[2]) end
    local id = value.identity(v)
    if weight > 0 and not items[id] then
      items[id] = { value = v, count = 0, error = 0 }
      list[#list + 1] = items[id]
    end
    if weight > 0 then items[id].count = items[id].count + weight end
  end
  local function bytes(item) return pack(value.plain(item.value)) end
  table.sort(list, function(a, b) return a.count > b.count or a.count == b.count and bytes(a) < bytes(b) end)
  for i = #list, spec.k + 1, -1 do list[i] = nil end
  return list
end

-- Of the shares, only 0 and 1 are exact.
function results.quantile(entries, spec)
  local list = json.array {}
  for i, q in ipairs(spec.shares) do
    local least, greatest
    for _, e in ipairs(entries) do
      local n = tonumber(e.value)
      if not least or n < least then least = n end
      if not greatest or n > greatest then greatest = n end
    end
    list[i] = least == nil and json.null or q == 0 and least or q == 1 and greatest
  end
  return list
end

return choice
