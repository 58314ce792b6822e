--- Aggregates as the rules see them: each is worked out anew from all the values a window holds. Only folds keep an
-- accumulator, since a user's functions say what they hold.
local choice = require "spec.support.model.choice"
local value = require "spec.support.model.value"

jit.off(true, true)
local aggregate = {}

local function anything() return true end

local function key(v) return value.identity(v) ~= nil end

-- What a kind takes: most take numbers only, distinct what can be a key.
local takes = {
  count = anything, first = anything, last = anything, distinct = key, distinct_approx = key, top = key,
  min_by = anything, max_by = anything, collect = anything,
}

local function field_of(spec, record, plain)
  if spec.fn then return value.from_script((spec.fn(plain))) end
  return value.at(record, spec.path)
end

-- The value an aggregate sees in a record, for those that go by another field a pair of values: nil where it takes
-- none, and whether it had to skip one.
function aggregate.read(spec, record, plain)
  if spec.kind == "fold" then return plain, false end
  if not spec.fn and not spec.path then return 1, false end
  if spec.kind == "ratio" then return spec.fn(plain) and true or false, false end
  local v, by = field_of(spec, record, plain), nil
  if spec.by then by = field_of(spec.by, record, plain) end
  if v == nil then return nil, false end
  if v ~= v then return nil, true end
  if spec.by and by == nil then return nil, false end
  if not (takes[spec.kind] or value.is_number)(v) then return nil, true end
  if spec.by and not choice.takes(spec, by) then return nil, true end
  if spec.by then return { v, by }, false end
  return v, false
end

-- Whole numbers exactly, others with the error of each addition carried along.
local function sum(entries)
  local hi, lo, total, lost, whole = 0, 0, 0, 0, true
  for _, e in ipairs(entries) do
    local h, l = value.split(e.value)
    if h then
      hi, lo = hi + h, lo + l
    else
      local n, next_total = e.value, total + e.value
      lost = lost + (math.abs(total) >= math.abs(n) and total - next_total + n or n - next_total + total)
      total, whole = next_total, false
    end
  end
  if whole then return value.whole(hi, lo) end
  return tonumber(value.whole(hi, lo)) + total + lost
end

local function least(entries, before)
  local best
  for _, e in ipairs(entries) do
    if best == nil or before(e.value, best) then best = e.value end
  end
  return best
end

local function mean(entries) return #entries > 0 and tonumber(sum(entries)) / #entries or nil end

local function variance(entries)
  if #entries < 2 then return nil end
  local middle, squares = mean(entries), 0
  for _, e in ipairs(entries) do squares = squares + (tonumber(e.value) - middle) ^ 2 end
  return squares / (#entries - 1)
end

local results = {
  count = function(entries) return #entries end,
  sum = sum,
  min = function(entries) return least(entries, value.less) end,
  max = function(entries) return least(entries, function(a, b) return value.less(b, a) end) end,
  avg = mean,
  variance = variance,
  stddev = function(entries)
    local v = variance(entries)
    return v and math.sqrt(v)
  end,
  first = function(entries)
    local best
    for _, e in ipairs(entries) do
      if not best or e.t < best.t or e.t == best.t and e.arrival < best.arrival then best = e end
    end
    return best and best.value
  end,
  last = function(entries)
    local best
    for _, e in ipairs(entries) do
      if not best or e.t > best.t or e.t == best.t and e.arrival > best.arrival then best = e end
    end
    return best and best.value
  end,
  distinct = function(entries)
    local seen, n = {}, 0
    for _, e in ipairs(entries) do
      local id = value.identity(e.value)
      if not seen[id] then n = n + 1 end
      seen[id] = true
    end
    return n
  end,
  rate = function(entries, spec, w) return tonumber(sum(entries)) / ((w.stop - w.start) / spec.per_us) end,
}
results.distinct_approx = results.distinct -- exact of so few
for kind, result in pairs(choice.results) do results[kind] = result end

-- The result over `contents`, a list of { t, arrival, values }, of the window; and whether some of it was cut off.
function aggregate.result(spec, contents, w)
  local entries = {}
  for _, item in ipairs(contents) do
    local v = item.values[spec.name]
    if v ~= nil then entries[#entries + 1] = { t = item.t, arrival = item.arrival, value = v } end
  end
  return results[spec.kind](entries, spec, w)
end

-- Folds: an accumulator is { acc, broken }; a merge that fails breaks it until the window is cleared.
function aggregate.fold_new(spec) return { acc = spec.init() } end

function aggregate.fold_add(spec, fold, plain)
  local ok, acc = pcall(spec.add, fold.acc, plain)
  if ok then fold.acc = acc end
end

function aggregate.fold_merge(spec, fold, other)
  local ok, acc = pcall(spec.merge, fold.acc, other.acc)
  return { acc = acc, broken = fold.broken or other.broken or not ok }
end

function aggregate.fold_result(spec, fold)
  if fold.broken then return nil end
  if not spec.result then return value.from_script(fold.acc) end
  local ok, shown = pcall(spec.result, fold.acc)
  return ok and value.from_script(shown) or nil
end

return aggregate
