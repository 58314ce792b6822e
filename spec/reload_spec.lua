--- Pipelines that change while they run, in one Lua state: what goes on as if nothing had happened, and what changes.
local engine = require "spec.support.engine" -- which tells where the engine is: before all others
local driver = require "lunette.driver"
local generate = require "spec.support.generate"
local json = require "spec.support.json"
local reload = require "lunette.reload"
local streams = require "spec.support.streams"

-- The panes of each key in their order: across keys it may change.
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

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]*\n?" do
    if line ~= "" then lines[#lines + 1] = line end
  end
  return lines
end

-- A reload of a run, in small steps.
local function begin(run, pipelines)
  local options = {}
  for name, x in pairs(run.app.options) do options[name] = x end
  for name, x in pairs(reload.shape(run.app)) do options[name] = x end
  options.output = run.app.output
  return reload.begin(run.app, driver.open(pipelines, options))
end

local function step(run, change)
  if not change:step(0) then
    run:collect()
    return false
  end
  local old = run.app
  run:use(change.fresh)
  old:close()
  run:pump(0)
  return true
end

-- A run with reloads begun before the lines whose numbers `at` holds; each takes as many lines as it takes.
local function reloaded(pipelines, lines, options, at)
  local run, change, count = engine.open(pipelines, options), nil, 0
  for i, line in ipairs(lines) do
    if at[i] and not change then change = begin(run, pipelines) end
    if change and step(run, change) then
      change, count = nil, count + 1
    end
    run:feed(line)
  end
  if change then change:cancel() end
  run:finish()
  return run:result(), count
end

local function shown(r)
  local accounts = {}
  for i, s in ipairs(r.stats) do
    s.state_bytes = nil
    s.watermark_us = tostring(s.watermark_us)
    accounts[i] = json.encode(s)
  end
  return table.concat({ by_key(r.bytes), r.reject_bytes, r.script_errors, table.concat(accounts, "\n") }, "\n--\n")
end

describe("a reload", function()
  it("of the same script changes nothing, for random pipelines", function()
    local all = 0
    streams.each(120, function(g, about)
      local case = generate.case(9000 + g.seed)
      about.script = case.script
      local pipelines, lines = engine.load(case.script), lines_of(case.input)
      local options = { clock = case.clock, format = "json" }
      local want = shown((reloaded(pipelines, lines, options, {})))
      local at = {}
      for _ = 1, 1 + g:rnd(6) do at[1 + g:rnd(#lines)] = true end
      local r, count = reloaded(pipelines, lines, options, at)
      assert.equal(want, shown(r))
      all = all + count
    end)
    assert.is_true(all > 200, all .. " reloads")
  end)
end)
