--- The checks of a pipeline, kind by kind, each with the exact line it reports.
local plan = require "lunette.plan"
local check = require("spec.support.plan").check

-- Rows of { text, problem, ... }: the text of line 3, and every line that is reported for it.
local function each_reports(rows)
  for _, row in ipairs(rows) do
    it(row[1], function()
      local pipelines, problems = check(row[1])
      assert.same({ unpack(row, 2) }, problems or {})
      if row[2] then assert.is_nil(pipelines) end
    end)
  end
end

describe("plan.check reports", function()
  describe("fields of a pipeline:", function()
    each_reports {
      { "s.lateness_ = 1", 'p.lua:4: lateness_: unknown field: did you mean "lateness"?' },
      { "s.agregate = {}", 'p.lua:4: agregate: unknown field: did you mean "aggregate"?' },
      { "s[1] = ln.count()", "p.lua:4: [1]: unknown field: the fields are name, time, watermark, where, key, window, "
        .. "trigger, lateness, panes, closing, fill, aggregate, emit, limits, source, sink" },
      { "s.time, s.window, s.aggregate = nil",
        'p.lua:4: time: missing: write { field = "ts", unit = "ms" }, "processing" or function(record) return ... end',
        'p.lua:4: window: missing: write a window, such as ln.tumbling("1m")',
        "p.lua:4: aggregate: missing: write what to keep, such as { n = ln.count() }" },
      { "s = nil", "p.lua:4: ln.pipeline was given nothing: write ln.pipeline { ... }" },
      { "s = ln.count()", "p.lua:4: ln.pipeline was given ln.count: write ln.pipeline { ... }" },
      { 's.name = ""', 'p.lua:4: name: is empty: write a text, such as "spend"' },
      { "s.name = 5", 'p.lua:4: name: is 5: write a text, such as "spend"' },
      { 's.where = "x > 1"', 'p.lua:4: where: is "x > 1": write function(record) return ... end' },
      { "s.emit = {}", "p.lua:4: emit: is a table: write function(pane) return pane end" },
      { 's.panes = "acumulating"', 'p.lua:4: panes: "acumulating" is unknown: did you mean "accumulating"?' },
      { "s.panes = true", 'p.lua:4: panes: is true: write "accumulating" or "discarding" or "retracting"' },
      { 's.closing = "allways"', 'p.lua:4: closing: "allways" is unknown: did you mean "always"?' },
      { 's.closing = "if_new"', 'p.lua:4: closing: "if_new" is unknown: write "always" or leave it out' },
    }
  end)

  describe("durations:", function()
    each_reports {
      { 's.lateness = "30"',
        'p.lua:4: lateness: units missing: "30": write "30s" or "30ms", or the number 30 for milliseconds' },
      { 's.time.unit = "s" s.lateness = "30"',
        'p.lua:4: lateness: units missing: "30": write "30s" or "30ms", or the number 30 for seconds' },
      { 's.lateness = "1h30"',
        'p.lua:4: lateness: units missing in "1h30": put a unit after every number, as in "1h30m"' },
      { 's.lateness = "1 h"', 'p.lua:4: lateness: "1 h" has a space: write "1h"' },
      { 's.lateness = "5sec"',
        'p.lua:4: lateness: unknown unit "sec" in "5sec": the units are us, ms, s, m, h, d, w' },
      { 's.lateness = "soon"',
        'p.lua:4: lateness: "soon" is no duration: write numbers with units, as in "250ms" or "1h30m"' },
      { 's.lateness = ""',
        'p.lua:4: lateness: "" is no duration: write numbers with units, as in "250ms" or "1h30m"' },
      { 's.lateness = "-1s"', 'p.lua:4: lateness: "-1s" is negative: write a duration of 0 or more' },
      { "s.lateness = -1", "p.lua:4: lateness: -1 is negative: write a duration of 0 or more" },
      { 's.lateness = "0.5us"', 'p.lua:4: lateness: "0.5us" is not a whole number of microseconds: round it' },
      { "s.lateness = 0.0005", "p.lua:4: lateness: 0.0005 is not a whole number of microseconds: round it" },
      { 's.time.unit = "ns" s.lateness = 1500',
        "p.lua:4: lateness: 1500 is not a whole number of microseconds: round it" },
      { 's.lateness = "14893w"',
        'p.lua:4: lateness: "14893w" is beyond 2^53 microseconds (285 years): write a shorter one' },
      { "s.lateness = 2^53 / 1000",
        "p.lua:4: lateness: 9007199254741 is beyond 2^53 microseconds (285 years): write a shorter one" },
      { "s.lateness = 0/0", "p.lua:4: lateness: NaN is not finite: write a finite duration" },
      { "s.lateness = 1/0", "p.lua:4: lateness: inf is not finite: write a finite duration" },
      { "s.lateness = {}",
        'p.lua:4: lateness: is a table: write a text such as "30s", or a number of milliseconds' },
      { 's.time.unit = "tick" s.lateness = "30s"',
        'p.lua:4: lateness: "30s" is a text, and ticks take numbers only: write the number of ticks' },
      { 's.time.unit = "tick" s.lateness = 0.5',
        "p.lua:4: lateness: 0.5 is not a whole number of ticks: round it" },
      { 's.time.unit = "tick" s.lateness = 2^53', "p.lua:4: lateness: 9.007199254741e+15 is beyond 2^53 ticks: "
        .. "write a shorter one" },
      { 's.time.unit = "tick" s.lateness = true', "p.lua:4: lateness: is true: write a number of ticks" },
    }
  end)

  describe("time:", function()
    local like = 'write { field = "ts", unit = "ms" }, "processing" or function(record) return ... end'
    each_reports {
      { 's.time = "ts"', 'p.lua:4: time: "ts" is unknown: write time = { field = "ts" }' },
      { 's.time = "procesing"', 'p.lua:4: time: "procesing" is unknown: did you mean "processing"?' },
      { "s.time = 5", "p.lua:4: time: is 5: " .. like },
      { "s.time = {}", 'p.lua:4: time.field: missing: write the name of a field, such as "user" or "meta.zone"' },
      { 's.time = { field = "a..b" }',
        'p.lua:4: time.field: "a..b" has an empty part: put one dot between two names' },
      { 's.time = { feild = "t", fn = f }', 'p.lua:4: time.feild: unknown field: did you mean "field"?' },
      { 's.time = { field = "t", fn = f }', "p.lua:4: time: has both field and fn: leave one of them out" },
      { 's.time = { fn = "t" }', 'p.lua:4: time.fn: is "t": write function(record) return ... end' },
      { 's.time.unit = "rfc339"', 'p.lua:4: time.unit: "rfc339" is unknown: did you mean "rfc3339"?' },
      { "s.time.unit = 5",
        'p.lua:4: time.unit: is 5: write "s" or "ms" or "us" or "ns" or "tick" or "rfc3339"' },
    }
  end)

  describe("watermark:", function()
    each_reports {
      { 's.watermark = "2s"', 'p.lua:4: watermark: is "2s": write a table, such as { delay = "5s" }' },
      { "s.watermark = { dealy = 1 }", 'p.lua:4: watermark.dealy: unknown field: did you mean "delay"?' },
      { "s.watermark = { delay = -1 }", "p.lua:4: watermark.delay: -1 is negative: write a duration of 0 or more" },
      { "s.watermark = { source = 5 }",
        'p.lua:4: watermark.source: is 5: write the name of a field, such as "user" or "meta.zone"' },
      { 's.watermark = { source = "h", sources = 0 }',
        "p.lua:4: watermark.sources: is 0: write a whole number from 1" },
      { "s.watermark = { idle = 0 }", "p.lua:4: watermark.idle: is 0: write a duration above 0" },
      { 's.watermark = { on_idle = "advance" }',
        'p.lua:4: watermark.on_idle: does nothing without idle: add idle = "30s", or leave it out' },
      { 's.watermark = { idle = 1, on_idle = "advnace" }',
        'p.lua:4: watermark.on_idle: "advnace" is unknown: did you mean "advance"?' },
      { 's.watermark = { max_ahead = "1" }',
        'p.lua:4: watermark.max_ahead: units missing: "1": write "1s" or "1ms", or the number 1 for milliseconds' },
      { "s.watermark = { mark = 3 }", "p.lua:4: watermark.mark: is 3: write function(record) return t end" },
      { 's.time, s.watermark = "processing", { delay = 1 }', 'p.lua:4: watermark: does nothing with time = "processing"'
        .. ", where the clock is the watermark: leave one of them out" },
    }
  end)

  describe("key:", function()
    local path = 'write the name of a field, such as "user" or "meta.zone"'
    local how = 'write a field, as in "user", several, as in { "user", "region" }, or function(record) return ... end'
    each_reports {
      { "s.key = 5", "p.lua:4: key: is 5: " .. how },
      { 's.key = ""', "p.lua:4: key: is empty: " .. path },
      { 's.key = "a."', 'p.lua:4: key: "a." has an empty part: put one dot between two names' },
      { "s.key = {}", "p.lua:4: key: is empty: " .. how },
      { 's.key = { field = "user" }', "p.lua:4: key: is no plain list: " .. how },
      { 's.key = { "a", nil, "c" }', "p.lua:4: key: is a list with holes: " .. how },
      { 's.key = { "a", 5, "" }', "p.lua:4: key[2]: is 5: " .. path, "p.lua:4: key[3]: is empty: " .. path },
      { 's.key = {} for i = 1, 17 do s.key[i] = "f" .. i end',
        "p.lua:4: key: has 17 fields: write at most 16, or a function" },
    }
  end)

  describe("windows:", function()
    each_reports {
      { "s.window = ln.each()", 'p.lua:3: window: is ln.each: write a window, such as ln.tumbling("1m")' },
      { "s.window = ln.global", "p.lua:4: window: is the function ln.global, not called: call it: ln.global(...)" },
      { "s.window = 10", 'p.lua:4: window: is 10: write a window, such as ln.tumbling("1m")' },
      { "s.window = ln.tumbling()",
        'p.lua:3: window.size: missing: write a text such as "30s", or a number of milliseconds' },
      { "s.window = ln.tumbling(0)", "p.lua:3: window.size: is 0: write a duration above 0" },
      { 's.window = ln.hopping("1m", "0s")', "p.lua:3: window.hop: is 0: write a duration above 0" },
      { "s.window = ln.hopping(10, 5, { offest = 3 })",
        'p.lua:3: window.offest: unknown field: did you mean "offset"?' },
      { "s.window = ln.tumbling(10, 5)", "p.lua:3: window.options: is 5: write them in a table: { offset = ... }" },
      { "s.window = ln.tumbling(10, nil, 5)",
        "p.lua:3: window: too many arguments for ln.tumbling: write ln.tumbling(size, options)" },
      { 's.window = ln.hopping("101s", "1ms")', "p.lua:3: window.hop: a record would be in 101000 windows, and 100,000 "
        .. "is the most: write a larger hop or a smaller size" },
      { 's.window = ln.hopping("100s", "1ms")' },
      { "s.window = ln.session(0)", "p.lua:3: window.gap: is 0: write a duration above 0" },
      { 's.window = ln.session("-30m")', 'p.lua:3: window.gap: "-30m" is negative: write a duration above 0' },
      { 's.window = ln.session("30m", { max = "12m" })',
        "p.lua:3: window.max: is shorter than the gap: write a max of at least the gap" },
      { 's.window = ln.session("30m", { max = "30m" })' },
      { "s.window = ln.global(5)", "p.lua:3: window: too many arguments for ln.global: write ln.global()" },
      { 's.window = ln.assigner "x"', 'p.lua:3: window.fn: is "x": write function(t, record) return start, stop end' },
      { "s.window = ln.assigner(f, { merge = true })", "p.lua:3: window.longest: missing, and merge needs it: "
        .. "write how long the window of a record can be" },
      { "s.window = ln.assigner(f, { longest = 5 })",
        "p.lua:3: window.longest: does nothing without merge: add merge = true, or leave it out" },
      { "s.window = ln.assigner(f, { merge = 1 })", "p.lua:3: window.merge: is 1: write true or false" },
    }
  end)

  describe("triggers:", function()
    local like = "write a trigger, such as ln.each() or ln.after_count(100)"
    each_reports {
      { "s.trigger = ln.each", "p.lua:4: trigger: is the function ln.each, not called: call it: ln.each(...)" },
      { 's.trigger = "each"', 'p.lua:4: trigger: is "each": ' .. like },
      { "s.trigger = ln.count()", "p.lua:3: trigger: is ln.count: " .. like },
      { "s.trigger = ln.once(ln.at_watermark())", "p.lua:3: trigger.once: ln.at_watermark inside of another trigger: "
        .. "make it the outermost one, with the other as its early or late part" },
      { "s.trigger = ln.at_watermark { erly = ln.each() }",
        'p.lua:3: trigger.erly: unknown field: did you mean "early"?' },
      { "s.trigger = ln.at_watermark(ln.each())",
        "p.lua:3: trigger.options: is ln.each: write them in a table: { early = ... }" },
      { "s.trigger = ln.at_watermark { early = 5, late = ln.after_count(0) }",
        "p.lua:3: trigger.early: is 5: " .. like, "p.lua:3: trigger.late.n: is 0: write a whole number from 1" },
      { "s.trigger = ln.after_count(1.5)",
        "p.lua:3: trigger.n: 1.5 is no whole number: write a whole number from 1" },
      { "s.trigger = ln.after_count(2^53)",
        "p.lua:3: trigger.n: 9007199254740992 is too large: write at most 9007199254740991" },
      { "s.trigger = ln.after_count()", "p.lua:3: trigger.n: missing: write a whole number from 1" },
      { 's.trigger = ln.every("0s")', "p.lua:3: trigger.period: is 0: write a duration above 0" },
      { 's.trigger = ln.every(5, { time = "evnt", if_new = "yes" })',
        'p.lua:3: trigger.time: "evnt" is unknown: did you mean "event"?',
        'p.lua:3: trigger.if_new: is "yes": write true or false' },
      { "s.trigger = ln.after_delay(-1)", "p.lua:3: trigger.delay: -1 is negative: write a duration of 0 or more" },
      { 's.time.unit = "tick" s.trigger = ln.after_idle("1s")',
        'p.lua:3: trigger.delay: "1s" is a text, and ticks take numbers only: write the number of ticks' },
      { "s.trigger = ln.when(true)", "p.lua:3: trigger.fn: is true: write function(window, record) return ... end" },
      { "s.trigger = ln.any {}", "p.lua:3: trigger: is empty: write ln.any { trigger, ... }" },
      { "s.trigger = ln.all { ln.each(), 5 }", "p.lua:3: trigger[2]: is 5: " .. like },
      { "s.trigger = ln.sequence(ln.each(), ln.never())",
        "p.lua:3: trigger: its parts stand outside of a list: write ln.sequence { trigger, ... }" },
      { "s.trigger = ln.sequence()", "p.lua:3: trigger: missing: write ln.sequence { trigger, ... }" },
      { "s.trigger = ln.any { x = ln.each() }",
        "p.lua:3: trigger: is no plain list: write ln.any { trigger, ... }" },
      { "s.trigger = ln.once()", "p.lua:3: trigger.once: missing: " .. like },
      { "s.trigger = ln.each(5)", "p.lua:3: trigger: too many arguments for ln.each: write ln.each()" },
      { "s.trigger = ln.each() for _ = 1, 6 do s.trigger = ln.any { s.trigger, s.trigger } end",
        "p.lua:3: trigger: more than 64 triggers within each other: say it with an ln.when" },
      { "s.trigger = ln.each() for _ = 1, 5 do s.trigger = ln.any { s.trigger, s.trigger } end" },
      { "local l = {} l[1] = ln.all(l) s.trigger = ln.at_watermark { late = l[1] }",
        "p.lua:3: trigger.late: more than 64 triggers within each other: say it with an ln.when" },
      { "local l = {} for i = 1, 9 do l[i] = ln.sequence { ln.each() } end s.trigger = ln.any(l)",
        "p.lua:3: trigger: more than 8 sequences: say it with an ln.when" },
      { "local l = {} for i = 1, 8 do l[i] = ln.sequence { ln.each() } end s.trigger = ln.any(l)" },
    }
  end)

  describe("fill:", function()
    each_reports {
      { "s.fill = 0", "p.lua:4: fill: is 0: write a whole number from 1" },
      { "s.fill = true", "p.lua:4: fill: is true: write a whole number from 1" },
      { "s.window, s.fill = ln.global(), 1",
        "p.lua:4: fill: empty windows stand on a grid only: use ln.tumbling or ln.hopping, or leave it out" },
      { "s.trigger, s.fill = ln.each(), 1", "p.lua:4: fill: empty windows leave on time only: "
        .. "use ln.at_watermark as the outermost trigger, or leave it out" },
      { "s.window, s.fill = ln.sliding(10, 20), 1" },
      { "s.trigger, s.fill = ln.at_watermark { early = ln.each() }, 1" },
    }
  end)

  describe("aggregates:", function()
    local path = 'write the name of a field, such as "user" or "meta.zone"'
    local like = 'write an aggregate, such as ln.count() or ln.sum "amount"'
    each_reports {
      { "s.aggregate = {}", "p.lua:4: aggregate: is empty: write what to keep, such as { n = ln.count() }" },
      { "s.aggregate = 5", "p.lua:4: aggregate: is 5: write what to keep, such as { n = ln.count() }" },
      { "s.aggregate = ln.count()",
        "p.lua:3: aggregate: is ln.count without a name: write aggregate = { n = ln.count() }" },
      { 's.aggregate = { ln.count(), [""] = ln.count() }',
        'p.lua:3: aggregate[""]: has no name: write every aggregate with a name: { n = ln.count() }',
        "p.lua:3: aggregate[1]: has no name: write every aggregate with a name: { n = ln.count() }" },
      { "s.aggregate.n = ln.count",
        "p.lua:4: aggregate.n: is the function ln.count, not called: call it: ln.count(...)" },
      { "s.aggregate.n = ln.each()", "p.lua:3: aggregate.n: is ln.each: " .. like },
      { 's.aggregate["a b"] = 5', 'p.lua:4: aggregate["a b"]: is 5: ' .. like },
      { "s.aggregate.n = ln.count(5)", "p.lua:3: aggregate.n.field: is 5: " .. path },
      { "s.aggregate.s = ln.sum()", "p.lua:3: aggregate.s.field: missing: " .. path },
      { 's.aggregate.s = ln.avg ".x"',
        'p.lua:3: aggregate.s.field: ".x" has an empty part: put one dot between two names' },
      { 's.aggregate.s = ln.sum("a", "b")',
        "p.lua:3: aggregate.s: too many arguments for ln.sum: write ln.sum(field)" },
    }
  end)

  describe("folds:", function()
    each_reports {
      { "s.aggregate.f = ln.fold()",
        "p.lua:3: aggregate.f: missing its functions: write ln.fold { init = ..., add = ... }" },
      { "s.aggregate.f = ln.fold(f)",
        "p.lua:3: aggregate.f: is a function: write ln.fold { init = ..., add = ... }" },
      { "s.aggregate.f = ln.fold {}", "p.lua:3: aggregate.f.init: missing: write function() return ... end",
        "p.lua:3: aggregate.f.add: missing: write function(acc, record) return acc end" },
      { "s.aggregate.f = ln.fold { init = f, add = f, mrege = f }",
        'p.lua:3: aggregate.f.mrege: unknown field: did you mean "merge"?' },
      { "s.aggregate.f = ln.fold { init = 0, add = f, merge = 1, result = 2 }",
        "p.lua:3: aggregate.f.init: is 0: write function() return ... end",
        "p.lua:3: aggregate.f.merge: is 1: write function(a, b) return ... end",
        "p.lua:3: aggregate.f.result: is 2: write function(acc) return ... end" },
      { "s.window, s.aggregate.f = ln.session(5), ln.fold { init = f, add = f }",
        "p.lua:3: aggregate.f.merge: missing, and windows of ln.session merge: "
        .. "write merge = function(a, b) return ... end" },
      { "s.window, s.aggregate.f = ln.assigner(f, { merge = true, longest = 5 }), ln.fold { init = f, add = f }",
        "p.lua:3: aggregate.f.merge: missing, and windows of ln.assigner merge: "
        .. "write merge = function(a, b) return ... end" },
      { "s.window, s.aggregate.f = ln.session(5, { max = 9 }), ln.fold { init = f, add = f }" },
      { "s.window, s.aggregate.f = ln.assigner(f), ln.fold { init = f, add = f }" },
    }
  end)

  describe("limits:", function()
    each_reports {
      { "s.limits = 5", "p.lua:4: limits: is 5: write a table, such as { nesting = 32 }" },
      { "s.limits = { elments = 5 }", 'p.lua:4: limits.elments: unknown field: did you mean "elements"?' },
      { "s.limits = { nesting = 0 }", "p.lua:4: limits.nesting: is 0: write a whole number from 1" },
      { 's.limits = { state_bytes = "1G" }', 'p.lua:4: limits.state_bytes: is "1G": write a whole number from 1' },
      { "s.limits = { distinct_values = 0/0 }",
        "p.lua:4: limits.distinct_values: NaN is no whole number: write a whole number from 1" },
      { "s.limits = { record_bytes = 2^32 }",
        "p.lua:4: limits.record_bytes: 4294967296 is too large: write at most 1073741824" },
    }
  end)

  describe("what a script returns:", function()
    local how = "return ln.pipeline { ... }, or a list of them"
    for given, what in pairs {
      ["nil"] = "p.lua:9: the script returns nothing: " .. how,
      ["5"] = "p.lua:9: the script returns 5: " .. how,
      ["{}"] = "p.lua:9: the script returns an empty list: " .. how,
      ["{ x = 1 }"] = "p.lua:9: is no plain list: " .. how,
      ["ln.each()"] = "p.lua:1: the script returns ln.each: " .. how,
      ["ln.pipeline"] = "p.lua:9: the script returns the function ln.pipeline, not called: " .. how,
      ["{ window = 1 }"] = "p.lua:9: the script returns a plain table: write ln.pipeline before it",
    } do
      it(given, function()
        local script = 'local ln = require "lunette" local x = ' .. given .. " return x"
        local pipelines, problems = plan.check(assert(loadstring(script, "@p.lua"))(), "p.lua:9")
        assert.is_nil(pipelines)
        assert.same({ what }, problems)
      end)
    end

    it("what is no pipeline in a list, and equal names", function()
      local ln = require "lunette"
      local fields = { name = "a", time = "processing", window = ln.global(), aggregate = { n = ln.count() } }
      local line = debug.getinfo(1, "l").currentline + 1
      local _, problems = plan.check({ ln.pipeline(fields), 5, ln.pipeline(fields) }, "p.lua:9")
      local here = debug.getinfo(1, "S").source:sub(2) .. ":" .. line
      assert.same({
        "p.lua:9: [2]: is 5: write a pipeline, such as ln.pipeline { ... }",
        here .. ': name: another pipeline is named "a": give each its own name',
      }, problems)
    end)
  end)

  it("everything at once, in the order of the fields", function()
    local text = 's.window, s.lateness, s.nmae = ln.tumbling("x"), -1, 1 s.aggregate.a = s.window s.emit = 1'
    local _, problems = check(text)
    assert.same({
      'p.lua:4: nmae: unknown field: did you mean "name"?',
      'p.lua:3: window.size: "x" is no duration: write numbers with units, as in "250ms" or "1h30m"',
      "p.lua:4: lateness: -1 is negative: write a duration of 0 or more",
      'p.lua:3: aggregate.a: is ln.tumbling: write an aggregate, such as ln.count() or ln.sum "amount"',
      "p.lua:4: emit: is 1: write function(pane) return pane end",
    }, problems)
  end)

  it("a table that two pipelines share only once", function()
    local script = [[
      local ln = require "lunette"
      local s = { time = "processing", window = ln.tumbling(0), aggregate = { n = ln.count() } }
      local a = ln.pipeline(s)
      s.name, s.emit = "b", 1
      local b = ln.pipeline(s)
      local list = { a, b }
      return list]]
    local _, problems = plan.check(assert(loadstring(script, "@p.lua"))())
    assert.same({
      "p.lua:2: window.size: is 0: write a duration above 0",
      "p.lua:5: emit: is 1: write function(pane) return pane end",
    }, problems)
  end)
end)
