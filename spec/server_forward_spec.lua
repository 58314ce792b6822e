--- Fluent Forward as a source of the program, over real sockets: what is acknowledged and when, what counts once, and
-- what is left out.
local forward = require "spec.support.forward"
local server = require "spec.support.server"
local socket = require "socket"

local message, chunk, ack, map, text = forward.message, forward.chunk, forward.ack, forward.map, forward.text
local FORWARD = "--in forward://127.0.0.1:0 "

local start = server.starter(after_each)

-- Windows of a second by the sender's time and tag; a pane for each record.
local function script(fields)
  return ([[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "$time" },
  key = "$tag",
  window = ln.tumbling "1s",
  trigger = ln.at_watermark { early = ln.each() },
  aggregate = { n = ln.count() },
  %s
}
]]):format(fields or "")
end
local EARLY = script()

local function connect(s) return s:connect(s:port "forward") end

describe("a chunk", function()
  it("is acknowledged when its records are in the engine, whatever its id", function()
    local s = start(EARLY, FORWARD)
    local c = connect(s)
    c:send(message("a", 1, map("n", "\1"), chunk "x") .. message("b", 1))
    assert.equal(ack "x", c:receive(#ack "x"))
    assert.same({ "a [1000,2000) 1 early", "b [1000,2000) 1 early" }, s:wait_panes(2))
    local odd = "\0\n" .. ("y"):rep(254)
    c:send(message("a", 1, map("n", "\1"), chunk(odd)))
    assert.equal(ack(odd), c:receive(#ack(odd)))
    local r = s:stop()
    assert.same({ 3, 2, 0 }, { r.server.forward_messages, r.server.forward_acknowledged, r.server.forward_repeated })
  end)

  it("that comes again counts once, and is acknowledged again", function()
    local s = start(EARLY, FORWARD)
    local first, second = connect(s), connect(s)
    local m = message("a", 1, "\128", chunk "x")
    first:send(m)
    assert.equal(ack "x", first:receive(7))
    second:send(m .. m)
    assert.equal(ack "x" .. ack "x", second:receive(14))
    second:send(message("b", 1, "\128", chunk "x")) -- of another tag it is another one
    assert.equal(ack "x", second:receive(7))
    local r = s:stop()
    assert.same({ 2, 2, 4 }, { r.pipeline.read, r.server.forward_repeated, r.server.forward_messages })
  end)

  it("that was cut counts only when it comes again, whole", function()
    local s = start(EARLY, FORWARD)
    local entries = forward.array(forward.time(1), "\128"):rep(1000)
    local m = forward.packed("a", entries, chunk "x")
    local cut = connect(s)
    cut:send(m:sub(1, -2))
    socket.sleep(0.1)
    cut:close()
    s:said "ended in the middle of a message"
    assert.same({}, s:panes())
    local c = connect(s)
    c:send(m)
    assert.equal(ack "x", c:receive(7))
    local r = s:stop()
    assert.same({ 1000, 1, 1 }, { r.pipeline.read, r.server.connections_unfinished, r.server.forward_messages })
  end)

  it("may be large: it is taken whole, and others have their turns meanwhile", function()
    local s = start(script "where = function(r) return false end,", FORWARD)
    local big, small = connect(s), connect(s)
    local n = 300000
    big:send(forward.packed("a", forward.array(forward.time(1), "\128"):rep(n), chunk "big"))
    for i = 1, 20 do
      small:send(message("b", 1, "\128", chunk(tostring(i))))
      assert.equal(ack(tostring(i)), small:receive(#ack(tostring(i))))
    end
    assert.equal(ack "big", big:receive(#ack "big"))
    local r = s:stop()
    assert.same({ n + 20, n + 20 }, { r.pipeline.read, r.pipeline.filtered })
  end)

  it("of a program that is told to end is taken in and acknowledged, if it has arrived", function()
    local s = start(EARLY, FORWARD)
    local c = connect(s)
    c:send(message("a", 1, "\128", chunk "x"))
    assert.equal(ack "x", c:receive(7))
    s:signal "STOP"
    c:send(message("a", 1, "\128", chunk "y"))
    s:signal "TERM"
    socket.sleep(0.1)
    s:signal "CONT"
    assert.equal(ack "y", c:receive(7))
    local r = s:stop "none"
    assert.same({ 0, 2 }, { r.code, r.pipeline.aggregated })
  end)
end)

describe("records", function()
  it("have the sender's time and tag, which keys, sources and functions read", function()
    local s = start(script [[
      watermark = { source = "$tag" },
      where = function(r) return r["$time"] < 999999000 and r["$tag"] ~= "no" end,
    ]], FORWARD)
    local c = connect(s)
    c:send(message("a", 1) .. message("b", 9) .. message("no", 9) .. message("a", 999999))
    local panes = s:wait_panes(3)
    c:send(message("a", 3)) -- late: what was filtered moves the watermark too, and b holds it at 9 s
    assert.same({ "a [1000,2000) 1 early", "b [9000,10000) 1 early", "a [1000,2000) 1 on_time" }, panes)
    local r = s:stop()
    assert.same({ 2, 1, 2 }, { r.pipeline.filtered, r.pipeline.rejected.late, r.pipeline.aggregated })
  end)

  it("of several connections are sources with clocks of their own", function()
    local s = start(EARLY, FORWARD)
    local fast, slow = connect(s), connect(s)
    slow:send(message("slow", 1))
    s:wait_panes(1)
    fast:send(message("fast", 100))
    s:wait_panes(2)
    slow:send(message("slow", 2)) -- W is at 2 s: the first second is complete
    assert.same({ "slow [2000,3000) 1 early", "slow [1000,2000) 1 on_time" }, { unpack(s:wait_panes(4), 3) })
    slow:close()
    assert.same({ "slow [2000,3000) 1 on_time" }, { unpack(s:wait_panes(5), 5) })
  end)

  it("that are no maps, or have no time, are rejected and nothing else is", function()
    local s = start(EARLY, FORWARD)
    local c = connect(s)
    c:send(message("a", 1, text "no map") .. message("a", 1, "\123") .. forward.array(text "a", "\192", "\128")
      .. message("a", 1, "\128", chunk "x"))
    assert.equal(ack "x", c:receive(7))
    local r = s:stop()
    assert.same({ 4, 2, 1, 1 }, { r.pipeline.read, r.pipeline.rejected.malformed, r.pipeline.rejected.no_time,
      r.pipeline.aggregated })
  end)
end)

describe("what is left out", function()
  it("is metrics, traces, other compressions and bad tags: each is counted, and the connection goes on", function()
    local s = start(EARLY, FORWARD)
    local c = connect(s)
    local entries = forward.array(forward.time(1), "\128")
    for _, signal in ipairs { "\1", "\2" } do c:send(forward.packed("a", entries, "fluent_signal", signal)) end
    c:send(forward.packed("a", entries, "compressed", text "zstd"))
    local tags = { "../../etc/passwd", "/abs", "a\nb", "a b", "a\0b", "a\\b", "..", "", ("t"):rep(257), "\195\164" }
    for _, tag in ipairs(tags) do c:send(message(tag, 1, "\128", chunk "never")) end
    c:send(forward.packed("a", entries, "fluent_signal", "\0") .. message("good.tag", 1, "\128", chunk "x"))
    assert.equal(ack "x", c:receive(7))
    local r = s:stop()
    assert.same({ 2, 2, 1, #tags, 1 }, { r.pipeline.read, r.server.forward_refused_signal,
      r.server.forward_refused_compression, r.server.forward_refused_tag, r.server.forward_acknowledged })
    assert.is_nil(r.words:find("passwd", 1, true))
    assert.truthy(r.words:find("a message is left out: its tag is not 1 to 256 printable ASCII characters", 1, true))
  end)

  it("is a heartbeat, over TCP and UDP", function()
    local s = start(EARLY, FORWARD)
    local c, u = connect(s), assert(socket.udp())
    c:send("\192\192" .. message("a", 1, "\128", chunk "x"))
    assert.equal(ack "x", c:receive(7))
    u:settimeout(5)
    u:setpeername("127.0.0.1", s:port "forward")
    u:send "\0"
    assert.equal("\0", u:receive())
    u:send "longer, and so no heartbeat"
    u:send "\0"
    assert.equal("\0", u:receive())
    u:settimeout(0.1)
    assert.is_nil((u:receive()))
    u:close()
    local r = s:stop()
    assert.same({ 4, 1 }, { r.server.forward_heartbeats, r.pipeline.read })
  end)
end)
