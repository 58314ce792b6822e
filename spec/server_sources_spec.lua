--- Sources of a server, over real sockets: connections and datagrams, each with its own clock, whole and broken.
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

local EARLY = server.script(server.EARLY)
local TCP = "--in tcp://127.0.0.1:0"

local start, record = server.starter(after_each), server.record
-- The same in msgpack, for t below 65536.
local function packed(t, k)
  return "\130\161t\205" .. string.char(math.floor(t / 256), t % 256) .. "\161k" .. string.char(160 + #k) .. k
end

-- Sends a record, and waits until the engine has it: the script shows a pane for each.
local function send(s, client, t, k)
  local before = #s:panes()
  client:send(record(t, k))
  s:wait_panes(before + 1)
end

describe("a connection", function()
  it("sends JSON lines or msgpack, in any pieces", function()
    local s = start(EARLY, TCP)
    local a, b = s:connect(), s:connect()
    for byte in record(100, "a"):gmatch "." do a:send(byte) end
    assert.same({ "a [0,1000) 1 early" }, s:wait_panes(1))
    for byte in packed(1200, "b"):gmatch "." do b:send(byte) end
    s:wait_panes(2)
    local r = s:stop()
    assert.same({ 0, { "a [0,1000) 1 early", "b [1000,2000) 1 early" } }, { r.code, r.panes })
    assert.equal(2, r.server.connections_opened)
    assert.equal(#record(100, "a") + #packed(1200, "b"), r.server.bytes_received)
  end)

  it("is a source of its own: the least promise counts, until it closes", function()
    local s = start(EARLY, TCP)
    local fast, slow = s:connect(), s:connect()
    send(s, slow, 500, "slow")
    send(s, fast, 5500, "fast")
    slow:send(record(1500, "slow")) -- W is at 1500: the first second is complete
    assert.same({ "slow [1000,2000) 1 early", "slow [0,1000) 1 on_time" }, { unpack(s:wait_panes(4), 3) })
    slow:close() -- W is at 5500
    assert.same({ "slow [1000,2000) 1 on_time" }, { unpack(s:wait_panes(5), 5) })
    fast:close() -- none is left: W stays
    local late = s:connect()
    late:send(record(100, "late"))
    send(s, late, 5400, "late")
    late:close()
    server.wait(function() return late:receive(1) == nil end)
    local r = s:stop()
    assert.same({ "late [5000,6000) 1 early" }, { unpack(r.panes, 6) })
    assert.equal(1, r.pipeline.rejected.late)
    assert.equal(3, r.server.connections_opened)
    assert.equal(0, r.server.connections)
  end)

  it("holds nothing back before its first record", function()
    local s = start(EARLY, TCP)
    local silent, a = s:connect(), s:connect()
    send(s, a, 500, "a")
    a:send(record(1500, "a"))
    assert.same({ "a [1000,2000) 1 early", "a [0,1000) 1 on_time" }, { unpack(s:wait_panes(3), 2) })
    send(s, silent, 1600, "b")
    send(s, a, 2500, "a") -- the other one is at 1600
    silent:send(record(2600, "b"))
    assert.same({ "b [2000,3000) 1 early", "a [1000,2000) 1 on_time", "b [1000,2000) 1 on_time" },
      { unpack(s:wait_panes(8), 6) })
  end)

  it("is waited for where the script says how many", function()
    local s = start(server.script("watermark = { sources = 2 }," .. server.EARLY), TCP)
    local a = s:connect()
    send(s, a, 500, "a")
    send(s, a, 2500, "a")
    s:connect():send(record(1500, "b"))
    assert.same({ "b [1000,2000) 1 early", "a [0,1000) 1 on_time" }, { unpack(s:wait_panes(4), 3) })
  end)

  it("is idle after the time that the script says", function()
    local s = start(server.script('watermark = { idle = "300ms" },' .. server.EARLY), TCP)
    local slow, fast = s:connect(), s:connect()
    send(s, slow, 500, "slow")
    socket.sleep(0.2) -- so that they do not become idle at once
    send(s, fast, 5500, "fast")
    assert.same({ "slow [0,1000) 1 on_time" }, { unpack(s:wait_panes(3), 3) })
  end)

  it("is no source where the script names a field", function()
    local s = start(server.script('watermark = { source = "k" },' .. server.EARLY), TCP)
    local a, b = s:connect(), s:connect()
    send(s, a, 500, "x")
    send(s, b, 700, "x")
    b:send(record(1700, "x"))
    assert.same({ "x [1000,2000) 1 early", "x [0,1000) 2 on_time" }, { unpack(s:wait_panes(4), 3) })
  end)
end)

describe("what is broken", function()
  it("ends its connection and no other; the records before it count", function()
    local s = start(EARLY, TCP)
    local bad, good = s:connect(), s:connect()
    bad:send(packed(300, "a") .. "\193" .. packed(400, "a"))
    s:said "byte 10: these bytes are not msgpack"
    assert.equal("closed", select(2, bad:receive(1)))
    good:send(record(500, "b"))
    s:wait_panes(2)
    local r = s:stop()
    assert.same({ "a [0,1000) 1 early", "b [0,1000) 1 early" }, r.panes)
    assert.equal(1, r.server.connections_broken)
    assert.truthy(r.words:find "lunette: tcp://127%.0%.0%.1:%d+ from 127%.0%.0%.1:%d+: byte 10:", r.words)
  end)

  it("is a line for a reject in JSON, and the connection goes on", function()
    local s = start(EARLY, TCP .. " --rejects rejects")
    local c = s:connect()
    c:send("nonsense\n" .. record(500, "a"))
    s:wait_panes(1)
    local r = s:stop()
    assert.equal(1, r.pipeline.rejected.malformed)
    assert.truthy(shell.read(s.folder .. "/rejects"):find('"record":"nonsense"', 1, true))
  end)

  it("is what a killed client leaves of a record", function()
    local s = start(EARLY, TCP)
    local port = s:port()
    shell.write(s.folder .. "/client", ([[
      exec 7<>/dev/tcp/127.0.0.1/%d
      printf '\201\241t\5\201\241t\6\201\241' >&7
      kill -9 $$
    ]]):format(port))
    shell.run(s.folder, "bash client")
    s:wait_panes(2)
    s:said "byte 8: the input ends in the middle of the record that begins here"
    local r = s:stop()
    assert.same({ 2, 2 }, { r.pipeline.read, r.pipeline.aggregated })
    assert.equal(1, r.server.connections_unfinished)
  end)

  it("is a connection that is reset", function()
    local s = start(EARLY, TCP)
    local c = s:connect()
    c:send(packed(500, "a") .. "\129")
    s:wait_panes(1)
    c:setoption("linger", { on = true, timeout = 0 })
    c:close()
    s:said "Connection reset by peer"
    local r = s:stop()
    assert.equal(1, r.server.connections_unfinished)
    assert.equal(1, r.pipeline.aggregated)
  end)
end)

describe("sources side by side", function()
  it("are several sockets, files and IPv6 at once", function()
    local s = start(EARLY, TCP .. " --in 'tcp://[::1]:0' --in unix:in.sock --in udp://127.0.0.1:0 --in in.jsonl "
      .. "--in - ", "printf '{\"t\":1,\"k\":\"file\"}\\n' > in.jsonl; printf '{\"t\":1,\"k\":\"std\"}\\n' > std;")
    s:wait_panes(1)
    s:connect(s:port "tcp"):send(record(1, "tcp"))
    s:wait_panes(2)
    s:connect "in.sock":send(record(1, "unix"))
    s:wait_panes(3)
    local six = assert(socket.tcp6())
    assert(six:connect("::1", tonumber(s:words():match "%[::1%]:(%d+)")))
    six:send(record(1, "six"))
    s:wait_panes(4)
    local u = socket.udp()
    u:sendto(record(1, "udp"), "127.0.0.1", s:port "udp")
    s:wait_panes(5)
    six:close()
    u:close()
    local r = s:stop()
    assert.same({ "file", "tcp", "unix", "six", "udp" }, (function()
      local keys = {}
      for i, pane in ipairs(r.panes) do keys[i] = pane:match "^%S+" end
      return keys
    end)())
    assert.same({ 0, "" }, { r.code, shell.run(s.folder, "ls in.sock 2> /dev/null").out })
  end)

  it("go on when the files are over, which are then no source any more", function()
    local s = start(server.script(), TCP .. " --in in.jsonl", "printf '{\"t\":500,\"k\":\"file\"}\\n' > in.jsonl;")
    s:connect():send(record(1500, "a"))
    assert.same({ "file [0,1000) 1 on_time" }, s:wait_panes(1))
  end)

  it("may be named by the script, and the command line wins", function()
    local script = server.script('source = { "unix:a.sock", "unix:b.sock" }, sink = "out", ' .. server.EARLY)
    local s = start(script, "")
    s:said "unix:b.sock"
    s:connect "a.sock":send(record(1, "a"))
    s:connect "b.sock":send(record(1, "b"))
    server.wait(function() return select(2, shell.read(s.folder .. "/out"):gsub("\n", "")) == 2 end)
    s:clear()
    s = start(script, "--in unix:c.sock --out -")
    s:said "unix:c.sock"
    s:connect "c.sock":send(record(1, "c"))
    s:wait_panes(1)
    assert.falsy(s:words():find("a.sock", 1, true))
  end)
end)

describe("a datagram", function()
  it("holds whole records, and a broken one is malformed and no more", function()
    local s = start(EARLY, "--in udp://127.0.0.1:0 --rejects rejects")
    local u, port = socket.udp(), s:port "udp"
    local function message(text) u:sendto(text, "127.0.0.1", port) end
    message(packed(100, "a") .. packed(200, "a"))
    message(packed(300, "b") .. "\193tail")
    message(packed(400, "c") .. "\130\161t")
    message(record(500, "d") .. '{"t":600,"k":"d"}')
    message ""
    message "no json"
    message(packed(700, "e"))
    s:wait_panes(7)
    u:close()
    local r = s:stop()
    assert.same({ "a [0,1000) 1 early", "a [0,1000) 2 early", "b [0,1000) 1 early", "c [0,1000) 1 early",
      "d [0,1000) 1 early", "d [0,1000) 2 early", "e [0,1000) 1 early" }, r.panes)
    assert.same({ 10, 7, 3 }, { r.pipeline.read, r.pipeline.aggregated, r.pipeline.rejected.malformed })
    assert.same({ 7, 2 }, { r.server.datagrams, r.server.datagrams_malformed })
    assert.truthy(r.words:find("a datagram: byte 10: these bytes are not msgpack", 1, true), r.words)
    local rejects = shell.read(s.folder .. "/rejects")
    assert.equal(3, select(2, rejects:gsub('"malformed"', "")))
  end)
end)
