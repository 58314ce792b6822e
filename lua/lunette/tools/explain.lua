--- `lunette explain SCRIPT` tells a pipeline in words; `lunette explain --trace FILE --key K [--window START]` why
-- nothing has come out.
local explain = require "lunette.explain"
local loader = require "lunette.loader"
local trace = require "lunette.trace.explain"
local usage = require "lunette.tools.usage"

local SCRIPT_NOT_RIGHT = 78

-- Options by their names, and what was given several times.
local function read(args)
  local o, words, params = {}, {}, {}
  for _, arg in ipairs(args) do
    local name, text = arg[1], arg[2]
    if name == "word" then
      words[#words + 1] = text
    elseif name == "set" then
      local key, x = text:match "^([^=]+)=(.*)$"
      if not key then usage.fail("--set %s: write it as --set name=value", text) end
      params[key] = x
    else
      o[name] = text
    end
  end
  return o, words, params
end

local function explain_trace(o, script)
  if script then usage.fail("%s: with --trace no script is read", script) end
  for _, name in ipairs { "at", "record", "json" } do
    if o[name] then usage.fail("--%s does not go with --trace", name) end
  end
  local lines, wrong = trace.lines(o)
  if not lines then usage.fail("%s", wrong) end
  io.stdout:write(table.concat(lines, "\n"), "\n")
  return 0
end

local function only(pipelines, name)
  if not name then return pipelines end
  local names = {}
  for i, p in ipairs(pipelines) do
    if p.name == name then return { p } end
    names[i] = p.name
  end
  usage.fail("--pipeline %s: the script has %s", name, table.concat(names, ", "))
end

local function explain_script(o, script, params)
  local print = _G.print
  local pipelines, problems, addresses = loader.load(script, { params = params })
  _G.print = print
  if not pipelines then
    io.stderr:write(table.concat(problems, "\n"), "\n")
    return SCRIPT_NOT_RIGHT
  end
  local explained = explain.of(only(pipelines, o.pipeline), addresses, { at = o.at, record = o.record })
  io.stdout:write(o.json and explain.json(explained) or table.concat(explain.lines(explained), "\n") .. "\n")
  return 0
end

local function work(args)
  local o, words, params = read(args)
  if o.trace then return explain_trace(o, words[1]) end
  if o.key or o.window then usage.fail "--trace FILE is missing: the trace of a run" end
  if not words[1] then usage.fail "a script to explain, or --trace FILE, is missing" end
  return explain_script(o, words[1], params)
end

return function(args) return usage.run("explain", work, args) end
