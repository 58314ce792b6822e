--- `lunette explain SCRIPT`: the words are right for scripts of every kind, and its figures are what a run takes.
local engine = require "spec.support.engine"
local explain = require "lunette.explain"
local json = require "spec.support.json"
local shell = require "spec.support.shell"
local state = require "lunette.explain.state"

local folder

local function put(name, text) shell.write(folder .. "/" .. name, text) end
local function run(text) return shell.run(folder, text) end

before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

local function script_of(path)
  local out, inside = {}, false
  for line in io.lines(path) do
    local section = line:match "^%-%-%- (%w+)"
    if section then inside = section == "pipeline" elseif inside then out[#out + 1] = line end
  end
  return table.concat(out, "\n") .. "\n"
end

local function all_cases()
  local paths = {}
  local pipe = assert(io.popen "ls spec/cases/*.case")
  for path in pipe:lines() do paths[#paths + 1] = path end
  pipe:close()
  return paths
end

-- The text of a script, its lines joined where a sentence was broken.
local function words_of(script)
  local text = table.concat(explain.lines(explain.of(engine.load(script), {}, {})), "\n")
  return (text:gsub("\n    ", " "))
end

local function has(text, part) assert.truthy(text:find(part, 1, true), ("%s\nis not in\n%s"):format(part, text)) end
local function lacks(text, part) assert.falsy(text:find(part, 1, true), ("%s\nis in\n%s"):format(part, text)) end

describe("explain", function()
  it("has something to say of every golden case, for people and for machines", function()
    for _, path in ipairs(all_cases()) do
      local explained = explain.of(engine.load(script_of(path)), {}, {})
      local text = table.concat(explain.lines(explained), "\n")
      for _, title in ipairs { "Records", "Windows", "Watermark", "Panes leave", "A consumer", "State", "In Lua",
        "A record is rejected as" } do
        has(text, "\n" .. title .. "\n  ")
      end
      lacks(text, "nil")
      for _, line in ipairs(explain.lines(explained)) do assert.is_true(#line <= 101, line) end
      local facts = json.decode((explain.json(explained):gsub("\n$", ""))).pipelines
      assert.equal(#explained, #facts)
      assert.is_true(facts[1].state.key_bytes > 0)
    end
  end)

  it("tells the windows of a record of every golden case that has a field for its time", function()
    local told = 0
    for _, path in ipairs(all_cases()) do
      local pipelines = engine.load(script_of(path))
      for _, p in ipairs(pipelines) do
        if p.time.kind ~= "function" then
          local found = explain.of({ p }, {}, { at = "75" })[1].facts.record
          if found.windows then
            told = told + 1
            for _, w in ipairs(found.windows) do
              if w.start and p.window.kind ~= "assigner" then assert.is_true(w.start <= 75 and 75 < w.stop) end
              if w.gone_at then assert.is_true(w.stop <= w.complete_at and w.complete_at <= w.gone_at) end
            end
          else
            assert.truthy(found.reason or found.filtered)
          end
        end
      end
    end
    assert.is_true(told > 80)
  end)

  local cases = {
    ["hopping-with-gaps-and-offset"] = { "A record belongs to one or to none",
      "no_window, where its time lies in the gap", "since there are gaps between its windows", "and shifted by" },
    ["session-max-waiting-records"] = { "Sessions: a run of records of one key", "after its start at the latest",
      "Records ahead of the watermark wait", "Records that wait for the watermark are kept whole." },
    ["session-absorbed-chain-discarding"] = { "Adds: a pane holds what has come since the pane before.",
      "Move: where a pane lists starts as absorbed" },
    ["session-absorbed-chain-accumulating"] = { "Withdraws: when windows merge, the pane of one that is no more",
      "keeps its last pane, so that it can be withdrawn" },
    ["retracting-late-and-closing"] = { 'the one before comes again, with "retract":true',
      'closing = "always": the last pane of a window is final' },
    ["plain-count-with-lateness"] = { "before and after the window's end. None marks the end.",
      "One last pane then shows what no pane has shown.", "since its trigger looks at each window" },
    ["fill-hopping"] = { "Empty windows are shown too: up to", "since empty windows are filled in" },
    ["global-at-watermark"] = { "One window for each key, without bounds", "Early: after 2 records.",
      "complete at the end of the input alone" },
    ["marks-alone"] = { "It rises to what the function at script.lua:", "nothing else moves it",
      "watermark.mark (script.lua:" },
    ["sources-expected-number"] = { "It does not start before 3 sources have been heard.", "tells them apart",
      "holds it for good: watermark.idle" },
    ["fold-in-hopping-windows"] = { "keeps a state for each window", "and what its functions keep, in Lua" },
    ["time-processing"] = { "A record's time is the clock when it arrives", "It is the clock. No record is late.",
      "the clock reaches the window's end" },
    ["sliding-is-hopping"] = { "A record belongs to 3 of them.",
      "Early: before the window is complete, after 2 records." },
    ["late-trigger-by-count"] = { "Late: for ", " more, after 2 records.", "Replaces: a pane holds all" },
  }
  for name, parts in pairs(cases) do
    it("is right of " .. name, function()
      local text = words_of(script_of(("spec/cases/%s.case"):format(name)))
      for _, part in ipairs(parts) do has(text, part) end
    end)
  end

  it("does not say what is not so", function()
    local text = words_of [[
      local ln = require "lunette"
      return ln.pipeline { time = { field = "t" }, window = ln.tumbling "1m", aggregate = { n = ln.count() } }
    ]]
    for _, part in ipairs { "future", "bad_key", "no_window", "script_error", "Late:", "Early:", "Withdraws",
      "Cells" } do
      lacks(text, part)
    end
    has(text, "Nothing: all of it runs in C.")
    has(text, "a record at or past it has come")
  end)

  it("names every function, with its place and how often it is called", function()
    local text = words_of [[
local ln = require "lunette"
return ln.pipeline {
  time = { fn = function(r) return r.t end },
  where = function(r) return r.a end,
  key = function(r) return r.k end,
  window = ln.tumbling "1m",
  trigger = ln.at_watermark { early = ln.any { ln.each(), ln.when(function() return true end) } },
  aggregate = { s = ln.sum(function(r) return r.a end), b = ln.min_by("a", function(r) return r.b end),
    r = ln.ratio(function(r) return r.a end) },
  emit = function(pane) return pane end,
}]]
    for _, part in ipairs { "time (script.lua:3), for each record.", "where (script.lua:4), for each record.",
      "key (script.lua:5), for each record that counts.", "trigger (script.lua:7), for each record and window.",
      "aggregate.s (script.lua:8), for each record that counts.", "aggregate.b.by (script.lua:8)",
      "aggregate.r (script.lua:9)", "emit (script.lua:10), for each pane.", "script_error, where a function" } do
      has(text, part)
    end
  end)
end)

describe("the figures of explain", function()
  local SPEC = [[
    local ln = require "lunette"
    return ln.pipeline { time = { field = "t", unit = "s" }, key = "k", %s }
  ]]

  -- Bytes for each key in a run of `keys` keys with records at these times, and what is told.
  local function measured(fields, keys, times, value_of)
    local script = SPEC:format(fields)
    local found = state.of(engine.load(script)[1])
    local r = engine.open(script, { verify = false, keep = false })
    for _, t in ipairs(times) do
      local records = {}
      for k = 1, keys do records[k] = { t = t, k = k, v = value_of and value_of(t) or k } end
      r:feed(engine.encode(records, "json"))
    end
    local stats = r:stats(1)
    r:finish()
    r:result()
    return stats.state_bytes / stats.keys, found
  end

  local NUMBERS = "aggregate = { n = ln.count(), s = ln.sum 'v' }"
  local steady = {
    { "tumbling, slices", 'window = ln.tumbling "1m", watermark = { delay = "2m" },', { 1, 61, 121, 179 } },
    { "hopping, slices", 'window = ln.hopping("1m", "10s"), watermark = { delay = "10s" },',
      { 1, 11, 21, 31, 41, 51, 61, 69 } },
    { "hopping, cells",
      'window = ln.hopping("1m", "10s"), trigger = ln.at_watermark { early = ln.after_count(99) },',
      { 1, 11, 21, 31, 41, 51, 59 } },
    { "lateness", 'window = ln.tumbling "1m", lateness = "1m",', { 1, 61, 119 } },
    { "global", "window = ln.global(),", { 1 } },
  }
  for _, case in ipairs(steady) do
    it("are what a key takes: " .. case[1], function()
      local bytes, found = measured(case[2] .. NUMBERS, 5000, case[3])
      assert.is_true(bytes <= 1.1 * found.typical_bytes, ("%.0f of %.0f"):format(bytes, found.typical_bytes))
      assert.is_true(bytes >= 0.6 * found.typical_bytes, ("%.0f of %.0f"):format(bytes, found.typical_bytes))
    end)
  end

  local function times(n) -- within one window
    local out = {}
    for i = 1, n do out[i] = i * 59 / n end
    return out
  end

  local bounded = {
    { "quantile", "ln.quantile('v', 0.5)", 1100, function(t)
      local i = math.floor(t * 1100 / 59) - 550
      return i < 0 and -2 ^ (-i / 9) or 2 ^ (i / 9)
    end },
    { "quantile, fine", "ln.quantile('v', 0.5, { accuracy = 0.01 })", 1000, function(t) return t end },
    { "distinct, approx", "ln.distinct('v', { approx = true, precision = 10 })", 2000, function(t) return t end },
    { "histogram", "ln.histogram('v', { bounds = { 1, 2, 3 } })", 10, function(t) return t end },
  }
  for _, case in ipairs(bounded) do
    it("bound what an aggregate takes: " .. case[1], function()
      local bytes, found = measured(('window = ln.tumbling "1m", aggregate = { a = %s }'):format(case[2]), 100,
        times(case[3]), case[4])
      local most = found.typical_bytes + found.aggregates[1].most_bytes + 64
      assert.is_true(bytes <= most, ("%.0f of %.0f"):format(bytes, most))
    end)
  end
end)

describe("lunette explain", function()
  local SPEND = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "ts", unit = "s" },
  watermark = { delay = "10s" },
  where = function(r) return r.user ~= "bot" end,
  key = "user",
  window = ln.hopping("1m", "30s"),
  lateness = ln.param("lateness", "1m"),
  aggregate = { n = ln.count() },
  sink = "panes.jsonl",
}
]]

  before_each(function() put("spend.lua", SPEND) end)

  it("prints the same into a pipe and on a terminal", function()
    local r = run "$LUNETTE explain spend.lua"
    assert.equal(0, r.code, r.err)
    assert.equal("", r.err)
    has(r.out, "pipeline (spend.lua:2)\n\nRecords\n  They come from")
    has(r.out, "They go to panes.jsonl, unless --out says otherwise.")
    local terminal = run 'script -qec "$LUNETTE explain spend.lua" /dev/null'
    assert.equal(r.out, (terminal.out:gsub("\r", "")))
  end)

  it("tells the windows of a time, in the unit and in UTC", function()
    local r = run "$LUNETTE explain spend.lua --at 2026-12-01T10:00:05Z"
    assert.equal(0, r.code, r.err)
    assert.equal([[
pipeline (spend.lua:2)

A record at 2026-12-01T10:00:05Z
  It belongs to 2 windows:
  [1796119170, 1796119230) 2026-12-01T09:59:30Z to 2026-12-01T10:00:30Z
    complete when a record with time 1796119240 (2026-12-01T10:00:40Z) or later has come
    gone when one with time 1796119300 (2026-12-01T10:01:40Z) or later has
  [1796119200, 1796119260) 2026-12-01T10:00:00Z to 2026-12-01T10:01:00Z
    complete when a record with time 1796119270 (2026-12-01T10:01:10Z) or later has come
    gone when one with time 1796119330 (2026-12-01T10:02:10Z) or later has
]], r.out)
  end)

  it("tells what becomes of a record", function()
    local function told(record) return run(("$LUNETTE explain spend.lua --record '%s'"):format(record)).out end
    has(told '{"ts":75,"user":"ann"}', 'Its key is "ann".\n  It belongs to 2 windows:\n  [30, 90)\n'
      .. "    complete when a record with time 100 or later has come\n")
    has(told '{"ts":75,"user":"bot"}', "It is filtered: the function at spend.lua:5 is not true for it.")
    has(told '{"user":"ann"}', "It is rejected as no_time.")
    has(run([[$LUNETTE explain spend.lua --record '{"user":"ann"}' --at 75]]).out, "[60, 120)")
  end)

  it("has it for machines, and takes parameters", function()
    local r = run "$LUNETTE explain spend.lua --at 75 --json --set lateness=0s"
    local record = json.decode(r.out).pipelines[1].record
    assert.same({ { start = 30, stop = 90, complete_at = 100, gone_at = 100 },
      { start = 60, stop = 120, complete_at = 130, gone_at = 130 } }, { record.windows[1], record.windows[2] })
  end)

  it("chooses one of several pipelines", function()
    put("two.lua", [[
      local ln = require "lunette"
      local function one(name, size)
        return ln.pipeline { name = name, time = { field = "t" }, window = ln.tumbling(size),
          aggregate = { n = ln.count() } }
      end
      return { one("short", "1s"), one("long", "1h") }
    ]])
    has(run("$LUNETTE explain two.lua").out, "\n\nlong (two.lua:6)\n")
    local r = run "$LUNETTE explain two.lua --pipeline long"
    has(r.out, "Tumbling windows of 1h")
    lacks(r.out, "Tumbling windows of 1s")
    r = run "$LUNETTE explain two.lua --pipeline wide"
    assert.equal(2, r.code)
    has(r.err, "--pipeline wide: the script has short, long")
  end)

  it("refuses what makes no sense", function()
    put("wrong.lua", "return 1 +")
    put("function.lua", (SPEND:gsub('field = "ts"', "field = function(r) return r.ts end")))
    local cases = {
      { "", 2, "a script to explain, or --trace FILE, is missing" },
      { "spend.lua other.lua", 2, "other.lua is one too many" },
      { "spend.lua --key ann", 2, "--trace FILE is missing" },
      { "spend.lua --trace x", 2, "spend.lua: with --trace no script is read" },
      { "spend.lua --set lateness", 2, "write it as --set name=value" },
      { "spend.lua --set late=1s", 78, "--set late=...: no ln.param asks for it" },
      { "spend.lua --at soon", 1, "--at soon: write a number in the pipeline's unit, or a date such as" },
      { "spend.lua --at 2026-02-30T00:00:00Z", 1, "write a number" },
      { "spend.lua --at 1e300", 1, "out of range" },
      { "spend.lua --record no", 1, "--record no: write a map of JSON on one line" },
      { "function.lua --at 5", 1, "--record is missing: the function at function.lua:3 makes the time of it" },
      { "wrong.lua", 78, "wrong.lua:1: unexpected symbol near '<eof>'" },
      { "none.lua", 78, "none.lua: can't be read" },
    }
    for _, case in ipairs(cases) do
      local r = run("$LUNETTE explain " .. case[1])
      assert.equal(case[2], r.code, case[1] .. r.err)
      assert.equal("", r.out)
      has(r.err, case[3])
    end
  end)
end)
