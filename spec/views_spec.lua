--- What functions are given of records and windows are views: valid during the call, and copied where they must last.
local engine = require "spec.support.engine"

local HEAD = [[local ln = require "lunette"
local kept, told = {}, {}
_G.told = told
]]

-- Runs a pipeline over records one second apart, in batches of `rows_max`; what it put into `told`, and the result.
local function run(script, count, rows_max)
  local lines = {}
  for i = 1, count do
    lines[i] = ('{"t":%d,"k":"%s","v":%d,"d":%d.5,"z":null}\n'):format(i, i % 2 == 0 and "a" or "b", i, i)
  end
  local r = engine.run(HEAD .. script, table.concat(lines), { rows_max = rows_max })
  local told = _G.told
  _G.told = nil
  return told, r
end

local function has(notices, text)
  for _, notice in ipairs(notices) do
    if notice:find(text, 1, true) then return true end
  end
  return false
end

describe("a record", function()
  it("is gone after the call, and a copy is not", function()
    local told, r = run([[return ln.pipeline { time = { field = "t" }, window = ln.tumbling(100),
      where = function(r)
        kept[#kept + 1] = r
        told[#told + 1] = ln.copy(r)
        return true
      end,
      aggregate = { n = ln.count() },
      emit = function() return { kept[1].v } end }]], 3)
    assert.same({ t = 1, k = "b", v = 1, d = 1.5 }, told[1])
    assert.equal(3, told[3].v)
    assert.is_true(has(r.notices, "script.lua:11: a record lives only during the call"), r.notices[1])
  end)

  it("can't be changed", function()
    local _, r = run([[return ln.pipeline { time = { field = "t" }, window = ln.tumbling(100),
      where = function(r) r.x = 1 end, aggregate = { n = ln.count() } }]], 2)
    assert.is_true(has(r.notices, "script.lua:5: a record can't be changed"), r.notices[1])
    assert.equal(2, r.stats[1].rejected.script_error)
  end)
end)

describe("a window that a predicate is asked about", function()
  for _, rows_max in ipairs { 1, 1024 } do
    it("shows its values with the record in, in batches of up to " .. rows_max, function()
      local told = run([[return ln.pipeline { time = { field = "t", unit = "s" }, key = "k",
        window = ln.tumbling(100),
        trigger = ln.when(function(w, r)
          local v = w.value
          told[#told + 1] = { w.key, w.start, w.stop, w.pane, v.n, v.s, v.avg, v.none == nil, v.last, v.f, v.g == nil,
            w.nothing == nil, v.nothing == nil }
          return r.v == 4
        end),
        aggregate = { n = ln.count(), s = ln.sum "v", avg = ln.avg "v", none = ln.min "z", last = ln.last "k",
          f = ln.fold { init = function() return 0 end, add = function(a, r) return a + r.v end },
          g = ln.fold { init = function() return 0 end, add = function(a) return a end,
            result = function() error "no result" end } } }]], 6, rows_max)
      assert.same({ "a", 0, 100, 0, 1, 2, 2, true, "a", 2, true, true, true }, told[2])
      assert.same({ "a", 0, 100, 0, 2, 6, 3, true, "a", 6, true, true, true }, told[4])
      assert.same({ "b", 0, 100, 0, 3, 9, 3, true, "b", 9, true, true, true }, told[5])
      assert.same({ "a", 0, 100, 1, 3, 12, 4, true, "a", 12, true, true, true }, told[6])
    end)
  end

  it("is gone after the call, can't be changed, and its values can be copied", function()
    local told, r = run([[return ln.pipeline { time = { field = "t" }, window = ln.tumbling(100),
      trigger = ln.when(function(w)
        kept[1], kept[2] = w, w.value
        told[#told + 1] = ln.copy(w.value)
        told.window = ln.copy(w)
        if w.value.n == 2 then w.value.n = 3 end
        if w.value.n == 3 then w.key = 3 end
      end),
      aggregate = { n = ln.count(), s = ln.sum "v" },
      emit = function() return { kept[2].n } end }]], 3)
    assert.same({ n = 2, s = 3 }, told[2])
    assert.same({ pane = 0, start = 0, stop = 100 }, told.window)
    assert.is_true(has(r.notices, "script.lua:9: a window can't be changed"), r.notices[1])
    assert.is_true(has(r.notices, "script.lua:10: a window can't be changed"), r.notices[2])
    assert.is_true(has(r.notices, "script.lua:13: a window lives only during the call"), r.notices[3])
  end)

  it("is shown to each predicate, also where one before it has failed", function()
    local told, r = run([[return ln.pipeline { time = { field = "t" }, window = ln.tumbling(100),
      trigger = ln.any { ln.when(function(w, r) told[#told + 1] = "one" return r.v == 1 and r.z.z end),
        ln.when(function(w) told[#told + 1] = "two" return w.value.n == 2 end),
        ln.when(function(w, r) told[#told + 1] = "three" return r.z.z end) },
      aggregate = { n = ln.count() } }]], 2)
    assert.equal("one two three one two three", table.concat(told, " "))
    assert.equal(3, r.script_errors)
    assert.equal(1, #r.panes)
    assert.equal("early", r.panes[1].timing)
  end)

  -- Folds are brought up to date when a predicate reads one, or else now and then.
  it("has folds of all records, however seldom they are read", function()
    for _, every in ipairs { 1, 7, 100000 } do
      local told = run(([[return ln.pipeline { time = { field = "t" }, window = ln.tumbling(100000),
        trigger = ln.when(function(w, r)
          if r.v %% %d == 0 then told[#told + 1] = w.value.f - (r.v * (r.v + 1)) / 2 end
        end),
        aggregate = { f = ln.fold { init = function() return 0 end, add = function(a, r) return a + r.v end } },
        emit = function(p) told.last = p.value.f end }]]):format(every), 9000, 5000)
      assert.equal(math.floor(9000 / every), #told)
      for _, off in ipairs(told) do assert.equal(0, off) end
      assert.equal(9000 * 9001 / 2, told.last)
    end
  end)
end)
