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

