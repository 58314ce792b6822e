--- Checks of single values. Each takes the scope of a field and what stands there, and returns it as the plan wants it;
-- or reports what is wrong and returns nil. Tables are read raw, so that nothing of a script runs.
local describe = require "lunette.plan.describe"
local duration = require "lunette.plan.duration"
local node = require "lunette.node"
local suggest = require "lunette.plan.suggest"

local M = {}

-- "is 10: write ..." with one remedy more for a word that was passed without being called.
local function wrong(scope, value, how)
  local name = type(value) == "function" and node.names[value]
  if value == nil then
    scope:problem("missing", how)
  elseif name then
    scope:problem("is " .. describe.value(value), ("call it: ln.%s(...)"):format(name))
  else
    scope:problem("is " .. describe.value(value), how)
  end
end
M.wrong = wrong

--- A plain table with some of the fields `known`, as a copy; {} for nil. Unknown fields are reported and left out.
---@param scope lunette.Scope
---@param value any
---@param known string[]
---@param how string? for a value that is no table
---@return table?
function M.fields(scope, value, known, how)
  if value == nil then return {} end
  if type(value) ~= "table" or node.mark(value) or value == node.null then
    wrong(scope, value, how)
    return nil
  end
  local copy, is_known, strangers = {}, {}, {}
  for _, name in ipairs(known) do is_known[name] = true end
  for key, field in next, value do
    if is_known[key] then
      copy[key] = field
    else
      strangers[#strangers + 1] = key
    end
  end
  table.sort(strangers, function(a, b) return describe.step(a) < describe.step(b) end)
  for _, key in ipairs(strangers) do
    scope:enter(key):problem("unknown field", suggest.how(key, known, "the fields are " .. table.concat(known, ", ")))
  end
  return copy
end

--- The options of a word, which also must not have been given more arguments than it takes.
---@param scope lunette.Scope
---@param made lunette.Node
---@param known string[]
---@return table
function M.options(scope, made, known)
  M.arguments(scope, made)
  local plain = type(made.options) == "table" and not node.mark(made.options)
  local place = plain and scope or scope:enter "options"
  local options = M.fields(place, made.options, known, "write them in a table: { " .. known[1] .. " = ... }")
  return options or {}
end

---@param scope lunette.Scope
---@param made lunette.Node
function M.arguments(scope, made)
  local mark = node.mark(made)
  if mark.given == 0 then return end
  scope:problem(("too many arguments for ln.%s"):format(mark.word), "write ln." .. mark.usage)
end

--- What a word of that family made. `like` is an example for the message.
---@param scope lunette.Scope
---@param value any
---@param family string
---@param like string
---@return lunette.Node?
function M.made(scope, value, family, like)
  local mark = node.mark(value)
  if mark and mark.family == family then return value end
  if mark and mark.family == "unknown" then return nil end -- reported where it stands
  local article = family == "aggregate" and "an " or "a "
  wrong(scope:at(value), value, ("write %s%s, such as %s"):format(article, family, like))
  return nil
end

--- A list without holes and named fields, as a copy.
---@param scope lunette.Scope
---@param value any
---@param how string
---@return any[]?
function M.list(scope, value, how)
  if type(value) ~= "table" or node.mark(value) or value == node.null then
    wrong(scope, value, how)
    return nil
  end
  local copy, count, last = {}, 0, 0
  for key, part in next, value do
    if type(key) ~= "number" or key < 1 or key % 1 ~= 0 then
      scope:problem("is no plain list", how)
      return nil
    end
    copy[key], count, last = part, count + 1, math.max(last, key)
  end
  if count ~= last then
    scope:problem("is a list with holes", how)
    return nil
  end
  if count == 0 then
    scope:problem("is empty", how)
    return nil
  end
  return copy
end

--- A duration in microseconds. `sign` is "above" (above zero), "from" (from zero) or "any".
---@param scope lunette.Scope
---@param value any
---@param sign "above"|"from"|"any"
---@return number?
function M.duration(scope, value, sign)
  local unit = scope.unit
  if type(value) ~= "string" and type(value) ~= "number" then
    local like = unit == "tick" and "a number of ticks" or ('a text such as "30s", or a number of %s'):format(
      duration.plural(unit))
    wrong(scope, value, "write " .. like)
    return nil
  end
  local us, what, how = duration.parse(value, unit)
  if not us then
    scope:problem(what --[[@as string]], how --[[@as string]])
    return nil
  end
  if sign == "above" and us <= 0 or sign == "from" and us < 0 then
    scope:problem(us < 0 and describe.value(value) .. " is negative" or "is 0",
      "write a duration " .. (sign == "above" and "above 0" or "of 0 or more"))
    return nil
  end
  return us
end

--- A whole number from `least` to `most`.
---@param scope lunette.Scope
---@param value any
---@param least integer
---@param most integer?
---@return integer?
function M.whole(scope, value, least, most)
  if type(value) ~= "number" then
    wrong(scope, value, ("write a whole number from %d"):format(least))
  elseif value ~= math.floor(value) or value - value ~= 0 then
    scope:problem(describe.value(value) .. " is no whole number", ("write a whole number from %d"):format(least))
  elseif value < least then
    scope:problem("is " .. describe.value(value), ("write a whole number from %d"):format(least))
  elseif value > (most or duration.LIMIT - 1) then
    scope:problem(("%.0f is too large"):format(value), ("write at most %.0f"):format(most or duration.LIMIT - 1))
  else
    return value
  end
  return nil
end

--- A finite number, from `least` to `most` where these are given.
---@param scope lunette.Scope
---@param value any
---@param least number?
---@param most number?
---@return number?
function M.number(scope, value, least, most)
  local how = least and ("write a number from %s to %s"):format(least, most) or "write a finite number"
  if type(value) ~= "number" then
    wrong(scope, value, how)
  elseif value - value ~= 0 or least and (value < least or value > most) then
    scope:problem("is " .. describe.value(value), how)
  else
    return value
  end
  return nil
end

--- One of the texts in `list`.
---@param scope lunette.Scope
---@param value any
---@param list string[]
---@param all string? the remedy that names them all
---@return string?
function M.choice(scope, value, list, all)
  all = all or 'write "' .. table.concat(list, '" or "') .. '"'
  if type(value) ~= "string" then
    wrong(scope, value, all)
    return nil
  end
  for _, known in ipairs(list) do
    if value == known then return value end
  end
  scope:problem(describe.quote(value) .. " is unknown", suggest.how(value, list, all))
  return nil
end

---@param scope lunette.Scope
---@param value any
---@return boolean?
function M.boolean(scope, value)
  if type(value) == "boolean" then return value end
  wrong(scope, value, "write true or false")
  return nil
end

---@param scope lunette.Scope
---@param value any
---@param like string
---@return function?
function M.func(scope, value, like)
  if type(value) == "function" and not node.names[value] then return value end
  wrong(scope, value, "write " .. like)
  return nil
end

--- A text that is not empty.
---@param scope lunette.Scope
---@param value any
---@param like string
---@return string?
function M.text(scope, value, like)
  if type(value) == "string" and value ~= "" then return value end
  if value == "" then
    scope:problem("is empty", "write " .. like)
  else
    wrong(scope, value, "write " .. like)
  end
  return nil
end

--- The path of a field: names joined by dots.
---@param scope lunette.Scope
---@param value any
---@return string?
function M.path(scope, value)
  local path = M.text(scope, value, 'the name of a field, such as "user" or "meta.zone"')
  if path and ("." .. path .. "."):find("..", 1, true) then
    scope:problem(describe.quote(path) .. " has an empty part", "put one dot between two names")
    return nil
  end
  return path
end

return M
