--- What good pipelines become when they are checked: the same in numbers, with every default in place.
local plan = require "lunette.plan"
local check = require("spec.support.plan").check

describe("plan.check puts", function()
  local function f() end

  local function field(name, text)
    local pipelines, problems = check(text, f)
    assert.is_nil(problems)
    return pipelines[1][name]
  end

  it("a small pipeline in numbers, with its defaults", function()
    assert.same({
      {
        name = "pipeline",
        origin = "p.lua:4",
        time = { kind = "field", path = "t", unit = "ms" },
        watermark = { delay_us = 0, sources = 1, on_idle = "hold" },
        key = { kind = "none" },
        window = { kind = "grid", size_us = 1e6, hop_us = 1e6, offset_us = 0 },
        trigger = { root = "at_watermark", early = { kind = "never" }, late = { kind = "each" } },
        lateness_us = 0,
        panes = "accumulating",
        closing_always = false,
        aggregates = { { name = "n", kind = "count" } },
        limits = {
          record_bytes = 4194304, nesting = 32, elements = 65536, state_bytes = 1073741824, distinct_values = 1000000,
        },
      },
    }, (check ""))
  end)

  it("a large pipeline in numbers", function()
    local text = [[
      s = {
        name = "spend", time = { field = f, unit = "s" }, where = f, emit = f, key = { "user", "meta.zone" }, fill = 3,
        watermark = { delay = "2s", source = "host", sources = 2, idle = 30, on_idle = "advance", max_ahead = "1d",
          mark = f },
        window = ln.hopping("1h", "30m", { offset = "-5m" }), lateness = 0.5, panes = "retracting", closing = "always",
        trigger = ln.at_watermark { early = ln.every("10s", { time = "event", if_new = true }), late = ln.never() },
        aggregate = { total = ln.sum "amount", N = ln.count(f),
          worst = ln.fold { init = f, add = f, merge = f, result = f },
          first = ln.first "a.b", kinds = ln.distinct("kind", { approx = false }) },
        limits = { nesting = 8, state_bytes = 2^40 },
      }]]
    assert.same({
      {
        name = "spend",
        origin = "p.lua:4",
        time = { kind = "function", fn = f, unit = "s" },
        watermark = {
          delay_us = 2e6, source = "host", sources = 2, idle_us = 30e6, on_idle = "advance",
          max_ahead_us = 86400e6, mark = f,
        },
        where = f,
        key = { kind = "composite", paths = { "user", "meta.zone" } },
        window = { kind = "grid", size_us = 3600e6, hop_us = 1800e6, offset_us = 1500e6 },
        trigger = {
          root = "at_watermark",
          early = { kind = "every", period_us = 10e6, time = "event", if_new = true },
          late = { kind = "never" },
        },
        lateness_us = 500000,
        panes = "retracting",
        closing_always = true,
        fill = 3,
        aggregates = {
          { name = "N", kind = "count", fn = f },
          { name = "first", kind = "first", path = "a.b" },
          { name = "kinds", kind = "distinct", path = "kind" },
          { name = "total", kind = "sum", path = "amount" },
          { name = "worst", kind = "fold", init = f, add = f, merge = f, result = f },
        },
        emit = f,
        limits = {
          record_bytes = 4194304, nesting = 8, elements = 65536, state_bytes = 2 ^ 40, distinct_values = 1000000,
        },
      },
    }, (check((text:gsub("\n", " ")), f)))
  end)

  it("every form of time", function()
    assert.same({ kind = "processing", unit = "ms" }, field("time", 's.time = "processing"'))
    assert.same({ kind = "function", fn = f, unit = "ms" }, field("time", "s.time = f"))
    assert.same({ kind = "function", fn = f, unit = "tick" }, field("time", 's.time = { fn = f, unit = "tick" }'))
    assert.same({ kind = "field", path = "a.t", unit = "ns" }, field("time", 's.time = { field = "a.t", unit = "ns" }'))
  end)

  it("every form of key", function()
    assert.same({ kind = "field", path = "user" }, field("key", 's.key = "user"'))
    assert.same({ kind = "composite", paths = { "user" } }, field("key", 's.key = { "user" }'))
    assert.same({ kind = "function", fn = f }, field("key", "s.key = f"))
  end)

  it("every kind of window", function()
    local rows = {
      ["ln.tumbling(10, { offset = -7 })"] = { kind = "grid", size_us = 10000, hop_us = 10000, offset_us = 3000 },
      ["ln.sliding(10, 60, { offset = 61 })"] = { kind = "grid", size_us = 10000, hop_us = 60000, offset_us = 1000 },
      ['ln.session("30m")'] = { kind = "session", gap_us = 1800e6 },
      ['ln.session("30m", { max = "12h" })'] = { kind = "session", gap_us = 1800e6, max_us = 43200e6 },
      ["ln.global()"] = { kind = "global" },
      ["ln.assigner(f)"] = { kind = "assigner", fn = f, merge = false },
      ["ln.assigner(f, { merge = true, longest = 5 })"] = {
        kind = "assigner", fn = f, merge = true, longest_us = 5000,
      },
    }
    for text, want in pairs(rows) do assert.same(want, field("window", "s.window = " .. text)) end
  end)

  it("every kind of trigger", function()
    local function plain(tree) return { root = "plain", tree = tree } end
    local each = { kind = "each" }
    local once = { kind = "once", trigger = each }
    local rows = {
      ["ln.each()"] = plain(each),
      ["ln.never()"] = plain { kind = "never" },
      ["ln.after_count(3)"] = plain { kind = "after_count", n = 3 },
      ["ln.every(7)"] = plain { kind = "every", period_us = 7000, time = "processing", if_new = false },
      ["ln.after_delay(0)"] = plain { kind = "after_delay", delay_us = 0 },
      ["ln.after_idle '1s'"] = plain { kind = "after_idle", delay_us = 1e6 },
      ["ln.when(f)"] = plain { kind = "when", fn = f },
      ["ln.any { ln.each() }"] = plain { kind = "any", list = { each } },
      ["ln.all { ln.each(), ln.each() }"] = plain { kind = "all", list = { each, each } },
      ["ln.sequence { ln.once(ln.each()) }"] = plain { kind = "sequence", list = { once } },
      ["ln.at_watermark()"] = { root = "at_watermark", early = { kind = "never" }, late = each },
      ["ln.at_watermark { early = ln.each() }"] = { root = "at_watermark", early = each, late = each },
    }
    for text, want in pairs(rows) do assert.same(want, field("trigger", "s.trigger = " .. text)) end
  end)

  it("a watermark of marks alone without a delay", function()
    assert.same({ delay_us = math.huge, sources = 1, on_idle = "hold", mark = f },
      field("watermark", "s.watermark = { mark = f }"))
    assert.equal(0, field("watermark", "s.watermark = { mark = f, delay = 0 }").delay_us)
  end)

  it("durations in microseconds, exactly", function()
    local rows = {
      ['"250ms"'] = 250e3, ['"1h30m"'] = 5400e6, ['"7d"'] = 604800e6, ['"2w"'] = 1209600e6, ['"3us"'] = 3,
      ['"1.5s"'] = 1500000, ['"0.000001s"'] = 1, ['"1.1s"'] = 1100000, ['"0.1d"'] = 8640e6, ['"1.50h"'] = 5400e6,
      ['"0s"'] = 0, ["0.3"] = 300, ["0.1 + 0.2"] = 300, ["5"] = 5000, ["9007199254740"] = 9007199254740000,
    }
    for text, want in pairs(rows) do assert.equal(want, field("lateness_us", "s.lateness = " .. text)) end
    local units = { s = 7e6, ms = 7000, us = 7, tick = 7, rfc3339 = 7000 }
    for unit, want in pairs(units) do
      assert.equal(want, field("lateness_us", ("s.time.unit = %q s.lateness = 7"):format(unit)))
    end
    assert.equal(7, field("lateness_us", 's.time.unit = "ns" s.lateness = 7000'))
  end)

  it("names on pipelines that have none, and one node twice in its own unit each", function()
    local ln = require "lunette"
    local window, aggregate = ln.tumbling(10), { n = ln.count() }
    local pipelines = assert(plan.check {
      ln.pipeline { time = { field = "t", unit = "s" }, window = window, aggregate = aggregate },
      ln.pipeline { name = "x", time = "processing", window = window, aggregate = aggregate },
      ln.pipeline { time = { field = "t", unit = "tick" }, window = window, aggregate = aggregate },
    })
    local got = {}
    for i, p in ipairs(pipelines) do got[i] = p.name .. " " .. p.window.size_us end
    assert.same({ "pipeline_1 10000000", "x 10000", "pipeline_3 10" }, got)
  end)
end)
