--- `lunette top`: reports into a pipe, and a screen on a terminal (tmux), which fits a small one too, follows its size,
-- and leaves it as it was.
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

local root = io.popen("pwd"):read "*l"
local folder, pid

local function run(text) return shell.run(folder, text) end

before_each(function()
  folder = shell.folder()
  run(("timeout 60 luajit %s/spec/support/clients/control.lua %s/control > /dev/null 2>&1 & echo $! > pid"):format(root,
    folder))
  pid = shell.read(folder .. "/pid"):match "%d+"
  server.wait(function() return run("test -S control").code == 0 end, "the control socket")
end)
after_each(function()
  os.execute(("kill %s 2>/dev/null"):format(pid))
  shell.remove(folder)
end)

local function says(text, ...)
  for _, part in ipairs { ... } do
    assert.truthy(text:find(part, 1, true), ("not shown: %s\nin: %s"):format(part, text))
  end
end

describe("top in a pipe", function()
  it("prints a report now and then, with rates from the second one on", function()
    local r = run '"$LUNETTE" top --interval 500ms --count 2 unix:control'
    assert.same({ 0, "" }, { r.code, r.err })
    local first, second = r.out:match "^(.-)\n\n(.*)$"
    says(first, "- records/s, - panes/s", "33.0 MiB of state; 12 connections, 2 subscribers; -/s in, 1.0 KiB queued",
      'the watermark of spend is held by source "a"')
    says(first, "spend     2026-12-01T04:40:00Z   1m15s  10,000   23,456          -        -")
    local rate = tonumber((second:match "([%d,]+) records/s":gsub(",", "")))
    assert.is_true(rate > 5000 and rate < 20000, second)
  end)

  it("says where nobody answers", function()
    local r = run '"$LUNETTE" top nowhere'
    assert.same({ 1, "", "lunette: top: nowhere: No such file or directory\n" }, { r.code, r.out, r.err })
    r = run '"$LUNETTE" top'
    assert.same({ 2, "" }, { r.code, r.out })
    says(r.err, "the control socket of a server is missing")
    r = run '"$LUNETTE" top --interval 1ms control'
    assert.equal(2, r.code)
    says(r.err, "write at least 100ms")
  end)
end)

describe("top of a real server", function()
  it("tells pipelines, sources and who holds the watermark", function()
    local s = server.start(server.script "watermark = { delay = '1s' },", "--in tcp://127.0.0.1:0 --control unix:ctl")
    local one, other = s:connect(), s:connect()
    -- The row of the pipeline once it is as it should be: watermark, behind, keys, windows, rates, late, rejected.
    local function row_is(want)
      local out
      server.wait(function()
        out = run(('"$LUNETTE" top --count 1 unix:%s/ctl'):format(s.folder)).out
        local row = (out:match "\n  pipeline  +(%-?%d[^\n]*)" or ""):gsub(" +", " ")
        return row:sub(1, #want + 1) == want .. " "
      end, want)
      return out
    end
    one:send '{"t":500,"k":"a"}\n{"t":700,"k":"b"}\n'
    row_is "-300 - 2 2 - - 0 0"
    other:send '{"t":9000,"k":"b"}\n{"t":"soon"}\n'
    local out = row_is "-300 - 2 3 - - 0 1"
    says(out, "2 connections, 0 subscribers")
    says(out, "the watermark of pipeline is held by source 1")
    assert.equal(0, s:stop().code)
    s:clear()
  end)
end)

describe("top on a terminal", function()
  local tmux = ("tmux -L top%d"):format(math.floor(socket.gettime() * 1000) % 1000000)

  local function screen() return run(tmux .. " capture-pane -p").out end
  local function shown(...)
    local parts = { ... }
    server.wait(function()
      local text = screen()
      for _, part in ipairs(parts) do
        if not text:find(part, 1, true) then return nil end
      end
      return text
    end, parts[1])
    return screen()
  end

  local function on_terminal(it_says, width, height, use)
    it(it_says, function()
      if run("command -v tmux").code ~= 0 then return pending "there is no tmux" end
      run(("%s new-session -d -x %d -y %d bash --norc"):format(tmux, width, height))
      run(tmux .. [[ send-keys "PS1='ready '; clear; echo before; stty -g > modes; $LUNETTE top --interval 300ms ]]
        .. [[control; echo status $?" Enter]])
      local ok, why = pcall(use)
      run(tmux .. " kill-server")
      if not ok then error(why, 0) end
    end)
  end

  local function keys(text) run(("%s send-keys %s"):format(tmux, text)) end

  on_terminal("draws pipelines and sources, and gives the terminal back", 80, 20, function()
    local text = shown("lunette top  control", "10,000   23,456", "3 sources of spend", "q: quit")
    text = text:gsub(" +", " ")
    says(text, '"a" 04:40:00 1m 1m10s holds', '"b" 04:41:00 0s 200ms', "7 01:53:20 2h47m40s 2h47m54s idle")
    says(text, "late rejected\n", " 7 10\n") -- the whole row has room
    keys "q"
    says(shown "status 0", "before")
    keys '"stty -g | cmp - modes && echo as before" Enter'
    shown "as before"
  end)

  on_terminal("fits a small one, and follows its size", 60, 6, function()
    local text = shown("lunette top", "q: quit")
    assert.is_nil(text:find("sources of", 1, true))
    run(tmux .. " resize-window -x 100 -y 20")
    shown("3 sources of spend", "33.0 MiB")
    run(tmux .. " resize-window -x 20 -y 2")
    shown "lunette top"
    keys "C-c"
    shown "status 0"
  end)

  on_terminal("pauses, and says when the server is gone", 80, 16, function()
    shown "records/s"
    keys "Space"
    shown "paused; space: go on"
    keys "Space"
    shown "space: pause"
    os.execute("kill " .. pid)
    shown "It is asked again each time."
    keys "q"
    shown "status 0"
  end)
end)
