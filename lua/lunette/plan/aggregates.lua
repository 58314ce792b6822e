--- Checks the aggregates and lists them in the order of their names' bytes.
local describe = require "lunette.plan.describe"
local node = require "lunette.node"
local values = require "lunette.plan.values"

local M = {}

local LIKE = "{ n = ln.count() }"

-- A field: a path, or a function of the record.
local function field(scope, value, out)
  if type(value) == "function" and not node.names[value] then
    out.fn = value
  else
    out.path = values.path(scope, value)
  end
  return out
end

local check = {}

function check.count(scope, a)
  values.arguments(scope, a)
  if a.field == nil then return { kind = "count" } end
  return field(scope:enter "field", a.field, { kind = "count" })
end

local function of_field(scope, a)
  values.arguments(scope, a)
  return field(scope:enter "field", a.field, { kind = a.kind })
end
for _, kind in ipairs { "sum", "min", "max", "avg", "variance", "stddev", "first", "last" } do
  check[kind] = of_field
end

function check.distinct(scope, a)
  local options = values.options(scope, a, { "approx", "precision" })
  if options.approx ~= nil then values.boolean(scope:enter "approx", options.approx) end
  if options.precision ~= nil and not options.approx then
    scope:enter("precision"):problem("does nothing without approx", "leave it out: the exact count needs none")
  end
  return field(scope:enter "field", a.field, { kind = "distinct" })
end

local FOLD = { "init", "add", "merge", "result" }
local fold_like = {
  init = "function() return ... end",
  add = "function(acc, record) return acc end",
  merge = "function(a, b) return ... end",
  result = "function(acc) return ... end",
}

function check.fold(scope, a, merging)
  values.arguments(scope, a)
  local how = "write ln.fold { init = ..., add = ... }"
  if a.spec == nil then
    scope:problem("missing its functions", how)
    return nil
  end
  local spec = values.fields(scope, a.spec, FOLD, how)
  if not spec then return nil end
  local out = { kind = "fold" }
  for _, name in ipairs(FOLD) do
    local needed = name == "init" or name == "add"
    if spec[name] ~= nil or needed then out[name] = values.func(scope:enter(name), spec[name], fold_like[name]) end
  end
  if merging and spec.merge == nil then
    scope:enter("merge"):problem(("missing, and windows of ln.%s merge"):format(merging),
      "write merge = " .. fold_like.merge)
  end
  return out
end

-- Names in the order of their bytes; what is no name stands at the end.
local function sorted_names(scope, aggregates)
  local names, strangers = {}, {}
  for name in next, aggregates do
    local list = type(name) == "string" and name ~= "" and names or strangers
    list[#list + 1] = name
  end
  table.sort(names)
  table.sort(strangers, function(a, b) return describe.step(a) < describe.step(b) end)
  for _, name in ipairs(strangers) do
    scope:enter(name):at(aggregates[name]):problem("has no name", "write every aggregate with a name: " .. LIKE)
  end
  return names, #strangers
end

--- The list of aggregates. `merging` is the word of the window when its windows merge.
---@param scope lunette.Scope of the field `aggregate`
---@param value any
---@param merging string?
---@return table[]?
function M.check(scope, value, merging)
  local mark = node.mark(value)
  if mark and mark.family == "aggregate" then
    scope:at(value):problem(("is ln.%s without a name"):format(mark.word), "write aggregate = " .. LIKE)
    return nil
  end
  if type(value) ~= "table" or mark or value == node.null then
    values.wrong(scope, value, "write what to keep, such as " .. LIKE)
    return nil
  end
  local names, strangers = sorted_names(scope, value)
  if #names + strangers == 0 then scope:problem("is empty", "write what to keep, such as " .. LIKE) end
  local out = {}
  for _, name in ipairs(names) do
    local inner = scope:enter(name)
    local a = values.made(inner, rawget(value, name), "aggregate", 'ln.count() or ln.sum "amount"')
    local checked = a and check[a.kind](inner:at(a), a, merging)
    if checked then
      checked.name = name
      out[#out + 1] = checked
    end
  end
  return out
end

return M
