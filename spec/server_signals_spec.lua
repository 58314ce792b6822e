--- How a server ends, and what it tells the service manager.
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"
local unix = require "socket.unix"

local EARLY = server.script(server.EARLY)
local TCP = "--in tcp://127.0.0.1:0 "

local start, record = server.starter(after_each), server.record

describe("a signal", function()
  it("completes nothing that the watermark has not, unless told", function()
    for flag, panes in pairs { [""] = { "a [0,1000) 1 on_time" },
      ["--flush-on-exit "] = { "a [0,1000) 1 on_time", "a [1000,2000) 1 on_time" } } do
      for _, signal in ipairs { "TERM", "INT" } do
        local s = start(server.script(), TCP .. flag)
        s:connect():send(record(500, "a") .. record(1500, "a"))
        s:wait_panes(1)
        local r = s:stop(signal)
        assert.same({ 0, panes }, { r.code, r.panes })
        s:clear()
      end
    end
  end)

  it("lets in what has arrived, and nothing that comes later", function()
    local s = start(EARLY, TCP .. "--in unix:in.sock --in udp://127.0.0.1:0")
    local a, b, u = s:connect(), s:connect "in.sock", socket.udp()
    a:send(record(1, "a"))
    b:send(record(1, "b"))
    s:wait_panes(2)
    s:signal "STOP"
    a:send(record(1, "a"):rep(500)) -- more than one piece of it is read at once
    b:send(record(2, "b") .. '{"t":3,')
    u:sendto(record(1, "u"), "127.0.0.1", s:port "udp")
    s:signal "TERM"
    s:signal "CONT"
    local r = s:stop "none"
    u:close()
    assert.equal(0, r.code)
    assert.equal(504, r.pipeline.aggregated)
    assert.truthy(r.words:find("unix:in.sock from a local process: interrupted: 7 bytes", 1, true), r.words)
    assert.equal(1, r.server.connections_unfinished)
  end)

  it("ends a server whose clients never stop", function()
    local s = start(EARLY, TCP .. "--out null:")
    os.execute(([[bash -c 'yes "{\"t\":1,\"k\":\"a\"}" > /dev/tcp/127.0.0.1/%d' 2> /dev/null &]]):format(s:port()))
    socket.sleep(0.3)
    local r = s:stop()
    assert.equal(0, r.code)
    assert.is_true(r.pipeline.aggregated > 0)
  end)

  it("is heard while the sink is stuck, and a second one stops at once", function()
    local own = assert(socket.bind("127.0.0.1", 0))
    local s = start(EARLY, TCP .. "--out tcp://127.0.0.1:" .. select(2, own:getsockname()))
    shell.run(s.folder, [[seq -f '{"t":%.0f,"k":"a"}' 1 150000 > many]])
    os.execute(("bash -c 'cat %s/many > /dev/tcp/127.0.0.1/%d' 2> /dev/null &"):format(s.folder, s:port()))
    socket.sleep(0.7)
    s:signal "TERM"
    socket.sleep(0.5)
    assert.equal(143, s:stop().code)
    own:close()
  end)
end)

describe("the service manager", function()
  it("hears that the server is ready, alive, and stopping", function()
    local folder = shell.folder()
    local manager = unix.dgram()
    assert(manager:bind(folder .. "/notify"))
    manager:settimeout(5)
    local s = start(EARLY, TCP, ("NOTIFY_SOCKET=%s/notify WATCHDOG_USEC=400000"):format(folder))
    assert.equal("READY=1", manager:receive())
    assert.equal("WATCHDOG=1", manager:receive())
    assert.equal("WATCHDOG=1", manager:receive())
    s:signal "TERM"
    local word
    repeat word = manager:receive() until word ~= "WATCHDOG=1"
    assert.equal("STOPPING=1", word)
    assert.equal(0, s:stop "none".code)
    manager:close()
    shell.remove(folder)
  end)
end)

describe("the loop", function()
  it("keeps turning while a hundred thousand windows fire", function()
    -- A window for each key, all complete at once; another connection is served meanwhile.
    local s = start(server.script(), TCP .. "--log-level debug")
    shell.run(s.folder, [[seq -f '{"t":1,"k":"k%.0f"}' 1 100000 > many; echo '{"t":5000,"k":"end"}' >> many]])
    os.execute(("bash -c 'cat %s/many > /dev/tcp/127.0.0.1/%d' 2> /dev/null &"):format(s.folder, s:port()))
    s:wait_panes(1)
    local before = socket.gettime()
    s:connect()
    s:said "connected"
    local took = socket.gettime() - before
    s:wait_panes(100000)
    assert.is_true(took < 1, took)
  end)
end)
