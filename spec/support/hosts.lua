--- Servers that have LuaJIT, as scripts/install --hosts unpacks them, run in a folder of their own with Lunette's
-- modules and library. Whatever happens they are gone after a while.
local M = {}

local ROOT = io.popen("pwd"):read "*l"
local CORE = os.getenv "LUNETTE_CORE" or ROOT .. "/build/liblunette-core.so"

M.root = ROOT

local PROGRAMS = {
  nginx = "usr/sbin/nginx", tarantool = "usr/bin/tarantool", minetest = "usr/lib/minetest/minetestserver",
}

--- Why a host can't be run here; nil where it can.
function M.missing(name)
  if (os.getenv "LD_PRELOAD" or ""):find("asan", 1, true) then return "the library is one for sanitizers" end
  local file = io.open(("%s/build/hosts/%s/%s"):format(ROOT, name, PROGRAMS[name]))
  if not file then return name .. " is not there: scripts/install --hosts" end
  file:close()
end

--- What a shell needs for it: $HOST is its folder, $PROGRAM its program.
function M.environment(name)
  local folder = ("%s/build/hosts/%s"):format(ROOT, name)
  return table.concat({
    ("export HOST='%s' PROGRAM='%s/%s' ROOT='%s'"):format(folder, folder, PROGRAMS[name], ROOT),
    "export LD_LIBRARY_PATH=$HOST/usr/lib/x86_64-linux-gnu:$HOST/usr/lib",
    ("export LUNETTE_CORE='%s'"):format(CORE),
    ("export LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua;%s/lua/?.lua;;'"):format(ROOT, ROOT, CORE:match "^(.*)/"),
    "",
  }, "\n")
end

--- The libraries in a process's maps that carry a LuaJIT or Lunette, by the name of their file, once each.
function M.libraries(maps)
  local seen, list = {}, {}
  for path in maps:gmatch "%s(/[^\n]+)\n" do
    local name = path:match "[^/]+$"
    if not seen[path] and (name:find "^libluajit" or name:find "^liblunette" or name:find "^liblua5") then
      seen[path] = true
      list[#list + 1] = name:match "^[^.]*"
    end
  end
  table.sort(list)
  return list
end

return M
