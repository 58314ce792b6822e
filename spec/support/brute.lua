--- Windows as they are in the end, by brute force: all records of each window together, and every value worked out from
-- them. For records and pipelines of spec.support.streams.
local brute = {}

local function by_time(a, b) return a.t < b.t or a.t == b.t and a.arrival < b.arrival end

local function value_of(records)
  table.sort(records, by_time)
  local v = { n = 0, s = 0, d = 0, some = 0, xs = 0 }
  local seen, squares = {}, 0
  for _, r in ipairs(records) do
    v.n, v.s, v.d = v.n + 1, v.s + r.v, v.d + r.d
    if v.low == nil or r.b < v.low then v.low = r.b end
    if v.high == nil or r.v > v.high then v.high = r.v end
    v.last = r.id
    if r.x ~= nil then
      local id = type(r.x) .. tostring(r.x)
      if v.first == nil then v.first = r.x end
      v.some = v.some + 1
      if not seen[id] then seen[id], v.xs = true, v.xs + 1 end
    end
  end
  v.mean, v.f = v.s / v.n, { n = v.n, s = v.s }
  for _, r in ipairs(records) do squares = squares + (r.v - v.mean) ^ 2 end
  if v.n > 1 then v.var = squares / (v.n - 1) end
  return v
end

local function finish(windows)
  for i, w in ipairs(windows) do
    windows[i] = { key = w.key, start = w.start, ["end"] = w.stop, value = value_of(w.records), records = w.records }
  end
  return windows
end

-- The records in their order of arrival, each with it.
local function arrived(records)
  for i, r in ipairs(records) do r.arrival = i end
  return records
end

--- Windows on a grid. W is the highest time before a record, less `delay`.
function brute.grid(records, size, hop, offset, delay, lateness)
  local windows, by_id, w = {}, {}, -math.huge
  for _, r in ipairs(arrived(records)) do
    local start = math.floor((r.t - offset) / hop) * hop + offset
    while start + size > r.t do
      if w < start + size + lateness then
        local id = r.k .. " " .. start
        if not by_id[id] then
          by_id[id] = { key = r.k, start = start, stop = start + size, records = {} }
          windows[#windows + 1] = by_id[id]
        end
        table.insert(by_id[id].records, r)
      end
      start = start - hop
    end
    w = math.max(w, r.t - delay)
  end
  return finish(windows)
end

-- Windows of each key made from records in order of their own starts; `join(window, record, from, to)` says whether the
-- record belongs to the window before it.
local function grown(records, own, join)
  local order, windows, latest = {}, {}, {}
  for i, r in ipairs(arrived(records)) do
    local from, to = own(r)
    order[i] = { r = r, from = from, to = to }
  end
  table.sort(order, function(a, b) return a.from < b.from or a.from == b.from and a.r.arrival < b.r.arrival end)
  for _, o in ipairs(order) do
    local w = latest[o.r.k]
    if not w or not join(w, o) then
      w = { key = o.r.k, start = o.from, stop = o.to, records = {} }
      latest[o.r.k] = w
      windows[#windows + 1] = w
    end
    table.insert(w.records, o.r)
  end
  return finish(windows)
end

--- Windows that merge where they overlap: `own(record)` gives the record's own.
function brute.merging(records, own)
  return grown(records, own, function(w, o)
    if o.from >= w.stop then return false end
    w.stop = math.max(w.stop, o.to)
    return true
  end)
end

function brute.session(records, gap)
  return brute.merging(records, function(r) return r.t, r.t + gap end)
end

--- Sessions with a maximum, where no record came behind W.
function brute.bounded(records, gap, max)
  return grown(records, function(r) return r.t, math.min(r.t + gap, r.t + max) end, function(w, o)
    if o.from >= w.stop then return false end
    w.stop = math.min(math.max(w.stop, o.to), w.start + max)
    return true
  end)
end

--- One window for each key.
function brute.global(records)
  local windows, by_key = {}, {}
  for _, r in ipairs(arrived(records)) do
    if not by_key[r.k] then
      by_key[r.k] = { key = r.k, records = {} }
      windows[#windows + 1] = by_key[r.k]
    end
    table.insert(by_key[r.k].records, r)
  end
  return finish(windows)
end

--- The records that a run has taken: those that are not among its rejects.
function brute.taken(records, rejects)
  local refused, out = {}, {}
  for _, reject in ipairs(rejects) do refused[reject.record.id] = true end
  for _, r in ipairs(records) do
    if not refused[r.id] then out[#out + 1] = r end
  end
  return out
end

return brute
