--- Metrics, health and status over HTTP: the numbers are those of the account, and what is no request harms nobody.
local json = require "spec.support.json"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

local TCP = "--in tcp://127.0.0.1:0 --http 127.0.0.1:0 "
local start, record = server.starter(after_each), server.record

local function http_port(s) return tonumber(s:said("metrics are served on "):match "on http://[^\n]-:(%d+)\n") end

local function get(s, path, more)
  local client = s:connect(http_port(s))
  client:send(("%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s\r\n"):format(path:find " " and path or "GET " .. path,
    more or ""))
  local answer = client:receive "*a"
  client:close()
  local head, body = answer:match "^(.-)\r\n\r\n(.*)$"
  return { status = tonumber((head or ""):match "^HTTP/1%.1 (%d+)"), head = head, body = body }
end

-- Samples by name and labels, as they are written.
local function samples(s)
  local out = { text = get(s, "/metrics").body }
  for name, x in out.text:gmatch "([^\n# ][^\n ]*) ([^\n]+)" do out[name] = tonumber(x) or x end
  return out
end

local function wait_read(s, n)
  server.wait(function() return samples(s)['lunette_records_read_total{pipeline="pipeline"}'] == n end, "the records")
  return samples(s)
end

local SCRIPT = server.script [[watermark = { delay = "1s", max_ahead = "100000d" },
  where = function(r) if r.k == "err" then error "no" end return r.k ~= "skip" end,
  trigger = ln.at_watermark { early = ln.after_count(2) }, lateness = "500ms",]]

local INPUT = table.concat {
  record(500, "a"), record(700, "a"), record(900, "b"), record(1500, "skip"), record(1600, "err"),
  record(10000, "a"), "nonsense\n", '{"k":"x"}\n',
  record(8990, "late"):gsub("8990", "7999"), -- the window [7000, 8000) went at 8500; the watermark is at 9000
  record(0, "late"), -- 9 s behind
  record(8000, "a"), -- open still
}

