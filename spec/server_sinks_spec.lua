--- Sinks of a server, over real sockets: connected to and served, slow, gone and back again.
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

local EARLY = server.script(server.EARLY)
local TCP = "--in tcp://127.0.0.1:0 "
-- How long a sink stops reading; LUNETTE_LONG in the environment asks for the long form.
local STALL = os.getenv "LUNETTE_LONG" and 31 or 2

local start, record = server.starter(after_each), server.record
local listening

-- A socket of our own for a sink to connect to, on that port or any; and the port.
local function listen(port)
  listening = assert(socket.bind("127.0.0.1", port or 0))
  listening:settimeout(10)
  return listening, select(2, listening:getsockname())
end

after_each(function()
  if listening then listening:close() end
  listening = nil
end)

-- Writes a file of n records of one key, a millisecond apart, and sends it from a process of its own.
local function load_of(s, n, k)
  shell.run(s.folder, ([[seq -f '{"t":%%.0f,"k":"%s"}' 1 %d > %s.jsonl]]):format(k, n, k))
  os.execute(("bash -c 'cat %s/%s.jsonl > /dev/tcp/127.0.0.1/%d' 2> /dev/null &"):format(s.folder, k, s:port()))
end

-- What arrived, pane by pane as { key, start, pane }; raises where one is not whole.
local function arrived(text)
  local panes = {}
  for line in text:gmatch "([^\n]*)\n" do
    local k, from, n = line:match '^{"key":"(%w+)","start":(%d+),"end":%d+,"pane":(%d+),.*}}$'
    if not k then error("no whole pane: " .. line) end
    panes[#panes + 1] = { k, tonumber(from), tonumber(n) }
  end
  return panes
end

-- The numbers of a window's panes rise by one: each arrived once, and in order.
local function each_once(panes)
  local next_of = {}
  for _, p in ipairs(panes) do
    local window = p[1] .. " " .. p[2]
    if p[3] ~= (next_of[window] or 0) then
      return ("pane %d of %s where %d is due"):format(p[3], window, next_of[window] or 0)
    end
    next_of[window] = p[3] + 1
  end
end

local function read_all(client, text)
  client:settimeout(10)
  local parts = { text }
  while true do
    local part, err, rest = client:receive(65536)
    parts[#parts + 1] = part or rest
    if err then return table.concat(parts), err end
  end
end

describe("a sink that is connected to", function()
  it("gets every pane, also when it comes up later", function()
    local own, port = listen()
    own:close()
    local s = start(EARLY, TCP .. "--out tcp://127.0.0.1:" .. port)
    s:connect():send(record(1, "a") .. record(2, "a"))
    s:said "trying again in"
    own = listen(port)
    local client = assert(own:accept())
    client:settimeout(10)
    assert.truthy(client:receive "*l":find('"n":1', 1, true))
    assert.truthy(client:receive "*l":find('"n":2', 1, true))
    local r = s:stop()
    assert.same({ 0, 0, 1 }, { r.code, r.server.panes_lost, r.server.sink_connections })
    assert.is_true(r.server.sink_failures >= 1)
    client:close()
  end)

  it("may stop reading under load: the sources wait, and each pane arrives once", function()
    local own, port = listen()
    local n = 150000
    local watermark = "watermark = { sources = 2, %s },"
    local s = start(server.script(server.EARLY .. watermark:format(STALL < 30 and 'idle = "1s"' or "")),
      TCP .. "--out tcp://127.0.0.1:" .. port)
    local client = assert(own:accept())
    load_of(s, n, "a")
    load_of(s, n, "b")
    client:settimeout(10)
    local text = assert(client:receive(4096))
    socket.sleep(STALL)
    local memory = tonumber(shell.read(("/proc/%s/status"):format(s.pid)):match "VmRSS:%s+(%d+) kB")
    local parts, size = { text }, #text
    server.wait(function() -- all have been read, and the clients are gone
      local part, _, rest = client:receive(65536)
      parts[#parts + 1] = part or rest
      size = size + #parts[#parts]
      client:settimeout(0.3)
      return part == nil and #rest == 0
    end, "the end of the panes", 40)
    s:signal "TERM"
    parts[#parts + 1] = read_all(client)
    local r = s:stop "none"
    local panes = arrived(table.concat(parts))
    assert.is_nil(each_once(panes))
    assert.equal(0, r.pipeline.rejected.late)
    assert.equal(2 * n, r.pipeline.aggregated)
    assert.equal(r.pipeline.panes.early + r.pipeline.panes.on_time, #panes)
    assert.same({ 0, 0, 0 }, { r.code, r.server.panes_lost, r.server.sink_failures })
    assert.is_true(memory < 65536, memory .. " kB")
    client:close()
  end)

  it("may go in the middle of a pane: it is connected to again, and begins with that pane", function()
    local own, port = listen()
    local s = start(EARLY, TCP .. "--out tcp://127.0.0.1:" .. port)
    local client = assert(own:accept())
    client:settimeout(10)
    load_of(s, 100000, "a")
    assert(client:receive(1000)) -- then nothing more: what was sent waits, and the last pane is cut
    socket.sleep(0.5)
    client:setoption("linger", { on = true, timeout = 0 })
    client:close()
    client = assert(own:accept())
    client:settimeout(1)
    local parts = {}
    repeat
      local part, err, rest = client:receive(65536)
      parts[#parts + 1] = part or rest
    until err
    s:signal "TERM"
    parts[#parts + 1] = read_all(client)
    local r = s:stop "none"
    local panes = arrived(table.concat(parts))
    assert.is_true(panes[1][3] > 0 and #panes > 1000)
    local first = panes[1]
    table.remove(panes, 1)
    for i = 1, first[3] + 1 do table.insert(panes, i, { "a", first[2], i - 1 }) end -- what the first connection got
    assert.is_nil(each_once(panes))
    assert.same({ 2, 1 }, { r.server.sink_connections, r.server.sink_failures })
    client:close()
  end)

  it("is a socket in the file system as well, and takes rejects", function()
    local unix = require "socket.unix"
    local own = unix.stream()
    local folder = shell.folder()
    assert(own:bind(folder .. "/sink"))
    assert(own:listen())
    local s = start(EARLY, TCP .. "--rejects unix:" .. folder .. "/sink")
    local client = own:accept()
    s:connect():send "x\n"
    client:settimeout(10)
    assert.equal('{"reason":"malformed","message":', (client:receive "*l" or ""):sub(1, 32))
    client:close()
    own:close()
    shell.remove(folder)
  end)

  it("holds back the end until it has everything, and what it can't get in time is counted", function()
    local _, port = listen()
    local s = start(EARLY, TCP .. "--drain-timeout 500ms --out tcp://127.0.0.1:" .. port)
    load_of(s, 100000, "a")
    s:said "connected"
    socket.sleep(0.5)
    local r = s:stop()
    assert.equal(1, r.code)
    assert.is_true(r.server.panes_lost > 0)
    assert.truthy(r.words:find("not drained within --drain-timeout", 1, true), r.words)
    assert.truthy(r.words:find(r.server.panes_lost .. " panes could not be delivered", 1, true), r.words)
  end)
end)

describe("a sink that listens", function()
  it("serves each subscriber from its joining on", function()
    local s = start(EARLY, TCP .. "--out 'tcp://127.0.0.1:0?listen'")
    s:said "subscribers are served"
    local to = tonumber(s:words():match "served on tcp://127%.0%.0%.1:(%d+)")
    local c = s:connect(tonumber(s:words():match "listening on tcp://127%.0%.0%.1:(%d+)"))
    local first = s:connect(to)
    socket.sleep(0.1)
    c:send(record(1, "a"))
    assert.truthy(first:receive "*l":find('"n":1', 1, true))
    local second = s:connect(to)
    socket.sleep(0.1)
    c:send(record(2, "a"))
    assert.truthy(first:receive "*l":find('"n":2', 1, true))
    assert.truthy(second:receive "*l":find('"n":2', 1, true))
    first:close()
    socket.sleep(0.1)
    c:send(record(3, "a"))
    assert.truthy(second:receive "*l":find('"n":3', 1, true))
    local r = s:stop()
    assert.same({ 0, 2, 0, 0 }, { r.code, r.server.subscribers_opened, r.server.subscribers_cut, r.server.panes_lost })
  end)

  it("cuts a subscriber that is too slow, and counts what it missed; the others get everything", function()
    local s = start(EARLY, TCP .. "--out 'unix:out.sock?listen' --queue-bytes 4194304")
    local slow, good = s:connect "out.sock", s:connect "out.sock"
    local n = 100000
    load_of(s, n, "a")
    local parts = {}
    good:settimeout(5)
    local last = ('"start":%d,'):format(n - n % 1000)
    repeat
      local part, err, rest = good:receive(65536)
      parts[#parts + 1] = part or rest
    until err or ((parts[#parts - 1] or "") .. parts[#parts]):find(last, 1, true)
    s:signal "TERM"
    parts[#parts + 1] = read_all(good)
    local got = arrived((read_all(slow):gsub("[^\n]*$", "")))
    local r = s:stop "none"
    local panes = arrived(table.concat(parts))
    assert.is_nil(each_once(panes))
    assert.equal(r.pipeline.panes.early + r.pipeline.panes.on_time, #panes)
    assert.equal(1, r.server.subscribers_cut)
    assert.is_nil(each_once(got))
    assert.is_true(r.server.panes_lost > 0 and #got < #panes)
    assert.truthy(r.words:find("is too slow, and is cut; panes lost: ", 1, true), r.words)
  end)

  it("takes subscribers again when there are descriptors again", function()
    local s = start(EARLY, TCP .. "--out 'unix:out.sock?listen'", "ulimit -n 24;")
    local many = {}
    for i = 1, 24 do many[i] = s:connect "out.sock" end
    s:said "no subscriber can be taken for now: Too many open files"
    for _, client in ipairs(many) do client:close() end
    local last = s:connect "out.sock"
    local c = s:connect()
    server.wait(function()
      c:send(record(1, "a"))
      last:settimeout(0.1)
      return last:receive "*l"
    end, "a pane")
    assert.equal(0, s:stop().code)
  end)
end)
