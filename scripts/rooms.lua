--- Checks who knows whom: the includes of core/ and the requires of lua/ against the two tables below, and that every
-- source stands in its list of CMake. Run from the project's root; prints each breach and exits with 1.

-- Rooms of core/: the rooms and single headers that each may include beside itself and the public headers.
local rooms = {
  [""] = {}, -- the public headers
  base = {},
  ingest = { "base" },
  window = { "base" },
  egress = { "base", "window/pane.h", "window/trace.h" },
  host = { "base", "ingest", "window", "egress" },
  forward = { "base", "ingest/scan.h" },
  ledger = { "base" },
  durable = { "base", "ledger" },
  -- Else what any C host can use.
  ev = { "base/test.h", "host/test_host.h" },
  server = {
    "forward", "durable", "ledger", "base/buf.h", "base/mem.h", "base/time.h", "base/test.h", "base/test_random.h",
  },
  convert = {}, -- what any C host can use
  cli = { "server", "durable", "ledger", "base/buf.h", "convert" },
}

-- Headers of other projects, and the rooms that may know them. Those not named here (the C library's) are free.
local libraries = {
  ["lua.h"] = { "host" }, ["lauxlib.h"] = { "host" }, ["lualib.h"] = { "host" }, ["luajit.h"] = { "host" },
  ["ev.h"] = { "server", "ev" },
  ["csv.h"] = { "convert" },
  ["simdjson.h"] = { "ingest" },
  ["xxhash.h"] = { "base", "ingest", "window" },
  ["msgpack.h"] = { "base", "ingest", "egress", "forward" },
  ["sodium.h"] = { "forward" },
  ["lmdb.h"] = { "ledger" },
  ["zlib.h"] = { "forward" },
  ["microhttpd.h"] = { "server" },
  ["ncurses.h"] = { "cli" },
}

-- Modules of lua/lunette/: what each may require beside its own parts. The first rows read a script and know no engine,
-- those in the middle run the engine and know no script, the last joins them. `ffi` stands for LuaJIT's.
local modules = {
  ["lunette.node"] = {},
  ["lunette.window"] = { "lunette.node" },
  ["lunette.trigger"] = { "lunette.node" },
  ["lunette.aggregate"] = { "lunette.node" },
  ["lunette.plan"] = { "lunette.node" },
  ["lunette"] = { -- the last two only where they are used, which takes the engine
    "lunette.node", "lunette.window", "lunette.trigger", "lunette.aggregate", "lunette.plan", "lunette.record",
    "lunette.engine",
  },
  ["lunette.loader"] = { "lunette", "lunette.node", "lunette.plan" },

  ["lunette.ffi"] = { "lunette.cdef", "ffi" },
  ["lunette.value"] = { "lunette.ffi", "lunette.node" },
  ["lunette.columns"] = { "lunette.ffi", "lunette.value" },
  ["lunette.record"] = { "lunette.ffi", "lunette.value", "lunette.columns" },
  ["lunette.rows"] = { "lunette.ffi", "lunette.value" },
  ["lunette.struct"] = { "lunette.ffi" },
  ["lunette.folds"] = { "lunette.ffi", "lunette.value", "lunette.struct" },
  ["lunette.question"] = { "lunette.ffi", "lunette.value", "lunette.record" },
  ["lunette.lower"] = { "lunette.ffi", "lunette.struct" },
  ["lunette.trace"] = { "lunette.ffi", "lunette.value" },
  ["lunette.driver"] = {
    "lunette.ffi", "lunette.value", "lunette.trace", "lunette.record", "lunette.rows", "lunette.folds",
    "lunette.question", "lunette.lower",
  },

  ["lunette.plot"] = { "lunette.value", "lunette.trace" },
  ["lunette.test"] = { -- runs scripts as a host does
    "lunette.account", "lunette.driver", "lunette.ffi", "lunette.loader", "lunette.moment", "lunette.node",
    "lunette.plan", "lunette.trace", "lunette.value", "luassert", "say",
  },
  ["lunette.explain"] = { -- reads a checked plan; opens an engine to see how it is laid out, and for one record
    "lunette.driver", "lunette.ffi", "lunette.lower", "lunette.moment", "lunette.trace", "lunette.value",
  },
  ["lunette.tools"] = { -- each is a command that works on files
    "lunette.trace", "lunette.plot", "lunette.explain", "lunette.loader", "lunette.test", "lunette.value",
    "busted.core", "busted.modules.cli", "busted.runner", "busted.languages.en", "say",
  },

  ["lunette.moment"] = {},
  ["lunette.account"] = { "lunette.ffi" },
  ["lunette.engine"] = {
    "lunette.ffi", "lunette.value", "lunette.node", "lunette.plan", "lunette.loader", "lunette.driver",
    "lunette.account", "lunette.reload",
  },

  ["lunette.jit_report"] = {},
  ["lunette.host"] = {
    "lunette.account", "lunette.ffi", "lunette.value", "lunette.loader", "lunette.driver", "lunette.jit_report",
    "lunette.tools", "lunette.look", "lunette.metrics", "lunette.explain", "lunette.plain", "lunette.carry",
    "lunette.reload",
  },
  ["lunette.metrics"] = {
    "lunette.account", "lunette.ffi", "lunette.jit_report", "lunette.look", "lunette.trace",
  },
  ["lunette.plain"] = { "lunette.ffi", "lunette.node" },
  ["lunette.carry"] = { "lunette.ffi", "lunette.plain" },
  ["lunette.reload"] = { "lunette.carry", "lunette.plain", "lunette.trace" },
  ["lunette.look"] = { "lunette.ffi", "lunette.value", "lunette.trace" },
}
local free = { bit = true, jit = true, ["jit.util"] = true, ["jit.vmdef"] = true,
  ["table.new"] = true, ["table.clear"] = true }

local breaches = 0
local function breach(fmt, ...)
  breaches = breaches + 1
  print(fmt:format(...))
end

local function files(dir, pattern)
  local out = {}
  local list = assert(io.popen(("find %s -type f | sort"):format(dir)))
  for path in list:lines() do
    if path:find(pattern) then out[#out + 1] = path end
  end
  list:close()
  return out
end

local function read(path)
  local f = assert(io.open(path, "rb"))
  local text = f:read "*a"
  f:close()
  return text
end

local function has(list, x)
  for _, y in ipairs(list) do
    if x == y then return true end
  end
  return false
end

local function may_include(room, header)
  local other = header:match "^([^/]+)/" or ""
  return other == "" or other == room or has(rooms[room], other) or has(rooms[room], header)
end

local function check_includes(path)
  local room = path:match "^core/([^/]+)/" or ""
  local n = 0
  if not rooms[room] then return breach("%s: core/%s is no room that scripts/rooms.lua knows", path, room) end
  for line in io.lines(path) do
    n = n + 1
    local header = line:match '^%s*#%s*include%s*"([^"]+)"'
    local library = line:match "^%s*#%s*include%s*<([^>]+)>"
    if header and header:find("..", 1, true) then
      breach("%s:%d: includes are written from core/", path, n)
    elseif header and not may_include(room, header) then
      breach("%s:%d: core/%s may not know %s", path, n, room, header)
    elseif library and libraries[library] and not has(libraries[library], room) then
      breach("%s:%d: core/%s may not know <%s>", path, n, room, library)
    end
  end
end

local function module_of(path) return (path:gsub("^lua/", ""):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", ".")) end

-- The row of the table that a module belongs to: its own or that of the module whose part it is.
local function row_of(module)
  while module and not modules[module] do module = module:match "^(lunette%..+)%.[^.]+$" end
  return module
end

local function check_requires(path)
  local module = module_of(path)
  local row = row_of(module)
  local n = 0
  if not row then return breach("%s: %s is no module that scripts/rooms.lua knows", path, module) end
  for line in io.lines(path) do
    n = n + 1
    for name in line:gsub("%-%-.*", ""):gmatch "require%s*%(?%s*[\"']([%w_.]+)[\"']" do
      local other = name:find "^lunette" and row_of(name) or name
      if not free[name] and other ~= row and not has(modules[row], other or name) and not has(modules[row], name) then
        breach("%s:%d: %s may not know %s", path, n, module, name)
      end
    end
  end
end

-- `list` is the text of a CMakeLists.txt, which names its sources from its own folder.
local function check_listed(path, dir, list)
  local name = path:sub(#dir + 2)
  for word in list:gmatch "[^%s()]+" do
    if word == name then return end
  end
  breach("%s: not listed in %s/CMakeLists.txt", path, dir)
end

local core_list, lua_list = read "core/CMakeLists.txt", read "lua/CMakeLists.txt"
for _, path in ipairs(files("core", "%.[ch]p?p?$")) do
  check_includes(path)
  if not path:find "%.h$" then check_listed(path, "core", core_list) end
end
for _, path in ipairs(files("lua", "%.lua$")) do
  check_requires(path)
  check_listed(path, "lua", lua_list)
end
os.exit(breaches == 0 and 0 or 1)
