--- What strangers and broken senders of Fluent Forward may not do to the program: bytes that lie, handshakes left out,
-- and all that would take more than its share of memory and time.
local forward = require "spec.support.forward"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
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
local function is_closed(client)
  client:settimeout(5)
  repeat local _, why = client:receive(1) until why
  return select(2, client:receive(1)) == "closed"
end
local function secret(s, bytes, mode)
  local path = s .. "/secret"
  shell.write(path, bytes)
  shell.run(s, "chmod " .. (mode or "600") .. " secret")
  return path
end

describe("a hostile sender", function()
  -- What is sent ends its connection with that word, costs little memory, and leaves the server as it was.
  local function ends(bytes, word, options)
    local s = start(EARLY, FORWARD .. (options or ""))
    local good, bad = connect(s), connect(s)
    good:send(message("a", 1, "\128", chunk "1"))
    assert.equal(ack "1", good:receive(7))
    bad:send(bytes)
    assert.is_true(is_closed(bad), bytes)
    s:said(word)
    good:send(message("a", 1, "\128", chunk "2"))
    assert.equal(ack "2", good:receive(7))
    local memory = tonumber(shell.read(("/proc/%s/status"):format(s.pid)):match "VmHWM:%s+(%d+) kB")
    assert.is_true(memory < 65536, memory .. " kB")
    local r = s:stop()
    assert.same({ 0, 2, 1 }, { r.code, r.pipeline.read, r.server.connections_broken })
  end

  it("states lengths beyond all bounds, or below 0 for who takes them for signed", function()
    for _, length in ipairs { "\255\255\255\255", "\128\0\0\0", "\127\255\255\255" } do
      for _, head in ipairs { "\219", "\198", "\221", "\223", "\201" } do
        ends("\147" .. text "a" .. head .. length .. "xxxx", "byte ")
        if head == "\221" then ends(head .. length, "byte 0: no message of Fluent Forward begins so") end
      end
    end
  end)

  it("mixes up types, also in a handshake", function()
    for _, bytes in ipairs {
      "\147\1" .. forward.time(1) .. "\128", -- a tag that is a number
      "\148" .. text "a" .. forward.time(1) .. "\128" .. "\5", -- options that are none
      message("a", 1, "\128", "chunk", map("ack", "\1")),
      message("a", 1, "\128", "chunk", "\5"),
      message("a", 1, "\128", chunk(("x"):rep(257))),
      forward.packed("a", forward.array(forward.time(1), "\128"), "compressed", "\195"),
      forward.packed("a", forward.time(1)), forward.packed("a", "\146"), forward.packed("a", "\193"),
      "\146\145\1\128",
      "\133ping", "[\"a\",1,{}]\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "\22\3\1\2\0\1\0\1\252\3\3",
    } do
      ends(bytes, "byte ")
    end
  end)

  it("sends bombs: gzip that inflates beyond the ratio, or beyond the bytes", function()
    local folder = shell.folder()
    shell.run(folder, [[
      head -c 300000000 /dev/zero | gzip -9 > zeros
      { printf '\222\327\0\0\0\0\1\0\0\0\0\337\17\377\377\377'; head -c 30000000 /dev/zero; } | gzip -9 > map
    ]])
    for _, name in ipairs { "zeros", "map" } do
      ends(forward.packed("a", shell.read(folder .. "/" .. name), "compressed", text "gzip"), "byte ")
    end
    shell.remove(folder)
  end)

  it("nests a record beyond the limit, or makes it too large", function()
    ends(message("a", 1, map("n", ("\145"):rep(100) .. "\1")), "nested deeper than limits.nesting allows")
    ends(message("a", 1, map("n", text(("x"):rep(5000000)))), "larger than limits.record_bytes allows")
    ends(forward.packed("a", ("x"):rep(70000), "size", "\1"), "a message too large", "--message-bytes 65536")
  end)
end)

