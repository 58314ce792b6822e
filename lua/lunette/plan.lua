--- Checks what a script returned, reports every problem at once, and puts good pipelines in numbers for the driver.
-- Nothing of the script runs here and none of its tables is changed: the same window in two pipelines is read twice,
-- each time in the unit of its pipeline.
local addresses = require "lunette.plan.addresses"
local aggregates = require "lunette.plan.aggregates"
local describe = require "lunette.plan.describe"
local node = require "lunette.node"
local scopes = require "lunette.plan.scope"
local times = require "lunette.plan.times"
local triggers = require "lunette.plan.triggers"
local values = require "lunette.plan.values"
local windows = require "lunette.plan.windows"

local M = {}

local FIELDS = {
  "name", "time", "watermark", "where", "key", "window", "trigger", "lateness", "panes", "closing", "fill", "aggregate",
  "emit", "limits", "source", "sink",
}
local KEYS_MAX = 16
local LIKE = "return ln.pipeline { ... }, or a list of them"

local LIMITS = { "record_bytes", "nesting", "elements", "state_bytes", "distinct_values" }
local limit_default = {
  record_bytes = 4 * 1024 * 1024,
  nesting = 32,
  elements = 65536,
  state_bytes = 1024 * 1024 * 1024,
  distinct_values = 1000000,
}
-- These are counted in 32 bits.
local limit_most = { record_bytes = 2 ^ 30, nesting = 128, elements = 2 ^ 31 - 1 }

local function check_limits(scope, value)
  local fields = values.fields(scope, value, LIMITS, "write a table, such as { nesting = 32 }") or {}
  local out = {}
  for _, name in ipairs(LIMITS) do
    out[name] = limit_default[name]
    if fields[name] ~= nil then out[name] = values.whole(scope:enter(name), fields[name], 1, limit_most[name]) end
  end
  return out
end

