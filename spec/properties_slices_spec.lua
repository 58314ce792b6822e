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
        error(("key %s, pane %d of it\ncells  %s\nslices %s"):format(id, i, json.encode(list[i]),
          json.encode(other[i])), 0)
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
  options.plain = true
  local one_by_one = engine.run(pipelines, input, options)
  options.plain = nil
  assert.same(slices.panes, one_by_one.panes, "a run of rows and one row after the other differ")
  assert.same(slices.stats[1], one_by_one.stats[1])
  compare_panes(cells.panes, slices.panes)
  assert.equal(cells.reject_bytes, slices.reject_bytes)
  for _, name in ipairs { "read", "aggregated", "filtered", "refusals_late", "windows_opened", "keys", "windows",
    "panes", "distinct_over", "distinct_refused" } do
    assert.equal(cells.stats[1][name], slices.stats[1][name], name)
  end
  return slices
end

-- A hop and a size that share slices, and an offset.
local function grid(g)
  local hop = 1 + g:rnd(16)
  local size = g:chance(3) and hop * (2 + g:rnd(6)) or hop + 1 + g:rnd(60)
  if g:chance(8) then size = hop elseif g:chance(8) then size = hop * (8 + g:rnd(30)) end
  local offset = g:pick { 0, g:rnd(100) - 50, -g:rnd(1000), 7777 }
  return ("ln.hopping(%d, %d, { offset = %d })"):format(size, hop, offset), size, hop
end

