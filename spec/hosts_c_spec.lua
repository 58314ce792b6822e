--- The hosts in C of examples/: each is built against an installed tree, found by pkg-config alone, started, and its
-- panes looked at.
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

-- Sanitizers have to be linked into the program too, and slow hosts down beside.
local sanitized = (os.getenv "LUNETTE_CORE" or ""):find("asan", 1, true)

local root = io.popen("pwd"):read "*l"
local folder, prefix

-- Builds examples/NAME/SOURCE.c with these packages; the path of the program.
local function build(name, source, packages)
  local r = shell.run(folder, ([[
    export PKG_CONFIG_PATH=%s/lib/pkgconfig
    gcc -std=gnu11 -Wall -Wextra -Werror -O1 %s/examples/%s/%s.c -o %s \
      $(pkg-config --cflags --libs %s) -Wl,-rpath,%s/lib]]):format(prefix, root, name, source, name, packages, prefix))
  assert.equal("", r.err)
  assert.equal(0, r.code)
  return folder .. "/" .. name
end

-- Starts a program of ours that says its port on standard error.
local function start(program, script)
  for _, name in ipairs { "out", "err", "pid" } do shell.write(folder .. "/" .. name, "") end
  os.execute(("cd '%s' && { timeout -k 1 60 %s %s 0 > out 2> err < /dev/null & echo $! > pid; }")
    :format(folder, program, script))
  return tonumber(server.wait(function()
    return shell.read(folder .. "/err"):match "listening on port (%d+)"
  end, "the port"))
end

-- The process of `timeout`, which passes the signal on.
local function stop()
  local pid = shell.read(folder .. "/pid"):match "%d+"
  os.execute("kill -TERM " .. pid)
  server.wait(function() return os.execute("kill -0 " .. pid .. " 2>/dev/null") ~= 0 end, "the end of the process")
end

