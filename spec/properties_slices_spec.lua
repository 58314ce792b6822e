--- Windows on a grid that share slices give the same panes as a cell for each window.
local engine = require "spec.support.engine"
local json = require "spec.support.json"
local ledger = require "spec.support.ledger"
local lower = require "lunette.lower"
local streams = require "spec.support.streams"

-- Each key's panes, in their order; the order across keys is free.
local function by_key(panes)
  local groups = {}
  for _, pane in ipairs(panes) do
    local id = json.encode(pane.key)
    groups[id] = groups[id] or {}
    table.insert(groups[id], pane)
  end
  return groups
end

local function compare_panes(cells, slices)
  local a, b = by_key(cells), by_key(slices)
  for id in pairs(b) do assert.is_truthy(a[id], "a key too many") end
  for id, list in pairs(a) do
    local other = b[id] or {}
    for i = 1, math.max(#list, #other) do
      if not ledger.same(list[i], other[i]) then
        error(("key %s, pane %d of it\ncells  %s\nslices %s"):format(id, i, json.encode(list[i]), json.encode(other[i])), 0)
      end
    end
  end
end

-- Runs a script both ways, and gives what both came to.
local function both(script, input, options)
  local pipelines = engine.load(script)
  assert.is_truthy(lower.slices(pipelines[1]), "the windows of this pipeline share no slices")
  options.slices = false
  local cells = engine.run(pipelines, input, options)
  options.slices = nil
  local slices = engine.run(pipelines, input, options)
  compare_panes(cells.panes, slices.panes)
  assert.equal(cells.reject_bytes, slices.reject_bytes)
  for _, name in ipairs { "read", "aggregated", "filtered", "refusals_late", "windows_opened", "keys", "windows", "panes",
    "distinct_over" } do
    assert.equal(cells.stats[1][name], slices.stats[1][name], name)
  end
  return slices
end

-- A hop and a size that share slices, and an offset.
local function grid(g)
  local hop = 1 + g:rnd(16)
  local size = g:chance(3) and hop * (2 + g:rnd(6)) or hop + 1 + g:rnd(60)
  local offset = g:pick { 0, g:rnd(100) - 50, -g:rnd(1000), 7777 }
  return ("ln.hopping(%d, %d, { offset = %d })"):format(size, hop, offset), size, hop
end

describe("slices and cells give the same panes", function()
  it("for any size, hop and offset, below zero too, and for records behind W", function()
    local refusals, late, uneven = 0, 0, 0
    streams.each(150, function(g, about)
      local window, size, hop = grid(g)
      local delay = g:pick { 0, 3, 20 }
      about.script = streams.script { window = window, delay = delay, panes = g:pick { "accumulating", "discarding", "retracting" },
        trigger = g:pick { "nil", "ln.at_watermark { late = ln.after_count(3) }" } }
      local records = g:records { count = 20 + g:rnd(100), start = g:pick { -900, -50, 0, 1700000000 }, step = g:pick { 2, 8, 30 },
        same_times = g:chance(2), keys = g:pick { 1, 3, 20 } }
      records = g:delayed(records, delay + g:pick { 0, size, 3 * size })
      local s = both(about.script, engine.encode(records, "json"), { rows_max = g:pick { 1, 7, 1024 } }).stats[1]
      refusals, late = refusals + s.refusals_late, late + (s.rejected.late or 0)
      uneven = uneven + (size % hop > 0 and 1 or 0)
    end)
    if not streams.usual() then return end
    assert.is_true(refusals > 100)
    assert.is_true(late > 100)
    assert.is_true(uneven > 50)
  end)

  it("across gaps of a year and more", function()
    streams.each(60, function(g, about)
      local year = 365 * 86400000
      about.script = streams.script { window = grid(g), delay = g:pick { 0, 50 } }
      local records = g:records { count = 60, jumps = g:pick { year, 30 * year }, step = 8, start = -10 * year }
      both(about.script, engine.encode(g:delayed(records, 40), "json"), {})
    end)
  end)

  it("when W jumps far ahead of a source that is behind", function()
    streams.each(40, function(g, about)
      about.script = streams.script { window = grid(g), delay = 10 }:gsub("watermark = { ", "%0source = 'k', ")
      local records = g:delayed(g:records { count = 100, jumps = 3000, step = 8 }, 300)
      both(about.script, engine.encode(records, "json"), {})
    end)
  end)

  it("with functions, filters and emit", function()
    streams.each(30, function(g, about)
      about.script = streams.script { window = grid(g), delay = 10, key = "function(r) return { r.k, r.id % 2 } end",
        more = "where = function(r) return r.v % 5 ~= 0 end, emit = function(p) if p.value.n > 1 then return p end end," }
      both(about.script, engine.encode(g:delayed(g:records { count = 100 }, 30), "json"), {})
    end)
  end)

  it("with texts that are first, last and distinct, and a distinct past its limit", function()
    local over = 0
    streams.each(30, function(g, about)
      about.script = streams.script { window = grid(g), aggregates = { "n", "xs", "first", "last" },
        more = "limits = { distinct_values = 5 }," }
      local records = g:records { count = 100, step = 3 }
      for _, r in ipairs(records) do r.x = g:pick { ("x"):rep(g:rnd(40)), g:rnd(9), "y" } end
      over = over + both(about.script, engine.encode(records, "json"), {}).stats[1].distinct_over
    end)
    assert.is_true(over > 0)
  end)

  it("at the ends of the range", function()
    local first, last = -9223372036854775807LL, 9223372036854775806LL
    streams.each(40, function(g, about)
      about.script = streams.script { window = grid(g), aggregates = { "n", "s" } }:gsub('field = "t"', '%0, unit = "us"')
      local records = {}
      for id = 1, 30 do
        local t = last - g:rnd(200)
        records[id] = { id = id, t = t, k = "k" .. g:rnd(2), v = g:rnd(10) }
      end
      table.sort(records, function(a, b) return a.t < b.t end)
      both(about.script, engine.encode(records, "msgpack"), { format = "msgpack", verify = false })
    end)
  end)
end)

describe("a pipeline's windows have cells of their own", function()
  local function width(fields)
    local how = { window = "ln.hopping(60, 10)" }
    for name, text in pairs(fields) do how[name] = text end
    return (lower.slices(engine.load(streams.script(how))[1]))
  end

  it("where a pane needs more than the end of its window", function()
    assert.equal(10000, width {})
    assert.is_nil(width { lateness = 1 })
    assert.is_nil(width { trigger = "ln.each()" })
    assert.is_nil(width { trigger = "ln.at_watermark { early = ln.after_count(2) }" })
    assert.is_nil(width { aggregates = { "n", "f" } })
    assert.is_nil(width { more = "fill = 1," })
    assert.is_nil(width { window = "ln.tumbling(60)" })
    assert.is_nil(width { window = "ln.session(60)" })
  end)
end)