describe("slices and cells give the same panes", function()
  it("for any size, hop and offset, below zero too, and for records behind W", function()
    local refusals, late, uneven = 0, 0, 0
    streams.each(150, function(g, about)
      local window, size, hop = grid(g)
      local delay = g:pick { 0, 3, 20 }
      about.script = streams.script { window = window, delay = delay,
        panes = g:pick { "accumulating", "discarding", "retracting" },
        trigger = g:pick { "nil", "ln.at_watermark { late = ln.after_count(3) }" } }
      local records = g:records { count = 20 + g:rnd(100), start = g:pick { -900, -50, 0, 1700000000 },
        step = g:pick { 2, 8, 30 },
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
        more = [[where = function(r) return r.v % 5 ~= 0 end,
          emit = function(p) if p.value.n > 1 then return p end end,]] }
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

  it("with sketches past what they hold exactly, and lists that are cut", function()
    local cut, estimated = 0, 0
    streams.each(20, function(g, about)
      about.script = streams.script { window = "ln.hopping(600, 200)", key = "'none'", aggregates = { "n" } }
        :gsub("n = ln.count%(%)", [[n = ln.count(),
        near = ln.distinct("id", { approx = true, precision = 10 }), xs = ln.distinct "id",
        middle = ln.quantile("d", { 0, 0.3, 0.5, 0.9, 1 }), list = ln.collect("x", { limit = 20 }),
        often = ln.top("x", 3), most = ln.max_by("x", "b"), classes = ln.histogram("d", { bounds = { -9, 0, 9 } }),
        pace = ln.rate(), right = ln.ratio(function(r) return r.v > 3 end)]])
        :gsub("window = ", "limits = { distinct_values = 100 }, %0")
      local records = g:delayed(g:records { count = 1500, step = 2 }, 30)
      local run = both(about.script, engine.encode(records, "json"), {})
      for _, pane in ipairs(run.panes) do
        cut, estimated = cut + (pane.cut and 1 or 0), estimated + (pane.approx and 1 or 0)
      end
    end)
    assert.is_true(cut > 20 and estimated > 20)
  end)

  -- Windows that do not overlap, with predicates and folds.
  local EARLY = {
    "nil", "ln.at_watermark { early = ln.when(function(w, r) return r.v % 3 == 0 end) }",
    "ln.at_watermark { early = ln.when(function(w) return w.value.n % 2 == 0 and w.pane < 5 end) }",
    [[ln.at_watermark { early = ln.any { ln.when(function(w, r) return w.start + 5 < r.t end),
      ln.any { ln.when(function(w, r) return #w.key == 2 and w.value.xs == 2 end) } } }]],
  }
  local FOLD_READ = "ln.at_watermark { early = ln.when(function(w) local f = w.value.f return f and f.n > 3 end) }"

  it("where windows do not overlap and predicates and folds look at them", function()
    local early, folds, late = 0, 0, 0
    streams.each(120, function(g, about)
      local size, delay = 1 + g:rnd(40), g:pick { 0, 3, 20 }
      local fold = g:chance(2)
      folds = folds + (fold and 1 or 0)
      about.script = streams.script { window = ("ln.tumbling(%d, { offset = %d })"):format(size, g:rnd(9)),
        delay = delay, panes = g:pick { "accumulating", "discarding" },
        trigger = fold and g:chance(3) and FOLD_READ or g:pick(EARLY),
        aggregates = { "n", "s", "xs", "low", fold and "f" or "high" },
        more = "limits = { distinct_values = 3 }," .. (g:chance(4) and "emit = function(p) return p end," or "") }
      local records = g:delayed(g:records { count = 20 + g:rnd(150), keys = g:pick { 1, 3, 20 } },
        delay + g:pick { 0, size })
      local run = both(about.script, engine.encode(records, "json"), { rows_max = g:pick { 1, 7, 1024 } })
      late = late + (run.stats[1].rejected.late or 0)
      for _, pane in ipairs(run.panes) do early = early + (pane.timing == "early" and 1 or 0) end
    end)
    if not streams.usual() then return end
    assert.is_true(early > 1000 and folds > 30 and late > 100)
  end)

  it("where a predicate raises an error, and where waiting output cuts a run", function()
    streams.each(20, function(g, about)
      about.script = streams.script { window = "ln.tumbling(50)", aggregates = { "n", "f" },
        trigger = "ln.at_watermark { early = ln.when(function(w, r) return r.v % 7 > 1 or nil + 1 end) }" }
      local records = g:records { count = 3000, keys = 40 }
      both(about.script, engine.encode(records, "json"), {})
    end)
  end)

  describe("and the same counts", function()
    local function counted(values, name)
      local records = {}
      for i, x in ipairs(values) do records[i] = { id = i, t = i, k = "a", x = x, v = x, d = 0, b = 0 } end
      local script = streams.script { window = "ln.hopping(20, 10)", aggregates = { "n", "xs", "s" },
        more = "limits = { distinct_values = 5 }," }
      local input = engine.encode(records, "json")
      local slices, cells = engine.run(script, input), engine.run(script, input, { slices = false })
      return { slices = slices.stats[1][name], cells = cells.stats[1][name] }
    end

    it("of windows whose distinct passed its limit", function()
      -- Six values at 1 to 6, which lie in [-10, 10) and [0, 20).
      assert.same({ slices = 2, cells = 2 }, counted({ 1, 2, 3, 4, 5, 6 }, "distinct_over"))
      -- Three values of each slice pass it together, in [0, 20) alone.
      assert.same({ slices = 1, cells = 1 }, counted({ 1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6 }, "distinct_over"))
    end)

    it("of values that an aggregate could not take, each once", function()
      assert.same({ slices = 2, cells = 2 }, counted({ 1, "a", 2, "b" }, "values_skipped"))
    end)
  end)

  describe("at the ends of the range", function()
    local first, last = -9223372036854775807LL, 9223372036854775806LL
    local function in_microseconds(how) return (streams.script(how):gsub('field = "t"', '%0, unit = "us"')) end

    local function near(name, time_of)
      it("for any size, hop and offset: " .. name, function()
        streams.each(40, function(g, about)
          about.script = in_microseconds { window = grid(g), aggregates = { "n", "s" } }
          local records = {}
          for id = 1, 30 do
            records[id] = { id = id, t = time_of(1 + g:rnd(200)), k = "k" .. g:rnd(2), v = g:rnd(10) }
          end
          table.sort(records, function(a, b) return a.t < b.t end)
          both(about.script, engine.encode(records, "msgpack"), { format = "msgpack" })
        end)
      end)
    end
    near("the first moments", function(n) return first + n end)
    near("the last moments", function(n) return last - n end)

    local function starts_of(t)
      local records, starts = { { id = 1, t = t, k = "a", v = 1 } }, {}
      local r = engine.run(in_microseconds { window = "ln.hopping(4, 2)", aggregates = { "n" } },
        engine.encode(records, "msgpack"), { format = "msgpack", out = "json" })
      for i, pane in ipairs(r.panes) do starts[i] = tostring(pane.start) .. " " .. tostring(pane["end"]) end
      return starts
    end

    it("a window that would begin before the first moment begins there", function()
      assert.same({ "-9223372036854775807LL -9223372036854775804LL", "-9223372036854775806LL -9223372036854775802LL" },
        starts_of(first + 1))
    end)

    it("a window that would end after the last moment ends there, and nothing follows", function()
      assert.same({ "9223372036854775802LL 9223372036854775806LL", "9223372036854775804LL 9223372036854775806LL" },
        starts_of(last - 1))
    end)
  end)
end)

describe("a pipeline's windows have cells of their own", function()
  local EARLY = "ln.at_watermark { early = ln.any { ln.when(function() end), ln.when(function() end) } }"

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
    assert.equal(60000, width { window = "ln.tumbling(60)" })
    assert.is_nil(width { trigger = EARLY })
    assert.equal(60000, width { window = "ln.tumbling(60)", trigger = EARLY, aggregates = { "n", "f" } })
    assert.is_nil(width { window = "ln.tumbling(60)", trigger = EARLY, panes = "retracting" })
    assert.is_nil(width { window = "ln.tumbling(60)", trigger = "ln.when(function() end)" })
    assert.is_nil(width { window = "ln.tumbling(60)",
      trigger = "ln.at_watermark { early = ln.any { ln.each(), ln.when(function() end) } }" })
    assert.is_nil(width { window = "ln.hopping(10, 60)" })
    assert.is_nil(width { window = "ln.session(60)" })
  end)
end)
