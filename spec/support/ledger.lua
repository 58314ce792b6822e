--- A consumer of one pipeline's panes, exactly as the rules describe it: it replaces by window, takes back what is
-- withdrawn, and in discarding mode adds, moving what has been absorbed. It believes nothing: a pane that breaks a
-- promise on the way raises what is wrong.
local json = require "spec.support.json"

local ledger = {}
local Ledger = {}
Ledger.__index = Ledger

local function fail(what, pane) error(("%s: %s"):format(what, json.encode(pane)), 0) end

--- Are two values the same? Whole numbers exactly, others but for rounding.
function ledger.same(a, b)
  if a == b then return true end
  if type(a) == "number" and type(b) == "number" then
    if a % 1 == 0 and b % 1 == 0 and math.abs(a) <= 2 ^ 53 then return false end
    return math.abs(a - b) <= 1e-9 * math.max(math.abs(a), math.abs(b))
  end
  if type(a) ~= "table" or type(b) ~= "table" then return false end
  for name in pairs(a) do
    if not ledger.same(a[name], b[name]) then return false end
  end
  for name in pairs(b) do
    if a[name] == nil then return false end
  end
  return true
end

-- What tells windows apart: their end only where they neither merge nor grow.
local function id_of(key, start, stop, by_end)
  return ("%s %s %s"):format(json.encode(key), tostring(start), by_end and tostring(stop) or "")
end

--- @param mode "accumulating", "discarding" or "retracting"
-- @param by_end whether windows of one start are told apart by their end: grids, and others that do not grow
function ledger.new(mode, by_end)
  return setmetatable({ mode = mode, by_end = by_end, windows = {}, numbers = {}, gone = {}, withdrawn = {},
    counts = { panes = 0, withdrawn = 0, absorbed = 0 } }, Ledger)
end

-- ---- withdrawals

function Ledger:withdraw(pane, id)
  local standing = self.windows[id]
  if self.mode == "discarding" then fail("a withdrawal in discarding mode", pane) end
  if not standing then fail("withdraws what does not stand", pane) end
  for name in pairs(pane) do
    if name ~= "retract" and not ledger.same(pane[name], standing[name]) then
      fail("withdraws it with another " .. name, pane)
    end
  end
  for name in pairs(standing) do
    if pane[name] == nil then fail("withdraws it without its " .. name, pane) end
  end
  self.windows[id] = nil
  self.counts.withdrawn = self.counts.withdrawn + 1
  table.insert(self.withdrawn, { id = id, pane = pane })
end

-- What was withdrawn just before `pane`: absorbed windows in order of their start, then its own, and nothing else.
function Ledger:settle(pane, id)
  local own, before = false, -math.huge
  for i, w in ipairs(self.withdrawn) do
    local p = w.pane
    if w.id == id then
      if self.mode ~= "retracting" then fail("takes back itself", pane) end
      if i < #self.withdrawn then fail("takes back itself first", pane) end
      own = true
    else
      if not ledger.same(p.key, pane.key) then fail("stands between a withdrawal and its pane", pane) end
      if self.by_end then fail("absorbs, and does not merge", pane) end
      if p.start < pane.start or p["end"] > pane["end"] then fail("does not cover what it absorbed", pane) end
      if p.start <= before then fail("absorbed windows are out of order", pane) end
      before = p.start
      self.gone[w.id] = true
      self.counts.absorbed = self.counts.absorbed + 1
    end
  end
  if self.mode == "retracting" and self.windows[id] and not own then fail("does not take back the one before", pane) end
  self.withdrawn = {}
end

-- ---- panes

local add = {
  n = function(a, b) return a + b end, s = function(a, b) return a + b end, d = function(a, b) return a + b end,
  some = function(a, b) return a + b end, low = function(a, b) return a < b and a or b end,
  high = function(a, b) return a > b and a or b end,
  f = function(a, b) return { n = a.n + b.n, s = a.s + b.s } end,
}

local function add_values(into, from)
  for name, item in pairs(from) do
    if add[name] then into[name] = into[name] == nil and item or add[name](into[name], item) end
  end
end

function Ledger:add(pane, id)
  local held = self.windows[id] or { value = {} }
  local sum, before = held.value, -math.huge
  for _, start in ipairs(pane.absorbed or {}) do
    local absorbed = id_of(pane.key, start, nil, false)
    if self.by_end then fail("absorbs, and does not merge", pane) end
    if start <= before or start <= pane.start or start >= pane["end"] then
      fail("absorbed starts are out of place", pane)
    end
    if not self.windows[absorbed] then fail("absorbs what does not stand", pane) end
    add_values(sum, self.windows[absorbed].value)
    self.windows[absorbed], self.gone[absorbed], before = nil, true, start
    self.counts.absorbed = self.counts.absorbed + 1
  end
  add_values(sum, pane.value)
  self.windows[id] = { key = pane.key, start = pane.start, ["end"] = pane["end"], final = pane.final, value = sum }
end

local ranks = { early = 1, on_time = 2, late = 3 }

function Ledger:check(pane, id)
  local last = self.numbers[id]
  if self.gone[id] then fail("a pane of a window that was absorbed", pane) end
  if last and last.final then fail("a pane after the final one", pane) end
  if pane.pane ~= (last and last.pane + 1 or 0) then fail("a hole in the numbers of panes", pane) end
  if self.by_end and last then
    local back = ranks[pane.timing] < ranks[last.timing]
    local twice = pane.timing == "on_time" and last.timing == "on_time"
    if back or twice then fail("a pane of a time that is over", pane) end
  end
  self.numbers[id] = pane
end

function Ledger:take(pane)
  local id = id_of(pane.key, pane.start, pane["end"], self.by_end)
  if pane.retract then return self:withdraw(pane, id) end
  self.counts.panes = self.counts.panes + 1
  self:settle(pane, id)
  self:check(pane, id)
  if self.mode == "discarding" then return self:add(pane, id) end
  if pane.absorbed then fail("names what it absorbed, and does not discard", pane) end
  self.windows[id] = pane
end

--- Takes a whole run's panes. The windows as they are in the end are then in `windows`.
function ledger.of(panes, mode, by_end)
  local self = ledger.new(mode, by_end)
  for _, pane in ipairs(panes) do self:take(pane) end
  if #self.withdrawn > 0 then fail("nothing follows the withdrawal", self.withdrawn[1].pane) end
  return self
end

--- Raises the first difference between two sets of windows, each { key, start, end, value }; of the values only
-- `names`, or all.
function ledger.compare(want, got, names)
  local by_id, ids = {}, {}
  for side, windows in pairs { want = want, got = got } do
    for _, w in pairs(windows) do
      local id = id_of(w.key, w.start, w["end"], true)
      if not by_id[id] then
        by_id[id] = {}
        ids[#ids + 1] = id
      end
      if by_id[id][side] then fail("one window twice", w) end
      by_id[id][side] = w
    end
  end
  table.sort(ids)
  for _, id in ipairs(ids) do
    local a, b = by_id[id].want, by_id[id].got
    if not a then fail("a window too many", b) end
    if not b then fail("a window is missing", a) end
    for name in pairs(names or a.value) do
      if not ledger.same(a.value[name], b.value[name]) then
        error(("window %s: %s: want %s, got %s"):format(id, name, json.encode(a.value[name]),
          json.encode(b.value[name])), 0)
      end
    end
  end
  return #ids
end

--- The names of aggregates whose discarded parts add up.
ledger.additive = add

return ledger