describe("/metrics", function()
  it("is what the account is", function()
    local s = start(SCRIPT, TCP)
    local client = s:connect()
    client:send(INPUT)
    local m = wait_read(s, 11)
    local ended = s:stop()
    local a = ended.pipeline
    local function of(name, more) return m[("lunette_%s{pipeline=\"pipeline\"%s}"):format(name, more or "")] end
    for name, n in pairs { records_read_total = a.read, records_aggregated_total = a.aggregated,
      records_filtered_total = a.filtered, panes_withdrawn_total = a.panes.withdrawn,
      late_refusals_total = a.late_refusals, values_skipped_total = a.values_skipped, windows_open = a.windows_open,
      keys = a.keys, windows_opened_total = a.windows_opened } do
      assert.equal(n, of(name), name)
    end
    for reason, n in pairs(a.rejected) do
      assert.equal(n, of("records_rejected_total", (',reason="%s"'):format(reason)), reason)
    end
    for _, timing in ipairs { "early", "on_time", "late" } do
      assert.equal(a.panes[timing], of("panes_total", (',timing="%s"'):format(timing)), timing)
    end
    assert.same({ 2, 2, 1, 1, 1 }, { a.rejected.late, of "record_lateness_seconds_count", a.filtered,
      a.rejected.script_error, m.lunette_script_errors_total })
    assert.equal(ended.server.bytes_received, m.lunette_received_bytes_total)
    assert.equal(1, m.lunette_connections)
    assert.same({ 9, 1, 9 }, { of "watermark_timestamp_seconds", of "sources",
      of("source_promise_timestamp_seconds", ',source="1"') })
    assert.equal(1, of("source_holds_watermark", ',source="1"'))
    assert.is_true(math.abs(of "watermark_lag_seconds" - (socket.gettime() - 9)) < 60)
    assert.is_true(m.lunette_batch_duration_seconds_count >= 1)
    assert.equal(m.lunette_batch_duration_seconds_count, m['lunette_batch_duration_seconds_bucket{le="+Inf"}'])
    assert.equal(1, m.lunette_ready)
  end)

  it("tells by how much records were late", function()
    -- With a cell for each window, and with slices.
    for _, trigger in ipairs { "trigger = ln.at_watermark { early = ln.after_count(9) },", "" } do
      local s = start(server.script(trigger), TCP)
      s:connect():send(record(50000, "a") .. record(48999, "b") .. record(40000, "b") .. record(0, "b"))
      local m = wait_read(s, 4)
      local function bucket(le)
        return m[('lunette_record_lateness_seconds_bucket{pipeline="pipeline",le="%s"}'):format(le)]
      end
      assert.same({ 0, 0, 0, 0, 2, 3, 3, 3, 3, 3 }, { bucket "0.001", bucket "0.01", bucket "0.1", bucket "1",
        bucket "10", bucket "100", bucket "1000", bucket "10000", bucket "100000", bucket "+Inf" })
      assert.is_true(math.abs(m['lunette_record_lateness_seconds_sum{pipeline="pipeline"}'] - 61.001) < 1e-9)
      s:clear()
    end
  end)

  it("has labels of UTF-8 alone, and not too long ones", function()
    local s = start(server.script 'watermark = { source = "s" },', TCP .. "--in-format msgpack")
    local names = { "\255\254", "a\195", "\237\160\128", "gr\195\188n", ("\195\164"):rep(100), "q\"\\\n\r\0" }
    local out = {}
    for i, name in ipairs(names) do
      out[i] = "\131\161t\205\4" .. string.char(i) .. "\161k\161a\161s\217" .. string.char(#name) .. name
    end
    s:connect():send(table.concat(out))
    local text = wait_read(s, #names).text
    assert.equal(#names, select(2, text:gsub("lunette_source_promise_timestamp_seconds{", "")))
    for _, part in ipairs { '"\239\191\189\239\191\189"', '"a\239\191\189"', '"gr\195\188n"',
      ("\195\164"):rep(64) .. '..."', '"q\\"\\\\\\n\r\239\191\189"' } do
      assert.truthy(text:find("source=" .. part, 1, true) or text:find(part, 1, true), part)
    end
    if shell.run(s.folder, "command -v promtool").code ~= 0 then return end
    shell.write(s.folder .. "/metrics", text)
    assert.same({ code = 0, out = "", err = "" }, shell.run(s.folder, "promtool check metrics < metrics"))
  end)

  it("goes on where the script is reloaded, and tells of reloads", function()
    local s = start(SCRIPT, TCP .. "--control ctl")
    s:connect():send(INPUT)
    local before = wait_read(s, 11)
    local function reload(text)
      shell.write(s.folder .. "/p.lua", text)
      return shell.run(s.folder, '"$LUNETTE" ctl --control ctl reload').code
    end
    assert.same({ 0, 1 }, { reload(SCRIPT .. "-- once more"), reload "return 1" })
    local after = samples(s)
    for name, x in pairs(before) do
      if name:find "^lunette_record" or name:find "^lunette_panes" then assert.equal(x, after[name], name) end
    end
    assert.same({ 1, 1, 1, 0 }, { after['lunette_reloads_total{result="done"}'],
      after['lunette_reloads_total{result="failed"}'], after.lunette_reload_failed, after.lunette_reload_under_way })
    assert.is_true(after.lunette_reload_hold_seconds > 0)
    assert.same({ 0, 0 }, { reload(SCRIPT), samples(s).lunette_reload_failed })
  end)

  it("counts time in ticks where a pipeline does", function()
    local s = start((server.script():gsub('field = "t"', 'field = "t", unit = "tick"'):gsub('"1s"', "(10)")), TCP)
    s:connect():send(record(500, "a") .. record(3, "a"))
    local m = wait_read(s, 2)
    assert.same({ 500, 1, 0 }, { m['lunette_watermark_ticks{pipeline="pipeline"}'],
      m['lunette_record_lateness_ticks_bucket{pipeline="pipeline",le="1000"}'],
      m['lunette_record_lateness_ticks_bucket{pipeline="pipeline",le="100"}'] })
  end)

  it("names the ten sources that are furthest behind, and who holds the watermark", function()
    local s = start(server.script 'watermark = { source = "s" },', TCP)
    local lines = {}
    for i = 1, 40 do lines[i] = ('{"t":%d,"k":"a","s":"host \\"%02d\\"\\\\"}\n'):format(1000 + (i * 17) % 41, i) end
    s:connect():send(table.concat(lines))
    local m = wait_read(s, 40)
    local promises, held = {}, {}
    for source in m.text:gmatch 'holds_watermark{pipeline="pipeline",source="(.-)"} 1\n' do held[#held + 1] = source end
    table.sort(promises)
    local expected = {}
    for i = 1, 10 do expected[i] = (1000 + i) / 1000 end
    for text in m.text:gmatch "source_promise_timestamp_seconds{[^\n]-} ([%d.]+)\n" do
      promises[#promises + 1] = tonumber(("%.3f"):format(tonumber(text)))
    end
    assert.same(expected, promises)
    assert.same({ 'host \\"29\\"\\\\' }, held)
    assert.equal(40, m['lunette_sources{pipeline="pipeline"}'])
  end)

  it("passes promtool", function()
    local s = start(SCRIPT, TCP)
    if shell.run(s.folder, "command -v promtool").code ~= 0 then return pending "there is no promtool" end
    s:connect():send(INPUT)
    shell.write(s.folder .. "/metrics", wait_read(s, 11).text)
    assert.same({ code = 0, out = "", err = "" }, shell.run(s.folder, "promtool check metrics < metrics"))
  end)

  it("of several pipelines has each metric once", function()
    local s = start([[
      local ln = require "lunette"
      local function p(name) return ln.pipeline { name = name, time = { field = "t" }, window = ln.tumbling "1s",
        aggregate = { n = ln.count() } } end
      return { p "one", p "two\n\"" }]], TCP)
    s:connect():send(record(500, "a"))
    server.wait(function() return samples(s)['lunette_records_read_total{pipeline="one"}'] == 1 end, "the record")
    local m = samples(s)
    assert.equal(1, m['lunette_records_read_total{pipeline="two\\n\\""}'])
    assert.equal(1, select(2, m.text:gsub("# TYPE lunette_records_read_total ", "")))
  end)
end)

describe("health", function()
  it("is alive and ready, and while it drains not ready", function()
    local own = assert(socket.bind("127.0.0.1", 0))
    local s = start(server.script(server.EARLY), TCP .. "--out tcp://127.0.0.1:" .. select(2, own:getsockname()))
    for _, path in ipairs { "/livez", "/readyz" } do
      local r = get(s, path)
      assert.same({ 200, "ok\n" }, { r.status, r.body })
    end
    shell.run(s.folder, [[seq -f '{"t":%.0f,"k":"a"}' 1 150000 > many]])
    os.execute(("bash -c 'cat %s/many > /dev/tcp/127.0.0.1/%d' 2> /dev/null &"):format(s.folder, s:port()))
    socket.sleep(0.7)
    s:signal "TERM"
    local r = server.wait(function()
      local answer = get(s, "/readyz")
      return answer.status ~= 200 and answer
    end, "the drain")
    assert.same({ 503, "draining\n" }, { r.status, r.body })
    assert.equal(200, get(s, "/livez").status)
    own:close()
  end)

  it("has the status of ctl", function()
    local s = start(SCRIPT, TCP .. "--control ctl")
    s:connect():send(INPUT)
    wait_read(s, 11)
    local r = get(s, "/status")
    assert.truthy(r.head:find("Content-Type: application/json", 1, true))
    local one, other = json.decode(r.body), json.decode(shell.run(s.folder, '"$LUNETTE" ctl --control ctl status').out)
    assert.same(other.pipelines, one.pipelines)
    assert.equal(other.run.pid, one.run.pid)
  end)
end)

describe("HTTP", function()
  it("answers GET and HEAD of what there is, and nothing else", function()
    local s = start(SCRIPT, TCP)
    local r = get(s, "/nothing")
    assert.same({ 404, "there is /metrics, /status, /livez, /readyz\n" }, { r.status, r.body })
    for _, method in ipairs { "POST", "PUT", "DELETE", "OPTIONS", "BREW" } do
      r = get(s, method .. " /metrics")
      assert.equal(405, r.status)
      assert.truthy(r.head:find("Allow: GET, HEAD", 1, true))
    end
    r = get(s, "HEAD /metrics")
    assert.same({ 200, "" }, { r.status, r.body })
    r = get(s, "POST /metrics", "Content-Length: 1000000000\r\n")
    assert.equal(405, r.status)
    r = get(s, "GET /livez", "Content-Length: 1000000000\r\n") -- the body never comes
    assert.equal(200, r.status)
  end)

  it("keeps a connection for the next request", function()
    local s = start(SCRIPT, TCP)
    local client = s:connect(http_port(s))
    for _ = 1, 3 do
      client:send "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n"
      local bytes, line
      repeat
        line = client:receive "*l"
        bytes = tonumber(line:match "^Content%-Length: (%d+)") or bytes
      until line == ""
      assert.equal("ok\n", client:receive(bytes))
    end
  end)

  it("refuses heads that are too large, and nonsense, and goes on", function()
    local s = start(SCRIPT, TCP)
    local client = s:connect(http_port(s))
    client:send("GET /livez HTTP/1.1\r\nX: " .. ("x"):rep(100000))
    local first = client:receive "*l" -- refused, or cut
    assert.is_true(first == nil or first:find "^HTTP/1.1 4" ~= nil, first)
    for _, text in ipairs { "\0\1\2\r\n\r\n", "GET\r\n\r\n", ("\r\n"):rep(100), "GET /livez HTTP/9.9\r\n\r\n" } do
      local c = s:connect(http_port(s))
      c:send(text)
      c:settimeout(0.2)
      c:receive "*a"
    end
    assert.equal(200, get(s, "/livez").status)
  end)

  it("is not held up by those who say nothing, nor are records", function()
    local s = start(server.script(server.EARLY), TCP)
    local quiet = {}
    for i = 1, 20 do
      quiet[i] = s:connect(http_port(s))
      quiet[i]:send "GET /livez HT"
    end
    assert.equal(200, get(s, "/livez").status)
    s:connect():send(record(500, "a"))
    s:wait_panes(1)
    quiet[1]:settimeout(14)
    local before = socket.gettime()
    quiet[1]:receive "*a" -- ended after ten seconds of silence
    assert.is_true(socket.gettime() - before < 14)
  end)

  it("is bound on this machine only, unless told", function()
    local folder = shell.folder()
    shell.write(folder .. "/p.lua", SCRIPT)
    local run = [[timeout -s TERM 2 "$LUNETTE" run --in tcp://127.0.0.1:0 --http %s p.lua < /dev/null]]
    local r = shell.run(folder, run:format "0.0.0.0:0")
    assert.equal(1, r.code)
    assert.truthy(r.err:find("--http 0.0.0.0:0: ", 1, true), r.err)
    assert.truthy(r.err:find("--insecure", 1, true), r.err)
    assert.equal(124, shell.run(folder, run:format "0.0.0.0:0 --insecure").code)
    for _, address in ipairs { "9464", "here", "unix:x", "127.0.0.1:70000", "127.0.0.1:0?listen" } do
      r = shell.run(folder, run:format("'" .. address .. "'"))
      assert.same({ 1, ("lunette: --http %s: write HOST:PORT, such as 127.0.0.1:9464\n"):format(address) },
        { r.code, r.err })
    end
    shell.remove(folder)
  end)
end)
