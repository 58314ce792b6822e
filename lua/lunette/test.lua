--- `local test = require "lunette.test"`: specs of pipelines, on Busted. A spec loads a script, adds records, moves
-- time, and says what must have come out:
--
--   local p = test.load "spend.lua"
--   p:add({ ts = 5, user = "ann", amount = 20 }, { ts = 75, user = "ann", amount = 1 })
--   assert.panes(p, { { key = "ann", start = 0, n = 1, total = 20 } })
--
-- `lunette test` runs such files; Busted itself does too, where it finds Lunette's modules.
local asserts = require "lunette.test.asserts"
local compare = require "lunette.test.compare"
local loader = require "lunette.loader"
local node = require "lunette.node"
local plan = require "lunette.plan"
local run = require "lunette.test.run"
local suggest = require "lunette.plan.suggest"
local value = require "lunette.value"

local M = {}

--- Null, where nil can't stand: `{ key = test.null }` expects that there is none.
M.null = node.null
--- An array, where an empty table would be a map: `{ tags = test.array {} }`.
M.array = value.array
--- Expects a number within `tolerance` of x.
M.near = compare.near

--- Set by `lunette test --update`: golden files are written anew.
M.update = false

asserts.register()

-- The code that called a function of this module, which is the spec's: its folder, "" where it has none, and its place.
local function caller()
  for level = 3, 200 do
    local info = debug.getinfo(level, "Sl")
    if not info then break end
    if info.source:sub(1, 1) == "@" then
      return { folder = info.source:match "^@(.*/)[^/]*$" or "", place = info.source:sub(2) .. ":" .. info.currentline }
    end
  end
  return { folder = "", place = "?" }
end

-- What is wrong with a file has its own place, or else that of the spec that names it.
local function fail(message, from)
  error(message:find "^[^\n]-:%d+: " and message or from.place .. ": " .. message, 0)
end

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

-- Beside the spec, or else from where the tests are run.
local function find(path, folder)
  if path:sub(1, 1) == "/" or folder == "" or exists(folder .. path) then
    return path:sub(1, 1) == "/" and path or folder .. path
  end
  return exists(path) and path or folder .. path
end

local function texts_of(params)
  local out = {}
  for name, x in pairs(params or {}) do out[name] = type(x) == "number" and ("%.17g"):format(x) or tostring(x) end
  return out
end

local OPTIONS = { params = true, clock = true, now = true, streams = true }

local function check_options(options)
  for name in pairs(options) do
    if not OPTIONS[name] then
      error(("test.load: unknown option %s: there are params, clock, now and streams"):format(tostring(name)), 3)
    end
  end
end

-- What a script prints while it loads goes where it does in a run, and what a spec prints where it did.
local function load_script(path, options)
  local print = _G.print
  local pipelines, problems, addresses = loader.load(path, { params = texts_of(options.params) })
  _G.print = print
  return pipelines, problems, addresses
end

local function load(script, options, from)
  local pipelines, problems, addresses
  if type(script) == "string" then
    pipelines, problems, addresses = load_script(find(script, from.folder), options)
  else
    pipelines, problems, addresses = plan.check(script, from.place)
  end
  if problems then fail(table.concat(problems, "\n"), from) end
  local ok, opened = pcall(run.open, pipelines, addresses, options)
  if not ok then fail(opened, from) end
  opened.find = function(path) return find(path, from.folder) end
  return opened
end

--- Loads a script (by its path: beside the spec, or else from where the tests are run), or a pipeline that the spec has
-- made itself. Raises the problems of a script that is not right, each with its place.
---@param script string|lunette.Pipeline
---@param options lunette.TestOptions?
function M.load(script, options)
  if type(script) ~= "string" and type(script) ~= "table" then
    error('test.load: write the path of a script, as in test.load "spend.lua"', 2)
  end
  check_options(options or {})
  return load(script, options or {}, caller())
end

-- ---- golden files

local function read_panes(path)
  local panes = {}
  local n = 0
  for line in io.lines(path) do
    n = n + 1
    if line:find "%S" then
      local pane = value.from_json(line)
      if type(pane) ~= "table" then error(("%s:%d: this line is no pane"):format(path, n), 0) end
      panes[#panes + 1] = pane
    end
  end
  return panes
end

-- A pane as it is expected: whatever it does not have, the other does not have either.
local function strict(pane, other)
  local out = {}
  for name, x in pairs(pane) do out[name] = x end
  for name in pairs(other or {}) do
    if out[name] == nil then out[name] = node.null end
  end
  return out
end

local function all_of(panes)
  local names, inner = {}, {}
  for _, pane in ipairs(panes) do
    for name in pairs(pane) do names[name] = true end
    if type(pane.value) == "table" then
      for name in pairs(pane.value) do inner[name] = true end
    end
  end
  return names, inner
end

local function whole(panes, came)
  local names, inner = all_of(came)
  local out = {}
  for i, pane in ipairs(panes) do
    out[i] = strict(pane, names)
    if type(pane.value) == "table" then out[i].value = strict(pane.value, inner) end
  end
  return out
end

local function write_panes(path, panes)
  local file, message = io.open(path, "wb")
  if not file then error(message, 0) end
  for _, pane in ipairs(panes) do file:write((value.json(pane))) end
  file:close()
end

--- Runs a script over a whole file of records and compares all its panes with those of another, in their order within
-- each key. With `lunette test --update` that other one is written anew where it differs.
---@param script string|lunette.Pipeline|table a script, as for test.load, or what that has returned
---@param input string a file of records
---@param golden string a file of panes, as JSON lines
---@param options lunette.TestOptions?
function M.golden(script, input, golden, options)
  local from = caller()
  check_options(options or {})
  local p = run.is(script) and script or load(script, options or {}, from)
  local ok, broken = pcall(p.add_file, p, find(input, from.folder))
  if not ok then fail(broken, from) end
  p:finish()
  local came, path = p:panes(), find(golden, from.folder)
  if not exists(path) and not M.update then
    fail(("%s: there is no such file: `lunette test --update` writes it"):format(path), from)
  end
  local agrees, difference = false, nil
  if exists(path) then
    agrees, difference = asserts.compare_panes(p, whole(read_panes(path), came), came)
  end
  if agrees then return end
  if M.update then
    write_panes(path, came)
    io.stderr:write(("%s: written anew, %d panes\n"):format(path, #came))
    return
  end
  fail(("%s: %s\n`lunette test --update` writes it anew."):format(path, difference), from)
end

-- A word that does not exist is a slip of the spec.
return setmetatable(M, {
  __index = function(_, name)
    local known = {}
    for word in pairs(M) do known[#known + 1] = word end
    table.sort(known)
    error(("test.%s: there is no such word: %s"):format(tostring(name),
      suggest.how(tostring(name), known, "there are " .. table.concat(known, ", "))), 2)
  end,
})
