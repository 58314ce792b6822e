--- What strangers may take of a server: connections, time, and room; and where it listens at all.
local json = require "spec.support.json"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

local EARLY = server.script(server.EARLY)
local TCP = "--in tcp://127.0.0.1:0 "

local start, record = server.starter(after_each), server.record

local function is_closed(client)
  client:settimeout(5)
  return select(2, client:receive(1)) ~= "timeout"
end

describe("connections", function()
  it("are refused past a number, until one has gone", function()
    for option, reason in pairs { ["--max-connections 2"] = "as many connections as --max-connections allows",
      ["--max-connections-per-host 2"] = "as many connections as --max-connections-per-host allows" } do
      local s = start(EARLY, TCP .. option)
      local a, b = s:connect(), s:connect()
      a:send(record(1, "a"))
      b:send(record(2, "b"))
      s:wait_panes(2)
      assert.is_true(is_closed(s:connect()))
      s:said(reason)
      a:close()
      local again = server.wait(function()
        local c = s:connect()
        c:send(record(3, "c"))
        c:settimeout(0.2)
        return select(2, c:receive(1)) == "timeout" and c
      end)
      assert.truthy(again)
      s:wait_panes(3)
      local r = s:stop()
      assert.equal(3, r.server.connections_opened)
      assert.is_true(r.server.connections_refused >= 1)
    end
  end)

  it("wait without costing time while descriptors are short, whatever they come for", function()
    local s = start(EARLY, TCP .. "--control unix:ctl.sock --http 127.0.0.1:0", "ulimit -n 24;")
    local http, sources = s:port "http", {}
    for i = 1, 24 do sources[i] = s:connect() end
    s:said "no connection can be taken for now: Too many open files"
    local asks, calls = s:connect "ctl.sock", s:connect(http)
    asks:send '{"command":"status"}\n'
    calls:send "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
    local function ticks() return tonumber(shell.run(s.folder, "awk '{ print $14 + $15 }' /proc/" .. s.pid ..
      "/stat").out) end
    local before = ticks()
    socket.sleep(1)
    assert.is_true(ticks() - before < 30)
    for _, source in ipairs(sources) do source:close() end
    assert.truthy(asks:receive "*l":find('"pipelines"', 1, true))
    assert.equal("HTTP/1.1 200 OK", calls:receive "*l")
    assert.equal(0, s:stop().code)
  end)

  it("may be a thousand at once, each with its own clock", function()
    -- Connection i is at i seconds, then at 2000 + i: W is the least of all, so that a window is complete when the
    -- connection before it has moved on, and not before.
    local n = 1000
    local s = start(server.script "watermark = { sources = 1000 },",
      TCP .. "--max-connections 2000 --max-connections-per-host 2000")
    local port, clients = s:port(), {}
    for i = 1, n do
      clients[i] = assert(socket.connect("127.0.0.1", port))
      clients[i]:send(record(i * 1000, i))
    end
    -- All are heard: W is at 1 s, and nothing is complete.
    socket.sleep(0.5)
    assert.same({}, s:panes())
    for i = 1, 10 do
      clients[i]:send(record((2000 + i) * 1000, i))
      local panes = s:wait_panes(i)
      assert.equal(("%d [%d,%d) 1 on_time"):format(i, i * 1000, i * 1000 + 1000), panes[i])
      assert.equal(i, #panes)
    end
    local memory = tonumber(shell.read(("/proc/%s/status"):format(s.pid)):match "VmRSS:%s+(%d+) kB")
    for i = n, 11, -1 do clients[i]:close() end -- those that are left are at 2001 s and more
    s:wait_panes(n)
    local r = s:stop()
    for i = 1, 10 do clients[i]:close() end
    assert.equal(n, #r.panes)
    assert.same({ n + 10, 0, n }, { r.pipeline.aggregated, r.pipeline.rejected.late, r.server.connections_opened })
    assert.is_true(memory < 65536, memory .. " kB")
  end)
end)

describe("time", function()
  it("is bounded for a record, however slowly its bytes come", function()
    local s = start(EARLY, TCP .. "--record-timeout 400ms")
    local stuck, slow, good = s:connect(), s:connect(), s:connect()
    stuck:send '{"t":1,'
    for byte in ('{"t":2,"k":"' .. ("x"):rep(30)):gmatch "." do
      if not slow:send(byte) then break end
      good:send(record(3, "good"))
      socket.sleep(0.03)
    end
    assert.is_true(is_closed(stuck))
    assert.is_true(is_closed(slow))
    good:send(record(4, "good"))
    local r = s:stop()
    assert.truthy(r.words:find("closed: a record was not finished within --record-timeout", 1, true), r.words)
    assert.same({ 2, 1 }, { r.server.connections_timed_out, r.server.connections })
  end)

  it("is bounded for silence", function()
    local s = start(EARLY, TCP .. "--idle-timeout 400ms")
    local silent, good = s:connect(), s:connect()
    for _ = 1, 15 do
      good:send(record(3, "good"))
      socket.sleep(0.05)
    end
    assert.is_true(is_closed(silent))
    good:send(record(4, "good"))
    s:wait_panes(16)
    local r = s:stop()
    assert.truthy(r.words:find("closed: it was silent for longer than --idle-timeout", 1, true), r.words)
    assert.same({ 1, 16 }, { r.server.connections_timed_out, r.pipeline.aggregated })
  end)

  it("does not pass while a sink is behind", function()
    local own = assert(socket.bind("127.0.0.1", 0))
    own:settimeout(10)
    local options = "--record-timeout 300ms --idle-timeout 600ms --queue-bytes 1000 --out tcp://127.0.0.1:"
    local s = start(EARLY, TCP .. options .. select(2, own:getsockname()))
    local sink = assert(own:accept())
    sink:setoption("tcp-nodelay", true)
    shell.run(s.folder, [[seq -f '{"t":%.0f,"k":"a"}' 1 150000 > many]])
    local waiting = s:connect()
    waiting:send '{"t":1000000,'
    os.execute(("bash -c 'cat %s/many > /dev/tcp/127.0.0.1/%d' 2> /dev/null &"):format(s.folder, s:port()))
    socket.sleep(1.5)
    waiting:send '"k":"b"}\n'
    sink:settimeout(1)
    local parts = {}
    repeat
      local part, err, rest = sink:receive(65536)
      parts[#parts + 1] = part or rest
    until err
    assert.truthy(table.concat(parts):find('"key":"b"', 1, true), s:words())
    sink:close()
    own:close()
  end)
end)

describe("a record", function()
  it("that is larger than the limit ends its connection", function()
    local s = start(server.script "limits = { record_bytes = 1000 },", TCP)
    local c = s:connect()
    c:send("\129\161t\218\255\255" .. ("x"):rep(2000))
    assert.is_true(is_closed(c))
    s:said "larger than limits.record_bytes (1000) allows"
    assert.equal(1, s:stop().server.connections_broken)
  end)
end)

describe("an address", function()
  local function problem(args, before)
    local folder = shell.folder()
    shell.write(folder .. "/p.lua", EARLY)
    local r = shell.run(folder, (before or "") .. " timeout 5 $LUNETTE run p.lua " .. args)
    shell.remove(folder)
    assert.equal(1, r.code, r.err)
    return r.err
  end

  it("that others can reach needs --insecure", function()
    for _, address in ipairs { "tcp://0.0.0.0:0", "tcp://[::]:0", "udp://0.0.0.0:0" } do
      local err = problem("--in " .. address)
      assert.truthy(err:find(address .. ": anybody who reaches this machine could write there", 1, true), err)
      assert.truthy(err:find("give --insecure", 1, true), err)
    end
    local err = problem "--in tcp://127.0.0.1:0 --out 'tcp://0.0.0.0:0?listen'"
    assert.truthy(err:find("could read there", 1, true), err)
    local s = start(EARLY, "--insecure --in tcp://0.0.0.0:0")
    s:said "listening on tcp://0.0.0.0:"
    assert.equal(0, s:stop().code)
  end)

  it("that can't be used is told before anything runs", function()
    local own = assert(socket.bind("127.0.0.1", 0))
    local taken = "tcp://127.0.0.1:" .. select(2, own:getsockname())
    local err = problem("--in " .. taken)
    assert.truthy(err:find(taken .. ": can't be bound: Address already in use", 1, true), err)
    own:close()
    assert.truthy(problem "--in tcp://gone.invalid:1":find("the host gone.invalid can't be found", 1, true))
    assert.truthy(problem("--in unix:file", "echo x > file;"):find("unix:file: is a file already", 1, true))
    assert.truthy(problem "--in unix:gone/x":find("can't be bound: No such file", 1, true))
  end)

  it("of a socket whose owner has died is used again, of one that lives is not", function()
    local s = start(EARLY, "--in unix:in.sock")
    s:said "listening"
    local r = shell.run(s.folder, "timeout 5 $LUNETTE run p.lua unix:in.sock")
    assert.equal(1, r.code)
    assert.truthy(r.err:find("another process listens there", 1, true), r.err)
    assert.equal("660\n", shell.run(s.folder, "stat -c %a in.sock").out)
    s:stop "KILL"
    r = shell.run(s.folder, "test -S in.sock && { timeout 1 $LUNETTE run p.lua unix:in.sock; true; }")
    assert.equal("lunette: listening on unix:in.sock\n", r.err)
  end)
end)

describe("the log", function()
  it("is bounded where strangers cause it", function()
    local s = start(EARLY, TCP)
    local port = s:port()
    for _ = 1, 200 do
      local c = assert(socket.connect("127.0.0.1", port))
      c:send "\193"
      c:close()
    end
    server.wait(function() return select(2, s:words():gsub("not msgpack", "")) >= 50 end)
    socket.sleep(0.3)
    s:connect():send "\193"
    s:said "lines like these were left out"
    local r = s:stop()
    assert.equal(201, r.server.connections_broken)
    assert.is_true(r.server.log_lines_left_out > 100)
    assert.is_true(select(2, r.words:gsub("not msgpack", "")) < 100)
  end)

  it("may be JSON, of the levels that are wanted", function()
    local s = start(EARLY, TCP .. "--log-format json --log-level debug --in 'unix:a\"b'")
    s:connect 'a"b':send "\193"
    s:said 'from a local process: closed"}'
    local r = s:stop()
    local levels = {}
    for line in r.words:gmatch '({"time"[^\n]*)\n' do
      local entry = json.decode(line)
      levels[entry.level] = (levels[entry.level] or 0) + 1
      assert.truthy(entry.time:find "^%d%d%d%d%-%d%d%-%d%dT%d%d:%d%d:%d%d%.%d+Z$")
    end
    assert.same({ info = 2, warning = 1, debug = 2 }, levels)
    s:clear()
    s = start(EARLY, TCP .. "--log-level error --in unix:x")
    server.wait(function() return shell.run(s.folder, "test -S x").code == 0 end)
    assert.truthy(s:stop().words:find "^{")
  end)
end)
