--- However the input is cut into reads and batches, the output is the same, byte for byte.
local engine = require "spec.support.engine"
local generate = require "spec.support.generate"
local json = require "spec.support.json"
local streams = require "spec.support.streams"

local ROWS = { 1, 2, 7, 64, 1024 }

-- One of each kind of pipeline; together they use every function that a script can have.
local kinds = {
  ["fields only"] = [[return ln.pipeline {
    time = { field = "t" }, key = "k", window = ln.hopping(20, 10), watermark = { delay = 5 },
    aggregate = { n = ln.count(), s = ln.sum "v", last = ln.last "x", xs = ln.distinct "x" } }]],
  ["functions of records"] = [[return ln.pipeline {
    time = { field = function(r) return r.t + 1 end }, key = function(r) return { r.k, r.v % 2 } end,
    watermark = { mark = function(r) return r.v > 5 and r.t - 3 or nil end },
    where = function(r) return r.v ~= 2 end, window = ln.tumbling(10), lateness = 10,
    aggregate = { n = ln.count(), s = ln.sum(function(r) return r.v * 2 end),
      x = ln.last(function(r) return r.x end) } }]],
  ["folds, absorbed sessions"] = [[return ln.pipeline {
    time = { field = "t" }, key = "k", window = ln.session(6), watermark = { delay = 20 }, trigger = ln.after_count(2),
    aggregate = { ids = ln.fold { init = function() return {} end,
      add = function(a, r) a[#a + 1] = r.id return a end,
      merge = function(a, b) for _, id in ipairs(b) do a[#a + 1] = id end return a end } } }]],
  ["records that wait, predicates"] = [[return ln.pipeline {
    time = { field = "t" }, key = "k", window = ln.session(6, { max = 15 }), watermark = { delay = 12 }, lateness = 5,
    trigger = ln.any { ln.when(function(w, r) return r.v + w.value.n > 8 end), ln.after_count(3) },
    aggregate = { n = ln.count(), f = ln.fold { init = function() return 0 end,
      add = function(a, r) return a + ln.copy(r).v end, merge = function(a, b) return a + b end } } }]],
  ["predicates, emit, retractions"] = [[return ln.pipeline {
    time = { field = "t" }, key = "k", window = ln.session(6), watermark = { delay = 12 }, panes = "retracting",
    trigger = ln.at_watermark { early = ln.when(function(w, r) return r.v > 3 and w.value.s > 4 end) },
    aggregate = { n = ln.count(), s = ln.sum "v" },
    emit = function(p) if p.pane ~= 1 then p.value.two = p.value.n * 2 return p end end }]],
  ["assigners"] = [[return ln.pipeline {
    window = ln.assigner(function(t, r) if r.v ~= 3 then return t, t + r.v + 2, t - 4, t + 1 end end),
    time = { field = "t" }, key = "k", trigger = ln.each(), panes = "discarding", aggregate = { n = ln.count() } }]],
  ["merging assigners, errors"] = [[return ln.pipeline {
    time = { field = "t" }, key = "k", watermark = { delay = 10 }, trigger = ln.after_count(2),
    window = ln.assigner(function(t, r) if r.v == 4 then error "no" end return t - 2, t + 4 end,
      { merge = true, longest = 9 }),
    aggregate = { n = ln.count(), s = ln.sum(function(r) return r.v < 1 and r.none.x or r.v end) } }]],
  ["the clock, sources"] = [[return ln.pipeline {
    time = { field = "t" }, key = "k", window = ln.tumbling(8), lateness = 20, fill = 2,
    watermark = { source = "x", sources = 2, idle = 9, on_idle = "advance" },
    trigger = ln.at_watermark { early = ln.any { ln.every(4), ln.after_idle(3) }, late = ln.after_delay(2) },
    aggregate = { n = ln.count() } }]],
  ["several pipelines"] = [[
    local one = ln.pipeline { name = "one", time = { field = "t" }, window = ln.tumbling(9), trigger = ln.each(),
      aggregate = { n = ln.count(), f = ln.fold { init = function() return 0 end,
        add = function(a, r) return a + r.v end } } }
    local two = ln.pipeline { name = "two", time = { field = "t" }, window = ln.global(), key = "x",
      where = function(r) return r.v > 0 end, trigger = ln.after_count(2), aggregate = { v = ln.last "v" } }
    local three = ln.pipeline { name = "three", time = "processing", window = ln.session(5),
      aggregate = { n = ln.count() } }
    return { one, two, three }]],
}

local function small_records()
  local g = streams.source(3)
  local records = {}
  for id = 1, 14 do
    records[id] = { id = id, t = id * 3 + g:rnd(12) - 6, k = g:pick { "a", "b" }, v = g:rnd(10) - 1,
      x = g:pick { "x", 7, false } }
  end
  return records
end

local function small(format)
  local bytes = engine.encode(small_records(), format)
  if format == "json" then return (bytes:gsub("\n", "\nnot JSON\n", 1)) .. '{"t":1e400}' end
  return bytes
end

-- What must not depend on reads and batches: one text. In which order scripts' errors are told does.
local function shown(r)
  local accounts = {}
  for i, s in ipairs(r.stats) do
    s.state_bytes = nil
    s.watermark_us = tostring(s.watermark_us)
    accounts[i] = json.encode(s)
  end
  table.sort(r.notices)
  return table.concat({ r.bytes, r.reject_bytes, table.concat(r.notices, "\n"), r.script_errors,
    table.concat(accounts, "\n"), tostring(r.broken) }, "\n--\n")
end

-- Two texts, of which a failure shows where they part.
local function assert_same(want, got, how)
  if want == got then return end
  local at = 1
  while want:byte(at) == got:byte(at) do at = at + 1 end
  local from = math.max(at - 200, 1)
  error(("%s\nwant ...%s...\ngot  ...%s..."):format(how, want:sub(from, at + 200), got:sub(from, at + 200)), 0)
end

describe("the output does not depend on where the input is cut", function()
  local names = {}
  for name in pairs(kinds) do names[#names + 1] = name end
  table.sort(names)

  for _, name in ipairs(names) do
    local script = 'local ln = require "lunette"\n' .. kinds[name] .. "\n"
    for _, format in ipairs { "json", "msgpack" } do
      it(("at any byte: %s, %s"):format(name, format), function()
        local pipelines, input = engine.load(script), small(format)
        local options = { clock = "t", format = format }
        local reference = engine.run(pipelines, input, options)
        assert.is_true(#reference.panes > 5)
        local want = shown(reference)
        for at = 1, #input - 1 do
          options.pieces = function(i) return i == 1 and at or math.huge end
          options.rows_max = ROWS[at % #ROWS + 1]
          assert_same(want, shown(engine.run(pipelines, input, options)), "cut after byte " .. at)
        end
        options.pieces = 1
        for _, rows_max in ipairs(ROWS) do
          options.rows_max = rows_max
          assert_same(want, shown(engine.run(pipelines, input, options)), "every byte a read, rows_max " .. rows_max)
        end
      end)
    end
  end

  -- Lines of a generated case as msgpack; those that are not JSON have no such form.
  local function repacked(lines)
    local records = {}
    for line in lines:gmatch "[^\n]+" do
      local ok, record = pcall(json.decode, line)
      if ok and json.is_map(record) then records[#records + 1] = record end
    end
    return records
  end

  local function nulls(v)
    if v == json.null then return require("lunette").null end
    if type(v) ~= "table" then return v end
    local out = json.is_array(v) and require("lunette.value").array {} or {}
    for name, item in pairs(v) do out[name] = nulls(item) end
    return out
  end

  local function varied(g, script, input, options, about)
    about.script = script
    local pipelines = engine.load(script)
    options.rows_max, options.pieces = nil, nil
    local reference = engine.run(pipelines, input, options)
    local want = shown(reference)
    for _, rows_max in ipairs(ROWS) do
      local largest = g:pick { 3, 50, 400, 5000 }
      options.rows_max = rows_max
      options.pieces = function() return 1 + g:rnd(largest) end
      assert_same(want, shown(engine.run(pipelines, input, options)), "rows_max " .. rows_max)
    end
    options.plain = 1 + g:rnd(4)
    assert_same(want, shown(engine.run(pipelines, input, options)), "row by row, in steps of few windows")
    options.plain = nil
    return reference
  end

  it("at random, for random pipelines, in JSON", function()
    streams.each(60, function(g, about)
      local case = generate.case(g.seed)
      varied(g, case.script, case.input, { clock = case.clock, format = "json" }, about)
    end)
  end)

  it("at random, for random pipelines, in msgpack", function()
    streams.each(40, function(g, about)
      local case = generate.case(1000 + g.seed)
      local input = engine.encode(nulls(repacked(case.input)), "msgpack")
      varied(g, case.script, input, { clock = case.clock, format = "msgpack" }, about)
    end)
  end)

  it("at random, for three pipelines in one script", function()
    streams.each(20, function(g, about)
      local parts = {}
      for i = 1, 3 do
        parts[i] = ("(function()\n%s end)()"):format(generate.case(2000 + 3 * g.seed + i).script)
      end
      local script = ("return { %s }\n"):format(table.concat(parts, ", "))
      local case = generate.case(2000 + 3 * g.seed)
      varied(g, script, case.input, { clock = case.clock, format = "json" }, about)
    end)
  end)

  it("nor where a firing of thousands of windows is cut", function()
    local lines = {}
    for i = 1, 6000 do
      lines[i] = ('{"t":%d,"k":"a long name of a key %d","v":%d,"at":%d}\n'):format(i % 50, i % 3000, i % 7, i % 2)
    end
    for _, line in ipairs { '{"t":51,"k":"x","v":1,"at":100}', '{"t":1000,"k":"x","v":1,"at":101}',
      '{"t":1001,"k":"y","v":1,"at":300}' } do lines[#lines + 1] = line .. "\n" end
    local input = table.concat(lines)
    for _, parts in ipairs {
      { "ln.tumbling(100)", "nil", "s = ln.sum 'v'" },
      { "ln.hopping(100, 50)", "nil", "s = ln.sum 'v'" },
      { "ln.tumbling(100)", "ln.at_watermark { early = ln.any { ln.every(50), ln.after_delay(50) } }",
        "s = ln.sum 'v'" },
      { "ln.session(90)", "ln.every(10, { time = 'event' })",
        [[f = ln.fold { init = function() return 0 end, add = function(a, r) return a + r.v end,
          merge = function(a, b) return a + b end }]] },
      { "ln.session(90, { max = 200 })", "ln.when(function(w, r) return r.v == 3 end)", "s = ln.sum 'v'" },
    } do
      local script = ([[local ln = require "lunette"
        return ln.pipeline { time = { field = "t" }, key = "k", window = %s, trigger = %s, panes = "retracting",
          watermark = { delay = 50 }, aggregate = { n = ln.count(), %s } }]]):format(unpack(parts))
      local pipelines, options = engine.load(script), { clock = "at" }
      local want = shown(engine.run(pipelines, input, options))
      assert.is_true(#want > 300000)
      for _, pieces in ipairs { 1000, 77777 } do
        options.rows_max, options.pieces = pieces == 1000 and 7 or 1024, pieces
        options.verify = pieces > 1000
        assert_same(want, shown(engine.run(pipelines, input, options)), parts[1])
      end
    end
  end)

  it("where the msgpack is broken: all before it counts, and the message is the same", function()
    streams.each(10, function(g)
      local script = 'local ln = require "lunette"\n' .. kinds[g:pick(names)] .. "\n"
      local records = small_records()
      records[#records - g:rnd(5)].broken = true
      local input = engine.encode(records, "msgpack"):gsub("\166broken\195", "\166broken\193")
      if g:chance(3) then input = small("msgpack"):sub(1, -2) end
      local pipelines, options = engine.load(script), { clock = "t", format = "msgpack" }
      local reference = engine.run(pipelines, input, options)
      assert.is_truthy(reference.broken)
      local want = shown(reference)
      for _, rows_max in ipairs(ROWS) do
        options.rows_max, options.pieces = rows_max, function() return 1 + g:rnd(60) end
        assert_same(want, shown(engine.run(pipelines, input, options)), "rows_max " .. rows_max)
      end
    end)
  end)

  it("and the clock may come from the records or from the host", function()
    streams.each(20, function(g, about)
      local script = streams.script { window = g:window(), trigger = g:rooted(), delay = 6, lateness = 10,
        panes = g:pick { "accumulating", "discarding", "retracting" } }
      about.script = script
      local records = g:delayed(g:records { count = 60 }, 9)
      local clock = 1000
      for _, record in ipairs(records) do
        clock = clock + g:rnd(5)
        record.at = clock
      end
      local by_field = engine.run(script, engine.encode(records, "json"), { clock = "at" })
      local run = engine.open(script)
      for _, record in ipairs(records) do run:feed(engine.encode({ record }, "json"), record.at * 1000) end
      run:finish(clock * 1000)
      local by_host = run:result()
      assert_same(by_field.bytes, by_host.bytes, "panes")
      assert_same(by_field.reject_bytes, by_host.reject_bytes, "rejects")
    end)
  end)
end)
