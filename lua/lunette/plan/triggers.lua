--- Checks a trigger and puts it in numbers: `at_watermark` with its two trees, or one plain tree.
local node = require "lunette.node"
local values = require "lunette.plan.values"

local M = {}

local NODES_MAX, SEQUENCES_MAX = 64, 8
local LIKE = "ln.each() or ln.after_count(100)"

local tree
local check = {}

function check.each(scope, t)
  values.arguments(scope, t)
  return { kind = "each" }
end

function check.never(scope, t)
  values.arguments(scope, t)
  return { kind = "never" }
end

function check.after_count(scope, t)
  values.arguments(scope, t)
  return { kind = "after_count", n = values.whole(scope:enter "n", t.n, 1) }
end

function check.every(scope, t)
  local options = values.options(scope, t, { "time", "if_new" })
  local time, if_new = "processing", false
  local period = values.duration(scope:enter "period", t.period, "above")
  if options.time ~= nil then time = values.choice(scope:enter "time", options.time, { "processing", "event" }) end
  if options.if_new ~= nil then if_new = values.boolean(scope:enter "if_new", options.if_new) end
  return { kind = "every", period_us = period, time = time, if_new = if_new }
end

local function delayed(scope, t)
  values.arguments(scope, t)
  return { kind = t.kind, delay_us = values.duration(scope:enter "delay", t.delay, "from") }
end
check.after_delay, check.after_idle = delayed, delayed

function check.when(scope, t)
  values.arguments(scope, t)
  return { kind = "when", fn = values.func(scope:enter "fn", t.fn, "function(window, record) return ... end") }
end

local function of_list(scope, t, size)
  local how = ("write ln.%s { trigger, ... }"):format(t.kind)
  if node.mark(t.list) then
    scope:problem("its parts stand outside of a list", how)
    return nil
  end
  values.arguments(scope, t)
  local out = { kind = t.kind, list = {} }
  for i, part in ipairs(values.list(scope, t.list, how) or {}) do out.list[i] = tree(scope:enter(i), part, size) end
  return out
end
check.any, check.all, check.sequence = of_list, of_list, of_list

function check.once(scope, t, size)
  values.arguments(scope, t)
  return { kind = "once", trigger = tree(scope:enter "once", t.trigger, size) }
end

-- One tree, counted in `size`. Past the most nodes nothing more is looked at: a table that holds itself ends there too.
function tree(scope, value, size)
  size.nodes = size.nodes + 1
  if size.nodes > NODES_MAX then return nil end
  local t = values.made(scope, value, "trigger", LIKE)
  if not t then return nil end
  scope = scope:at(t)
  if t.kind == "at_watermark" then
    scope:problem("ln.at_watermark inside of another trigger",
      "make it the outermost one, with the other as its early or late part")
    return nil
  end
  if t.kind == "sequence" then size.sequences = size.sequences + 1 end
  return check[t.kind](scope, t, size)
end

local function whole_tree(scope, value)
  local size = { nodes = 0, sequences = 0 }
  local out = tree(scope, value, size)
  if size.nodes > NODES_MAX then
    scope:at(value):problem(("more than %d triggers within each other"):format(NODES_MAX), "say it with an ln.when")
  elseif size.sequences > SEQUENCES_MAX then
    scope:at(value):problem(("more than %d sequences"):format(SEQUENCES_MAX), "say it with an ln.when")
  end
  return out
end

--- The trigger in numbers; nil for `value` stands for the default one.
---@param scope lunette.Scope of the field `trigger`
---@param value any
---@return table?
function M.check(scope, value)
  local out = { root = "at_watermark", early = { kind = "never" }, late = { kind = "each" } }
  if value == nil then return out end
  local mark = node.mark(value)
  if not (mark and mark.word == "at_watermark") then return { root = "plain", tree = whole_tree(scope, value) } end
  if not values.made(scope, value, "trigger", LIKE) then return nil end
  scope = scope:at(value)
  local options = values.options(scope, value, { "early", "late" })
  if options.early ~= nil then out.early = whole_tree(scope:enter "early", options.early) end
  if options.late ~= nil then out.late = whole_tree(scope:enter "late", options.late) end
  return out
end

--- Whether there is an on-time pane; nil where the value is no trigger.
---@param value any
---@return boolean?
function M.has_on_time(value)
  if value == nil then return true end
  local mark = node.mark(value)
  if not mark then return nil end
  return mark.word == "at_watermark"
end

return M
