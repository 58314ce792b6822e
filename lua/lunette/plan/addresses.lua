--- `source` and `sink`: where a script's records come from and its panes go. They stand in the pipeline, or, of a
-- script that returns several, in the list beside them, since these share their records and their panes. Whether an
-- address makes sense is judged where it is read; here it only is a text.
local describe = require "lunette.plan.describe"
local values = require "lunette.plan.values"

local M = {}

---@class lunette.Address
---@field text string
---@field sink boolean
---@field place string "file:line: path.of.field"

local LIKE = 'an address, such as "tcp://127.0.0.1:7000", "unix:in.sock" or the name of a file'

local function add(into, scope, value, sink)
  local text = values.text(scope, value, LIKE)
  if not text then return end
  if text:find "%z" then
    scope:problem(describe.quote(text) .. " has a zero byte", "leave it out")
    return
  end
  into[#into + 1] = { text = text, sink = sink, place = scope.origin .. ": " .. scope.path }
end

--- Reads both fields of `spec` into the list `into`. `shared` tells that a pipeline is one of several.
---@param scope lunette.Scope
---@param spec table
---@param into lunette.Address[]
---@param shared boolean?
function M.read(scope, spec, into, shared)
  for _, name in ipairs { "source", "sink" } do
    local value = rawget(spec, name)
    local inner = scope:enter(name)
    if value ~= nil and shared then
      inner:problem("the pipelines of a script share their records and their panes",
        ("write it beside them: return { %s = ..., ln.pipeline { ... }, ... }"):format(name))
    elseif name == "source" and type(value) == "table" then
      for i, text in ipairs(values.list(inner, value, "write " .. LIKE .. ", or a list of them") or {}) do
        add(into, inner:enter(i), text, false)
      end
    elseif value ~= nil then
      add(into, inner, value, name == "sink")
    end
  end
end

return M
