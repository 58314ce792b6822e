--- A naive model of the windowing rules: slow, and as plain as they can be said. It takes a normalized pipeline, as
-- lunette.plan makes it, and decoded records one by one, and gives panes, rejects and the account. Each window keeps
-- all its records and every value is worked out from them; every window is looked at whenever a clock or W moves.
local json = require "spec.support.json"
local assign = require "spec.support.model.assign"
local aggregate = require "spec.support.model.aggregate"
local cell = require "spec.support.model.cell"
local time = require "spec.support.model.time"
local value = require "spec.support.model.value"
local watermark = require "spec.support.model.watermark"

jit.off(true, true)
local model = {}
model.__index = model

-- `options.clock` names the field of each record that the processing clock is read from; `options.show_name`: panes and
-- rejects carry the pipeline's name.
function model.new(pipeline, options)
  local root = pipeline.trigger
  return setmetatable({
    pipeline = pipeline, options = options or {}, unit = pipeline.time.unit,
    trees = root.root == "plain" and { plain = root.tree } or { early = root.early, late = root.late },
    panes = {}, rejects = {},
    account = { read = 0, aggregated = 0, filtered = 0, rejected = {}, refusals_late = 0, values_skipped = 0 },
    w = -math.huge, now = nil, watermark = watermark.new(pipeline),
    windows = {}, closed = {}, waiting = {}, ages = 0,
  }, model)
end

-- Windows ---------------------------------------------------------------------------------------------------------

