--- The control socket and `lunette ctl`: what is asked, what is refused, and what nobody can do to the server by it.
local json = require "spec.support.json"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

local TCP = "--in tcp://127.0.0.1:0 --control unix:ctl "
local start, record = server.starter(after_each), server.record

local function says(text, ...)
  for _, part in ipairs { ... } do
    assert.truthy(text:find(part, 1, true), ("not said: %s\nin: %s"):format(part, text))
  end
end

local function ctl(s, words) return shell.run(s.folder, '"$LUNETTE" ctl --control unix:ctl ' .. words) end

-- One request over the socket itself.
local function ask(s, line)
  local client = s:connect "ctl"
  client:send(line .. "\n")
  local answer = client:receive "*l"
  client:close()
  return answer and json.decode(answer)
end

local function fed(args, script, records)
  local s = start(script or server.script(), TCP .. (args or ""))
  local client = s:connect()
  client:send(records or record(500, "a") .. record(700, "b") .. record(1500, "a") .. record(1600, "a"))
  server.wait(function()
    local answer = ask(s, '{"command":"status"}')
    return answer.pipelines[1].read == 4 or records
  end, "the records")
  return s, client
end

describe("ctl", function()
  it("tells the status, as it is told at the end", function()
    local s = fed()
    s:wait_panes(2)
    local r = ctl(s, "status")
    assert.same({ 0, "" }, { r.code, r.err })
    local status = json.decode(r.out)
    assert.same({ "serving", 0 }, { status.run.state, status.script_errors })
    assert.equal(tonumber(s.pid), status.run.pid)
    assert.is_true(status.run.uptime_s >= 0)
    local ended = s:stop()
    local last, now = ended.pipeline, status.pipelines[1]
    for _, name in ipairs { "read", "aggregated", "filtered", "windows_open", "keys", "windows_opened" } do
      assert.equal(last[name], now[name], name)
    end
    assert.same({ last.panes, last.rejected }, { now.panes, now.rejected })
    assert.equal(1, status.server.connections)
    assert.equal(ended.server.bytes_received, status.server.bytes_received)
  end)

  it("lists what is open, and what each window waits for", function()
    local s = fed()
    s:wait_panes(2)
    local p = json.decode(ctl(s, "windows").out)[1]
    assert.same({ "pipeline", "ms", 1600, 1, 1 }, { p.name, p.unit, p.watermark, p.keys, p.windows_open })
    assert.same({ true, 1600 }, { p.sources[1].holds, p.sources[1].promise })
    local w = p.windows[1]
    assert.same({ "a", 1000, 2000, 0 }, { w.key, w.start, w["end"], w.panes })
    says(w.waits, "for the watermark to reach its end at 2000, 400ms from where it stands at 1600, held there by "
      .. "source 1")
    assert.same({}, json.decode(ctl(s, "windows --key nobody").out)[1].windows)
  end)

  it("lists by pages", function()
    local records = {}
    for i = 1, 25 do
      for t = 0, i % 4 do records[#records + 1] = record(1000 * t + 500, "k" .. i) end
    end
    for _, early in ipairs { "", server.EARLY } do -- with slices, and with a cell for each window
      local s = fed("", server.script(early .. " watermark = { delay = '1h' },"), table.concat(records))
      server.wait(function() return ask(s, '{"command":"status"}').pipelines[1].read == #records end, "the records")
      local function list(most)
        local seen, from, pages = {}, nil, 0
        repeat
          local p = json.decode(ctl(s, ("windows --most %d %s"):format(most, from and "--from " .. from or "")).out)[1]
          assert.is_true(#p.windows <= most)
          for _, w in ipairs(p.windows) do seen[#seen + 1] = w.key .. " " .. w.start end
          from, pages = p.next, pages + 1
        until not from or pages > 100
        return seen, pages
      end
      local whole, one = list(500)
      assert.same({ #records, 1 }, { #whole, one })
      local again, pages = list(7)
      assert.same(whole, again)
      assert.equal(math.ceil(#records / 7), pages)
      s:clear()
    end
  end)

  it("tells which connection a source is", function()
    local s, client = fed()
    local other = s:connect()
    other:send(record(1000, "b"))
    server.wait(function() return ask(s, '{"command":"status"}').pipelines[1].read == 5 end, "the record")
    local source
    for _, one in ipairs(json.decode(ctl(s, "windows").out)[1].sources) do
      if one.holds then source = one.source end
    end
    local name
    local list = json.decode(ctl(s, "connections").out)
    assert.equal(2, #list)
    for _, one in ipairs(list) do
      assert.is_true(one.silent_s >= 0 and one.silent_s < 60)
      if one.source == source then name = one.name end
    end
    says(name, "tcp://127.0.0.1:", " from 127.0.0.1:" .. select(2, other:getsockname()))
    client:close()
    server.wait(function() return #ask(s, '{"command":"connections"}') == 1 end, "the end of a connection")
  end)

  it("says why a window has shown nothing", function()
    local s = fed()
    local r = ctl(s, "why --key a")
    assert.equal(0, r.code)
    says(json.decode(r.out).text, "[1000, 2000) of \"a\" has shown nothing yet: it waits for the watermark")
    r = ctl(s, "why")
    assert.same({ 1, "", "lunette: ctl: of which key is it asked? name it\n" }, { r.code, r.out, r.err })
  end)

  it("drains, and returns when the server is gone", function()
    local s = fed()
    local r = ctl(s, "drain")
    assert.same({ 0, '{"draining":true}\n', "" }, { r.code, r.out, r.err })
    local ended = s:stop "none"
    assert.equal(0, ended.code)
    assert.same({ "a [0,1000) 1 on_time", "b [0,1000) 1 on_time" }, ended.panes)
    assert.equal(1, shell.run(s.folder, "test -e ctl").code)
  end)

  it("reloads the script, goes back, and says what is wrong with a new one", function()
    local s, client = fed()
    local ORIGINAL = shell.read(s.folder .. "/p.lua")
    local function reloaded(text, command)
      if text then shell.write(s.folder .. "/p.lua", text) end
      return ctl(s, command or "reload")
    end
    local r = ctl(s, "rollback")
    assert.same({ 1, "" }, { r.code, r.out })
    says(r.err, "there is nothing to go back to: no script ran before this one")
    r = reloaded(server.script(server.EARLY))
    assert.same({ 0, '{"reloaded":true}\n', "" }, { r.code, r.out, r.err })
    client:send(record(1700, "a"))
    assert.equal("a [1000,2000) 3 early", s:wait_panes(3)[3])
    r = reloaded((server.script():gsub("1s", "2s")))
    assert.same({ 1, "" }, { r.code, r.out })
    says(r.err, "lunette: ctl: the script was not reloaded, and the one that ran goes on: p.lua:",
      "window: was tumbling 1s and is tumbling 2s now")
    r = reloaded "while true do end"
    says(r.err, "p.lua: loading it takes too long")
    local status = json.decode(ctl(s, "status").out).reload
    assert.same({ 1, 2, false }, { status.done, status.failed, status.under_way })
    says(status.problem, "loading it takes too long")
    r = reloaded(nil, "rollback") -- the file is still the one that loops
    assert.same({ 0, '{"reloaded":true}\n' }, { r.code, r.out })
    client:send(record(1800, "a") .. record(3000, "b"))
    assert.equal("a [1000,2000) 4 on_time", s:wait_panes(4)[4])
    assert.equal("", json.decode(ctl(s, "status").out).reload.problem)
    assert.equal(0, reloaded(ORIGINAL).code)
  end)

  it("is answered when each of many reloads is over, whoever asks", function()
    local s = fed()
    local clients = {}
    for i = 1, 5 do
      clients[i] = s:connect "ctl"
      clients[i]:send '{"command":"reload"}\n'
    end
    for i = 1, 5 do assert.same({ reloaded = true }, json.decode(clients[i]:receive "*l")) end
    local gone = s:connect "ctl"
    gone:send '{"command":"reload"}\n'
    gone:close()
    assert.equal(0, ctl(s, "reload").code)
  end)

  it("has room for others where those who wait for a reload have gone", function()
    local s = start(server.script(), TCP)
    s:said "listening"
    shell.write(s.folder .. "/p.lua", "while true do end")
    for _ = 1, 20 do
      local c = s:connect "ctl"
      c:send '{"command":"reload"}\n'
      socket.sleep(0.02)
      c:close()
      socket.sleep(0.05)
    end
    assert.is_true(ask(s, '{"command":"status"}').reload.under_way)
    assert.equal(0, s:stop().code)
  end)

  it("can't reload a run over files alone", function()
    local folder = shell.folder()
    shell.write(folder .. "/p.lua", server.script())
    local r = shell.run(folder, [[
      mkfifo in; "$LUNETTE" run --control ctl p.lua in > panes & sleep 5 > in & until test -S ctl; do sleep 0.05; done
      "$LUNETTE" ctl --control ctl reload; echo $?; "$LUNETTE" ctl --control ctl drain; wait %1; echo $?]])
    assert.same({ '1\n{"draining":true}\n0\n',
      "lunette: ctl: this run can't be reloaded: it reads no sockets, and has no --watch\n" }, { r.out, r.err })
    shell.remove(folder)
  end)

  it("says what is wrong with a command", function()
    local s = fed()
    local r = ctl(s, "stauts")
    assert.equal(2, r.code)
    says(r.err, "unknown command stauts: did you mean status?")
    r = ctl(s, "windows --most 5000")
    assert.same({ 1, "" }, { r.code, r.out })
    says(r.err, "at most 500 windows at once")
    says(ctl(s, "windows --pipeline x").err, "there is no pipeline x: there is pipeline")
    says(ctl(s, "windows --most many").err, "most: many: write a whole number")
    says(ctl(s, "windows --from here").err, "from: here is no place in a list")
    says(ctl(s, "status --key a").err, "key: the command status has no such field")
    r = shell.run(s.folder, 'env -u LUNETTE_CONTROL "$LUNETTE" ctl status')
    assert.equal(2, r.code)
    says(r.err, "which server? write --control unix:PATH")
    r = shell.run(s.folder, 'LUNETTE_CONTROL=unix:ctl "$LUNETTE" ctl status')
    assert.equal(0, r.code)
    r = shell.run(s.folder, '"$LUNETTE" ctl --control unix:nowhere status')
    assert.same({ 1, "lunette: ctl: nowhere: No such file or directory\n" }, { r.code, r.err })
  end)

  it("shows tables on a terminal", function()
    local s = fed()
    if shell.run(s.folder, "command -v script").code ~= 0 then return pending "there is no script(1)" end
    local function shown(words)
      return shell.run(s.folder, ([[script -qec '"%s" ctl --control unix:ctl %s' /dev/null | tr -d '\r']]):format(
        shell.program, words)).out:gsub(" +", " ")
    end
    says(shown "status", "serving for ", "pipeline read aggregated filtered windows open keys state bytes\n",
      "pipeline 4 4 0 1 1 ", "panes: on time 2; rejected: none")
    says(shown "windows", "source has promised\n1 1600 holds the watermark\n", "key window panes new waits\n",
      '"a" [1000, 2000) 0 - for the watermark')
    says(shown "why --key a", "[1000, 2000) of \"a\" has shown nothing yet")
    says(shown "connections", "source silent name\n1 ", " from 127.0.0.1:")
    says(shown "status --json", '"pipelines":[')
  end)
end)

describe("the control socket", function()
  it("is the owner's alone, and goes with the server", function()
    local s = fed()
    assert.equal("600\n", shell.run(s.folder, "stat -c %a ctl").out)
    s:stop()
    assert.equal(1, shell.run(s.folder, "test -e ctl").code)
  end)

  it("takes the place of one that was left behind, and of nothing else", function()
    local s = start(server.script(), "--in tcp://127.0.0.1:0 --control left")
    s:port()
    s:signal "KILL"
    s:stop "none"
    assert.equal(0, shell.run(s.folder, "test -S left").code)
    local again = [[timeout -s TERM 3 "$LUNETTE" run --in tcp://127.0.0.1:0 --control %s p.lua < /dev/null]]
    local r = shell.run(s.folder, again:format "left")
    assert.equal(124, r.code)
    shell.write(s.folder .. "/file", "")
    r = shell.run(s.folder, again:format "file")
    assert.equal(1, r.code)
    says(r.err, "--control file: is a file already: name another path, or remove it")
    r = shell.run(s.folder, again:format(("x"):rep(200)))
    says(r.err, "the path of a socket has at most 107 bytes")
    local other = fed()
    r = shell.run(other.folder, again:format "ctl")
    says(r.err, "--control ctl: another process listens there")
  end)

  it("refuses what is no request, and goes on", function()
    local s = fed()
    local client = s:connect "ctl"
    local function refused(line)
      client:send(line .. "\n")
      return json.decode(client:receive "*l").error
    end
    for _, line in ipairs { "", "status", "[1]", '"status"', "{", '{"command":"status"', "\0\1\2", ("["):rep(1000),
      '{"command":' .. ("["):rep(50) .. ("]"):rep(50) .. "}" } do
      says(refused(line), "a request is one JSON object")
    end
    says(refused "{}", "command: write one of status")
    says(refused '{"command":"explode"}', "command: write one of status")
    says(refused '{"command":"windows","kye":"a"}', "a field that is not known")
    says(refused '{"command":"windows","key":"a","key":"b"}', "a field that is not known, or given twice")
    says(refused '{"command":["windows"]}', "command: write it as a text")
    says(refused '{"command":"windows","key":{"a":1}}', "key: write it as a text")
    says(refused '{"command":"windows","key":1.5}', "key: write it as a text")
    says(refused '{"command":"windows","key":"a\\u0000b"}', "key: write it as a text")
    says(refused('{"command":"windows","key":"' .. ("k"):rep(3000) .. '"}'), "less than 2048 characters")
    client:send '{"command":"status"}\n'
    assert.equal(4, json.decode(client:receive "*l").pipelines[1].read)
    -- Keys as bytes that are no UTF-8 are records' business, and shown all the same.
    assert.same({}, ask(s, '{"command":"windows","key":"\\u00e4"}')[1].windows)
  end)

  it("ends a connection that sends no end of a line", function()
    local s = fed()
    local client = s:connect "ctl"
    client:send(("x"):rep(5000))
    says(client:receive "*l", "the request is longer than 4096 bytes")
    assert.equal("closed", select(2, client:receive "*l"))
  end)

  it("answers requests that come at once, in pieces, and before the other end closes", function()
    local s = fed()
    local client = s:connect "ctl"
    client:send(('{"command":"status"}\n'):rep(50))
    for _ = 1, 50 do assert.equal(4, json.decode(client:receive "*l").pipelines[1].read) end
    for c in ('{"command":"status"}\n'):gmatch "." do client:send(c) end
    assert.equal(4, json.decode(client:receive "*l").pipelines[1].read)
    client:send('{"command":"status"}\n{"command":"status"}\n')
    client:shutdown "send"
    for _ = 1, 2 do assert.equal(4, json.decode(client:receive "*l").pipelines[1].read) end
    assert.equal("closed", select(2, client:receive "*l"))
  end)

  it("takes sixteen connections", function()
    local s = fed()
    local clients = {}
    for i = 1, 16 do
      clients[i] = s:connect "ctl"
      clients[i]:send '{"command":"status"}\n'
      assert.equal(4, json.decode(clients[i]:receive "*l").pipelines[1].read)
    end
    says(s:connect("ctl"):receive "*l", "16 are connected to the control socket already")
    for _ = 1, 5 do -- it is told by ctl too, whose request may come when the server has closed
      assert.equal("lunette: ctl: 16 are connected to the control socket already\n", ctl(s, "status").err)
    end
    clients[3]:close()
    server.wait(function()
      local answer = ask(s, '{"command":"status"}')
      return answer and answer.pipelines
    end, "room for another")
  end)

  it("is not held up by one who does not read, nor are records", function()
    local s, client = fed()
    local slow = s:connect "ctl"
    slow:settimeout(0)
    local sent = 0
    for _ = 1, 5000 do
      local n = slow:send '{"command":"status"}\n'
      if not n then break end
      sent = sent + 1
    end
    assert.is_true(sent > 100)
    client:send(record(2500, "z"))
    server.wait(function() return ask(s, '{"command":"status"}').pipelines[1].read == 5 end, "the record")
  end)

  it("answers while a sink is stuck", function()
    local own = assert(socket.bind("127.0.0.1", 0))
    local s = start(server.script(server.EARLY), TCP .. "--out tcp://127.0.0.1:" .. select(2, own:getsockname()))
    shell.run(s.folder, [[seq -f '{"t":%.0f,"k":"a"}' 1 150000 > many]])
    os.execute(("bash -c 'cat %s/many > /dev/tcp/127.0.0.1/%d' 2> /dev/null &"):format(s.folder, s:port()))
    local read
    server.wait(function()
      local before = read
      read = ask(s, '{"command":"status"}').pipelines[1].read
      if read == 0 or read ~= before then socket.sleep(0.3) end
      return read > 0 and read == before
    end, "the sink to be stuck", 30)
    assert.is_true(read < 150000)
    local windows = json.decode(ctl(s, "windows").out)[1].windows
    assert.is_true(#windows > 0 and #windows <= 100)
    assert.is_true(ask(s, '{"command":"status"}').server.queued_bytes > 0)
    own:close()
  end)
end)
