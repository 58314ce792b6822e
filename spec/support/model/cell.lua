--- One window of one key: what it holds, what has come since its last pane, what it has absorbed, its trigger's state.
local aggregate = require "spec.support.model.aggregate"
local trigger = require "spec.support.model.trigger"

jit.off(true, true)
local cell = {}
cell.__index = cell

local function clear(w)
  w.contents, w.folds = {}, {}
  for _, spec in ipairs(w.pipeline.aggregates) do
    if spec.kind == "fold" then w.folds[spec.name] = aggregate.fold_new(spec) end
  end
end

-- `trees` are the trigger's parts by name: early and late, or plain alone.
function cell.new(pipeline, trees, key, start, stop, age)
  local w = setmetatable({
    pipeline = pipeline, trees = trees, key = key, start = start, stop = stop, age = age,
    held = false, panes = 0, last = nil, ghosts = {}, since = 0, first_clock = nil, last_clock = nil, triggers = {},
  }, cell)
  for name, tree in pairs(trees) do w.triggers[name] = trigger.fresh(tree) end
  clear(w)
  return w
end

function cell:add(item, now)
  self.held = true
  table.insert(self.contents, item)
  for _, spec in ipairs(self.pipeline.aggregates) do
    if spec.kind == "fold" then aggregate.fold_add(spec, self.folds[spec.name], item.plain) end
  end
  self.since = self.since + 1
  self.first_clock = self.first_clock or now
  self.last_clock = now
end

local function earliest(a, b) return a and b and math.min(a, b) or a or b end
local function latest(a, b) return a and b and math.max(a, b) or a or b end

-- Takes in another window of the key; where that one had emitted, it becomes a ghost to be withdrawn.
function cell:absorb(other)
  for _, item in ipairs(other.contents) do table.insert(self.contents, item) end
  table.sort(self.contents, function(a, b) return a.arrival < b.arrival end)
  for _, spec in ipairs(self.pipeline.aggregates) do
    if spec.kind == "fold" then
      self.folds[spec.name] = aggregate.fold_merge(spec, self.folds[spec.name], other.folds[spec.name])
    end
  end
  self.held = self.held or other.held
  self.since = self.since + other.since
  self.first_clock = earliest(self.first_clock, other.first_clock)
  self.last_clock = latest(self.last_clock, other.last_clock)
  for name in pairs(self.trees) do trigger.join(self.triggers[name], other.triggers[name]) end
  for _, ghost in ipairs(other.ghosts) do table.insert(self.ghosts, ghost) end
  if other.last then table.insert(self.ghosts, { start = other.start, pane = other.last }) end
  table.sort(self.ghosts, function(a, b) return a.start < b.start end)
end

-- Whether the part of the trigger that is in force at W is ready at this event; if so it is used up.
function cell:ask(w, event)
  local name = self.trees.plain and "plain" or w < self.stop and "early" or "late"
  local tree, state = self.trees[name], self.triggers[name]
  if not trigger.ask(tree, state, event, self) then return false end
  trigger.use_up(tree, state)
  return true
end

-- The values by name, and whether a list among them was cut.
function cell:values()
  local out, cut = {}, nil
  for _, spec in ipairs(self.pipeline.aggregates) do
    if spec.kind == "fold" then
      out[spec.name] = aggregate.fold_result(spec, self.folds[spec.name])
    else
      local v, less = aggregate.result(spec, self.contents, self)
      out[spec.name], cut = v, cut or less
    end
  end
  return out, cut
end

-- A pane has shown the window: whatever counts "since the last pane" starts anew.
function cell:shown(pane)
  self.panes = self.panes + 1
  self.last = pane
  self.ghosts = {}
  self.since, self.first_clock, self.last_clock = 0, nil, nil
  for _, state in pairs(self.triggers) do trigger.restart(state) end
  if self.pipeline.panes == "discarding" then clear(self) end
end

return cell
