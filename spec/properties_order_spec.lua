--- What does not depend on the order of arrival, and what discarded parts add up to; whole numbers stay exact.
local engine = require "spec.support.engine"
local json = require "spec.support.json"
local ledger = require "spec.support.ledger"
local streams = require "spec.support.streams"
local value = require "lunette.value"

-- The last pane of each window, as windows of a ledger.
local function last_panes(r, mode, kind) return ledger.of(r.panes, mode, kind == "grid").windows end

describe("in accumulating mode the last pane of each window is the same", function()
  -- Several orders of arrival of the same records, none late, under any trigger.
  local function check_orders(g, about, how, kind)
    local disorder = how.delay
    if kind == "merging" then how.delay = disorder + 4 end -- such windows begin up to 4 before their record
    local records = g:records { count = 30 + g:rnd(70), step = g:pick { 2, 5 }, jumps = 80 }
    local want, rejects
    for round = 1, 4 do
      local arriving = round == 1 and records or g:delayed(records, disorder)
      about.script = streams.script(how)
      local r = engine.run(about.script, engine.encode(arriving, "json"), { rows_max = g:pick { 1, 7, 64 } })
      local got = last_panes(r, "accumulating", kind)
      assert.is_nil(r.stats[1].rejected.late)
      assert.equal(0, r.stats[1].refusals_late)
      want, rejects = want or got, rejects or r.stats[1].refused
      assert.equal(rejects, r.stats[1].refused)
      ledger.compare(want, got)
      if how.lateness == 0 and (how.more or how.trigger == "nil" or how.trigger:find "at_watermark") then
        for _, pane in pairs(got) do assert.is_true(pane.final) end
      end
    end
  end

  for _, modes in ipairs { "at the watermark", "under any trigger" } do
    it("for any order of arrival within the delay, " .. modes, function()
      streams.each(80, function(g, about)
        local window, kind = g:window()
        check_orders(g, about, {
          window = window, trigger = modes == "at the watermark" and "nil" or g:rooted(), delay = g:pick { 3, 20, 200 },
          lateness = g:pick { 0, 0, 15 }, more = g:chance(3) and 'closing = "always",' or nil,
          aggregates = g:chance(2) and { "f", "n", "s", "first", "last", "var", "xs", "low" } or nil,
        }, kind)
      end)
    end)
  end
end)

describe("in discarding mode the panes of a window add up", function()
  it("to the last accumulating pane", function()
    local absorbed, names = 0, { n = true, s = true, d = true, some = true, low = true, high = true, f = true }
    streams.each(120, function(g, about)
      local window, kind = g:window()
      local how = { window = window, trigger = g:rooted(), delay = g:rnd(15), lateness = g:pick { 0, 12, 50 },
        aggregates = { "n", "s", "d", "some", "low", "high", "f" } }
      local records = g:delayed(g:records { count = 80, jumps = 90, same_times = g:chance(2) },
        how.delay + g:pick { 0, 20 })
      local input = engine.encode(records, "json")
      local adding, replacing
      for _, mode in ipairs { "accumulating", "discarding" } do
        how.panes = mode
        about.script = streams.script(how)
        local r = engine.run(about.script, input)
        local held = ledger.of(r.panes, mode, kind == "grid")
        absorbed = absorbed + held.counts.absorbed
        if mode == "discarding" then adding = { held = held, r = r } else replacing = { held = held, r = r } end
      end
      -- A `when` may look at what discarding takes away: only panes differ, and never the account.
      ledger.compare(replacing.held.windows, adding.held.windows, names)
      assert.equal(replacing.r.reject_bytes, adding.r.reject_bytes)
      assert.equal(replacing.r.stats[1].aggregated, adding.r.stats[1].aggregated)
    end)
    if streams.usual() then assert.is_true(absorbed > 50) end
  end)
end)

-- ---- exact whole numbers

local INT_MIN, INT_MAX = -9223372036854775807LL - 1, 9223372036854775807LL
local UINT_MAX, ODD = 18446744073709551615ULL, 9007199254740993LL -- ODD is 2^53 + 1, which no double is

