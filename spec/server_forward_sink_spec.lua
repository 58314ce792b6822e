--- Fluent Forward as a sink of the program, over real sockets: to a second program, and to receivers that do not
-- answer, stop reading, go, come back and move.
package.loaded["lunette.core_path"] = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
local forward = require "spec.support.forward"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"
local value = require "lunette.value"

local EARLY = server.script(server.EARLY)
local TCP = "--in tcp://127.0.0.1:0 "
-- How long a receiver stops reading; LUNETTE_LONG in the environment asks for the long form.
local STALL = os.getenv "LUNETTE_LONG" and 31 or 2

local running, listening = {}, nil
local function start(...)
  running[#running + 1] = server.start(...)
  return running[#running]
end

local function listen(port)
  listening = assert(socket.bind("127.0.0.1", port or 0))
  listening:settimeout(10)
  return listening, select(2, listening:getsockname())
end

after_each(function()
  for _, s in ipairs(running) do s:clear() end
  if listening then listening:close() end
  running, listening = {}, nil
end)

local function accept()
  local client = assert(listening:accept())
  client:settimeout(10)
  return client
end

-- Sends records at 1, 2, ... n ms, of one key.
local function feed(s, n)
  local parts = {}
  for t = 1, n do parts[t] = server.record(t, "a") end
  s:connect():send(table.concat(parts))
end

-- ---- a receiver by hand

local function be(text, at, bytes)
  local n = 0
  for i = at, at + bytes - 1 do n = n * 256 + text:byte(i) end
  return n
end

-- The whole chunks at the front of `text`, as { id, entries }, and what is left of it.
local function chunks_of(text)
  local chunks = {}
  while #text > 12 do
    assert.equal("\147\167lunette\198", text:sub(1, 10))
    local len = be(text, 11, 4)
    local id, stop = text:match("^[\130\131]\164size[%z\1-\255]-\165chunk\184(........................)()", 15 + len)
    if not id then break end
    chunks[#chunks + 1] = { id = id, entries = text:sub(15, 14 + len) }
    text = text:sub(stop)
  end
  return chunks, text
end

-- The panes of chunks, each chunk once; and nil, or the first that is not due: numbers of a window rise by one.
local function panes_of(chunks)
  local seen, panes, next_of, wrong = {}, {}, {}, nil
  for _, c in ipairs(chunks) do
    local p = value.bytes(c.entries)
    local stop = p + #c.entries
    while not seen[c.id] and p < stop do
      local entry
      entry, p = value.read(p, stop)
      local pane = entry[2]
      local due = next_of[pane.start] or 0
      if pane.pane ~= due then wrong = wrong or ("pane %d of %d"):format(pane.pane, pane.start) end
      next_of[pane.start] = pane.pane + 1
      panes[#panes + 1] = pane
    end
    seen[c.id] = true
  end
  return panes, wrong
end

-- All that comes within so many seconds, or until the end.
local function read_for(client, seconds)
  client:settimeout(seconds)
  local all, _, part = client:receive "*a"
  return all or part
end

-- Acknowledges what comes until `enough` panes are there: all chunks, after those given.
local function take(client, chunks, enough, seconds)
  local text, count = "", #panes_of(chunks)
  server.wait(function()
    local all
    all, text = chunks_of(text .. read_for(client, 0.01))
    for _, c in ipairs(all) do
      client:send(forward.ack(c.id))
      chunks[#chunks + 1] = c
      count = count + select(2, c.entries:gsub("\164pane", ""))
    end
    return count >= enough
  end, enough .. " panes", seconds)
  return chunks
end

describe("a forward sink", function()
  it("feeds another program, with key, user, tag, time and gzip", function()
    local folder = shell.folder()
    shell.write(folder .. "/key", "secret\n")
    shell.write(folder .. "/user", "ann:pass\n")
    shell.run(folder, "chmod 600 key user")
    local receiver = start([[
      local ln = require "lunette"
      return ln.pipeline {
        time = { field = "$time" },
        key = { "$tag", "key" },
        window = ln.tumbling "1s",
        trigger = ln.each(),
        aggregate = { n = ln.max "value.n", starts = ln.max "start" },
      }
    ]], ("--in forward://127.0.0.1:0 --shared-key-file %s/key --users-file %s/user"):format(folder, folder))
    local sender = start(EARLY, TCP .. ("--out 'forward://127.0.0.1:%d?tag=from.x&time=end&gzip' "
      .. "--sink-key-file %s/key --sink-user-file %s/user"):format(receiver:port "forward", folder, folder))
    sender:connect():send(server.record(1, "a") .. server.record(2, "a"))
    receiver:wait_panes(2)
    local s, r = sender:stop(), receiver:stop()
    assert.same({ 0, 0, 0, 1 }, { s.code, s.server.panes_lost, s.server.sink_failures, s.server.sink_connections })
    assert.same({ 2, 0 }, { r.pipeline.aggregated, r.server.forward_repeated })
    assert.equal('{"key":["from.x","a"],"start":1000,"end":2000,"pane":1,"timing":"early","final":false,'
      .. '"value":{"n":2,"starts":0}}', shell.read(receiver.folder .. "/panes"):match "\n(.*)\n$")
    assert.equal(r.server.forward_acknowledged, r.server.forward_messages)
    shell.remove(folder)
  end)

  it("sends a chunk again that is not acknowledged in time, and until it is", function()
    local _, port = listen()
    local s = start(EARLY, TCP .. "--ack-timeout 300ms --out forward://127.0.0.1:" .. port)
    feed(s, 1)
    local first = accept()
    local one = chunks_of(read_for(first, 10))
    s:said "a chunk was not acknowledged within --ack-timeout; trying again"
    local second = accept()
    local again = chunks_of(read_for(second, 0.2))
    assert.same(one, again)
    assert.equal(1, #panes_of(again))
    second:send(forward.ack "nobody's" .. forward.ack(again[1].id))
    socket.sleep(0.5)
    local r = s:stop()
    assert.same({ 0, 0, 2, 1 }, { r.code, r.server.panes_lost, r.server.sink_connections, r.server.sink_failures })
    assert.truthy(r.words:find("1 chunks were sent again, and may have come twice", 1, true))
  end)

  it("may go and come back: growing pauses, and every pane at least once", function()
    local own, port = listen()
    own:close() -- the program must not inherit it
    local s = start(EARLY, TCP .. "--out forward://127.0.0.1:" .. port)
    own = listen(port)
    feed(s, 500)
    local client = accept()
    local chunks = take(client, {}, 1)
    socket.sleep(0.1)
    client:close()
    own:close()
    server.wait(function() return select(2, s:words():gsub("refused; trying again", "")) >= 3 end, "three attempts")
    local pauses = {}
    for pause in s:words():gmatch "refused; trying again in ([%d.]+) s" do pauses[#pauses + 1] = tonumber(pause) end
    assert.is_true(pauses[3] > pauses[1])
    listen(port)
    client = accept()
    take(client, chunks, 500)
    local panes, wrong = panes_of(chunks)
    assert.same({ 500 }, { #panes, wrong })
    local r = s:stop()
    assert.same({ 0, 0 }, { r.code, r.server.panes_lost })
    client:close()
  end)

  it("may stop reading under load: the sources wait, and each pane arrives once", function()
    local _, port = listen()
    local n = 150000
    local s = start(EARLY, TCP .. "--out forward://127.0.0.1:" .. port)
    local client = accept()
    shell.run(s.folder, ([[seq -f '{"t":%%.0f,"k":"a"}' 0 %d > many]]):format(n - 1))
    os.execute(("bash -c 'cat %s/many > /dev/tcp/127.0.0.1/%d' 2> /dev/null &"):format(s.folder, s:port()))
    local text = assert(client:receive(1000))
    socket.sleep(STALL)
    local memory = tonumber(shell.read(("/proc/%s/status"):format(s.pid)):match "VmRSS:%s+(%d+) kB")
    assert.is_true(memory < 65536, memory .. " kB")
    local chunks = chunks_of(text .. read_for(client, 0.1))
    for _, c in ipairs(chunks) do client:send(forward.ack(c.id)) end
    take(client, chunks, n + math.floor((n - 1) / 1000), 40) -- the early ones, and of each second that is complete one
    local panes, wrong = panes_of(chunks)
    assert.same({ n + math.floor((n - 1) / 1000) }, { #panes, wrong })
    s:signal "TERM"
    local r = s:stop "none"
    assert.same({ 0, 0, 0 }, { r.code, r.server.panes_lost, r.server.sink_failures })
    assert.equal(n, r.pipeline.aggregated)
    client:close()
  end)

  it("that never comes is tried again, and what it does not get is counted", function()
    local own, port = listen()
    own:close()
    local s = start(EARLY, TCP .. "--drain-timeout 300ms --out forward://127.0.0.1:" .. port)
    feed(s, 5)
    s:said "trying again in"
    server.wait(function() return s:words():find("trying again in 0.[2-9]", 1) end, "a longer pause")
    local r = s:stop()
    assert.same({ 1, 5 }, { r.code, r.server.panes_lost })
    assert.truthy(r.words:find("5 panes were not acknowledged, and may be lost", 1, true), r.words)
  end)

  it("that answers nonsense is left, and tried again", function()
    for _, bytes in ipairs { "\193", "\5", forward.text(("x"):rep(5000)), "\146" .. forward.text "HELO" .. "\128",
      ("\145"):rep(20) } do
      local own, port = listen()
      local s = start(EARLY, TCP .. "--out forward://127.0.0.1:" .. port)
      feed(s, 1)
      local client = accept()
      client:receive(20)
      client:send(bytes)
      s:said "the peer"
      accept():close()
      s:clear()
      own:close()
    end
  end)

  it("is looked for under its name again, when the host has moved", function()
    local folder = shell.folder()
    if shell.run(folder, "unshare -m true").code ~= 0 then
      shell.remove(folder)
      return pending "a host that moves: giving a program names of its own takes root"
    end
    local hosts = folder .. "/hosts"
    shell.write(hosts, "127.0.0.2 receiver.test\n")
    shell.write(folder .. "/moving", ('#!/bin/sh\nmount --bind %s /etc/hosts && exec "$@"\n'):format(hosts))
    local own, port = listen()
    local s = start(EARLY, TCP .. "--out forward://receiver.test:" .. port, "unshare -m sh " .. folder .. "/moving")
    feed(s, 1)
    s:said "Connection refused; trying again in"
    shell.write(hosts, "127.0.0.1 receiver.test\n")
    local client = accept()
    take(client, {}, 1)
    assert.equal(0, s:stop().code)
    own:close()
    shell.remove(folder)
  end)

  it("is msgpack: other wishes are told before anything runs", function()
    local s = start(EARLY, TCP .. "--out-format json --out forward://127.0.0.1:9"):stop "none"
    assert.equal(2, s.code)
    assert.truthy(s.words:find("--out-format json: forward://127.0.0.1:9 takes msgpack alone", 1, true), s.words)
    s = start(EARLY, TCP .. "--rejects forward://127.0.0.1:9"):stop "none"
    assert.equal(2, s.code)
    assert.truthy(s.words:find("add --out-format msgpack", 1, true), s.words)
    s = start(EARLY, TCP .. "--out forward://no.such.host.invalid:9"):stop "none"
    assert.equal(1, s.code)
    assert.truthy(s.words:find("no.such.host.invalid can't be found", 1, true), s.words)
  end)
end)
