--- Folds: panes written by the compiled loop are those that are put together aside for `emit`, and an error costs one
-- value, wherever it is raised.
local engine = require "spec.support.engine"
local streams = require "spec.support.streams"

-- Folds of every kind of result, more than the loops have names for.
local FOLDS = [[
  sum = ln.fold { init = function() return 0 end, add = function(a, r) return a + r.v end,
    merge = function(a, b) return a + b end },
  half = ln.fold { init = function() return 0.5 end, add = function(a, r) return a + r.v end,
    merge = function(a, b) return a + b - 0.5 end },
  text = ln.fold { init = function() return "" end, add = function(a, r) return a .. r.k end,
    merge = function(a, b) return a .. b end },
  list = ln.fold { init = function() return {} end, add = function(a, r) a[#a + 1] = r.id return a end,
    merge = function(a, b) for _, id in ipairs(b) do a[#a + 1] = id end return a end },
  even = ln.fold { init = function() return true end, add = function(a) return not a end,
    merge = function(a, b) return a == b end },
  none = ln.fold { init = function() return 0 end, add = function(a) return a + 1 end, merge = math.max,
    result = function() end },
  big = ln.fold { init = function() return 9007199254740993LL end, add = function(a, r) return a + r.v end,
    merge = math.max },
  adds = ln.fold { init = function() return 0 end, merge = math.max,
    add = function(a, r) if r.id % 5 == 0 then error "no add" end return a + 1 end },
  ends = ln.fold { init = function() return 0 end, merge = math.max, add = function(a) return a + 1 end,
    result = function(a) if a % 2 == 0 then error "no result" end return a end },
  odd = ln.fold { init = function() return 0 end, merge = math.max, add = function(a) return a + 1 end,
    result = function(a) return a == 1 and print or a end },
  starts = ln.fold { merge = math.max, add = function(a, r) return math.max(a, r.v) end,
    init = function() calls = calls + 1 if calls % 3 == 0 then error "no init" end return calls end },
  last = ln.fold { init = function() return 0 end, add = function(a, r) return r.id end, merge = math.max },
  deep = ln.fold { init = function() return { a = { b = {} } } end, add = function(a, r) a.a.b[r.k] = r.v return a end,
    merge = function(a) return a end },
]]

local function script(window, trigger, panes, folds, emit)
  return ([[local ln = require "lunette"
    local calls = 0
    return ln.pipeline { time = { field = "t" }, key = "k", watermark = { delay = 5 }, lateness = 4, window = %s,
      trigger = %s, panes = %q, aggregate = { n = ln.count(), %s }, emit = %s }]]):format(window, trigger, panes, folds,
    emit)
end

local function records(g, count)
  local out = {}
  for i = 1, count do
    out[i] = { id = i, t = i + g:rnd(8) - 4, k = g:pick { "a", "b", "c" }, v = g:rnd(10) }
  end
  return out
end

describe("a pane with folds", function()
  it("is the same where emit returns it as it is", function()
    local early, kept = 0, 0
    streams.each(60, function(g, about)
      local window = g:pick { "ln.tumbling(6)", "ln.hopping(8, 4)", "ln.session(3)", "ln.session(3, { max = 9 })",
        "ln.global()" }
      local trigger = g:pick { "nil", "ln.each()", "ln.after_count(3)",
        "ln.at_watermark { early = ln.after_count(2) }" }
      local panes = g:pick { "accumulating", "discarding", "retracting" }
      local plain = script(window, trigger, panes, FOLDS, "nil")
      about.script = plain
      local input = engine.encode(records(g, 150), "json")
      local a = engine.run(plain, input)
      local b = engine.run(script(window, trigger, panes, FOLDS, "function(p) return p end"), input)
      assert.equal(a.bytes, b.bytes)
      assert.equal(a.script_errors, b.script_errors)
      early, kept = early + a.stats[1].panes, kept + a.stats[1].withdrawals
    end)
    if streams.usual() then assert.is_true(early > 2000 and kept > 500) end
  end)

  it("has null for the fold whose result fails, and its other values", function()
    local r = engine.run(script("ln.tumbling(10)", "nil", "accumulating", FOLDS, "nil"),
      '{"id":1,"t":1,"k":"a","v":3}\n{"id":2,"t":2,"k":"a","v":4}\n{"id":5,"t":3,"k":"b","v":1}\n')
    local a, b = r.panes[1].value, r.panes[2].value
    assert.same({ n = 2, sum = 7, half = 7.5, text = "aa", list = { 1, 2 }, even = true, big = 9007199254740993LL + 7,
      adds = 2, odd = 2, starts = 4, last = 2, deep = { a = { b = { a = 4 } } } }, a)
    assert.same({ n = 1, sum = 1, half = 1.5, text = "b", list = { 5 }, even = false, big = 9007199254740993LL + 1,
      adds = 0, ends = 1, starts = 2, last = 5, deep = { a = { b = { b = 1 } } } }, b)
    table.sort(r.notices)
    local told = table.concat(r.notices, "\n")
    for _, text in ipairs { "add of fold adds: .*no add", "result of fold ends: .*no result",
      "result of fold odd: .*a function is no value" } do assert.truthy(told:find(text), told) end
  end)
end)

describe("an accumulator", function()
  it("that can't be made costs the fold that record", function()
    local folds = [[x = ln.fold { add = function(a, r) return a + r.v end,
      init = function() calls = calls + 1 if calls == 2 then error "no init" end return 0 end }]]
    local r = engine.run(script("ln.tumbling(2)", "nil", "accumulating", folds, "nil"),
      '{"t":1,"k":"a","v":1}\n{"t":11,"k":"a","v":2}\n{"t":21,"k":"a","v":3}\n{"t":31,"k":"a","v":4}\n')
    local values = {}
    for i, pane in ipairs(r.panes) do values[i] = pane.value.x end
    assert.same({ 1, 0, 3, 4 }, values)
    assert.equal(1, r.script_errors)
  end)

  it("may be false, and is that of an empty window after a discarded pane", function()
    local folds = [[any = ln.fold { init = function() return false end, add = function(a, r) return a or r.v > 5 end }]]
    local r = engine.run(script("ln.tumbling(100)", "ln.each()", "discarding", folds, "nil"),
      '{"t":1,"k":"a","v":9}\n{"t":2,"k":"a","v":1}\n{"t":3,"k":"a","v":7}\n')
    local values = {}
    for i, pane in ipairs(r.panes) do values[i] = pane.value.any end
    assert.same({ true, false, true }, values)
  end)
end)

it("a predicate that reads a fold still sees its own record", function()
  local r = engine.run([[local ln = require "lunette"
    return ln.pipeline { time = { field = "t" }, window = ln.session(5, { max = 20 }), watermark = { delay = 10 },
      trigger = ln.when(function(w, r)
        local id = r.id
        local list = w.value.list
        if list[#list] ~= id or r.id ~= id then error(("%d and %d"):format(list[#list], id)) end
        return id % 3 == 0
      end),
      aggregate = { list = ln.fold { init = function() return {} end,
        add = function(a, r) a[#a + 1] = r.id return a end } } }]],
    engine.encode(records(streams.source(1), 200), "json"), { rows_max = 16 })
  assert.equal(0, r.script_errors, r.notices[1])
  assert.is_true(#r.panes > 50)
end)
