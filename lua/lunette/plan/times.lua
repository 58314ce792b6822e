--- Checks `time` and `watermark`: where a record's time comes from, and how far event time has come.
local describe = require "lunette.plan.describe"
local node = require "lunette.node"
local suggest = require "lunette.plan.suggest"
local values = require "lunette.plan.values"

local M = {}

local UNITS = { "s", "ms", "us", "ns", "tick", "rfc3339" }
local LIKE = '{ field = "ts", unit = "ms" }, "processing" or function(record) return ... end'

-- Both names may hold a function; only `field` may hold a path.
local function source(scope, time, unit)
  if time.field ~= nil and time.fn ~= nil then
    scope:problem("has both field and fn", "leave one of them out")
  elseif type(time.field) == "function" or time.fn ~= nil then
    local name = time.fn ~= nil and "fn" or "field"
    local fn = values.func(scope:enter(name), time[name], "function(record) return ... end")
    return fn and { kind = "function", fn = fn, unit = unit }
  else
    local path = values.path(scope:enter "field", time.field)
    return path and { kind = "field", path = path, unit = unit }
  end
  return nil
end

--- Where a record's time comes from, and the unit of the pipeline's numbers also where there is a problem.
---@param scope lunette.Scope of the field `time`
---@param value any
---@return table?
---@return string unit
function M.time(scope, value)
  if value == "processing" then return { kind = "processing", unit = "ms" }, "ms" end
  if type(value) == "function" and not node.names[value] then
    return { kind = "function", fn = value, unit = "ms" }, "ms"
  end
  if type(value) == "string" then
    local field = value:find "^[%w_.]+$" and ("write time = { field = %q }"):format(value) or "write " .. LIKE
    scope:problem(describe.quote(value) .. " is unknown", suggest.how(value, { "processing" }, field))
    return nil, "ms"
  end
  if value == nil then
    scope:problem("missing", "write " .. LIKE)
    return nil, "ms"
  end
  local time = values.fields(scope, value, { "field", "fn", "unit" }, "write " .. LIKE)
  if not time then return nil, "ms" end
  local unit = "ms"
  if time.unit ~= nil then unit = values.choice(scope:enter "unit", time.unit, UNITS) or "ms" end
  return source(scope, time, unit), unit
end

local WATERMARK = { "delay", "source", "sources", "idle", "on_idle", "max_ahead", "mark" }

local function optional_duration(scope, fields, name, sign)
  if fields[name] == nil then return nil end
  return values.duration(scope:enter(name), fields[name], sign)
end

local function sources(scope, fields)
  if fields.sources == nil then return 1 end
  return values.whole(scope:enter "sources", fields.sources, 1, 2 ^ 32 - 1)
end

--- The watermark in numbers. `processing` tells that the pipeline goes by the clock, which is then the watermark.
---@param scope lunette.Scope of the field `watermark`
---@param value any
---@param processing boolean
---@return table?
function M.watermark(scope, value, processing)
  if processing and value ~= nil then
    scope:problem('does nothing with time = "processing", where the clock is the watermark', "leave one of them out")
  end
  local how = 'write a table, such as { delay = "5s" }'
  local fields = values.fields(scope, value, WATERMARK, how)
  if not fields then return nil end
  local out = { sources = sources(scope, fields), on_idle = "hold" }
  out.delay_us = optional_duration(scope, fields, "delay", "from")
  if fields.source ~= nil then out.source = values.path(scope:enter "source", fields.source) end
  out.idle_us = optional_duration(scope, fields, "idle", "above")
  if fields.on_idle ~= nil then
    out.on_idle = values.choice(scope:enter "on_idle", fields.on_idle, { "hold", "advance" })
    if fields.idle == nil then
      scope:enter("on_idle"):problem("does nothing without idle", 'add idle = "30s", or leave it out')
    end
  end
  out.max_ahead_us = optional_duration(scope, fields, "max_ahead", "from")
  if fields.mark ~= nil then
    out.mark = values.func(scope:enter "mark", fields.mark, "function(record) return t end")
  end
  if fields.delay == nil then out.delay_us = fields.mark ~= nil and math.huge or 0 end
  return out
end

return M
