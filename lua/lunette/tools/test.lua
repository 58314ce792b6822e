--- `lunette test [FILES or folders] [BUSTED OPTIONS]`: Busted's runner in this very Lua state, so that specs run on the
-- engine that is compiled in. Its exit status is Busted's.
local MISSING = [[
lunette test: Busted is missing, which runs the tests: install it.
    apt-get install lua-busted       (Debian)
    luarocks --lua-version=5.1 install busted
]]

local EXIT = setmetatable({}, { __tostring = function() return "os.exit was called by a spec" end })

-- Debian keeps the modules where Lua 5.1 looks, which is where LuaJIT does too; LuaRocks in a folder of the user's.
local function look_further()
  local home = os.getenv "HOME"
  if home then
    local tree = home .. "/.luarocks/"
    package.path = package.path .. (";%sshare/lua/5.1/?.lua;%sshare/lua/5.1/?/init.lua"):format(tree, tree)
    package.cpath = package.cpath .. (";%slib/lua/5.1/?.so"):format(tree)
  end
end

-- Our own options go, the others stay as they are.
local function divide(args)
  local own, theirs, only_words = {}, {}, false
  for _, arg in ipairs(args) do
    local text = arg[2]
    if text == "--" then only_words = true end
    if text == "--update" and not only_words then
      own.update = true
    elseif not only_words and (text == "--lua" or text:find "^%-%-lua=") then
      own.refused = text
    else
      theirs[#theirs + 1] = text
    end
  end
  return own, theirs
end

-- Without a file or folder Busted would look in `spec` alone: here everything below the present folder is looked
-- through, unless a file .busted says what is to be run. What stands for no word of the command line is told from
-- the rest by a word of our own.
local WORD = "\1"

-- What a file .busted says of the places to look at; else the present folder.
local function roots_by_default(parsed)
  local chunk = loadfile(parsed.f or (parsed.directory or ".") .. "/.busted")
  local ok, config = pcall(chunk or function() end)
  config = ok and type(config) == "table" and config or {}
  for _, task in ipairs { parsed.run or "default", "_all" } do
    local roots = type(config[task]) == "table" and config[task].ROOT
    if type(roots) == "string" then return { roots } end
    if type(roots) == "table" then return roots end
  end
  return { "." }
end

-- Where there is nothing to run, a new user wants to know what there should be.
local function say_more()
  local say = require "say"
  require "busted.languages.en"
  say:set_namespace "en"
  say:set("output.no_test_files_match",
    "No file was found whose name holds %s: `lunette help test` shows how a spec looks")
end

local function wrap_command_line()
  local made = require "busted.modules.cli"
  package.loaded["busted.modules.cli"] = function(options)
    local cli = made(options)
    local parse = cli.parse
    function cli.parse(self, args)
      local marked = { [0] = args[0] }
      for i, arg in ipairs(args) do marked[i] = arg end
      marked[#marked + 1] = WORD
      local parsed, message = parse(self, marked)
      if not parsed then return nil, message end
      local roots = {}
      for _, root in ipairs(parsed.ROOT) do
        if root ~= WORD then roots[#roots + 1] = root end
      end
      parsed.ROOT = #roots > 0 and roots or roots_by_default(parsed)
      return parsed
    end
    return cli
  end
end

-- Ends of the process become a status: the process is not ours.
local function guarded(body)
  local exit, status = os.exit, 0
  os.exit = function(code) -- luacheck: ignore 122
    status = code == true and 0 or code == false and 1 or tonumber(code) or 0
    error(EXIT, 0)
  end
  local ok, message = xpcall(body, function(err)
    if err == EXIT or err == nil then return err end
    return debug.traceback(tostring(err), 2)
  end)
  os.exit = exit -- luacheck: ignore 122
  if ok or message == EXIT then return status end
  if message == nil then return 1 end
  error(message, 0)
end

return function(args)
  local own, theirs = divide(args)
  if own.refused then
    io.stderr:write("lunette test: ", own.refused, ": the specs run in Lunette's own LuaJIT: leave it out\n")
    return 2
  end
  if not pcall(require, "busted.core") then
    look_further()
    if not pcall(require, "busted.core") then
      io.stderr:write(MISSING)
      return 1
    end
  end
  local test = require "lunette.test"
  test.update = own.update or false
  table.insert(theirs, 1, "--ignore-lua")
  theirs[0] = "lunette test"
  _G.arg = theirs
  wrap_command_line()
  say_more()
  return guarded(function()
    -- Busted speaks in the name of the file that starts it.
    local start = assert(loadstring("local run = ... run { standalone = false }", "@lunette test"))
    start(require "busted.runner")
  end)
end