local function check_key(scope, value)
  if value == nil then return { kind = "none" } end
  if type(value) == "function" and not node.names[value] then return { kind = "function", fn = value } end
  local how = 'write a field, as in "user", several, as in { "user", "region" }, or function(record) return ... end'
  if type(value) ~= "table" then
    if type(value) ~= "string" then
      values.wrong(scope, value, how)
      return nil
    end
    return { kind = "field", path = values.path(scope, value) }
  end
  local list = values.list(scope, value, how)
  if not list then return nil end
  if #list > KEYS_MAX then
    scope:problem(("has %d fields"):format(#list), ("write at most %d, or a function"):format(KEYS_MAX))
    return nil
  end
  local paths = {}
  for i, path in ipairs(list) do paths[i] = values.path(scope:enter(i), path) end
  return { kind = "composite", paths = paths }
end

local function check_fill(scope, spec)
  if spec.fill == nil then return nil end
  if windows.on_grid(spec.window) == false then
    scope:problem("empty windows stand on a grid only", "use ln.tumbling or ln.hopping, or leave it out")
  end
  if triggers.has_on_time(spec.trigger) == false then
    scope:problem("empty windows leave on time only", "use ln.at_watermark as the outermost trigger, or leave it out")
  end
  return values.whole(scope, spec.fill, 1)
end

local function check_function(scope, spec, name, like)
  if spec[name] == nil then return nil end
  return values.func(scope:enter(name), spec[name], like)
end

local function check_panes(scope, value)
  if value == nil then return "accumulating" end
  return values.choice(scope, value, { "accumulating", "discarding", "retracting" })
end

local function check_closing(scope, value)
  if value == nil then return false end
  return values.choice(scope, value, { "always" }, 'write "always" or leave it out') == "always"
end

local function check_fields(scope, spec, default_name)
  local out = { origin = scope.origin, name = default_name }
  if spec.name ~= nil then out.name = values.text(scope:enter "name", spec.name, 'a text, such as "spend"') end
  local unit
  out.time, unit = times.time(scope:enter "time", spec.time)
  scope = scope:with_unit(unit)
  out.watermark = times.watermark(scope:enter "watermark", spec.watermark, spec.time == "processing")
  out.where = check_function(scope, spec, "where", "function(record) return ... end")
  out.key = check_key(scope:enter "key", spec.key)
  out.window = windows.check(scope:enter "window", spec.window)
  out.trigger = triggers.check(scope:enter "trigger", spec.trigger)
  out.lateness_us = 0
  if spec.lateness ~= nil then out.lateness_us = values.duration(scope:enter "lateness", spec.lateness, "from") end
  out.panes = check_panes(scope:enter "panes", spec.panes)
  out.closing_always = check_closing(scope:enter "closing", spec.closing)
  out.fill = check_fill(scope:enter "fill", spec)
  out.aggregates = aggregates.check(scope:enter "aggregate", spec.aggregate, {
    merging = windows.merges(spec.window) and spec.window.kind or nil,
    endless = out.window and out.window.kind == "global",
  })
  out.emit = check_function(scope, spec, "emit", "function(pane) return pane end")
  out.limits = check_limits(scope:enter "limits", spec.limits)
  return out
end

local function check_pipeline(scope, value, default_name, found)
  values.arguments(scope, value)
  if type(value.spec) ~= "table" or node.mark(value.spec) or value.spec == node.null then
    local given = value.spec == nil and "nothing" or describe.value(value.spec)
    scope:problem("ln.pipeline was given " .. given, "write ln.pipeline { ... }")
    return nil
  end
  local spec = values.fields(scope, value.spec, FIELDS)
  addresses.read(scope, spec or {}, found.addresses, found.several)
  return check_fields(scope, spec, default_name)
end

-- The pipelines as a list, or nil. A table with the fields of a pipeline was probably not wrapped in its word.
local function listed(scope, specs)
  local mark = node.mark(specs)
  if mark and mark.family == "pipeline" then return { specs } end
  if mark and mark.family == "unknown" then return nil end -- reported where it stands
  if specs == nil then
    scope:problem("the script returns nothing", LIKE)
    return nil
  end
  if type(specs) ~= "table" or mark or specs == node.null then
    scope:at(specs):problem("the script returns " .. describe.value(specs), LIKE)
    return nil
  end
  for _, name in ipairs { "window", "aggregate", "time" } do
    if rawget(specs, name) ~= nil then
      scope:problem("the script returns a plain table", "write ln.pipeline before it")
      return nil
    end
  end
  if next(specs) == nil then
    scope:problem("the script returns an empty list", LIKE)
    return nil
  end
  local list = {}
  for key, value in next, specs do
    if key ~= "source" and key ~= "sink" then list[key] = value end
  end
  return values.list(scope, list, LIKE)
end

--- Checks what a script returned: one pipeline, or a list of them.
---@param specs any
---@param origin string? "file:line" for what concerns the script as a whole; default the caller's
---@return table[]? pipelines in numbers, each duration in microseconds
---@return string[]? problems each "file:line: path.of.field: what is wrong: how to mend it"
---@return lunette.Address[] addresses where records come from and panes go, as far as the script says
function M.check(specs, origin)
  local scope = scopes.new(origin or node.caller())
  local list = listed(scope, specs)
  local pipelines, named = {}, {}
  local found = { addresses = {}, several = list ~= nil and list[2] ~= nil }
  if list and not node.mark(specs) then addresses.read(scope, specs, found.addresses) end
  for i, value in ipairs(list or {}) do
    local made = values.made(list[2] and scope:enter(i) or scope, value, "pipeline", "ln.pipeline { ... }")
    if made then
      local inner = scope:at(made)
      local out = check_pipeline(inner, made, list[2] and "pipeline_" .. i or "pipeline", found)
      if out and out.name and named[out.name] then
        inner:enter("name"):problem(("another pipeline is named %s"):format(describe.quote(out.name)),
          "give each its own name")
      end
      if out and out.name then named[out.name] = true end
      pipelines[i] = out
    end
  end
  if #scope.problems > 0 then return nil, scope.problems, found.addresses end
  return pipelines, nil, found.addresses
end

return M
