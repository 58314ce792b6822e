--- Runs the program on a script and input from texts, in a folder of its own among the temporary files, and
-- loads scripts for the model. The program is build/lunette, or what LUNETTE_BIN names.
local json = require "spec.support.json"
local plan = require "lunette.plan"

local run = {}
run.program = os.getenv "LUNETTE_BIN" or "build/lunette"
local SECONDS_MAX = 60

local folder

local function path(name)
  if not folder then
    local pipe = assert(io.popen "mktemp -d")
    folder = pipe:read "*l"
    pipe:close()
  end
  return folder .. "/" .. name
end

local function put(name, text)
  local file = assert(io.open(path(name), "wb"))
  file:write(text)
  file:close()
end

local function get(name)
  local file = io.open(path(name), "rb")
  if not file then return "" end
  local text = file:read "*a"
  file:close()
  return text
end

-- Leaves the files of the last run for whoever looks into a failure, and says where.
function run.keep()
  local kept = folder
  folder = nil
  return kept
end

-- Removes the folder; the next run makes another.
function run.clean()
  if folder then os.execute(("rm -rf %s"):format(folder)) end
  folder = nil
end

-- The values of JSON lines; raises the first line that is none.
function run.lines(text)
  local out = {}
  for line in text:gmatch "[^\n]+" do
    local ok, value = pcall(json.decode, line)
    if not ok then error(("not JSON: %s: %s"):format(value, line:sub(1, 200)), 0) end
    out[#out + 1] = value
  end
  return out
end

-- options: clock (a field), arguments (more of them, as the shell reads them), command (default "run").
-- Gives code, panes, rejects, accounts (of each pipeline), and output and errors as texts.
function run.program_on(script, input, options)
  options = options or {}
  put("script.lua", script)
  put("input", input or "")
  put("rejects", "")
  local rest = options.arguments or ""
  if options.clock then rest = rest .. " --clock " .. options.clock end
  if not options.command then rest = rest .. " --stats --rejects " .. path "rejects" end
  local line = ("timeout %d %s %s %s %s < %s > %s 2> %s; echo $? > %s"):format(SECONDS_MAX, run.program,
    options.command or "run", rest, path "script.lua", path "input", path "output", path "errors", path "code")
  os.execute(line)
  local out = { code = tonumber(get "code"), output = get "output", errors = get "errors" }
  if options.command then return out end
  local ok, panes = pcall(run.lines, out.output)
  out.panes = ok and panes or error(panes .. "\n" .. out.errors, 0)
  out.rejects = run.lines(get "rejects")
  local stats = out.errors:match '({"[^\n]*})\n$'
  out.accounts = stats and json.decode(stats).pipelines
  return out
end

-- The normalized pipelines of a script, with its problems as an error.
function run.load(script)
  local chunk = assert(loadstring(script, "@script.lua"))
  local pipelines, problems = plan.check(chunk())
  if not pipelines then error(table.concat(problems, "\n"), 0) end
  return pipelines
end

return run
