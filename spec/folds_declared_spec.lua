--- Folds that declare their state show what the same folds with tables show, and their memory is the engine's.
local engine = require "spec.support.engine"
local streams = require "spec.support.streams"

local DECLARED = [[
  sums = ln.fold { state = { n = "double", odd = "int32", last = "int64", any = "bool" },
    add = function(a, r)
      if r.id % 7 == 0 then error "not this one" end
      a.n, a.odd, a.any = a.n + r.v, a.odd + r.id % 2, r.v > 7
      a.last = math.max(tonumber(a.last), r.id)
    end,
    merge = function(a, b)
      a.n, a.odd, a.any = a.n + b.n, a.odd + b.odd, a.any or b.any
      a.last = math.max(tonumber(a.last), tonumber(b.last))
    end },
  low = ln.fold { state = { v = "double" }, init = function(a) a.v = math.huge end,
    add = function(a, r) a.v = math.min(a.v, r.v) end,
    merge = function(a, b) if a.v == b.v then error "alike" end a.v = math.min(a.v, b.v) end,
    result = function(a) return a.v < math.huge and a.v or nil end },
  odd = ln.fold { state = { n = "double" }, init = function(a) a.n = 1 end, add = function(a) a.n = a.n + 1 end,
    merge = function(a, b) a.n = a.n + b.n - 1 end,
    result = function(a) if a.n % 3 == 0 then error "no result" end return { n = a.n } end },
]]

local PLAIN = [[
  sums = ln.fold { init = function() return { n = 0, odd = 0, last = 0, any = false } end,
    add = function(a, r)
      if r.id % 7 == 0 then error "not this one" end
      return { n = a.n + r.v, odd = a.odd + r.id % 2, any = r.v > 7, last = math.max(a.last, r.id) }
    end,
    merge = function(a, b)
      return { n = a.n + b.n, odd = a.odd + b.odd, any = a.any or b.any, last = math.max(a.last, b.last) }
    end },
  low = ln.fold { init = function() return math.huge end, add = function(a, r) return math.min(a, r.v) end,
    merge = function(a, b) if a == b then error "alike" end return math.min(a, b) end,
    result = function(a) return a < math.huge and a or nil end },
  odd = ln.fold { init = function() return 1 end, add = function(a) return a + 1 end,
    merge = function(a, b) return a + b - 1 end,
    result = function(a) if a % 3 == 0 then error "no result" end return { n = a } end },
]]

local function script(folds, how)
  return ([[local ln = require "lunette"
    return ln.pipeline { time = { field = "t" }, key = "k", watermark = { delay = 5 }, lateness = 4, window = %s,
      trigger = %s, panes = %q, aggregate = { n = ln.count(), %s }, emit = %s, fill = %s }]]):format(how.window,
    how.trigger, how.panes, folds, how.emit, how.fill)
end

local function records(g, count, keys)
  local out = {}
  for i = 1, count do out[i] = { id = i, t = i + g:rnd(8) - 4, k = "k" .. g:rnd(keys), v = g:rnd(10) } end
  return out
end

describe("folds that declare their state", function()
  it("show what folds with tables show, errors and all", function()
    local merged, errors = 0, 0
    streams.each(120, function(g, about)
      local fill = g:chance(4)
      local how = {
        window = fill and "ln.tumbling(6)" or g:pick { "ln.tumbling(6)", "ln.hopping(8, 4)", "ln.session(3)",
          "ln.session(3)", "ln.session(3, { max = 9 })", "ln.global()" },
        trigger = fill and "nil" or g:pick { "nil", "ln.each()", "ln.after_count(3)",
          "ln.at_watermark { early = ln.after_count(2) }",
          "ln.when(function(w, r) return w.value.sums.n % 4 == 1 or (w.value.low or 9) < r.v end)" },
        panes = g:pick { "accumulating", "discarding", "retracting" },
        emit = g:pick { "nil", "nil", "function(pane) return pane end" },
        fill = fill and "2" or "nil",
      }
      about.script = script(DECLARED, how)
      local input = engine.encode(records(g, 120, 4), "json")
      local declared = engine.run(about.script, input, { rows_max = 1 + g:rnd(40) })
      local plain = engine.run(script(PLAIN, how), input)
      assert.same(plain.panes, declared.panes)
      assert.equal(plain.script_errors, declared.script_errors)
      merged, errors = merged + declared.stats[1].withdrawals, errors + declared.script_errors
    end)
    if streams.usual() then assert.is_true(merged > 100 and errors > 1000) end
  end)

  local counting = [[local ln = require "lunette"
    return ln.pipeline { time = { field = "t" }, key = "k", window = ln.tumbling(1000),
      where = function(r) return r.v end, aggregate = {
      f = ln.fold { state = { n = "double", a = "double", b = "double", c = "int64" },
        add = function(acc, r) acc.n = acc.n + r.v end, result = function(acc) return acc.n end } } }]]

  it("keep it in memory of the engine, which is counted, and given back when no window is open", function()
    local keys, text = 20000, {}
    for i = 1, keys do text[i] = ('{"t":1,"k":%d,"v":%d}\n'):format(i, i) end
    local first = engine.open(counting)
    first:feed(table.concat(text))
    local held = first:stats().state_bytes
    assert.is_true(held > keys * 40)
    first:feed(table.concat(text))
    assert.equal(held, first:stats().state_bytes)
    first:feed '{"t":5000}\n' -- no window is open then
    first:feed '{"t":5001}\n'
    assert.is_true(first:stats().state_bytes < held / 10)
    first:finish()
    local seen = 0
    for _, pane in ipairs(first:result().panes) do
      if pane.start == 0 then
        assert.equal(2 * pane.key, pane.value.f)
        seen = seen + 1
      end
    end
    assert.equal(keys, seen)
  end)

  it("begin anew in a slot that another window has left", function()
    local input = {}
    for i = 0, 99 do input[#input + 1] = ('{"t":%d,"k":%d,"v":1}\n'):format(i * 1000, i % 3) end
    local r = engine.run(counting, table.concat(input))
    assert.equal(100, #r.panes)
    for _, pane in ipairs(r.panes) do assert.equal(1, pane.value.f) end
  end)
end)
