--- The examples: each gives its panes, as JSON lines and as msgpack; their inputs are what make_inputs.lua makes.
local ffi = require "ffi"
local forward = require "spec.support.forward"
local json = require "spec.support.json"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

local EXAMPLES = { "page_views", "sensors", "visits", "scores" }

local root = io.popen("pwd"):read "*l"
local folder

before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

local function path(name) return root .. "/examples/" .. name end

local function records_of(text)
  local records = {}
  for line in text:gmatch "[^\n]+" do records[#records + 1] = json.decode(line) end
  return records
end

local function panes_of(text)
  local lines = {}
  for i, pane in ipairs(records_of(text)) do lines[i] = json.encode(pane) end
  return lines
end

local function expected(name)
  local panes = panes_of(shell.read(path(name .. ".panes.jsonl")))
  assert.is_true(#panes > 0)
  return panes
end

-- Texts and flat maps of up to 15 fields, which the inputs are made of.
local function packed(value)
  if value == json.null then return "\192" end
  if type(value) == "string" then
    assert.is_true(#value < 32)
    return string.char(160 + #value) .. value
  end
  if type(value) == "number" then return "\203" .. ffi.string(ffi.new("double[1]", value), 8):reverse() end
  local out, fields = {}, 0
  for name, part in pairs(value) do
    out[#out + 1] = packed(name) .. packed(part)
    fields = fields + 1
  end
  return string.char(128 + fields) .. table.concat(out)
end

describe("example", function()
  for _, name in ipairs(EXAMPLES) do
    it(name .. " gives its panes", function()
      local want = expected(name)
      local r = shell.run(folder, ('"$LUNETTE" run %s %s'):format(path(name .. ".lua"), path(name .. ".jsonl")))
      assert.same({ 0, "" }, { r.code, r.err })
      assert.same(want, panes_of(r.out))
    end)

    it(name .. " gives the same panes for the same records in msgpack", function()
      local records = records_of(shell.read(path(name .. ".jsonl")))
      for i, record in ipairs(records) do records[i] = packed(record) end
      shell.write(folder .. "/in.msgpack", table.concat(records))
      local r = shell.run(folder, ('"$LUNETTE" run --out-format json %s in.msgpack'):format(path(name .. ".lua")))
      assert.same({ 0, "" }, { r.code, r.err })
      assert.same(expected(name), panes_of(r.out))
    end)
  end

  it("scripts are all tested here", function()
    local r = shell.run(folder, ("cd %s && ls *.lua | grep -v make_inputs"):format(path ""))
    local known = { "live.lua", "logs.lua" } -- see below
    for _, name in ipairs(EXAMPLES) do known[#known + 1] = name .. ".lua" end
    table.sort(known)
    assert.equal(table.concat(known, "\n") .. "\n", r.out)
  end)

  it("inputs are made anew byte for byte, and are small", function()
    local r = shell.run(folder, ("luajit %s ."):format(path "make_inputs.lua"))
    assert.same({ 0, "", "" }, { r.code, r.out, r.err })
    for _, name in ipairs(EXAMPLES) do
      local input = shell.read(path(name .. ".jsonl"))
      local _, lines = input:gsub("\n", "")
      assert.is_true(lines >= 30 and lines <= 300, name)
      assert.is_true(input == shell.read(folder .. "/" .. name .. ".jsonl"), name .. " differs")
    end
  end)
end)

describe("the examples show what they say:", function()
  local function panes(name) return records_of(shell.read(path(name .. ".panes.jsonl"))) end

  local function some(name, wanted)
    for _, pane in ipairs(panes(name)) do
      local all = true
      for field, value in pairs(wanted) do all = all and pane[field] == value end
      if all then return true end
    end
    return false
  end

  it("page_views, complete minutes only", function()
    for _, pane in ipairs(panes "page_views") do
      assert.same({ 60000, "on_time", true }, { pane["end"] - pane.start, pane.timing, pane.final })
    end
  end)

  it("sensors, late panes of t3 alone", function()
    assert.is_true(some("sensors", { key = "t3", timing = "late" }))
    assert.is_false(some("sensors", { key = "t1", timing = "late" }))
  end)

  it("visits, early panes and a withdrawal", function()
    assert.is_true(some("visits", { timing = "early" }))
    assert.is_true(some("visits", { key = "ann", retract = true }))
  end)

  it("live, served over sockets", function()
    local s = server.start(shell.read(path "live.lua"), "--in tcp://127.0.0.1:0 --out 'unix:out.sock?listen'")
    local watcher, machine = s:connect "out.sock", s:connect()
    socket.sleep(0.1) -- until the watcher has been welcomed
    local now = math.floor(socket.gettime())
    for i = 0, 1 do machine:send(('{"ts":%.1f,"route":"/cart","ms":%d}\n'):format(now + 1.5 * i, 10 + i)) end
    local pane
    repeat pane = json.decode(watcher:receive "*l") until pane.timing == "on_time"
    assert.same({ "/cart", now, 1, 10 }, { pane.key, pane.start, pane.value.requests, pane.value.worst_ms })
    assert.equal(0, s:stop().code)
    s:clear()
  end)

  it("logs, from a shipper to a collector", function()
    local collector = server.start(server.script [[
      time = { field = "$time" }, key = "$tag", window = ln.tumbling "1m", trigger = ln.each(),
      where = function(r) return r.timing == "early" and r.value.lines == 3 and r.value.delay_ms == 2000 end,
    ]], "--in forward://127.0.0.1:0")
    local s = server.start(shell.read(path "logs.lua"), "--set alarm=2 --in forward://127.0.0.1:0 --out "
      .. ("'forward://127.0.0.1:%d?tag=logs.minutes&time=end'"):format(collector:port "forward"))
    local shipper, now = s:connect(s:port "forward"), math.floor(socket.gettime() / 60) * 60
    local function line(level)
      return forward.message("shop.cart", now, forward.map("level", forward.text(level), "written_ms",
        "\203" .. ffi.string(ffi.new("double[1]", now * 1000 - 2000), 8):reverse()))
    end
    shipper:send(line "info" .. line "error" .. line "error")
    assert.same({ ("logs.minutes [%d,%d) 1 early"):format(now * 1000 + 60000, now * 1000 + 120000) },
      collector:wait_panes(1))
    assert.same({ 0, 0 }, { s:stop().code, collector:stop().code })
    s:clear()
    collector:clear()
  end)

  it("scores, which every other count changes", function()
    local r = shell.run(folder, ('"$LUNETTE" run --set every=1 %s %s'):format(path "scores.lua", path "scores.jsonl"))
    assert.equal(#records_of(shell.read(path "scores.jsonl")), #records_of(r.out))
  end)
end)