describe("who must show a key", function()
  local function keyed(options, bytes, word)
    local folder = shell.folder()
    local s = start(EARLY, FORWARD .. options .. secret(folder, options:find "users" and "ann:pass\n" or "secret\n"))
    local c = connect(s)
    local helo = c:receive(1) -- an array of two
    assert.equal("\146", helo)
    c:send(bytes)
    assert.is_true(is_closed(c))
    s:said(word)
    local r = s:stop()
    shell.remove(folder)
    assert.same({ 0, 0, 1 }, { r.code, r.pipeline.read, r.server.forward_denied })
  end
  local function ping(user, digest)
    return "\150" .. text "PING" .. text "host" .. text "salt" .. text(("0"):rep(128)) .. user .. digest
  end

  it("can't leave the handshake out, also where only a user is asked for", function()
    for _, options in ipairs { "--shared-key-file ", "--users-file " } do
      keyed(options, message("a", 1, "\128", chunk "x"), "a PING must come first")
      keyed(options, "\192\192" .. message("a", 1), "a PING must come first")
      for _, user in ipairs { text "ann", text "", "\192", "\195", "\145\1" } do
        keyed(options, ping(user, text "") .. message("a", 1), "byte ")
        keyed(options, ping(user, "\192") .. message("a", 1), "byte ")
      end
    end
  end)

  it("has only so much time for it", function()
    local folder = shell.folder()
    local s = start(EARLY, FORWARD .. "--record-timeout 300ms --shared-key-file " .. secret(folder, "secret"))
    local c = connect(s)
    assert.is_true(is_closed(c))
    s:said "closed: no handshake within --record-timeout"
    assert.equal(1, s:stop().server.connections_timed_out)
    shell.remove(folder)
  end)

  it("is whoever comes from elsewhere, unless that is wanted", function()
    local folder = shell.folder()
    local any = "--in forward://0.0.0.0:0 "
    local function words(options) return start(EARLY, any .. options):stop "none" end
    local r = words ""
    assert.equal(1, r.code)
    assert.truthy(r.words:find("or give --shared-key-file, or give --insecure", 1, true), r.words)
    assert.equal(1, words("--users-file " .. secret(folder, "ann:pass\n")).code)
    for _, options in ipairs { "--insecure", "--shared-key-file " .. secret(folder, "key\n") } do
      local s = start(EARLY, any .. options)
      assert.truthy(s:port "forward" > 0)
      assert.equal(0, s:stop().code)
    end
    shell.remove(folder)
  end)

  it("finds the key in a file that nobody else reads", function()
    local folder = shell.folder()
    for _, case in ipairs {
      { "--shared-key-file", "key\n", "644", "others than its owner and group could read it" },
      { "--shared-key-file", "key\n", "660", "chmod 640 or 600" },
      { "--shared-key-file", "", "600", "is empty: write the shared key as its one line" },
      { "--shared-key-file", "a\nb\n", "600", "a shared key is one line" },
      { "--shared-key-file", "a\0b\n", "600", "a byte that is 0" },
      { "--users-file", "ann\n", "600", "secret:1: write each user as a line NAME:PASSWORD" },
      { "--users-file", "ann:a\nann:b\n", "600", "secret:2: this user stands there twice" },
      { "--users-file", "\n", "600", "is empty" },
    } do
      local option, bytes, mode, word = unpack(case)
      local r = start(EARLY, FORWARD .. option .. " " .. secret(folder, bytes, mode)):stop "none"
      assert.equal(1, r.code)
      assert.truthy(r.words:find(word, 1, true), r.words)
    end
    for option, what in pairs { ["--shared-key-file"] = "source", ["--users-file"] = "source",
      ["--sink-key-file"] = "sink", ["--sink-user-file"] = "sink" } do
      local r = start(EARLY, ("--in tcp://127.0.0.1:0 %s %s"):format(option, secret(folder, "key\n"))):stop "none"
      assert.equal(2, r.code)
      assert.truthy(r.words:find(("%s: no %s is forward://"):format(option, what), 1, true), r.words)
    end
    local r = start(EARLY, FORWARD .. "--shared-key-file /nowhere"):stop "none"
    assert.truthy(r.words:find("/nowhere: No such file", 1, true), r.words)
    shell.remove(folder)
  end)
end)

