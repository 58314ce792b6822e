--- A script that changes while its server runs: after SIGHUP and on being saved, tried by another process first; and
-- under load, where nothing may get lost, come twice, or change its order.
local server = require "spec.support.server"
local shell = require "spec.support.shell"

local TCP = "--in tcp://127.0.0.1:0 "
local start, record = server.starter(after_each), server.record

local function write(s, text) shell.write(s.folder .. "/p.lua", text) end

-- Saves it, and asks for a reload; waits until the log says what came of it.
local function reload(s, text, said)
  local _, before = s:words():gsub("script was", "")
  write(s, text)
  s:signal "HUP"
  server.wait(function()
    local _, now = s:words():gsub("script was", "")
    return now > before
  end, "a reload", 20)
  return s:said(said or "the script was reloaded")
end

local OTHER = server.script():gsub("n = ln.count%(%)", "n = ln.count(), last = ln.last 't'")
local EARLY = server.script(server.EARLY)

describe("after SIGHUP a server", function()
  it("goes on with the script as it is now, and keeps its open windows", function()
    local s = start(server.script(), TCP)
    local c = s:connect()
    c:send(record(100, "a") .. record(200, "a"))
    server.wait(function() return s:words():find "listening" end)
    reload(s, EARLY)
    c:send(record(300, "a"))
    assert.same({ "a [0,1000) 3 early" }, s:wait_panes(1))
    c:send(record(2000, "b"))
    s:wait_panes(3)
    local r = s:stop()
    assert.same({ 0, 4 }, { r.code, r.pipeline.aggregated })
  end)

  it("goes on with the old one where the new one is wrong, and says what is", function()
    local s = start(server.script(), TCP)
    local c = s:connect()
    c:send(record(100, "a"))
    local words = reload(s, "local ln = require 'lunette'\nreturn ln.pipline {}\n", "the script was not reloaded")
    assert.truthy(words:find('p.lua:2: ln.pipline: no such word: did you mean "pipeline"?', 1, true), words)
    words = reload(s, (server.script():gsub("1s", "2s")), "window: was tumbling 1s and is tumbling 2s now")
    assert.truthy(words:find("p.lua:2: window", 1, true), words)
    c:send(record(2000, "a"))
    assert.same({ "a [0,1000) 1 on_time" }, s:wait_panes(1))
    assert.equal(0, s:stop().code)
  end)

  it("does not hang on a script that loops, or eats memory, when it is loaded", function()
    local s = start(server.script(), TCP)
    local c = s:connect()
    c:send(record(100, "a"))
    write(s, "while true do end\n")
    s:signal "HUP"
    c:send(record(2000, "a"))
    assert.same({ "a [0,1000) 1 on_time" }, s:wait_panes(1)) -- meanwhile
    s:said("p.lua: loading it takes too long: it was ended after", 30)
    reload(s, OTHER)
    assert.equal(0, s:stop().code)
  end)

  it("has nothing to go back to where the reload under way, the first, fails", function()
    local s = start(server.script(), TCP .. "--control unix:ctl.sock")
    s:said "listening"
    write(s, "while true do end\n")
    s:signal "HUP"
    local c = s:connect "ctl.sock"
    server.wait(function()
      c:send '{"command":"status"}\n'
      return c:receive "*l":find('"under_way":true', 1, true)
    end, "the reload")
    c:settimeout(30)
    c:send '{"command":"rollback"}\n'
    assert.equal('{"error":"the script was not reloaded, and the one that ran goes on: ' ..
      'there is nothing to go back to: no script ran before this one"}', c:receive "*l")
    assert.equal(0, s:stop().code)
  end)

  it("reloads when it is ready, where the signal came before", function()
    local slow = 'io.open("begun", "w"):close()\nlocal from = os.clock()\nwhile os.clock() - from < 0.5 do end\n'
    local s = start(slow .. server.script(), TCP)
    server.wait(function()
      local file = io.open(s.folder .. "/begun")
      return file and file:close()
    end, "the script")
    s:signal "HUP"
    s:said "the script was reloaded"
    assert.equal(0, s:stop().code)
  end)

  it("takes what the child has checked, and not what is there a moment later", function()
    local s = start(server.script(), TCP)
    s:said "listening"
    -- The script changes itself each time that it is loaded, so that a second reading finds another text.
    local text = [[
local file = assert(io.open("p.lua", "a"))
file:write("-- once more\n")
file:close()
]] .. server.script()
    write(s, text)
    s:signal "HUP"
    s:said "p.lua: it has changed while it was checked: save it, and reload again"
    assert.equal(0, s:stop().code)
  end)
end)

