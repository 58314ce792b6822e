--- Times of every form: the same moment however it is written, exact to the microsecond, and nothing wraps at the ends.
local engine = require "spec.support.engine"
local streams = require "spec.support.streams"

local FIRST, LAST = -9223372036854775807LL, 9223372036854775806LL

-- A whole number as bytes; below zero in two's complement.
local function big_endian(n, bytes)
  local out, rest = {}, n + 0LL
  for i = bytes, 1, -1 do
    out[i] = string.char(tonumber(bit.band(rest, 0xffLL)))
    rest = bit.rshift(rest, 8)
  end
  return table.concat(out)
end

-- msgpack timestamps and Fluent's event time, as bytes.
local function timestamp4(seconds) return "\214\255" .. big_endian(seconds, 4) end
local function timestamp8(seconds, ns) return "\215\255" .. big_endian(bit.lshift(ns + 0LL, 34) + seconds, 8) end
local function timestamp12(seconds, ns) return "\199\12\255" .. big_endian(ns, 4) .. big_endian(seconds, 8) end
local function event_time(seconds, ns) return "\215\0" .. big_endian(seconds, 4) .. big_endian(ns, 4) end
local function long_event_time(seconds, ns) return "\199\8\0" .. big_endian(seconds, 4) .. big_endian(ns, 4) end

-- Each record is alone with its time, so that the time is the window's start. W does not move before the end.
local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline { time = { field = "t", unit = "%s" }, window = ln.tumbling(%s), key = "id",
  watermark = { mark = function() end }, aggregate = { n = ln.count() } }
]]

