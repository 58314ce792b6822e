--- The example of a service: its unit is one that systemd takes, and what the unit says works, as far as it can be
-- tried without systemd itself; its rules for logrotate lose no pane.
local json = require "spec.support.json"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"
local unix = require "socket.unix"

local root = io.popen("pwd"):read "*l"
local SERVICE = root .. "/examples/service/"
local folder

before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

local function has(program) return shell.run(folder, "command -v " .. program).code == 0 end

-- The unit with the program under test in the place of the installed one.
local function unit()
  return (shell.read(SERVICE .. "lunette@.service"):gsub("/usr/local/bin/lunette", shell.program))
end

-- A command of the unit, with its folders in ours.
local function command(name, options)
  local line = unit():match("\n" .. name .. "=([^\n]+)")
  line = line:gsub("%$LUNETTE_OPTIONS", function() return options end)
  line = line:gsub("/run/lunette/%%i/", folder .. "/"):gsub("/etc/lunette/%%i", folder .. "/spend")
  assert.is_nil(line:find("%%i"), line)
  return line
end

describe("the unit", function()
  it("is taken by systemd, and leaves the service few rights", function()
    if not has "systemd-analyze" then return pending "there is no systemd-analyze" end
    shell.write(folder .. "/lunette@.service", unit())
    local r = shell.run(folder, "systemd-analyze verify ./lunette@.service")
    assert.same({ 0, "" }, { r.code, r.err })
    r = shell.run(folder, "systemd-analyze security --offline=true --threshold=20 ./lunette@.service")
    assert.equal(0, r.code, r.out)
  end)

  it("starts, reloads and stops a service that says so", function()
    shell.write(folder .. "/spend.lua", shell.read(SERVICE .. "spend.lua"))
    local manager = unix.dgram()
    assert(manager:bind(folder .. "/notify"))
    manager:settimeout(10)
    local options = shell.read(SERVICE .. "spend.conf"):match "LUNETTE_OPTIONS=([^\n]+)"
    options = options:gsub(":7020", ":0"):gsub(":9464", ":0"):gsub("/var/log/lunette/spend", folder)
    assert.truthy(options:find("--append", 1, true))
    shell.write(folder .. "/start", ("cd %s; NOTIFY_SOCKET=%s/notify timeout -s KILL 50 %s 2> log & echo $! > pid; "
      .. "wait $!; echo $? > code"):format(folder, folder, command("ExecStart", options)))
    os.execute(("env -u LD_PRELOAD bash %s/start > /dev/null 2>&1 < /dev/null &"):format(folder))
    assert.equal("READY=1", manager:receive())

    local r = shell.run(folder, command "ExecReload")
    assert.same({ 0, '{"reloaded":true}\n' }, { r.code, r.out })
    assert.truthy(manager:receive():find "^RELOADING=1\nMONOTONIC_USEC=%d+$")
    assert.equal("READY=1", manager:receive())
    shell.write(folder .. "/spend.lua", "return 1")
    r = shell.run(folder, command "ExecReload")
    assert.equal(1, r.code)
    assert.truthy(r.err:find("the script was not reloaded", 1, true), r.err)
    assert.truthy(manager:receive():find "^RELOADING=1\n")
    assert.equal("READY=1", manager:receive())

    os.execute("kill -TERM " .. shell.read(folder .. "/pid"):match "%d+")
    assert.equal("STOPPING=1", manager:receive())
    server.wait(function() return shell.run(folder, "test -e code").code == 0 end, "the end")
    assert.equal("0\n", shell.read(folder .. "/code"))
    for line in shell.read(folder .. "/log"):gmatch "[^\n]+" do assert.truthy(json.decode(line).text) end
    manager:close()
  end)
end)

describe("logrotate", function()
  it("loses and cuts no pane", function()
    if not has "logrotate" then return pending "there is no logrotate" end
    local s = server.start(server.script(server.EARLY), "--in tcp://127.0.0.1:0 --append --out logs/panes.jsonl",
      "mkdir logs;")
    local rules = shell.read(SERVICE .. "logrotate.conf"):gsub("/var/log/lunette/spend", s.folder .. "/logs"):gsub(
      "systemctl kill [^\n]+", "kill -USR1 " .. s.pid)
    assert.truthy(rules:find("kill -USR1", 1, true))
    shell.write(s.folder .. "/rules", rules)
    local client, sent = s:connect(), 0
    for _ = 1, 4 do
      for i = 1, 500 do client:send(server.record(i, "k" .. i)) end
      sent = sent + 500
      local r = shell.run(s.folder, 'chmod 600 rules; "$(command -v logrotate)" --force --state state rules')
      assert.same({ 0, "" }, { r.code, r.err })
      socket.sleep(0.05)
    end
    local count = "zcat -f logs/panes.jsonl* | wc -l"
    server.wait(function() return tonumber(shell.run(s.folder, count).out) == sent end, "all panes")
    assert.equal(0, s:stop().code)
    assert.equal(tostring(sent) .. "\n", shell.run(s.folder, "zcat -f logs/panes.jsonl* | grep -c '^{.*}$'").out)
    assert.equal("4\n", shell.run(s.folder, "ls logs/panes.jsonl.* | wc -l").out)
    s:clear()
  end)
end)
