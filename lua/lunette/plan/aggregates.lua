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

-- An option that has a default, checked by `test` with its bounds.
local function optional(scope, options, name, default, test, ...)
  if options[name] == nil then return default end
  return test(scope:enter(name), options[name], ...)
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
  local options = values.options(scope, a, { "approx", "precision", "past_limit" })
  local approx, out = false, { kind = "distinct" }
  if options.approx ~= nil then approx = values.boolean(scope:enter "approx", options.approx) end
  if options.precision ~= nil and not options.approx then
    scope:enter("precision"):problem("does nothing without approx", "leave it out: the exact count needs none")
  end
  if options.past_limit ~= nil and options.approx then
    scope:enter("past_limit"):problem("does nothing with approx", "leave it out: a sketch has no limit")
  elseif options.past_limit ~= nil then
    out.refuse = values.choice(scope:enter "past_limit", options.past_limit, { "approx", "error" }) == "error" or nil
  end
  if approx then
    out = { kind = "distinct_approx", precision = optional(scope, options, "precision", 12, values.whole, 10, 16) }
  end
  return field(scope:enter "field", a.field, out)
end

local NUMBERS_MAX = 1000 -- shares of one quantile, bounds of one histogram

local function list_of_numbers(scope, value, how, check_one)
  local list = values.list(scope, value, how)
  if not list then return nil end
  if #list > NUMBERS_MAX then
    scope:problem(("has %d numbers"):format(#list), ("write at most %d"):format(NUMBERS_MAX))
    return nil
  end
  for i, n in ipairs(list) do list[i] = check_one(scope:enter(i), n, list[i - 1]) end
  return list
end

local function share(scope, value) return values.number(scope, value, 0, 1) end

function check.quantile(scope, a)
  local options = values.options(scope, a, { "accuracy" })
  local out = { kind = "quantile", list = type(a.q) == "table" }
  local q = scope:enter "q"
  if out.list then
    out.shares = list_of_numbers(q, a.q, "write shares from 0 to 1, such as { 0.5, 0.99 }", share)
  else
    out.shares = { share(q, a.q) }
  end
  out.accuracy = optional(scope, options, "accuracy", 0.01, values.number, 0.001, 0.5)
  return field(scope:enter "field", a.field, out)
end

local TOP_MAX, CAPACITY_MAX = 1000, 65536

function check.top(scope, a)
  local options = values.options(scope, a, { "by", "capacity" })
  local out = { kind = "top", k = values.whole(scope:enter "k", a.k, 1, TOP_MAX) }
  if options.by ~= nil then out.by = field(scope:enter "by", options.by, {}) end
  local least = math.max(2, out.k or 2)
  out.capacity = optional(scope, options, "capacity", math.max(1024, 16 * least), values.whole, least, CAPACITY_MAX)
  return field(scope:enter "field", a.field, out)
end

local function by_another(scope, a)
  values.arguments(scope, a)
  local out = { kind = a.kind, by = field(scope:enter "by", a.by, {}) }
  return field(scope:enter "field", a.field, out)
end
check.min_by, check.max_by = by_another, by_another

function check.collect(scope, a)
  local options = values.options(scope, a, { "limit" })
  local out = { kind = "collect", limit = optional(scope, options, "limit", 1000, values.whole, 1, 1e6) }
  return field(scope:enter "field", a.field, out)
end

local function bound(scope, value, before)
  local n = values.number(scope, value)
  if n and before and n <= before then
    scope:problem("is not above the bound before it", "write the bounds in rising order")
  end
  return n
end

function check.histogram(scope, a)
  local options = values.options(scope, a, { "bounds" })
  local how = "write a list of rising numbers, such as { 0.1, 1, 10 }"
  local out = { kind = "histogram", bounds = list_of_numbers(scope:enter "bounds", options.bounds, how, bound) }
  return field(scope:enter "field", a.field, out)
end

function check.rate(scope, a, windows)
  local options = values.options(scope, a, { "per" })
  local out = { kind = "rate", per_us = scope.unit == "tick" and 1 or 1e6 }
  if options.per ~= nil then out.per_us = values.duration(scope:enter "per", options.per, "above") end
  if windows.endless then
    scope:problem("ln.global has no length that a rate could be over", "use ln.sum or ln.count, or another window")
  end
  if a.field == nil then return out end
  return field(scope:enter "field", a.field, out)
end

function check.ratio(scope, a)
  values.arguments(scope, a)
  return { kind = "ratio", fn = values.func(scope:enter "fn", a.fn, "function(record) return ... end") }
end

local FOLD = { "state", "init", "add", "merge", "result" }
local FUNCTIONS = { "init", "add", "merge", "result" }
local fold_like = {
  init = "function() return ... end",
  add = "function(acc, record) return acc end",
  merge = "function(a, b) return ... end",
  result = "function(acc) return ... end",
}
local declared_like = {
  init = "function(acc) acc.x = ... end",
  add = "function(acc, record) acc.x = ... end",
  merge = "function(a, b) a.x = ... end",
  result = fold_like.result,
}

local TYPES = { "double", "float", "int64", "uint64", "int32", "uint32", "bool" }
local FIELDS_MAX = 1000

-- Words that are no names in C.
local reserved = {}
for word in ([[auto break case char const continue default do double else enum extern float for goto if inline int long
  register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
  and elseif end false function in local nil not or repeat then true until]]):gmatch "%a+" do reserved[word] = true end

-- The fields of a declared state, by name.
local function check_state(scope, value)
  local how = 'write its fields with their types, as in { n = "double", last = "int64" }'
  if type(value) ~= "table" or node.mark(value) or value == node.null or next(value) == nil then
    values.wrong(scope, value, how)
    return nil
  end
  local list = {}
  for name in next, value do list[#list + 1] = { name = name } end
  table.sort(list, function(a, b) return describe.step(a.name) < describe.step(b.name) end)
  if #list > FIELDS_MAX then
    scope:problem(("has %d fields"):format(#list), ("write at most %d"):format(FIELDS_MAX))
    return nil
  end
  for _, f in ipairs(list) do
    local inner = scope:enter(f.name)
    if type(f.name) ~= "string" or not f.name:find "^%a[%w_]*$" or reserved[f.name] then
      inner:problem("is no name of a field", "write letters, digits and _, and no word of C or Lua")
    end
    f.type = values.choice(inner, value[f.name], TYPES, "the types are " .. table.concat(TYPES, ", "))
  end
  return list
end

function check.fold(scope, a, windows)
  values.arguments(scope, a)
  local how = "write ln.fold { init = ..., add = ... }"
  if a.spec == nil then
    scope:problem("missing its functions", how)
    return nil
  end
  local spec = values.fields(scope, a.spec, FOLD, how)
  if not spec then return nil end
  local out = { kind = "fold" }
  if spec.state ~= nil then out.state = check_state(scope:enter "state", spec.state) end
  local like = spec.state ~= nil and declared_like or fold_like
  for _, name in ipairs(FUNCTIONS) do
    local needed = name == "add" or name == "init" and spec.state == nil
    if spec[name] ~= nil or needed then out[name] = values.func(scope:enter(name), spec[name], like[name]) end
  end
  if windows.merging and spec.merge == nil then
    scope:enter("merge"):problem(("missing, and windows of ln.%s merge"):format(windows.merging),
      "write merge = " .. like.merge)
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

--- The list of aggregates. Of the windows, `merging` is their word when they merge, and `endless` says that they have
-- no length.
---@param scope lunette.Scope of the field `aggregate`
---@param value any
---@param windows { merging?: string, endless?: boolean }
---@return table[]?
function M.check(scope, value, windows)
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
    local checked = a and check[a.kind](inner:at(a), a, windows)
    if checked then
      checked.name = name
      out[#out + 1] = checked
    end
  end
  return out
end

return M