local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" }, key = "k", window = %s, trigger = %s, panes = "%s", watermark = { delay = 1000 },
  aggregate = { s = ln.sum "v", low = ln.min "v", high = ln.max "v", first = ln.first "v", last = ln.last "v",
    n = ln.count(), xs = ln.distinct "v", by = ln.sum(function(r) return r.v end),
      top = ln.max(function(r) return r.v end) },
}
]]

-- One window of these values, in this order of arrival but with their places as times.
local function window_of(values, order, options)
  local records = {}
  for i, at in ipairs(order) do records[i] = { t = at, v = values[at], k = "a" } end
  local script = SCRIPT:format(options.window or "ln.tumbling(100)", options.trigger or "nil",
    options.panes or "accumulating")
  return engine.run(script, engine.encode(records, options.format or "msgpack"),
    { format = options.format or "msgpack", out = options.out, slices = options.slices })
end

local function permutations(n)
  local out = {}
  local function go(rest, chosen)
    if #rest == 0 then out[#out + 1] = chosen end
    for i = 1, #rest do
      local others, longer = { unpack(rest) }, { unpack(chosen) }
      longer[#longer + 1] = table.remove(others, i)
      go(others, longer)
    end
  end
  local all = {}
  for i = 1, n do all[i] = i end
  go(all, {})
  return out
end

-- A value whose kind counts too: 1 and 1.0 differ, and so do int64 and uint64.
local function exactly(v)
  local kind = type(v)
  if kind == "number" then kind = v % 1 == 0 and math.abs(v) <= 2 ^ 53 and "whole" or "double" end
  return kind .. " " .. tostring(v)
end

describe("whole numbers stay exact", function()
  local cases = {
    { "2^53 + 1", { ODD, 1, -1 }, s = ODD, low = -1, high = ODD, n = 3 },
    { "2^53 + 1 twice", { ODD, ODD }, s = 18014398509481986LL, low = ODD, high = ODD, n = 2 },
    { "neighbours that are one double", { ODD, 9007199254740992LL, 9007199254740994LL }, s = 27021597764222979LL,
      low = 9007199254740992, high = 9007199254740994LL, n = 3 },
    { "the ends of int64", { INT_MIN, INT_MAX }, s = -1, low = INT_MIN, high = INT_MAX, n = 2 },
    { "the end of uint64", { UINT_MAX, 0 }, s = UINT_MAX, low = 0, high = UINT_MAX, n = 2 },
    { "both ends", { UINT_MAX, INT_MIN, 5 }, s = 9223372036854775812ULL, low = INT_MIN, high = UINT_MAX, n = 3 },
    -- Twice 2^64 - 1 less three times 2^63 is 2^63 - 2.
    { "a sum that leaves 64 bits and comes back", { UINT_MAX, UINT_MAX, INT_MIN, INT_MIN, INT_MIN },
      s = 9223372036854775806LL,
      low = INT_MIN, high = UINT_MAX, n = 5 },
    { "a sum that stays beyond 64 bits", { UINT_MAX, UINT_MAX, UINT_MAX }, s = 3 * 2 ^ 64, low = UINT_MAX,
      high = UINT_MAX, n = 3 },
    { "a sum below 64 bits", { INT_MIN, INT_MIN }, s = -2 ^ 64, low = INT_MIN, high = INT_MIN, n = 2 },
  }
  for _, case in ipairs(cases) do
    it("in any order: " .. case[1], function()
      local values = case[2]
      for _, order in ipairs(permutations(#values)) do
        for _, options in ipairs { {}, { format = "json" }, { window = "ln.hopping(100, 50)" },
          { window = "ln.hopping(100, 50)", slices = false }, { window = "ln.session(50)" } } do
          local r = window_of(values, order, options)
          local found = 0
          for _, pane in ipairs(r.panes) do
            local v = pane.value
            if v.n == case.n then
              found = found + 1
              assert.equal(exactly(case.s), exactly(v.s))
              assert.equal(exactly(case.s), exactly(v.by))
              assert.equal(exactly(case.low), exactly(v.low))
              assert.equal(exactly(case.high), exactly(v.high))
              assert.equal(exactly(case.high), exactly(v.top))
              assert.equal(exactly(values[1]), exactly(v.first))
              assert.equal(exactly(values[#values]), exactly(v.last))
            end
          end
          assert.is_true(found > 0)
        end
      end
    end)
  end

  it("as keys, from fields and from functions", function()
    local keys = { ODD, 9007199254740992LL, 9007199254740994LL, INT_MIN, INT_MAX, UINT_MAX, INT_MAX - 1, UINT_MAX - 1 }
    for _, key in ipairs { '"k"', 'function(r) return r.k end', '{ "k" }', "function(r) return { r.k } end" } do
      local records = {}
      for round = 1, 3 do
        for i, k in ipairs(keys) do records[#records + 1] = { t = round, k = k, v = i } end
      end
      for _, format in ipairs { "json", "msgpack" } do
        local r = engine.run(streams.script { window = "ln.tumbling(10)", key = key, aggregates = { "n", "s" } },
          engine.encode(records, format), { format = format })
        local seen = {}
        for _, pane in ipairs(r.panes) do
          local shown = type(pane.key) == "table" and pane.key[1] or pane.key
          seen[exactly(shown)] = { pane.value.n, pane.value.s }
        end
        assert.equal(#keys, #r.panes)
        for i, k in ipairs(keys) do
          assert.same({ 3, 3 * i }, seen[exactly(tonumber(k) == 2 ^ 53 and k == 9007199254740992LL and 2 ^ 53 or k)])
        end
      end
    end
  end)

  it("and a double is one key with the whole number that it equals", function()
    local records = { { t = 1, k = 2 ^ 53 }, { t = 1, k = 9007199254740992LL }, { t = 1, k = 2 ^ 63 },
      { t = 1, k = 9223372036854775808ULL },
      { t = 1, k = -2 ^ 63 }, { t = 1, k = INT_MIN }, { t = 1, k = ODD } }
    local script = [[local ln = require "lunette"
      return ln.pipeline { time = { field = "t" }, key = "k", window = ln.tumbling(10),
        aggregate = { n = ln.count() } }]]
    local r = engine.run(script, engine.encode(records, "msgpack"), { format = "msgpack" })
    local counts = {}
    for _, pane in ipairs(r.panes) do counts[#counts + 1] = pane.value.n end
    table.sort(counts)
    assert.same({ 1, 2, 2, 2 }, counts)
  end)

  it("in discarded parts, which add up", function()
    streams.each(40, function(g)
      local values, total = {}, 0LL
      for i = 1, 12 do
        values[i] = g:pick { INT_MIN, INT_MAX, ODD, -ODD, 1LL, -1LL }
        total = total + values[i] -- wraps, and so does what the parts add up to
      end
      local order = g:shuffle { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }
      local r = window_of(values, order, { trigger = "ln.each()", panes = "discarding" })
      local sum = 0LL
      for _, pane in ipairs(r.panes) do sum = sum + pane.value.s end
      assert.equal(exactly(total), exactly(sum))
      assert.equal(12, #r.panes)
    end)
  end)
end)

describe("doubles", function()
  local function panes_of(values, options)
    local records = {}
    for i, v in ipairs(values) do records[i] = { t = i * 10, v = v, k = "a" } end
    local script = ([[
      local ln = require "lunette"
      return ln.pipeline { time = { field = "t" }, key = "k", window = %s,
        aggregate = { s = ln.sum "v", low = ln.min "v", high = ln.max "v", mean = ln.avg "v", var = ln.variance "v",
          dev = ln.stddev "v", first = ln.first "v", last = ln.last "v", n = ln.count "v",
            xs = ln.distinct "v" } }]]):format(options.window)
    options.format, options.out = "msgpack", "msgpack"
    return engine.run(script, engine.encode(records, "msgpack"), options)
  end

  it("that are NaN or infinite do no lasting harm to a hopping window", function()
    local finite = { 1.5, -2.25, 4, 0.5, 8, -1, 3, 2.5, 6, 7 }
    local poisons = { { 1 / 0 }, { -1 / 0 }, { 0 / 0 }, { 1 / 0, -1 / 0 }, { 1e308, 1e308 }, { 1 / 0, 0 / 0 } }
    for _, poison in ipairs(poisons) do
      for _, slices in ipairs { true, false } do
        for _, window in ipairs { "ln.hopping(50, 10)", "ln.hopping(35, 10)", "ln.hopping(40, 20)" } do
          local values = { unpack(finite) }
          for i, v in ipairs(poison) do values[3 + i] = v end
          local clean = panes_of(finite, { window = window, slices = slices })
          local harmed = panes_of(values, { window = window, slices = slices })
          assert.equal(#clean.panes, #harmed.panes)
          local untouched = 0
          for i, pane in ipairs(clean.panes) do
            local last_poison = 10 * (3 + #poison)
            if pane.start > last_poison or pane["end"] <= 40 then
              untouched = untouched + 1
              assert.same(pane, harmed.panes[i])
            end
          end
          assert.is_true(untouched > 2)
        end
      end
    end
  end)

  it("that are NaN are skipped and counted, by every aggregate with a field", function()
    local r = panes_of({ 1, 0 / 0, 3 }, { window = "ln.tumbling(1000)" })
    assert.equal(1, #r.panes)
    assert.same({ s = 4, low = 1, high = 3, mean = 2, var = 2, dev = math.sqrt(2), first = 1, last = 3, n = 2, xs = 2 },
      r.panes[1].value)
    assert.equal(10, r.stats[1].values_skipped)
  end)

  it("that are infinite are shown where they are: as values in msgpack, and as null in JSON", function()
    local v = panes_of({ 1, 1 / 0 }, { window = "ln.tumbling(1000)" }).panes[1].value
    assert.equal(1 / 0, v.s)
    assert.equal(1 / 0, v.high)
    assert.equal(1, v.low)
    assert.equal(1 / 0, v.mean)
    assert.is_nil(v.var)
    v = panes_of({ 1 / 0, -1 / 0 }, { window = "ln.tumbling(1000)" }).panes[1].value
    assert.is_nil(v.s)
    assert.equal(-1 / 0, v.low)
    local packed = engine.encode({ { t = 1, k = "a", v = 1 / 0 } }, "msgpack")
    local r = engine.run(streams.script { window = "ln.tumbling(9)", aggregates = { "high" } }, packed,
      { format = "msgpack", out = "json" })
    assert.is_truthy(r.bytes:find('"high":null', 1, true))
  end)

  it("sum up the same in any order, but for the last digit", function()
    streams.each(30, function(g)
      local values = {}
      for i = 1, 50 do values[i] = (g:rnd(2000) - 1000) * 10 ^ (g:rnd(30) - 15) end
      local first = panes_of(values, { window = "ln.global()" }).panes[1].value
      g:shuffle(values)
      local second = panes_of(values, { window = "ln.global()" }).panes[1].value
      local largest = 0
      for _, v in ipairs(values) do largest = math.max(largest, math.abs(v)) end
      assert.is_true(math.abs(first.s - second.s) <= 2 ^ -51 * math.abs(first.s))
      assert.is_true(math.abs(first.var - second.var) <= 1e-9 * first.var)
      assert.equal(first.low, second.low)
    end)
  end)

  it("keep small parts beside huge ones", function()
    local v = panes_of({ 1e100, 1.25, -1e100 }, { window = "ln.global()" }).panes[1].value
    assert.equal(1.25, v.s)
  end)
end)

describe("a packed record", function()
  it("is what it was made from", function()
    local record = { a = ODD, b = UINT_MAX, c = { 1, "x", { y = INT_MIN } }, d = 0.5 }
    local packed = value.pack(record)
    local start = value.bytes(packed)
    assert.equal(json.encode(record), json.encode((value.read_whole(start, start + #packed))))
  end)
end)
