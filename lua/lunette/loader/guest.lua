--- The environment of a script in the Lua state of a host. It reads the host's globals; what it sets is its own, and so
-- are the modules that lie beside it: another script may have others of the same names. Nothing of the host is changed.
local M = {}

local function read(path)
  local file, message = io.open(path, "rb")
  if not file then error(message, 0) end
  local text = file:read "*a"
  file:close()
  return text
end

-- `require` for a script in a folder: modules beside it come first, but for Lunette's own.
local function requirer(folder, env)
  local outer = require
  local pattern = ("%s/?.lua;%s/?/init.lua"):format(folder, folder)
  local loaded = {}
  return function(name)
    if type(name) ~= "string" then error("require takes the name of a module", 2) end
    if loaded[name] ~= nil then return loaded[name] end
    local path = name ~= "lunette" and not name:find "^lunette%." and package.searchpath(name, pattern)
    if not path then return outer(name) end
    local chunk, message = load(read(path), "@" .. path, "t", env)
    if not chunk then error(message, 0) end
    loaded[name] = true -- what a module that is required in a circle sees
    local result = chunk(name)
    if result ~= nil then loaded[name] = result end
    return loaded[name]
  end
end

--- The environment of the script at `path`.
---@param path string
---@return table
function M.environment(path)
  local env = setmetatable({}, { __index = _G })
  env.require = requirer(path:match "^(.*)/[^/]*$" or ".", env)
  return env
end

return M
