--- Traces: the panes of a run that is traced are those of one that is not, and what the trace tells adds up.
package.loaded["lunette.core_path"] = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
local explain = require "lunette.trace.explain"
local generate = require "spec.support.generate"
local json = require "spec.support.json"
local run = require "spec.support.run"
local scenes = require "lunette.plot.scene"
local shell = require "spec.support.shell"
local stories = require "lunette.trace.story"
local server = require "spec.support.server"
local svg = require "lunette.plot.svg"

local SEEDS = 60

local folder
before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

local function events_of(path)
  local out = {}
  for line in io.lines(path) do out[#out + 1] = json.decode(line) end
  return out
end

local function traced(script, input, options)
  local path = folder .. "/trace"
  local more = (options and options.arguments or "") .. " --trace " .. path
  local got = run.program_on(script, input, { clock = options and options.clock, arguments = more })
  assert.equal(0, got.code, got.errors)
  got.events = events_of(path)
  return got
end

local function count(events, wanted)
  local n = 0
  for _, event in ipairs(events) do
    local all = true
    for field, value in pairs(wanted) do all = all and event[field] == value end
    if all then n = n + 1 end
  end
  return n
end

local function total(list)
  local n = 0
  for _, x in pairs(list) do n = n + x end
  return n
end

-- Each record has one fate, each window one end, and all panes are told.
local function check_account(got, what)
  local account, events = got.accounts[1], got.events
  assert.equal(account.read, count(events, { event = "record" }), what)
  assert.equal(account.filtered, count(events, { fate = "filtered" }), what)
  for reason, n in pairs(account.rejected) do
    assert.equal(n, count(events, { event = "record", fate = "rejected", reason = reason }), what .. reason)
  end
  for _, timing in ipairs { "early", "on_time", "late" } do
    local withdrawn = count(events, { event = "pane", timing = timing, retract = true })
    assert.equal(account.panes[timing], count(events, { event = "pane", timing = timing }) - withdrawn, what .. timing)
  end
  local last = events[#events]
  assert.equal("end", last.event)
  assert.same({ account.read, account.aggregated, 0 }, { last.read, last.aggregated, last.left_out })
  assert.equal(total(account.rejected), total(last.rejected))
end

-- Told together again, no window is open at the end, and each pane lies within the life of its window.
local function check_story(path, what)
  local story = stories.read(path, {})
  for _, key in ipairs(story.key_order) do
    assert.is_nil(next(key.open), what)
    for _, w in ipairs(key.windows) do
      assert.is_true((w.expired ~= nil) ~= (w.into ~= nil), what)
      for i, pane in ipairs(w.panes) do
        assert.equal(w.start, pane.start, what)
        if i > 1 then assert.is_true(pane.pane == w.panes[i - 1].pane + 1 or pane.pane == 0, what) end
      end
    end
    local lines = explain.lines { trace = path, key = key.text }
    assert.truthy(story.facts.key == nil or lines[1]:find(key.text, 1, true), what .. lines[1])
  end
  local scene = scenes.of(story, { keys = {} })
  assert.equal(#story.records, #scene.records.n)
  assert.truthy(svg.text(scene):find "^<svg.*</svg>\n$")
end

describe("a traced run", function()
  teardown(run.clean)

  for seed = 1, SEEDS do
    it("gives the same panes, and a trace that adds up, on seed " .. seed, function()
      local case = generate.case(seed)
      local plain = run.program_on(case.script, case.input, { clock = case.clock })
      local got = traced(case.script, case.input, { clock = case.clock })
      assert.equal(plain.output, got.output)
      assert.same(plain.rejects, got.rejects)
      check_account(got, "seed " .. seed .. ": ")
      check_story(folder .. "/trace", "seed " .. seed .. ": ")
    end)
  end

  -- Across keys the order of panes means nothing, and with slices it is another one than with a cell for each window.
  it("gives each key the same panes in the same order where windows share slices", function()
    local script = [[local ln = require "lunette"
      return ln.pipeline { time = { field = "t" }, key = "k", window = ln.hopping(100, 25),
        watermark = { delay = 40 }, aggregate = { n = ln.count(), q = ln.quantile("t", 0.5), s = ln.sum "t" } }]]
    local lines = {}
    for i = 1, 3000 do
      lines[i] = ('{"t":%d,"k":"k%d"}'):format(i + (i * 7919) % 50, (i * 31) % 17)
    end
    local input = table.concat(lines, "\n") .. "\n"
    local plain, got = run.program_on(script, input), traced(script, input)
    local function by_key(panes)
      local out = {}
      for _, pane in ipairs(panes) do
        out[pane.key] = (out[pane.key] or "") .. json.encode(pane) .. "\n"
      end
      return out
    end
    assert.equal(#plain.output, #got.output)
    assert.same(by_key(plain.panes), by_key(got.panes))
    check_account(got, "")
  end)
end)

local SPEND = [[local ln = require "lunette"
return ln.pipeline { time = { field = "ts", unit = "s" }, watermark = { delay = "10s" }, key = "user",
  window = ln.tumbling "1m", lateness = "1m", aggregate = { n = ln.count() } }]]
local INPUT = [[
{"ts":5,"user":"ann"}
{"ts":42,"user":7}
{"ts":75,"user":"7"}
{"ts":40,"user":7}
{"ts":140,"user":"ann"}
{"ts":30,"user":7}
]]

describe("a trace", function()
  teardown(run.clean)

  it("tells what the pipeline is, and each record, with lateness that would have taken it", function()
    local events = traced(SPEND, INPUT).events
    assert.same({ "trace", 1, "pipeline", "s", 10, 60 },
      { events[1].event, events[1].format, events[2].event, events[2].unit, events[2].delay, events[2].lateness })
    assert.equal("when the window is complete; after that at every record", events[2].trigger.words)
    local late
    for _, event in ipairs(events) do
      if event.reason == "late" then late = event end
    end
    assert.same({ 6, 30, 130, 100, 70 }, { late.record, late.time, late.watermark, late.late_by, late.lateness_over })
    assert.same({ { 0, 60 } }, late.late_windows)
  end)

  it("is narrowed to keys, which are texts or JSON", function()
    local function keys(arguments)
      local seen = {}
      for _, event in ipairs(traced(SPEND, INPUT, { arguments = arguments }).events) do
        if event.event == "record" then seen[#seen + 1] = json.encode(event.key) end
      end
      return table.concat(seen, " ")
    end
    assert.equal('"ann" "ann"', keys "--trace-key ann")
    assert.equal('7 "7" 7 7', keys "--trace-key 7")
    assert.equal('"7"', keys [[--trace-key '"7"']])
    assert.equal('"ann" "7" "ann"', keys [[--trace-key ann --trace-key '"7"']])
    assert.equal("", keys "--trace-key nobody")
  end)

  it("stops at its limit, and counts what it leaves out", function()
    local whole = traced(SPEND, INPUT).events
    local cut = traced(SPEND, INPUT, { arguments = "--trace-limit 1000" }).events
    local last = cut[#cut]
    assert.equal("end", last.event)
    assert.is_true(last.left_out > 0)
    assert.equal(#whole, #cut + last.left_out)
    local bytes = #shell.read(folder .. "/trace")
    assert.is_true(bytes > 1000 and bytes < 3000)
  end)

  it("tells of panes once more where folds or an emit have had a part in them", function()
    local script = [[local ln = require "lunette"
      return ln.pipeline { time = { field = "ts", unit = "s" }, window = ln.tumbling "1m", panes = "retracting",
        trigger = ln.at_watermark { early = ln.each() },
        aggregate = { last = ln.fold { init = function() return 0 end, add = function(_, r) return r.ts end } },
        emit = function(pane) if pane.pane == 1 then return nil end return pane end }]]
    traced(script, '{"ts":1}\n{"ts":2}\n{"ts":3}\n')
    local out = {}
    for _, pane in ipairs(stories.read(folder .. "/trace", {}).panes) do
      out[#out + 1] = (pane.retract and "-" or "") .. pane.pane .. ":" .. tostring(pane.value.last)
    end
    -- Pane 1 was dropped, and so its value is not known.
    assert.equal("0:1 -0:1 1:nil 2:3 -2:3 3:3", table.concat(out, " "))
  end)

  it("tells several pipelines apart", function()
    local script = ("local one = (function() %s end)() local other = (function() %s end)() return { one, other }")
      :format(SPEND, SPEND:gsub("1m", "30s"))
    local events = traced(script, INPUT).events
    assert.equal(6, count(events, { event = "record", pipeline = "pipeline_1" }))
    assert.equal(6, count(events, { event = "record", pipeline = "pipeline_2" }))
    assert.has_error(function() stories.read(folder .. "/trace", {}) end,
      folder .. "/trace holds several pipelines: name one of pipeline_1, pipeline_2 with --pipeline")
    assert.equal(6, #stories.read(folder .. "/trace", { pipeline = "pipeline_2" }).records)
  end)

  it("may begin anew in the middle, as when the script is exchanged", function()
    traced(SPEND, INPUT)
    local first = shell.read(folder .. "/trace"):gsub('{"event":"finish".*$', "")
    traced(SPEND:gsub("1m", "30s"), '{"ts":150,"user":"ann"}\n')
    shell.write(folder .. "/both", first .. shell.read(folder .. "/trace"))
    local story = stories.read(folder .. "/both", {})
    assert.same({ "tumbling 30s", 7 }, { story.facts.window.words, #story.records })
  end)

  it("is refused where it would overwrite the script, an input or the panes", function()
    shell.write(folder .. "/s.lua", SPEND)
    shell.write(folder .. "/in.jsonl", INPUT)
    for _, arguments in ipairs { "--trace s.lua", "--trace in.jsonl", "--trace p --out p", "--trace r --rejects r" } do
      local r = shell.run(folder, '"$LUNETTE" run ' .. arguments .. " s.lua in.jsonl")
      assert.same({ 2, "" }, { r.code, r.out })
      assert.truthy(r.err:find("lunette: --trace ", 1, true), r.err)
    end
    assert.equal(SPEND, shell.read(folder .. "/s.lua"))
  end)
end)

describe("a trace of a server", function()
  it("tells connections apart, which of them holds the watermark, when one is gone, and where it ended", function()
    local s = server.start(server.script "watermark = { delay = '1s' },", "--in tcp://127.0.0.1:0 --trace trace")
    local one, other = s:connect(), s:connect()
    local function events() return shell.read(s.folder .. "/trace") end
    local function told(part) server.wait(function() return events():find(part, 1, true) end, part) end
    one:send '{"t":500,"k":"a"}\n'
    told '"time":500,"source":1'
    other:send '{"t":9000,"k":"b"}\n'
    told '"time":9000,"source":2'
    local held = explain.lines { trace = s.folder .. "/trace", key = "a" }[1]
    assert.truthy(held:find("held there by source 1", 1, true), held)
    one:close()
    told '"event":"gone"'
    told '"event":"pane"'
    assert.equal(0, s:stop().code)
    local last = json.decode(events():match '[^\n]*\n$')
    assert.same({ "end", 2, 1 }, { last.event, last.read, #last.sources })
    assert.same({ 2, 8000 }, { last.sources[1].source, last.sources[1].promise })
    local open = explain.lines { trace = s.folder .. "/trace", key = "b" }
    assert.truthy(open[1]:find("[9000, 10000) of \"b\" has shown nothing yet", 1, true), open[1])
    assert.truthy(table.concat(open, "\n"):find "The trace ends at clock")
    s:clear()
  end)

  it("goes on with what a reloaded script is", function()
    local s = server.start(server.script "", "--in unix:in.sock --trace trace")
    local client = s:connect "in.sock"
    local function told(part)
      server.wait(function() return shell.read(s.folder .. "/trace"):find(part, 1, true) end, part)
    end
    client:send '{"t":500,"k":"a"}\n'
    told '"time":500'
    shell.write(s.folder .. "/p.lua", server.script 'lateness = "7s",')
    os.execute("kill -HUP " .. s.pid)
    told '"lateness":7000'
    client:send '{"t":1500,"k":"a"}\n'
    told '"time":1500'
    told '"event":"pane"'
    assert.equal(0, s:stop().code)
    local story = stories.read(s.folder .. "/trace", {})
    assert.same({ 7000, 2, 1 }, { story.facts.lateness, #story.records, #story.panes })
    s:clear()
  end)
end)