describe("with --watch", function()
  it("a script that is saved is loaded, also where it is put in the place of the old file", function()
    local s = start(server.script(), TCP .. "--watch")
    s:said "listening"
    local c = s:connect()
    c:send(record(100, "a"))
    shell.write(s.folder .. "/new.lua", EARLY)
    os.rename(s.folder .. "/new.lua", s.folder .. "/p.lua")
    s:said "the script was reloaded"
    c:send(record(300, "a"))
    assert.same({ "a [0,1000) 2 early" }, s:wait_panes(1))
    assert.equal(0, s:stop().code)
  end)

  it("also where it was saved twice within a second, and is as long as before", function()
    local s = start(server.script(), TCP .. "--watch")
    s:said "listening"
    local c = s:connect()
    c:send(record(100, "a"))
    write(s, EARLY .. "-- 1")
    s:said "the script was reloaded"
    write(s, server.script "trigger = ln.never()," .. "-- 2")
    write(s, EARLY .. "-- 3")
    c:send(record(300, "a"))
    assert.same({ "a [0,1000) 2 early" }, s:wait_panes(1))
    local file = assert(io.open(s.folder .. "/p.lua", "r+"))
    file:write((EARLY .. "-- 3"):gsub("1s", "7s"))
    file:close()
    s:said("window: was tumbling 1s and is tumbling 7s now", 20)
    assert.equal(0, s:stop().code)
  end)

  it("so is one of which a module is saved", function()
    local s = start(server.script "", TCP)
    s:stop()
    local with_module = server.script 'trigger = require "when",'
    local preparing = start(with_module, TCP) -- refused: there is no module; its folder is of use
    preparing:stop "none"
    local folder = preparing.folder
    shell.write(folder .. "/when.lua", 'return require("lunette").at_watermark {}')
    shell.write(folder .. "/p.lua", with_module)
    local r = shell.run(folder, [[
      timeout 20 "$LUNETTE" run --watch --out-format json p.lua unix:in.sock > panes 2> words & pid=$!
      for i in $(seq 100); do grep -q listening words && break; sleep 0.05; done
      echo 'return require("lunette").after_count(1)' > when.lua
      for i in $(seq 100); do grep -q "was reloaded" words && break; sleep 0.05; done
      kill $pid; wait $pid; echo $?; cat words]])
    assert.truthy(r.out:find("the script was reloaded", 1, true), r.out)
    assert.truthy(r.out:find "^0\n", r.out)
  end)
end)

-- Records with one rising time, of several keys, in pieces; after each piece something may happen.
local function send_all(s, pieces, between)
  local c = s:connect()
  c:settimeout(60)
  for i, piece in ipairs(pieces) do
    assert(c:send(piece))
    if between then between(i) end
  end
  c:close()
  s:said(": closed", 60)
end

local function pieces_of(count, each)
  local pieces, t = {}, 0
  for i = 1, count do
    local lines = {}
    for k = 1, each do
      t = t + (i * k) % 7
      lines[k] = record(t, "k" .. (i * 31 + k * 17) % 97)
    end
    pieces[i] = table.concat(lines)
  end
  return pieces
end

-- The panes of each key in their order.
local function by_key(s)
  local keys = {}
  for line in io.lines(s.folder .. "/panes") do
    local key = line:match '"key":"(%w+)"'
    keys[key] = (keys[key] or "") .. line .. "\n"
  end
  return keys
end

describe("under load", function()
  it("200 reloads, good, bad and looping, change nothing of what comes out", function()
    local script = server.script('where = function(r) return r.t % 5 ~= 0 end, lateness = "500ms",')
    local pieces = pieces_of(400, 60)
    local plain = start(script, TCP .. "--flush-on-exit --log-level debug")
    send_all(plain, pieces)
    assert.equal(400 * 60, plain:stop().pipeline.read)
    local want = by_key(plain)
    local s = start(script, TCP .. "--flush-on-exit --log-level debug")
    local asked = 0
    send_all(s, pieces, function(i)
      if i % 2 == 1 then return end
      asked = asked + 1
      local kind = asked % 100 == 50 and "loops" or asked % 3 == 0 and "bad" or "good"
      local text = ({ loops = "while true do end", bad = script:gsub("1s", "3s"), good = script .. "-- " .. i })[kind]
      write(s, text)
      local _, before = s:words():gsub("script was", "")
      s:signal "HUP"
      server.wait(function()
        local _, now = s:words():gsub("script was", "")
        return now > before
      end, "reload " .. asked, 40)
    end)
    local r = s:stop()
    assert.same({ 0, 400 * 60, 200 }, { r.code, r.pipeline.read, asked })
    assert.same(want, by_key(s))
    local _, done = s:words():gsub("the script was reloaded", "")
    local _, refused = s:words():gsub("the script was not reloaded", "")
    assert.same({ 133, 67 }, { done, refused })
  end)
end)
