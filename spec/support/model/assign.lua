--- Which windows a record belongs to, and what happens to those of its key: one function for each kind of window.
-- Each takes the model and an item { t, key, id, plain, ... }; it joins the item to its windows, or returns the reason
-- why none takes it.
local time = require "spec.support.model.time"

jit.off(true, true)
local assign = {}

local function expired(model, stop) return model.w >= stop + model.pipeline.lateness_us end

-- The bounds on a grid: every start s = k * hop + offset with t - size < s <= t.
local function grid(window, t)
  local out = {}
  local first = math.floor((t - window.size_us - window.offset_us) / window.hop_us) + 1
  local last = math.floor((t - window.offset_us) / window.hop_us)
  for k = first, last do
    local start = k * window.hop_us + window.offset_us
    out[#out + 1] = { start, start + window.size_us }
  end
  return out
end

-- The bounds a user's function returns, as a sorted set; nil where they are no proper intervals.
local function custom(window, unit, item)
  local shown = time.show(item.t, unit)
  local returned = { pcall(window.fn, type(shown) == "cdata" and tonumber(shown) or shown, item.plain) }
  if not returned[1] then return nil end
  local out, seen = {}, {}
  local n = 0
  for i in pairs(returned) do n = math.max(n, i) end
  for i = 2, n, 2 do
    local start, stop = time.read(returned[i], unit), time.read(returned[i + 1], unit)
    if not start or not stop or stop <= start then return nil end
    local id = ("%.17g %.17g"):format(start, stop)
    if not seen[id] then out[#out + 1] = { start, stop } end
    seen[id] = true
  end
  table.sort(out, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  return out
end

-- Windows that do not merge: each of the record's windows takes it unless it has expired.
local function apart(model, item, bounds)
  if #bounds == 0 then return "no_window" end
  local taken = 0
  for _, b in ipairs(bounds) do
    if not expired(model, b[2]) then
      taken = taken + 1
      model:join(model:find(item.id, b[1], b[2]) or model:open(item, b[1], b[2]), item)
    end
  end
  if taken == 0 then return "late" end
  model.account.refusals_late = model.account.refusals_late + #bounds - taken
  return nil
end

-- Extents of windows that have expired are remembered until W >= end + reach + lateness.
local function overlaps_closed(model, item, start, stop, reach)
  for _, extent in ipairs(model.closed) do
    local remembered = model.w < extent.stop + reach + model.pipeline.lateness_us
    if extent.id == item.id and remembered and start < extent.stop and extent.start < stop then return true end
  end
  return false
end

-- Windows that merge: the record's own window and the open ones that overlap it become one.
local function merging(model, item, start, stop, reach)
  if expired(model, stop) then
    for _, w in ipairs(model:windows_of(item.id)) do
      if w.start <= start and stop <= w.stop then
        model:join(w, item)
        return nil
      end
    end
    return "late"
  end
  if overlaps_closed(model, item, start, stop, reach) then return "late" end
  local touched = {}
  for _, w in ipairs(model:windows_of(item.id)) do
    if start < w.stop and w.start < stop then touched[#touched + 1] = w end
  end
  for _, w in ipairs(touched) do start, stop = math.min(start, w.start), math.max(stop, w.stop) end
  local survivor
  for _, w in ipairs(touched) do
    if w.start == start then survivor = w end
  end
  survivor = survivor or model:open(item, start, stop)
  survivor.stop = stop
  for _, w in ipairs(touched) do
    if w ~= survivor then
      survivor:absorb(w)
      model:drop(w)
    end
  end
  model:join(survivor, item)
  return nil
end

-- Where the next session of the key begins; what has expired counts too.
local function next_start(model, item, after)
  local least = math.huge
  for _, w in ipairs(model:windows_of(item.id)) do
    if w.start > after then least = math.min(least, w.start) end
  end
  for _, extent in ipairs(model.closed) do
    if extent.id == item.id and extent.start > after then least = math.min(least, extent.start) end
  end
  return least
end

-- Sessions with a maximum, for a record whose turn has come.
local function bounded(model, item)
  local window, t = model.pipeline.window, item.t
  local stop = math.min(t + window.gap_us, t + window.max_us, next_start(model, item, t))
  local covering
  for _, w in ipairs(model:windows_of(item.id)) do
    if w.start <= t and t < w.stop then covering = w end
  end
  if expired(model, stop) and not (covering and stop <= covering.stop) then return "late" end
  if not expired(model, stop) and overlaps_closed(model, item, t, stop, window.gap_us) then return "late" end
  if not covering then
    covering = model:open(item, t, stop)
    covering.latest = t
  end
  covering.latest = math.max(covering.latest, t)
  covering.stop = math.min(covering.latest + window.gap_us, covering.start + window.max_us,
    next_start(model, item, covering.start))
  model:join(covering, item)
  return nil
end
assign.bounded = bounded

assign.kinds = {
  grid = function(model, item) return apart(model, item, grid(model.pipeline.window, item.t)) end,
  global = function(model, item) return apart(model, item, { { -math.huge, math.huge } }) end,
  session = function(model, item)
    local window = model.pipeline.window
    if not window.max_us then return merging(model, item, item.t, item.t + window.gap_us, window.gap_us) end
    if item.t <= model.w then return bounded(model, item) end
    table.insert(model.waiting, item)
    return nil
  end,
  assigner = function(model, item)
    local window = model.pipeline.window
    local bounds = custom(window, model.pipeline.time.unit, item)
    if not bounds then return "script_error" end
    if not window.merge then return apart(model, item, bounds) end
    if #bounds == 0 then return "no_window" end
    local start, stop = bounds[1][1], bounds[1][2]
    if #bounds > 1 or stop - start > window.longest_us then return "script_error" end
    return merging(model, item, start, stop, window.longest_us)
  end,
}

return assign
