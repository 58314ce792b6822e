--- Several streams into one set of pipelines, as a C host opens them, and what a host tells of its clock.
local ffi = require "ffi"
local host = require "spec.support.host"
local json = require "spec.support.json"

local core, lib = host.core, host.lib
local S = 1000000

after_each(host.clear)

local function script(fields)
  host.prepare(([[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t", unit = "s" },
  window = ln.tumbling(10),
  aggregate = { n = ln.count() },
  %s
}
]]):format(fields or ""))
end

local function open_stream(l, messages)
  local reader = ffi.new "ln_reader *[1]"
  local number = lib.lunette_stream_open(l, messages and 1 or 0, reader)
  assert.is_true(number > 0)
  return { number = number, reader = reader[0] }
end

local function short(text)
  local panes = {}
  for line in text:gmatch "[^\n]+" do
    local p = json.decode(line)
    panes[#panes + 1] = ("[%d,%d) %d %s"):format(p.start, p["end"], p.value.n, p.timing)
  end
  return panes
end

local function send(l, stream, text, now_us)
  host.push(l, text, stream.reader)
  assert.equal(lib.LUNETTE_OK, lib.lunette_stream_pump(l, stream.number, now_us or 0))
  return short(host.take(l))
end

local function close(l, stream, now_us)
  assert.equal(lib.LUNETTE_OK, lib.lunette_stream_close(l, stream.number, now_us or 0))
  return short(host.take(l))
end

local function tick(l, now_us)
  assert.equal(lib.LUNETTE_OK, lib.lunette_pump(l, now_us))
  return short(host.take(l))
end

describe("a stream", function()
  it("is a source from its first record until it is closed", function()
    script()
    local l = host.opened { streams = 1 }
    local a, b, silent = open_stream(l), open_stream(l), open_stream(l)
    assert.same({}, send(l, a, '{"t":5}\n'))
    assert.same({}, send(l, b, '{"t":7}\n{"t":25}\n'))
    assert.same({ "[0,10) 2 on_time" }, send(l, a, '{"t":15}\n'))
    assert.same({}, close(l, silent))
    assert.same({ "[10,20) 1 on_time" }, close(l, a))
    assert.same({}, close(l, b)) -- none is left: the watermark stays at 25
    local c = open_stream(l)
    assert.same({}, send(l, c, '{"t":26}\n'))
    assert.same({ "[20,30) 2 on_time" }, send(l, c, '{"t":30}\n'))
  end)

  it("is no source where the script names a field, or the host says that there is one stream", function()
    script 'watermark = { source = "k" },'
    local l = host.opened { streams = 1 }
    local a, b = open_stream(l), open_stream(l)
    send(l, a, '{"t":5,"k":1}\n')
    assert.same({ "[0,10) 1 on_time" }, send(l, b, '{"t":25,"k":1}\n'))
    assert.same({}, close(l, b))
  end)

  it("is counted as heard also when it is gone", function()
    script "watermark = { sources = 2 },"
    local l = host.opened { streams = 1 }
    local a = open_stream(l)
    assert.same({}, send(l, a, '{"t":5}\n{"t":25}\n'))
    assert.same({}, close(l, a))
    assert.same({ "[0,10) 1 on_time", "[10,20) 1 on_time" }, send(l, open_stream(l), '{"t":15}\n{"t":25}\n'))
  end)

  it("shares the fields that a script asks for while it runs", function()
    script 'where = function(r) return r.t ~= 3 or r.late == "x" end,'
    local l = host.opened { streams = 1 }
    local a = open_stream(l)
    send(l, a, '{"t":1}\n{"t":3,"late":"x"}\n')
    local b = open_stream(l)
    send(l, b, '{"late":"x","t":3}\n{"t":3}\n')
    send(l, a, '{"t":3}\n{"t":3,"late":"x"}\n')
    assert.equal(4, json.decode(ffi.string(lib.lunette_stats(l))).pipelines[1].aggregated)
  end)

  it("of messages keeps what is broken as one malformed record", function()
    script()
    local l = host.opened { streams = 1, in_format = lib.LN_FORMAT_MSGPACK, rejects = 1 }
    local u = open_stream(l, true)
    for _ = 1, 2 do
      core.ln_reader_restart(u.reader)
      host.push(l, "\129\161t\5\129\161t", u.reader)
      core.ln_reader_end(u.reader)
      assert.equal(lib.LUNETTE_BROKEN, lib.lunette_stream_pump(l, u.number, 0))
    end
    local account = json.decode(ffi.string(lib.lunette_stats(l))).pipelines[1]
    assert.same({ 4, 2, 2 }, { account.read, account.aggregated, account.rejected.malformed })
  end)

  it("goes on with what is under way, whichever is called", function()
    script "trigger = ln.each(),"
    local l = host.opened { streams = 1 }
    local a, b = open_stream(l), open_stream(l)
    local many = {}
    for i = 1, 5000 do many[i] = ('{"t":%d}'):format(i % 10) end
    host.push(l, table.concat(many, "\n") .. "\n", a.reader)
    host.push(l, '{"t":1}\n', b.reader)
    local panes, turns = 0, 0
    repeat
      local code = lib.lunette_stream_pump(l, b.number, 0)
      if turns == 0 then code = lib.lunette_stream_pump(l, a.number, 0) end
      panes, turns = panes + select(2, host.take(l):gsub("\n", "")), turns + 1
    until code == lib.LUNETTE_OK and turns > 1
    repeat
      local code = lib.lunette_stream_pump(l, a.number, 0)
      panes = panes + select(2, host.take(l):gsub("\n", ""))
    until code == lib.LUNETTE_OK
    assert.equal(5001, panes)
    assert.is_true(turns > 1)
  end)

  it("takes no memory when it is gone", function()
    script()
    local l = host.opened { streams = 1 }
    local before
    for i = 1, 3000 do
      local a = open_stream(l)
      send(l, a, '{"t":5}\n')
      close(l, a)
      local bytes = json.decode(ffi.string(lib.lunette_stats(l))).pipelines[1].state_bytes
      if i == 10 then before = bytes end
      if i == 3000 then assert.equal(before, bytes) end
    end
  end)
end)

describe("a clock that is set", function()
  it("does not pass for silence, nor does time in which nobody read", function()
    script 'watermark = { idle = "30s" },'
    local l = host.opened { streams = 1 }
    local a, b = open_stream(l), open_stream(l)
    send(l, a, '{"t":5}\n', 100 * S)
    send(l, b, '{"t":25}\n', 100 * S)
    lib.lunette_clock_set(l, 3600 * S)
    assert.same({}, tick(l, 3710 * S)) -- ten seconds have passed
    lib.lunette_unheard(l, 1000 * S)
    assert.same({}, tick(l, 4715 * S)) -- fifteen
    send(l, b, '{"t":26}\n', 4715 * S)
    assert.same({}, tick(l, 4729 * S))
    assert.same({ "[0,10) 1 on_time" }, tick(l, 4731 * S)) -- thirty-one: `a` is idle
  end)

  it("is idle after 30 s where the script says nothing", function()
    script()
    local l = host.opened { streams = 1 }
    local a, b = open_stream(l), open_stream(l)
    send(l, a, '{"t":5}\n', 100 * S)
    send(l, b, '{"t":25}\n', 110 * S)
    assert.same({}, tick(l, 129 * S))
    assert.same({ "[0,10) 1 on_time" }, tick(l, 130 * S))
  end)

  it("does not pass for delays, and passes a multiple once", function()
    script 'trigger = ln.at_watermark { early = ln.after_delay "20s" },'
    local l = host.opened { streams = 1 }
    send(l, open_stream(l), '{"t":5}\n', 100 * S)
    lib.lunette_clock_set(l, 3600 * S)
    assert.same({}, tick(l, 3719 * S))
    assert.same({ "[0,10) 1 early" }, tick(l, 3720 * S))
    host.clear()
    script 'trigger = ln.at_watermark { early = ln.every "10s" },'
    l = host.opened { streams = 1 }
    send(l, open_stream(l), '{"t":5}\n', 101 * S)
    assert.same({ "[0,10) 1 early" }, tick(l, 111 * S))
    lib.lunette_clock_set(l, 3600 * S)
    assert.same({ "[0,10) 1 early" }, tick(l, 3712 * S)) -- several at once are one
    lib.lunette_clock_set(l, -5 * S)
    assert.same({}, tick(l, 3717 * S))
    assert.same({ "[0,10) 1 early" }, tick(l, 3721 * S))
  end)
end)
