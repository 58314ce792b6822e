--- The program as a server: started in a folder of its own, spoken to over real sockets, ended by a signal to its own
-- process. Every wait is bounded, and whatever happens the process is gone after a while.
local json = require "spec.support.json"
local shell = require "spec.support.shell"
local socket = require "socket"
local unix = require "socket.unix"

local M = {}

local SECONDS_MAX = 60 -- a process may live
local PATIENCE = 10 -- seconds until a condition must hold

--- Windows of a second, counted by key `k`; a pane as soon as a record is there where `early` is set.
function M.script(fields)
  return ([[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" },
  key = "k",
  window = ln.tumbling "1s",
  %s
  aggregate = { n = ln.count() },
}
]]):format(fields or "")
end
M.EARLY = "trigger = ln.at_watermark { early = ln.each() },"

local Server = {}
Server.__index = Server

--- Waits until `condition` gives something; raises when it does not in time.
function M.wait(condition, what, seconds)
  local till = socket.gettime() + (seconds or PATIENCE)
  while true do
    local found = condition()
    if found then return found end
    if socket.gettime() > till then error("waited in vain for " .. (what or "a condition"), 2) end
    socket.sleep(0.01)
  end
end

local function read(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  local text = file:read "*a"
  file:close()
  return text
end

--- Starts `lunette run ARGS p.lua` with that script, and JSON as its output unless that is Fluent Forward.
-- `environment` is put in front of the command.
function M.start(script, args, environment)
  local folder = shell.folder()
  shell.write(folder .. "/p.lua", script)
  shell.write(folder .. "/.start", ([[
    cd "%s"
    %s "%s" run --stats %s %s p.lua > panes 2> words < /dev/null &
    pid=$!
    { timeout %d tail --pid=$pid -f /dev/null; [ $? = 124 ] && kill -9 $pid; } &
    echo $pid > .pid; mv .pid pid
    wait $pid; echo $? > .ended; mv .ended code
  ]]):format(folder, environment or "", shell.program, args:find "out '?forward:" and "" or "--out-format json", args,
    SECONDS_MAX))
  os.execute(("env -u LD_PRELOAD bash %s/.start > /dev/null 2>&1 &"):format(folder))
  local s = setmetatable({ folder = folder, clients = {} }, Server)
  s.pid = M.wait(function() return read(folder .. "/pid"):match "^(%d+)\n" end, "the start of the program")
  return s
end

function Server:words() return read(self.folder .. "/words") end

--- Waits for a line of the log that holds `text`; gives the whole log.
function Server:said(text, seconds)
  M.wait(function() return self:words():find(text, 1, true) or read(self.folder .. "/code") ~= "" end, text, seconds)
  local words = self:words()
  if not words:find(text, 1, true) then error(("not said: %s\n%s"):format(text, words), 2) end
  return words
end

--- The port of the first address that the log says is listened on, of this kind ("tcp" where none is given).
function Server:port(kind)
  local pattern = (" on %s://[^\n]-:(%%d+)\n"):format(kind or "tcp")
  return tonumber(M.wait(function()
    if read(self.folder .. "/code") ~= "" then error("the program has ended: " .. self:words(), 0) end
    return self:words():match(pattern)
  end, "a port"))
end

--- A client that is connected to the port, or to a socket in the folder.
function Server:connect(to)
  to = to or self:port()
  local client
  if type(to) == "string" then
    local path = self.folder .. "/" .. to
    client = M.wait(function()
      local c = unix.stream()
      if c:connect(path) then return c end
      c:close()
    end, path)
  else
    client = assert(socket.connect("127.0.0.1", to))
    client:setoption("tcp-nodelay", true)
  end
  client:settimeout(PATIENCE)
  self.clients[#self.clients + 1] = client
  return client
end

--- Panes as short texts, "key [start,end) n timing", in the order in which they came.
function M.short(text)
  local short = {}
  for line in text:gmatch "([^\n]*)\n" do
    local p = json.decode(line)
    short[#short + 1] = ("%s [%d,%d) %d %s"):format(tostring(p.key), p.start, p["end"], p.value.n, p.timing)
  end
  return short
end

function Server:panes() return M.short(read(self.folder .. "/panes")) end

--- Waits until there are n panes.
function Server:wait_panes(n)
  M.wait(function() return select(2, read(self.folder .. "/panes"):gsub("\n", "")) >= n end, n .. " panes")
  return self:panes()
end

function Server:signal(name) os.execute(("kill -%s %s 2> /dev/null"):format(name, self.pid)) end

--- Waits for the end, after a signal where one is given: code, words, panes, the account of the pipeline and of the
-- server.
function Server:stop(signal)
  if signal ~= "none" then self:signal(signal or "TERM") end
  local code = M.wait(function() return read(self.folder .. "/code"):match "^(%d+)\n" end, "the end of the program",
    SECONDS_MAX)
  local words = self:words()
  local stats = words:match '({[^\n]*"pipelines":[^\n]*})\n'
  local account = stats and json.decode(stats) or {}
  return { code = tonumber(code), words = words, panes = self:panes(), server = account.server,
    pipeline = account.pipelines and account.pipelines[1] }
end

--- Ends whatever is left, and removes the folder.
function Server:clear()
  if self.cleared then return end
  self.cleared = true
  for _, client in ipairs(self.clients) do client:close() end
  if read(self.folder .. "/code") == "" then
    self:signal "KILL"
    M.wait(function() return read(self.folder .. "/code") ~= "" end, "the end of the program")
  end
  shell.remove(self.folder)
end

--- As `start`, for specs of one server at a time: it is cleared after each test.
function M.starter(after_each)
  local running
  after_each(function()
    if running then running:clear() end
    running = nil
  end)
  return function(...)
    if running then running:clear() end
    running = M.start(...)
    return running
  end
end

--- A record of key k at t, as a line.
function M.record(t, k) return ('{"t":%d,"k":"%s"}\n'):format(t, k) end

return M
