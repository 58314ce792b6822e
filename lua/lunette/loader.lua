--- Loads a pipeline script: reads it, runs it once and checks what it returns. Whatever goes wrong comes back as a list
-- of problems, one line each. A script is trusted: it runs in the global environment, with `print` going to stderr and
-- `require` looking beside the script first; in the Lua state of a host it runs in an environment of its own.
require "lunette" -- so that the script's own require gets this very module
local guest = require "lunette.loader.guest"
local node = require "lunette.node"
local params = require "lunette.plan.params"
local plan = require "lunette.plan"

local M = {}

-- The part of package.path that the last load put in front, and the modules found there.
local beside_path, beside_modules = nil, {}

-- What stands for files, by path; and what the last load has read: { path, text } in order.
local texts, files = {}, {}

-- The text of a file, or nil and why not.
local function read(path)
  local text = texts[path]
  if not text then
    local file, message = io.open(path, "rb")
    if not file then return nil, (message:gsub("^.*: ", "")) end
    text, message = file:read "*a"
    file:close()
    if not text then return nil, message or "not a file" end
  end
  files[#files + 1] = { path = path, text = text }
  return text
end

-- What a script prints goes to stderr, unless a C host takes it.
local function print_to_stderr(...)
  local parts, taker = {}, package.loaded["lunette.print"]
  for i = 1, select("#", ...) do parts[i] = tostring((select(i, ...))) end
  local text = table.concat(parts, "\t")
  if taker then taker(text) else io.stderr:write(text, "\n") end
end

-- Where a module lies beside the script: in a text, or in a file.
local function find_beside(name)
  local file = name:gsub("%.", "/")
  for template in beside_path:gmatch "[^;]+" do
    local path = template:gsub("%?", function() return file end)
    if texts[path] then return path end
  end
  return package.searchpath(name, beside_path)
end

-- A searcher for modules beside the script, in front of the one for all files: what it reads is known.
local function search_beside(name)
  local path = beside_path and find_beside(name)
  if not path then return nil end
  local text, message = read(path)
  if not text then error(("%s: can't be read: %s"):format(path, message), 0) end
  if text:sub(1, 1) == "\27" then error(path .. ": the module is bytecode: give its source text", 0) end
  local chunk, wrong = load(text:gsub("^#[^\n]*", ""), "@" .. path, "t")
  if not chunk then error(wrong, 0) end
  return chunk
end

-- Modules beside the script come first. Those of the load before are read anew.
local function look_beside(path)
  for name in pairs(beside_modules) do package.loaded[name] = nil end
  local base = package.path
  if beside_path and base:sub(1, #beside_path) == beside_path then base = base:sub(#beside_path + 1) end
  local folder = path:match "^(.*)/[^/]*$" or "."
  beside_path = ("%s/?.lua;%s/?/init.lua;"):format(folder, folder)
  beside_modules = {}
  package.path = beside_path .. base
  if package.loaders[2] ~= search_beside then table.insert(package.loaders, 2, search_beside) end
end

local function remember_beside(before)
  for name in pairs(package.loaded) do
    if not before[name] and type(name) == "string" and find_beside(name) then
      beside_modules[name] = true
    end
  end
end

local function line_of(text, position)
  local _, breaks = text:sub(1, position - 1):gsub("\n", "")
  return breaks + 1
end

-- The line of the script's closing return: where a return splits the text into two whole chunks. A return inside of a
-- function, a table or a text leaves neither part whole.
local function closing_line(text)
  local last, position = 1, 0
  while true do
    position = text:find("%f[%w_]return%f[^%w_]", position + 1)
    if not position then return last end
    last = line_of(text, position)
    if loadstring(text:sub(1, position - 1)) and loadstring(text:sub(position)) then return last end
  end
end

-- LuaJIT cuts long names of files in messages; the whole one is wanted.
local function with_path(message, path)
  local short = debug.getinfo(loadstring("", "@" .. path), "S").short_src
  if message:sub(1, #short + 1) == short .. ":" then return path .. message:sub(#short + 1) end
  return message
end

-- Problems are lines. Of a module that was not found only the first is of use; the others list every folder.
local function one_line(message)
  local missing = message:match "^(.-module '[^']*' not found):"
  if missing then return missing .. ": put it beside the script" end
  return (message:gsub("%s*\n%s*", " "))
end

-- Turns whatever was raised into a problem with a line: its own, or that of the nearest code of the script.
local function error_handler(path)
  return function(err)
    local message = one_line(tostring(err))
    if type(err) == "string" then
      message = with_path(message, path)
      if message:find "^.-:%d+: " then return message end
    end
    local level = 2
    while true do
      local info = debug.getinfo(level, "Sl")
      if not info then return path .. ": " .. message end
      if info.source == "@" .. path then return ("%s:%d: %s"):format(path, info.currentline, message) end
      level = level + 1
    end
  end
end

local function compile(text, path)
  if text:sub(1, 1) == "\27" then
    return nil, path .. ": the script is bytecode: give its source text"
  end
  text = text:gsub("^\239\187\191", ""):gsub("^#[^\n]*", "")
  local chunk, message = load(text, "@" .. path, "t")
  if not chunk then return nil, one_line(with_path(message --[[@as string]], path)) end
  return chunk, path .. ":" .. closing_line(text)
end

-- The problems of a script that ran: of its parameters, of its pipelines, and values that were set for nothing.
local function check(result, second, origin)
  local pipelines, found, addresses = plan.check(result, origin)
  local problems, unused = params.close()
  for _, problem in ipairs(found or {}) do problems[#problems + 1] = problem end
  if second ~= nil then
    problems[#problems + 1] = origin .. ": the script returns more than one value: return { a, b, ... }, one list"
  end
  for _, problem in ipairs(unused) do problems[#problems + 1] = problem end
  if #problems > 0 then return nil, problems, addresses end
  return pipelines, nil, addresses
end

---@class lunette.LoadOptions
---@field params? table<string, string> the values of `--set name=value`
---@field texts? table<string, string> what stands for files, by their paths
---@field guest? boolean the Lua state is a host's: nothing global is changed

local function run(text, path, options)
  local chunk, origin = compile(text, path)
  if not chunk then return nil, { origin } end
  local before = {}
  if options.guest then
    setfenv(chunk, guest.environment(path))
  else
    look_beside(path)
    _G.print = print_to_stderr
    for name in pairs(package.loaded) do before[name] = true end
  end
  params.open(options.params)
  local ok, result, second = node.run(chunk, origin, error_handler(path))
  if not options.guest then remember_beside(before) end
  if ok then return check(result, second, origin) end
  local problems = params.close()
  problems[#problems + 1] = result
  return nil, problems
end

--- Loads a script from its text. `path` is its name in messages, and its folder is where modules are looked for.
---@param text string
---@param path string
---@param options lunette.LoadOptions?
---@return table[]? pipelines as lunette.plan puts them
---@return string[]? problems
---@return lunette.Address[]? addresses
function M.load_text(text, path, options)
  options = options or {}
  texts, files = options.texts or {}, { { path = path, text = text } }
  return run(text, path, options)
end

--- Loads a script from its file. May be called again; every call starts anew.
---@param path string
---@param options lunette.LoadOptions?
---@return table[]? pipelines as lunette.plan puts them
---@return string[]? problems
---@return lunette.Address[]? addresses
function M.load(path, options)
  options = options or {}
  texts, files = options.texts or {}, {}
  local text, message = read(path)
  if not text then return nil, { ("%s: can't be read: %s"):format(path, message) } end
  return run(text, path, options)
end

--- The files that the last load has read, the script first: a list of { path, text }.
function M.files() return files end

return M
