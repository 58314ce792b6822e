--- What a script does to its loader while it loads: the values of `--set name=value` it asks for, and problems that
-- need not stop it.
local suggest = require "lunette.plan.suggest"

local M = {}

-- Before any loader has run a script: "host", and every parameter has its default. Then "open" while a script loads,
-- and "closed" after it.
local state = "host"
local values, asked, problems = {}, {}, {}

--- Begins to load a script.
---@param set table<string, string>?
function M.open(set)
  state, values, asked, problems = "open", {}, {}, {}
  for name, value in pairs(set or {}) do values[name] = value end
end

--- Ends it. The problems of values and defaults come in the order of the calls.
---@return string[] problems
---@return string[] unused values that were set and never asked for, as problems
function M.close()
  state = "closed"
  local known, unused = {}, {}
  for name in pairs(asked) do known[#known + 1] = name end
  table.sort(known)
  local otherwise = #known > 0 and "the script asks for " .. table.concat(known, ", ") or "the script asks for none"
  for name in pairs(values) do
    if not asked[name] then
      local how = suggest.how(name, known, otherwise)
      unused[#unused + 1] = ("--set %s=...: no ln.param asks for it: %s"):format(name, how)
    end
  end
  table.sort(unused)
  return problems, unused
end

local readers = {}

function readers.string(text) return text end
readers["nil"] = readers.string

function readers.number(text)
  local n = tonumber(text)
  if n and n - n == 0 then return n end
  return nil, "is no number: write a number, such as 10"
end

function readers.boolean(text)
  if text == "true" then return true end
  if text == "false" then return false end
  return nil, "is neither true nor false: write one of them"
end

local function problem(origin, name, what)
  problems[#problems + 1] = ("%s: ln.param %q: %s"):format(origin, tostring(name), what)
end

--- Notes a problem of the script that is loading, so that it can go on and tell its others too; false where none is.
---@param text string
---@return boolean
function M.note(text)
  if state ~= "open" then return false end
  problems[#problems + 1] = text
  return true
end

--- What `ln.param` returns; `origin` is the place of its call.
---@param origin string
---@param name string
---@param default any
---@return any
function M.get(origin, name, default)
  if state == "closed" then
    error(("ln.param %q: the script has loaded already: keep its value in a local"):format(tostring(name)), 0)
  end
  if type(name) ~= "string" or name == "" then
    problem(origin, name, 'the name is no text: write ln.param("name", default)')
    return default
  end
  asked[name] = true
  local read = readers[type(default)]
  if not read then
    problem(origin, name, ("the default is a %s: give a text, a number or a boolean"):format(type(default)))
    return default
  end
  local text = values[name]
  if text == nil then return default end
  local value, wrong = read(tostring(text))
  if wrong then
    problem(origin, name, ("%q %s"):format(tostring(text), wrong))
    return default
  end
  return value
end

return M