describe("hosts in C", function()
  if sanitized then
    pending "the library is one for sanitizers"
    return
  end

  setup(function()
    folder = shell.folder()
    prefix = folder .. "/prefix"
    local r = shell.run(folder, ("cmake --install '%s/build' --prefix '%s' >/dev/null"):format(root, prefix))
    assert.equal(0, r.code)
  end)
  teardown(function() shell.remove(folder) end)

  it("a game's loop shows sprees and every second", function()
    local program = build("game", "game", "lunette")
    local script = root .. "/examples/game/kills.lua"
    local r = shell.run(folder, ("%s %s --ticks 600 --entities 300 --fast"):format(program, script))
    assert.equal(0, r.code)
    local seconds = 0
    for second, events in r.out:gmatch "second (%d+): (%d+) events" do
      assert.equal(seconds, tonumber(second)) -- in order, each once
      assert.equal(60 * 303, tonumber(events)) -- and none was lost
      seconds = seconds + 1
    end
    assert.equal(10, seconds)
    local kills = 0
    for spree in r.out:gmatch "p%d+: (%d+) kills, %d+ points" do
      assert.is_true(tonumber(spree) >= 3)
      kills = kills + spree
    end
    assert.is_true(kills > 500)
    assert.truthy(r.err:find('"read":' .. 600 * 303, 1, true))
    assert.falsy(r.err:find "lost")
  end)

  it("a game keeps its frames", function()
    local program = build("game", "game", "lunette")
    local r = shell.run(folder, ("time %s %s/examples/game/kills.lua --ticks 60 --entities 300"):format(program, root))
    assert.equal(0, r.code)
    local seconds = tonumber(r.err:match "real%s+0m([%d.]+)s")
    assert.is_true(seconds >= 0.98) -- 60 frames at 60 Hz
  end)

  it("a server on libev takes lines from several connections", function()
    local program = build("libev", "server", "lunette-ev")
    -- Which of two connections is read first is chance: here the watermark waits for longer.
    local script = shell.read "examples/libev/latency.lua":gsub('delay = "1s"', 'delay = "20s"')
    shell.write(folder .. "/latency.lua", script)
    local port = start(program, "latency.lua")
    local a, b = assert(socket.connect("127.0.0.1", port)), assert(socket.connect("127.0.0.1", port))
    for i = 0, 599 do
      assert(a:send(('{"ts":%.1f,"route":"/a","ms":%d}\n{"ts":%.1f,"rou'):format(i / 10, i, i / 10)))
      assert(b:send(('{"ts":%.1f,"route":"/b","ms":%d}\n'):format(i / 10, 2 * i)))
      assert(a:send('te":"/a","ms":0}\n'))
      if i % 10 == 0 then socket.sleep(0.005) end
    end
    local function panes() return shell.read(folder .. "/out") end
    server.wait(function() return panes():find '"start":20,"end":30' end, "the panes that are complete")
    a:close()
    b:close()
    stop()
    assert.truthy(panes():find('"key":"/a","start":20,"end":30,"pane":0,"timing":"on_time","final":true,'
      .. '"value":{"ms":[', 1, true))
    assert.truthy(panes():find('"requests":200,"slowest":299', 1, true))
    assert.truthy(panes():find('"requests":100,"slowest":598', 1, true))
    local read = 0
    for requests in panes():gmatch '"requests":(%d+)' do read = read + requests end
    assert.equal(1800, read)
  end)

  it("a server on libuv takes datagrams, and its timer fires windows", function()
    local program = build("libuv", "server", "lunette libuv")
    local port = start(program, root .. "/examples/libuv/temperature.lua")
    local udp = socket.udp()
    assert(udp:setpeername("127.0.0.1", port))
    for i = 1, 50 do assert(udp:send(('{"sensor":"roof","c":%d}'):format(i))) end
    local function out() return shell.read(folder .. "/out") end
    server.wait(function() return out():find "high 50.0" end, "the window of that second")
    stop()
    local n = 0
    for readings in out():gmatch "roof: (%d+) readings" do n = n + readings end
    assert.equal(50, n)
  end)

  -- Blocks with a name are files; commands print what stands below them; other blocks of C are pieces of a function.
  it("the guide's programs and pieces are as it says", function()
    local page, pieces = shell.read "core/embedding.md", {}
    for name, text in page:gmatch "\n```%l+ ([%w._]+)\n(.-)\n```" do
      shell.write(folder .. "/" .. name, text .. "\n")
    end
    for text in page:gmatch "\n```c\n(.-)\n```" do pieces[#pieces + 1] = "{\n" .. text .. "\n}" end
    assert.equal(4, #pieces)
    shell.write(folder .. "/pieces.c", ([[
      #include <lunette.h>
      #include <stdio.h>
      #include <unistd.h>
      int piece(lunette *l, ln_value key, int fd);
      int piece(lunette *l, ln_value key, int fd) {
        ln_value head, first, second;
        const uint8_t *at, *end;
        const void *bytes;
        const char *problem;
        size_t len;
        ssize_t written;
        int lost = 0, reloading = 0;
        %s
        (void)at;
        return lost + reloading;
      }]]):format(table.concat(pieces, "\n")))
    local setup_text = ("export PKG_CONFIG_PATH=%s/lib/pkgconfig LD_LIBRARY_PATH=%s/lib\n"):format(prefix, prefix)
    local r = shell.run(folder, setup_text .. "gcc -Wall -Wextra -Werror -c pieces.c $(pkg-config --cflags lunette)")
    assert.equal("", r.err)
    local commands, expected = {}, {}
    for line in page:match("\n```console\n(.-)\n```"):gmatch "[^\n]+" do
      local list = line:sub(1, 2) == "$ " and commands or expected
      list[#list + 1] = line:gsub("^%$ ", "")
    end
    r = shell.run(folder, setup_text .. table.concat(commands, "\n"))
    assert.equal("", r.err)
    assert.equal(table.concat(expected, "\n") .. "\n", r.out)
  end)

  it("a program in C++ compiles without a warning", function()
    shell.write(folder .. "/host.cpp", [[
      #include <lunette_ev.h>
      #include <cstring>
      #include <cstdio>
      int main() {
        lunette_config config = LUNETTE_CONFIG_INIT;
        lunette_options options = LUNETTE_OPTIONS_INIT;
        lunette_ev_config attached = LUNETTE_EV_CONFIG_INIT;
        const char script[] = "local ln = require 'lunette' return ln.pipeline { time = { field = 't' },"
          "window = ln.global(), trigger = ln.never(), aggregate = { n = ln.count() } }";
        const lunette_text text = { "c++.lua", script, sizeof script - 1 };
        options.texts = &text;
        options.texts_count = 1;
        attached.budget.records = 1;
        lunette_ev_detach(nullptr);
        if (attached.ctx) return 3;
        lunette *l = lunette_new(&config);
        if (!l || lunette_open(l, "c++.lua", &options)) return 1;
        lunette_record_begin(l);
        lunette_record_int(l, "t", 1);
        if (lunette_record_end(l) || lunette_end(l) || lunette_step(l, 0, nullptr)) return 2;
        const lunette_pane *pane = lunette_pane_next(l);
        std::printf("%d\n", pane ? int(lunette_pane_value(pane, "n").i) : -1);
        lunette_delete(l);
      }
    ]])
    local r = shell.run(folder, ([[
      export PKG_CONFIG_PATH=%s/lib/pkgconfig
      for std in c++11 c++17 c++20; do
        g++ -std=$std -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Werror host.cpp -o host \
          $(pkg-config --cflags lunette-ev | sed 's/-I/-isystem /') $(pkg-config --libs lunette-ev) -Wl,-rpath,%s/lib \
          && g++ -std=$std -Wall -Wextra -Werror host.cpp -o host $(pkg-config --cflags --libs lunette-ev) \
            -Wl,-rpath,%s/lib && ./host || exit 1
      done]]):format(prefix, prefix, prefix))
    assert.equal("", r.err)
    assert.equal("1\n1\n1\n", r.out)
  end)
end)