-- The starts of the windows of width one microsecond (or tick), by id, of records given as msgpack with their times as
-- bytes, or as JSON with their times as texts; and how many have no time.
local function starts(unit, times, format)
  local narrow = ({ s = "'1us'", ms = "'1us'", us = "1", ns = "1000", tick = "1", rfc3339 = "'1us'" })[unit]
  local parts = {}
  for i, t in ipairs(times) do
    if format == "json" then parts[i] = ('{"t":%s,"id":%d}\n'):format(t, i)
    else parts[i] = "\130\161t" .. t .. "\162id" .. string.char(i) end
  end
  local script = SCRIPT:format(unit, narrow)
  local r = engine.run(script, table.concat(parts), { format = format or "msgpack", out = "msgpack" })
  local by_id = {}
  for _, pane in ipairs(r.panes) do by_id[pane.key] = pane.start end
  assert.equal(#times, r.stats[1].aggregated + (r.stats[1].rejected.no_time or 0))
  return by_id, r.stats[1].rejected.no_time or 0
end

describe("a msgpack timestamp", function()
  it("of 4, 8 and 12 bytes and a Fluent event time are the same moment, in every unit", function()
    for unit, scale in pairs { s = 1, ms = 1e3, us = 1e6, ns = 1e9, rfc3339 = 1e3 } do
      local by_id, refused = starts(unit, {
        timestamp4(1700000000), timestamp8(1700000000, 0), timestamp12(1700000000, 0), event_time(1700000000, 0),
        long_event_time(1700000000, 0), timestamp8(1700000000, 250000999), timestamp12(1700000000, 250000999),
        event_time(1700000000, 250000999), timestamp4(4294967295), timestamp8(17179869183, 999999999),
      })
      assert.equal(0, refused)
      for i = 1, 5 do assert.equal(1700000000 * scale, tonumber(by_id[i])) end
      for i = 6, 8 do assert.is_true(math.abs(tonumber(by_id[i]) - 1700000000.25 * scale) <= scale * 2 ^ -22) end
      assert.equal(4294967295 * scale, tonumber(by_id[9]))
      assert.is_true(math.abs(tonumber(by_id[10]) - 17179869183.999999 * scale) <= scale * 2 ^ -18)
    end
  end)

  it("keeps microseconds and drops what is finer", function()
    local by_id = starts("us", { timestamp8(5, 123456789), timestamp12(5, 123456999), event_time(5, 999),
      timestamp12(-5, 999) })
    assert.same({ 5123456, 5123456, 5000000, -5000000 }, by_id)
  end)

  it("may lie before 1970", function()
    local by_id = starts("us", { timestamp12(-1, 0), timestamp12(-1, 999999999), timestamp12(-62135596800, 500000) })
    assert.same({ -1000000, -1, -62135596799999500 }, { by_id[1], by_id[2], tonumber(by_id[3]) })
  end)

  it("with 1,000,000,000 nanoseconds and more is refused, and so are other lengths and types", function()
    local _, refused = starts("ms", { timestamp8(5, 1000000000), timestamp12(5, 1000000000), timestamp12(5, 4294967295),
      event_time(5, 1000000000), "\212\255\1", "\213\255\1\1", "\216\255" .. ("\1"):rep(16), "\214\0" .. ("\1"):rep(4),
      "\215\1" .. ("\1"):rep(8), "\199\0\255", timestamp8(5, 999999999) })
    assert.equal(10, refused)
  end)

  it("outside the range is refused, and inside it is exact", function()
    local by_id, refused = starts("us", { timestamp12(9223372036854LL, 775805999),
      timestamp12(9223372036854LL, 775807000),
      timestamp12(2 ^ 62, 0), timestamp12(-2 ^ 62, 0), timestamp12(-9223372036855LL, 224193000),
      timestamp12(-9223372036855LL, 224192000) })
    assert.equal(4, refused)
    assert.equal(LAST - 1, by_id[1])
    assert.equal(FIRST, by_id[5])
  end)
end)

describe("a text of RFC 3339", function()
  local function text_of(seconds, east_minutes, fraction)
    local d = os.date("!*t", seconds + east_minutes * 60)
    local zone = east_minutes == 0 and "Z" or ("%s%02d:%02d"):format(east_minutes < 0 and "-" or "+",
      math.floor(math.abs(east_minutes) / 60), math.abs(east_minutes) % 60)
    return ('"%04d-%02d-%02dT%02d:%02d:%02d%s%s"'):format(d.year, d.month, d.day, d.hour, d.min, d.sec, fraction, zone)
  end

  it("is the same moment with any offset and any number of decimals", function()
    streams.each(40, function(g)
      local texts, want = {}, {}
      for i = 1, 60 do
        -- From the year 1 to 9999, a day apart from the ends, so that offsets stay inside.
        local seconds = g:chance(3) and g:rnd(4e9) - 2e9 or -62135500000 + g:rnd(2 ^ 30) * 293
        local digits = ""
        for _ = 1, g:rnd(15) do digits = digits .. g:rnd(10) end
        local east = g:pick { 0, 0, 60, -300, 330, 845, -720, 1439, -1439 }
        texts[i] = text_of(seconds, east, digits == "" and "" or "." .. digits)
        want[i] = seconds * 1000LL * 1000LL + tonumber((digits .. "000000"):sub(1, 6))
      end
      local by_id, refused = starts("rfc3339", texts, "json")
      assert.equal(0, refused)
      for i = 1, 60 do
        local us = tonumber(want[i])
        assert.is_true(math.abs(tonumber(by_id[i]) * 1000 - us) <= math.max(math.abs(us) * 2 ^ -52, 0), texts[i])
      end
    end)
  end)

  it("floors what is finer than a microsecond, before 1970 too", function()
    local by_id = starts("rfc3339", { '"1970-01-01T00:00:00.0000019Z"', '"1969-12-31T23:59:59.9999999Z"',
      '"1969-12-31T23:59:59.999Z"', '"1970-01-01T00:00:00.123456789012345678901234567890Z"' }, "json")
    assert.same({ 0.001, -0.001, -1, 123.456 }, by_id)
  end)

  it("may be in small letters, and numbers beside it are milliseconds", function()
    local by_id = starts("rfc3339", { '"2023-11-14t22:13:20z"', "1700000000000", "1700000000000.0",
      '"2024-02-29T12:00:00+12:00"',
      '"2000-02-29T00:00:00Z"', '"1999-12-31T24:00:00Z"' }, "json")
    assert.same({ 1700000000000, 1700000000000, 1700000000000, 1709164800000, 951782400000 }, by_id)
  end)

  it("is refused without an offset, and where it is no date or time", function()
    local bad = { "2023-11-14T22:13:20", "2023-11-14", "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
      "2023-00-10T00:00:00Z",
      "2023-13-10T00:00:00Z", "2023-04-31T00:00:00Z", "2023-01-00T00:00:00Z", "2023-01-01T24:00:00Z",
      "2023-01-01T00:60:00Z",
      "2023-01-01T00:00:61Z", "2023-01-01T00:00:00.Z", "2023-01-01T00:00:00+24:00", "2023-01-01T00:00:00+01:60",
      "2023-01-01T00:00:00+0100", "2023-01-01T00:00:00+01", "2023-01-01T00:00:00Zx", "23-01-01T00:00:00Z",
      " 2023-01-01T00:00:00Z",
      "2023-01-01T00:00:00,5Z", "2023-01-01T0x:00:00Z", "", "now", "1700000000000" }
    local texts = {}
    for i, text in ipairs(bad) do texts[i] = ("%q"):format(text) end
    local by_id, refused = starts("rfc3339", texts, "json")
    assert.same({}, by_id)
    assert.equal(#bad, refused)
  end)

  it("is no time in any other unit", function()
    for _, unit in ipairs { "s", "ms", "us", "ns", "tick" } do
      local _, refused = starts(unit, { '"2023-11-14T22:13:20Z"', '"1700000000"', "true", "null", "[1]", '{"t":1}' },
        "json")
      assert.equal(6, refused)
    end
  end)
end)

describe("a number", function()
  it("is the same moment in every unit", function()
    streams.each(30, function(g, about)
      local records = g:records { count = 60, step = 5, jumps = 400 }
      local reference
      for unit, per_ms in pairs { ms = 1, us = 1e3, ns = 1e6, s = 1e-3, rfc3339 = 1 } do
        local scaled = {}
        for i, r in ipairs(records) do scaled[i] = { id = r.id, t = r.t * per_ms, k = r.k, v = r.v, d = r.d } end
        about.script = streams.script { window = ("ln.hopping('%dms', '%dms')"):format(20, 6),
          aggregates = { "n", "s" },
          delay = 5 * per_ms }:gsub("delay = %S+", 'delay = "5ms"'):gsub('field = "t"', '%0, unit = "' .. unit .. '"')
        local r = engine.run(about.script, engine.encode(g:delayed(scaled, 0), "msgpack"), { format = "msgpack" })
        local shown = {}
        for i, p in ipairs(r.panes) do
          shown[i] = { p.key, math.floor(tonumber(p.start) / per_ms + 0.5),
            math.floor(tonumber(p["end"]) / per_ms + 0.5), p.value.n, p.value.s }
        end
        reference = reference or shown
        assert.same(reference, shown)
      end
    end)
  end)

  it("floors where it is whole and finer than a microsecond, and goes to the nearest where it is a double", function()
    assert.same({ 1000, 1000, 0, -1000, -1000, -2000 },
      starts("ns", { "1999", "1000", "999", "-1", "-1000", "-1001" }, "json"))
    assert.same({ 2000, 1000, 0, 1000 }, starts("ns", { "1999.5", "1499.5", "-0.5", "500.5" }, "json"))
    assert.same({ 1.5, 0.001, 0.002, -0.25 }, starts("ms", { "1.5", "0.0014", "0.0016", "-0.25" }, "json"))
    assert.same({ 0.1, 1.000001, -3.5 }, starts("s", { "0.1", "1.0000012", "-3.5" }, "json"))
    assert.same({ 3, 3, -7 }, starts("tick", { "3", "3.0", "-7" }, "json"))
  end)

  it("outside the range is no time, and inside it is exact", function()
    local by_id, refused = starts("us", { "-9223372036854775808", "9223372036854775807", "18446744073709551615", "1e19",
      "-1e300",
      "9223372036854775805", "-9223372036854775807" }, "json")
    assert.equal(5, refused)
    assert.same({ LAST - 1, FIRST }, { by_id[6], by_id[7] })
    by_id, refused = starts("ms", { "9223372036854775", "9223372036854776", "-9223372036854775", "-9223372036854776" },
      "json")
    assert.equal(2, refused)
    assert.same({ 9223372036854775LL, -9223372036854775LL }, { by_id[1], by_id[3] })
    by_id, refused = starts("s", { "9223372036854", "9223372036855", "9223372036854775807" }, "json")
    assert.equal(2, refused)
    assert.equal(9223372036854, by_id[1])
    by_id, refused = starts("ns", { "9223372036854775807", "-9223372036854775808", "1e30", "18446744073709551615" },
      "json")
    assert.equal(1, refused)
    assert.same({ 9223372036854775000LL, 2 ^ 64 }, { by_id[1], by_id[4] }) -- beyond 64 bits bounds are doubles
  end)

  it("that is not finite is no time", function()
    local _, refused = starts("ms", { "\203\127\240\0\0\0\0\0\0", "\203\255\240\0\0\0\0\0\0",
      "\203\127\248\0\0\0\0\0\0" })
    assert.equal(3, refused)
  end)
end)

describe("near the ends of the range", function()
  -- Panes as texts of their bounds, of records at these microseconds.
  local function bounds(times, how)
    local records, out = {}, {}
    for i, t in ipairs(times) do records[i] = { t = t, id = i, k = "a", v = 1, d = 0, b = 0 } end
    how.aggregates = { "n" }
    local script = streams.script(how):gsub('field = "t"', '%0, unit = "us"')
    local r = engine.run(script, engine.encode(records, "msgpack"), { format = "msgpack", out = "msgpack" })
    for i, p in ipairs(r.panes) do
      out[i] = ("%s %s %d"):format(tostring(p.start):gsub("LL", ""), tostring(p["end"]):gsub("LL", ""), p.value.n)
    end
    return out, r.stats[1]
  end

  it("windows end at the last moment", function()
    assert.same({ "9223372036854775800 9223372036854775806 2" },
      (bounds({ LAST - 2, LAST - 1 }, { window = "ln.tumbling(100)" })))
    assert.same({ "9223372036854775799 9223372036854775806 2" },
      (bounds({ LAST - 7, LAST - 1 }, { window = "ln.session(50)" })))
    assert.same({ "9223372036854775799 9223372036854775806 2" },
      (bounds({ LAST - 7, LAST - 1 }, { window = "ln.session(50, { max = 90 })" })))
  end)

  it("windows begin at the first moment", function()
    assert.same({ "-9223372036854775807 -9223372036854775800 2" },
      (bounds({ FIRST, FIRST + 1 }, { window = "ln.tumbling(100)" })))
    assert.same({ "-9223372036854775807 -9223372036854775756 2" },
      (bounds({ FIRST, FIRST + 1 }, { window = "ln.session(50)" })))
  end)

  it("neither delay nor lateness wraps W", function()
    for _, window in ipairs { "ln.tumbling(10)", "ln.session(10)", "ln.hopping(10, 5)" } do
      -- The promise of the first is below the range: nothing is late.
      local _, s = bounds({ FIRST + 100, FIRST + 1, FIRST + 50 }, { window = window, delay = 1000 })
      assert.equal(3, s.aggregated)
      -- What W + lateness would pass is not yet over.
      _, s = bounds({ LAST - 50, LAST - 200, LAST - 100 }, { window = window, lateness = 1000 })
      assert.equal(3, s.aggregated)
      _, s = bounds({ LAST - 50, LAST - 200, FIRST + 1 }, { window = window })
      assert.equal(1, s.aggregated)
      assert.equal(2, s.rejected.late)
    end
  end)

  it("the clock neither wraps delays nor gaps", function()
    local script = [[
      local ln = require "lunette"
      return ln.pipeline { time = { field = "t", unit = "us" }, window = ln.session(1000),
        watermark = { idle = 500, on_idle = "advance" },
        trigger = ln.at_watermark { early = ln.any { ln.after_delay(100), ln.every(7), ln.after_idle(100) } },
        aggregate = { n = ln.count() } }]]
    local run = engine.open(script)
    run:feed('{"t":9223372036854775700}\n', 9223372036854775700LL)
    run:feed('{"t":9223372036854775750}\n', 9223372036854775805LL)
    run:finish(9223372036854775805LL)
    local r = run:result()
    assert.equal(2, r.stats[1].aggregated)
    local last = r.panes[#r.panes]
    assert.same({ 2, 9223372036854775700LL, LAST }, { last.value.n, last.start, last["end"] })
  end)
end)

describe("a jump of ten years over windows of one millisecond", function()
  local TEN_YEARS = 10 * 365 * 86400000

  -- Steps of ten years there, each with a record; the second in milliseconds of event time and of the clock.
  local function jump(how)
    how.aggregates = how.aggregates or { "n" }
    local run = engine.open(streams.script(how))
    local fresh = run:stats().state_bytes
    for step = 0, 5 do
      local t = step * TEN_YEARS
      run:feed(('{"t":%.0f,"k":"k","v":1,"d":1,"b":1}\n'):format(t), t * 1000)
    end
    run:finish(6 * TEN_YEARS * 1000)
    local s = run:stats()
    return run:result(), s, fresh
  end

  for _, case in ipairs {
    { "tumbling", { window = "ln.tumbling(1)" }, opened = 6, panes = 6 },
    { "hopping, in slices", { window = "ln.hopping(3, 1)" }, opened = 18, panes = 18 },
    { "hopping, in cells", { window = "ln.hopping(3, 1)", lateness = 1 }, opened = 18, panes = 18 },
    { "sessions", { window = "ln.session(1)" }, opened = 6, panes = 6 },
    { "sessions with a maximum", { window = "ln.session(1, { max = 1 })" }, opened = 6, panes = 6 },
    { "filled", { window = "ln.tumbling(1)", more = "fill = 2," }, opened = 16, panes = 16 },
    { "fired in event time",
      { window = "ln.tumbling(1)", trigger = "ln.at_watermark { early = ln.every(1, { time = 'event' }) }" },
      opened = 6, panes = 11 },
    { "fired by the clock", { window = "ln.global()", trigger = "ln.every(1)" }, opened = 1, panes = 6 },
    { "with delays of the clock",
      { window = "ln.global()", trigger = "ln.any { ln.after_delay(1), ln.after_idle(1) }" }, opened = 1, panes = 6 },
  } do
    it("costs what is open, not what is between: " .. case[1], function()
      local r, s, fresh = jump(case[2])
      assert.equal(6, s.aggregated)
      assert.equal(case.opened, s.windows_opened)
      assert.equal(case.panes, #r.panes)
      assert.equal(0, s.windows)
      assert.equal(0, s.keys)
      assert.is_true(s.state_bytes <= fresh + 4096)
    end)
  end
end)
