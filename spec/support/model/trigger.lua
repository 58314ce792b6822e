--- Triggers as the rules see them. Each window carries, for each node of its trigger, whether that node has been ready
-- since the last pane, whether a `once` is used up, and at which step a `sequence` stands.
local time = require "spec.support.model.time"

jit.off(true, true)
local trigger = {}

local function parts(node) return node.list or node.trigger and { node.trigger } or {} end

function trigger.fresh(node)
  local state = { ready = false, used = false, step = 1, parts = {} }
  for i, part in ipairs(parts(node)) do state.parts[i] = trigger.fresh(part) end
  return state
end

local ask

-- Each rule: is the node ready at this event? `w` is the window with what has come since its last pane: `since`
-- records, the clock at the first and the last of them.
local rules = {
  never = function() return false end,
  each = function(_, _, event) return event.kind == "record" end,
  after_count = function(node, _, event, w) return event.kind == "record" and w.since >= node.n end,
  when = function(node, _, event) return event.kind == "record" and event.predicate(node.fn) end,
  every = function(node, _, event, w)
    if event.kind ~= (node.time == "event" and "watermark" or "clock") or not w.held then return false end
    if node.if_new and w.since == 0 then return false end
    if event.kind == "watermark" and w.stop <= event.to then return false end
    return time.crosses(node.period_us, event.from, event.to)
  end,
  after_delay = function(node, _, event, w)
    return event.kind == "clock" and w.since > 0 and event.to - w.first_clock >= node.delay_us
  end,
  after_idle = function(node, _, event, w)
    return event.kind == "clock" and w.since > 0 and event.to - w.last_clock >= node.delay_us
  end,
  any = function(node, state, event, w)
    local ready = false
    for i, part in ipairs(node.list) do
      if ask(part, state.parts[i], event, w) then ready = true end
    end
    return ready
  end,
  all = function(node, state, event, w)
    local ready = true
    for i, part in ipairs(node.list) do
      if not (state.parts[i].ready or ask(part, state.parts[i], event, w)) then ready = false end
    end
    return ready
  end,
  sequence = function(node, state, event, w) return ask(node.list[state.step], state.parts[state.step], event, w) end,
  once = function(node, state, event, w) return not state.used and ask(node.trigger, state.parts[1], event, w) end,
}

function ask(node, state, event, w)
  local ready = rules[node.kind](node, state, event, w)
  if ready then state.ready = true end
  return ready
end
trigger.ask = ask

-- The trigger has fired: what led to it is used up, from the outside in, in the parts that were ready.
function trigger.use_up(node, state)
  if not state.ready then return end
  if node.kind == "sequence" then
    trigger.use_up(node.list[state.step], state.parts[state.step])
    state.step = math.min(state.step + 1, #node.list)
    return
  end
  if node.kind == "once" then state.used = true end
  for i, part in ipairs(parts(node)) do trigger.use_up(part, state.parts[i]) end
end

-- A pane has left: the flags of the whole trigger start anew.
function trigger.restart(state)
  state.ready = false
  for _, part in ipairs(state.parts) do trigger.restart(part) end
end

-- Windows have merged: flags and once-marks join, the furthest step stays. Whether a sequence was ready is a fact of
-- its step: what it was at a step left behind does not count.
function trigger.join(into, other)
  if into.step < other.step then into.ready = other.ready end
  if into.step == other.step then into.ready = into.ready or other.ready end
  into.used = into.used or other.used
  into.step = math.max(into.step, other.step)
  for i, part in ipairs(into.parts) do trigger.join(part, other.parts[i]) end
end

return trigger