function model:windows_of(id)
  local out = {}
  for _, w in ipairs(self.windows) do
    if w.id == id then out[#out + 1] = w end
  end
  return out
end

function model:find(id, start, stop)
  for _, w in ipairs(self.windows) do
    if w.id == id and w.start == start and w.stop == stop then return w end
  end
  return nil
end

function model:open(item, start, stop)
  self.ages = self.ages + 1
  local w = cell.new(self.pipeline, self.trees, item.key, start, stop, self.ages)
  w.id = item.id
  table.insert(self.windows, w)
  return w
end

function model:drop(w)
  for i, other in ipairs(self.windows) do
    if other == w then return table.remove(self.windows, i) end
  end
end

local function before(a, b)
  if a.stop ~= b.stop then return a.stop < b.stop end
  if a.start ~= b.start then return a.start < b.start end
  return a.age < b.age
end

-- Panes -----------------------------------------------------------------------------------------------------------

function model:emit(pane)
  local emit = self.pipeline.emit
  if not emit then
    table.insert(self.panes, value.copy(pane))
    return
  end
  local ok, shaped = pcall(emit, value.plain(pane))
  if not ok then shaped = pane end
  if shaped ~= nil then table.insert(self.panes, value.copy(value.from_script(shaped))) end
end

function model:withdraw(pane)
  local copy = value.copy(pane)
  copy.retract = true
  self:emit(copy)
end

function model:fire(w, timing)
  local panes = self.pipeline.panes
  local values, cut = w:values()
  local pane = {
    pipeline = self.options.show_name and self.pipeline.name or nil,
    key = w.key, start = time.show(w.start, self.unit), ["end"] = time.show(w.stop, self.unit), pane = w.panes,
    timing = timing, final = self.w >= w.stop + self.pipeline.lateness_us, value = values, cut = cut,
  }
  if panes == "discarding" then
    for _, ghost in ipairs(w.ghosts) do
      pane.absorbed = pane.absorbed or json.array {}
      table.insert(pane.absorbed, time.show(ghost.start, self.unit))
    end
  else
    for _, ghost in ipairs(w.ghosts) do self:withdraw(ghost.pane) end
    if panes == "retracting" and w.last then self:withdraw(w.last) end
  end
  self:emit(pane)
  w:shown(pane)
end

function model:timing(w) return self.w < w.stop and "early" or "late" end

-- The item enters a window and its trigger is asked.
function model:join(w, item)
  w:add(item, self.now)
  local function predicate(fn)
    local seen = setmetatable({}, {
      __index = function(_, name)
        if name == "value" then return value.plain((w:values())) end
        return nil
      end,
    })
    seen.key, seen.pane = value.plain(w.key), w.panes
    seen.start, seen.stop = time.show(w.start, self.unit), time.show(w.stop, self.unit)
    local ok, answer = pcall(fn, seen, item.plain)
    return ok and answer and true or false
  end
  if w:ask(self.w, { kind = "record", predicate = predicate }) then self:fire(w, self:timing(w)) end
end

-- W moves ---------------------------------------------------------------------------------------------------------

-- W has completed `w`: the next window of the grid stands open, and empty unless it holds records already.
-- `empty_before` counts the windows before it that were completed empty, one after the other.
function model:fill(w)
  local window, most = self.pipeline.window, self.pipeline.fill
  if not most or self.w == math.huge then return end
  local run = w.held and 0 or w.empty_before + 1
  if run >= most then return end
  local start = w.start + window.hop_us
  if self:find(w.id, start, start + window.size_us) then return end
  self:open(w, start, start + window.size_us).empty_before = run
end

function model:expire(w)
  local timing = self.pipeline.lateness_us == 0 and "on_time" or "late"
  local last_is_final = w.last and w.last.final
  if w.since > 0 or self.pipeline.closing_always and not last_is_final then self:fire(w, timing) end
  self:drop(w)
  table.insert(self.closed, { id = w.id, start = w.start, stop = w.stop })
end

function model:moved(w, from)
  local completed = from < w.stop and self.w >= w.stop
  if completed and not self.trees.plain then self:fire(w, "on_time") end
  if self.w < w.stop and w:ask(self.w, { kind = "watermark", from = from, to = self.w }) then self:fire(w, "early") end
  if self.w >= w.stop + self.pipeline.lateness_us then self:expire(w) end
  if completed then self:fill(w) end
end

-- Records that waited for W (sessions with a maximum) join before it moves.
function model:admit(to)
  local due, rest = {}, {}
  for _, item in ipairs(self.waiting) do table.insert(item.t <= to and due or rest, item) end
  self.waiting = rest
  table.sort(due, function(a, b) return a.t < b.t or a.t == b.t and a.arrival < b.arrival end)
  for _, item in ipairs(due) do assert(not assign.bounded(self, item)) end
end

function model:advance(to)
  if not to or to <= self.w then return end
  self:admit(to)
  local from = self.w
  self.w = to
  local done = {}
  while true do
    local due
    for _, w in ipairs(self.windows) do
      if not done[w] and (not due or before(w, due)) then due = w end
    end
    if not due then return end
    done[due] = true
    self:moved(due, from)
  end
end

-- The clock moves: windows fire in order, then sources fall idle.
function model:tick(now)
  if not now or self.now and now <= self.now then return end
  local event = { kind = "clock", from = self.now or -math.huge, to = now }
  self.now = now
  local windows = { unpack(self.windows) }
  table.sort(windows, before)
  for _, w in ipairs(windows) do
    if w:ask(self.w, event) then self:fire(w, self:timing(w)) end
  end
  self:advance(self.pipeline.time.kind == "processing" and now or self.watermark:promise(now))
end

-- Records ---------------------------------------------------------------------------------------------------------

function model:reject(reason, record)
  self.account.rejected[reason] = (self.account.rejected[reason] or 0) + 1
  local name = self.options.show_name and self.pipeline.name or nil
  table.insert(self.rejects, { reason = reason, record = record, pipeline = name })
end

-- The time of a record in microseconds, or nil and the reason why it has none.
function model:time_of(record, plain)
  local rules = self.pipeline.time
  if rules.kind == "processing" then return self.now end
  local v
  if rules.kind == "function" then
    local ok
    ok, v = pcall(rules.fn, plain)
    if not ok then return nil, "script_error" end
  else
    v = value.at(record, rules.path)
  end
  local t = time.read(v, self.unit)
  return t, not t and "no_time" or nil
end

function model:key_of(record, plain)
  local rules = self.pipeline.key
  if rules.kind == "none" then return nil end
  if rules.kind == "field" then return value.at(record, rules.path) end
  if rules.kind == "function" then return value.from_script((rules.fn(plain))) end
  local key = json.array {}
  for i, path in ipairs(rules.paths) do
    local part = value.at(record, path)
    key[i] = part == nil and json.null or part
  end
  return key
end

-- Where a record with a time ends: "aggregated", "filtered", or the reason of its reject.
function model:place(record, plain, t)
  local ok, kept, key
  if self.pipeline.where then
    ok, kept = pcall(self.pipeline.where, plain)
    if not ok then return "script_error" end
    if not kept then return "filtered" end
  end
  ok, key = pcall(self.key_of, self, record, plain)
  if not ok then return "script_error" end
  local id = value.identity(key)
  if not id then return "bad_key" end
  local item = { t = t, arrival = self.account.read, key = key, id = id, plain = plain, values = {} }
  local skipped = 0
  for _, spec in ipairs(self.pipeline.aggregates) do
    local read, v, skip = pcall(aggregate.read, spec, record, plain)
    if not read then return "script_error" end
    item.values[spec.name] = v
    if skip then skipped = skipped + 1 end
  end
  local refused = assign.kinds[self.pipeline.window.kind](self, item)
  if refused then return refused end
  self.account.values_skipped = self.account.values_skipped + skipped
  return "aggregated"
end

-- A line that is no JSON, or a value that is no map.
function model:malformed(text)
  self.account.read = self.account.read + 1
  self:reject("malformed", text)
end

function model:record(record)
  if not json.is_map(record) then return self:malformed(record) end
  self.account.read = self.account.read + 1
  local plain = value.plain(record)
  local clock = self.options.clock
  if clock then self:tick(time.read(value.at(record, clock), self.unit)) end
  local t, reason = self:time_of(record, plain)
  if not t then return self:reject(reason, record) end
  local ahead = self.pipeline.watermark.max_ahead_us
  if ahead and self.now and t > self.now + ahead then return self:reject("future", record) end
  local place = self:place(record, plain, t)
  if place == "aggregated" or place == "filtered" then
    self.account[place] = self.account[place] + 1
  else
    self:reject(place, record)
  end
  if self.pipeline.time.kind ~= "processing" then
    self.watermark:hear(record, plain, t, self.now)
    self:advance(self.watermark:promise(self.now))
  end
end

function model:finish() self:advance(math.huge) end

-- Runs pipelines over a whole text of JSON lines: all panes, all rejects, and the account of each.
function model.run(pipelines, text, clock)
  local panes, rejects, accounts = {}, {}, {}
  for i, pipeline in ipairs(pipelines) do
    local m = model.new(pipeline, { clock = clock, show_name = pipelines[2] ~= nil })
    for line in text:gmatch "[^\n]+" do
      local ok, record = pcall(json.decode, line)
      if ok then m:record(record) elseif line:find "%S" then m:malformed(line) end
    end
    m:finish()
    for _, pane in ipairs(m.panes) do panes[#panes + 1] = pane end
    for _, reject in ipairs(m.rejects) do rejects[#rejects + 1] = reject end
    accounts[i] = m.account
  end
  return panes, rejects, accounts
end

return model