describe("a sender that is too slow", function()
  it("with a message is ended in time, however slowly its bytes come", function()
    local s = start(EARLY, FORWARD .. "--record-timeout 400ms")
    local slow, good = connect(s), connect(s)
    local bytes = forward.packed("a", ("x"):rep(200))
    local n = 0
    for byte in bytes:gmatch "." do
      if not slow:send(byte) then break end
      n = n + 1
      good:send(message("good", 1))
      socket.sleep(0.03)
    end
    assert.is_true(n < 200)
    assert.is_true(is_closed(slow))
    local r = s:stop()
    assert.truthy(r.words:find("closed: a message was not finished within --record-timeout", 1, true), r.words)
    assert.same({ 1, 1 }, { r.server.connections_timed_out, r.server.connections })
  end)

  local function long(i) return ("x"):rep(240) .. ("%010d"):format(i) end

  -- A client, and many chunks with long ids.
  local function reluctant(s, n)
    local c = socket.tcp()
    assert(c:connect("127.0.0.1", s:port "forward"))
    c:settimeout(0.2)
    local parts = {}
    for i = 1, n do parts[i] = message("a", 1, "\128", chunk(long(i))) end
    return c, table.concat(parts)
  end

  local function send_some(c, bytes)
    local sent = 0
    while sent < #bytes do
      local to, _, part = c:send(bytes, sent + 1)
      sent = to or part
      if not to then break end
    end
    return sent
  end

  it("to read its acknowledgements waits, costs no memory, and goes on", function()
    local s = start(script "where = function() return false end,", FORWARD)
    local n = 60000
    local c, bytes = reluctant(s, n)
    local sent = send_some(c, bytes)
    assert.is_true(sent < #bytes)
    local memory = tonumber(shell.read(("/proc/%s/status"):format(s.pid)):match "VmHWM:%s+(%d+) kB")
    assert.is_true(memory < 65536, memory .. " kB")
    c:settimeout(0)
    local got, parts = 0, {}
    server.wait(function()
      local to, _, part = c:send(bytes, sent + 1)
      sent = to or part
      local more, _, rest = c:receive(65536)
      parts[#parts + 1] = more or rest
      got = got + #parts[#parts]
      return got == n * #ack(long(1))
    end, "all acknowledgements", 40)
    assert.equal(ack(long(1)), table.concat(parts):sub(1, #ack(long(1))))
    c:close()
    local r = s:stop()
    assert.same({ n, n, 0 }, { r.pipeline.read, r.server.forward_acknowledged, r.server.forward_repeated })
  end)

  it("to read its acknowledgements is ended in time", function()
    local s = start(script "where = function() return false end,", FORWARD .. "--record-timeout 500ms")
    local c, bytes = reluctant(s, 60000)
    send_some(c, bytes)
    s:said "closed: it did not read its acknowledgements within --record-timeout"
    c:close()
    assert.equal(1, s:stop().server.connections_timed_out)
  end)
end)

describe("all senders together", function()
  it("hold no more in unfinished messages than is allowed", function()
    local s = start(EARLY, FORWARD .. "--receive-bytes 3000000")
    local good = connect(s)
    good:send(message("a", 1, "\128", chunk "1"))
    assert.equal(ack "1", good:receive(7))
    local many, part = {}, forward.packed("a", ("x"):rep(1100000)):sub(1, 1000000)
    for i = 1, 8 do
      many[i] = connect(s)
      many[i]:send(part)
    end
    s:said "--receive-bytes"
    for i = 1, 8 do many[i]:close() end
    server.wait(function()
      local c = connect(s)
      c:send(message("a", 1, "\128", chunk "2"))
      return c:receive(7) == ack "2"
    end, "room")
    assert.is_true(s:stop().server.connections_broken >= 1)
  end)
end)
