--- What an engine's state is saved and loaded for: a run that goes on in new engines comes to what it would have come
-- to.
local engine = require "spec.support.engine"
local generate = require "spec.support.generate"
local json = require "spec.support.json"
local streams = require "spec.support.streams"

-- The panes of each key in their order: across keys it means nothing.
local function by_key(bytes)
  local keys, order = {}, {}
  for line in bytes:gmatch "[^\n]+" do
    local pane = json.decode(line)
    local key = tostring(pane.pipeline) .. json.encode(pane.key == nil and json.null or pane.key)
    if not keys[key] then
      keys[key] = {}
      order[#order + 1] = key
    end
    keys[key][#keys[key] + 1] = line
  end
  table.sort(order)
  for i, key in ipairs(order) do order[i] = table.concat(keys[key], "\n") end
  return table.concat(order, "\n")
end

local function shown(r, any_order)
  local accounts = {}
  for i, s in ipairs(r.stats) do
    s.state_bytes = nil
    s.watermark_us = tostring(s.watermark_us)
    accounts[i] = json.encode(s)
  end
  table.sort(r.notices)
  return table.concat({ any_order and by_key(r.bytes) or r.bytes, r.reject_bytes, r.script_errors,
    table.concat(accounts, "\n") }, "\n--\n")
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]*\n?" do
    if line ~= "" then lines[#lines + 1] = line end
  end
  return lines
end

-- The run with a restart in front of each line whose number `at` holds; the last state, and how many windows it had.
local function restarted(pipelines, lines, options, at, after)
  local run, windows, bytes = engine.open(pipelines, options), 0, nil
  for i, line in ipairs(lines) do
    if at[i] then
      for k = 1, #run.app.parts do windows = windows + run:stats(k).windows end
      bytes = run:restart(pipelines, after or options)
    end
    run:feed(line)
  end
  run:finish()
  return run:result(), bytes, windows
end

local function whole(pipelines, lines, options) return (restarted(pipelines, lines, options, {})) end

local function some_of(g, lines)
  local at = {}
  for _ = 1, 1 + g:rnd(4) do at[1 + g:rnd(#lines)] = true end
  return at
end

describe("a run that goes on in new engines", function()
  it("comes to the same, for random pipelines and restarts", function()
    local all = 0
    streams.each(120, function(g, about)
      local case = generate.case(5000 + g.seed)
      about.script = case.script
      local pipelines, lines = engine.load(case.script), lines_of(case.input)
      local options = { clock = case.clock, format = "json" }
      local want = shown(whole(pipelines, lines, options))
      for _ = 1, 3 do
        local r, _, windows = restarted(pipelines, lines, options, some_of(g, lines))
        assert.equal(want, shown(r))
        all = all + windows
      end
    end)
    assert.is_true(all > 100)
  end)

  it("also where each window gets a cell of its own that was in slices before", function()
    local all = 0
    streams.each(60, function(g, about)
      local size = 5 * (1 + g:rnd(6))
      local script = ([[local ln = require "lunette"
        return ln.pipeline { time = { field = "t" }, key = "k", window = ln.hopping(%d, %d), watermark = { delay = %d },
          aggregate = { n = ln.count(), s = ln.sum "v", top = ln.max "v", all = ln.collect "v", d = ln.distinct "v" } }
      ]]):format(size, size / g:pick { 1, 5 }, g:rnd(20))
      about.script = script
      local lines, t = {}, 0
      for i = 1, 200 do
        t = t + g:rnd(3)
        lines[i] = ('{"t":%d,"k":"%s","v":%d}\n'):format(t - g:rnd(15), g:pick { "a", "b", "c" }, g:rnd(50))
      end
      local pipelines, options = engine.load(script), { format = "json" }
      local want = shown(whole(pipelines, lines, options))
      local r, _, windows = restarted(pipelines, lines, options, some_of(g, lines), { format = "json", slices = false })
      r.stats[1].windows_opened, all = nil, all + windows
      local reference = whole(pipelines, lines, options)
      reference.stats[1].windows_opened = nil
      assert.equal(shown(reference, true), shown(r, true))
      assert.is_string(want)
    end)
    assert.is_true(all > 100)
  end)

  it("with folds and predicates that look at slices, which the next plan may have no more", function()
    local all, early = 0, 0
    local folds = {
      "ln.fold { init = function() return { n = 0 } end, add = function(a, r) a.n = a.n + r.v return a end }",
      [[ln.fold { state = { n = "double" }, add = function(a, r) a.n = a.n + r.v end,
        result = function(a) return a.n end }]],
    }
    local WHEN = "ln.at_watermark { early = ln.when(function(w, r) return r.v % 3 == w.pane % 2 end) }"
    streams.each(60, function(g, about)
      local fold = g:pick(folds)
      local script = ([[local ln = require "lunette"
        return ln.pipeline { time = { field = "t" }, key = "k", window = ln.tumbling(%d), watermark = { delay = %d },
          panes = "%s", trigger = %s, limits = { distinct_values = 3 }, aggregate = { n = ln.count(), %s } }
      ]]):format(5 * (1 + g:rnd(6)), g:rnd(20), g:pick { "accumulating", "discarding" },
        g:chance(3) and "nil" or WHEN, g:chance(3) and 'd = ln.distinct "v"' or "f = " .. fold)
      about.script = script
      local lines, t = {}, 0
      for i = 1, 200 do
        t = t + g:rnd(3)
        lines[i] = ('{"t":%d,"k":"%s","v":%d}\n'):format(t - g:rnd(15), g:pick { "a", "b", "c" }, g:rnd(50))
      end
      local pipelines, options = engine.load(script), { format = "json" }
      local reference, at = whole(pipelines, lines, options), some_of(g, lines)
      local r, _, windows = restarted(pipelines, lines, options, at)
      all = all + windows
      for _ in r.bytes:gmatch '"timing":"early"' do early = early + 1 end
      assert.equal(shown(reference), shown(r))
      local cells = restarted(pipelines, lines, options, at, { format = "json", slices = false })
      cells.stats[1].windows_opened = r.stats[1].windows_opened
      assert.equal(shown(reference, true), shown(cells, true))
    end)
    assert.is_true(all > 100 and early > 500)
  end)

  it("counts panes on where the next plan asks no predicate", function()
    local text = [[local ln = require "lunette"
      return ln.pipeline { time = { field = "t" }, window = ln.tumbling(10), aggregate = { n = ln.count() }%s }]]
    local asked = text:format ", trigger = ln.at_watermark { early = ln.when(function() return 1 end) }"
    local run = engine.open(engine.load(asked), { format = "json" })
    run:feed '{"t":1}\n{"t":2}\n'
    run:restart(engine.load(text:format ""), { format = "json" })
    run:feed '{"t":3}\n{"t":30}\n'
    run:finish()
    local panes = {}
    for i, pane in ipairs(run:result().panes) do panes[i] = { pane.pane, pane.value.n } end
    assert.same({ { 0, 1 }, { 1, 2 }, { 2, 3 }, { 0, 1 } }, panes)
  end)

  it("saves again what has been loaded, byte for byte", function()
    streams.each(60, function(g, about)
      local case = generate.case(6000 + g.seed)
      about.script = case.script
      local pipelines, lines = engine.load(case.script), lines_of(case.input)
      local options = { clock = case.clock, format = "json" }
      local run = engine.open(pipelines, options)
      for i = 1, g:rnd(#lines) do run:feed(lines[i]) end
      run:restart(pipelines, options) -- after which the wheels of its timers have been turned
      local first = run:restart(pipelines, options)
      local again = run:restart(pipelines, options)
      assert.is_true(again == first, ("%d bytes, and then %d"):format(#first, #again))
      run:result()
    end)
  end)
end)

