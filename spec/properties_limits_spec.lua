--- The limits of memory and of records: past them new keys are refused and counted, and what is open goes on.
local engine = require "spec.support.engine"
local json = require "spec.support.json"
local single = require "spec.support.single"

local run, values = single.run, single.values

describe("past limits.state_bytes", function()
  local LIMIT = 60000
  local MOST = LIMIT + 16384 -- what the window that comes to the limit still needs: chunks, and tables that grow
  local kinds = {
    tumbling = "ln.tumbling(1000)", hopping = "ln.hopping(1000, 500)", session = "ln.session(1000)",
    ["global"] = "ln.global()",
    assigner = "ln.assigner(function(t) return 0, 1000 end)",
    ["merging assigner"] = "ln.assigner(function(t) return t, t + 1000 end, { merge = true, longest = 1000 })",
  }
  local order = {}
  for name in pairs(kinds) do order[#order + 1] = name end
  table.sort(order)

  for _, name in ipairs(order) do
    it("new keys are rejected, and open windows go on: " .. name, function()
      local records = {}
      for i = 1, 1000 do records[#records + 1] = { t = i % 400, k = "key " .. i, v = 1 } end
      local most = 0
      local script = ([[
        local ln = require "lunette"
        return ln.pipeline { time = { field = "t" }, key = "k", window = %s, watermark = { delay = 10000 },
          aggregate = { n = ln.count(), s = ln.sum "v" }, limits = { state_bytes = %d } }]]):format(kinds[name], LIMIT)
      local r = engine.open(script, { rows_max = 1, on_batch = function(_, s)
        most = math.max(most, s.state_bytes)
      end })
      r:feed(engine.encode(records, "json"))
      local open = r:stats().aggregated
      assert.is_true(open > 20 and open < 900)
      assert.equal(1000 - open, r:stats().rejected.limit)
      -- The keys that are in take more, where their windows already are.
      local refused = {}
      for _, reject in ipairs(engine.decode(table.concat(r.reject_bytes), "json")) do
        refused[reject.record.k] = true
      end
      for _, record in ipairs(records) do
        if not refused[record.k] then r:feed(engine.encode({ record }, "json")) end
      end
      assert.equal(1000 - open, r:stats().rejected.limit)
      assert.equal(2 * open, r:stats().aggregated)
      assert.is_true(most <= MOST, "state_bytes came to " .. most)
      -- When their windows are over there is room again.
      r:feed '{"t":50000,"k":"key 1","v":1}\n'
      local over = r:stats()
      r:feed '{"t":50001,"k":"a new one","v":1}\n{"t":50001,"k":"another","v":1}\n'
      if name ~= "global" and name ~= "assigner" then assert.equal(over.aggregated + 2, r:stats().aggregated) end
      r:finish()
      local result = r:result()
      assert.equal("limit", result.rejects[1].reason)
      local total = 0
      for _, p in ipairs(result.panes) do total = total + p.value.n end
      if name ~= "hopping" then assert.equal(result.stats[1].aggregated, total) end
      assert.equal(0, result.stats[1].windows)
    end)
  end

  it("records that would have to wait are rejected too: sessions with a maximum", function()
    local most = 0
    local records = {}
    for i = 1, 1000 do records[i] = { t = i, k = "key " .. i % 7 } end
    local r = run([[window = ln.session(1000, { max = 5000 }), watermark = { delay = 10000 },
      limits = { state_bytes = 60000 }]], records, { on_stats = function(s) most = math.max(most, s.state_bytes) end })
    assert.is_true(r.stats[1].rejected.limit > 100)
    assert.is_true(r.stats[1].aggregated > 50)
    assert.is_true(most <= MOST, "state_bytes came to " .. most)
    assert.equal(0, r.stats[1].windows)
  end)

  it("an open hopping window takes records in any of its slices", function()
    local script = [[
      local ln = require "lunette"
      return ln.pipeline { time = { field = "t" }, key = "k", window = ln.hopping(1000, 100),
        watermark = { delay = 10000 },
        aggregate = { n = ln.count() }, limits = { state_bytes = 60000 } }]]
    local r = engine.open(script)
    r:feed '{"t":0,"k":"mine"}\n'
    for i = 1, 1000 do r:feed(('{"t":0,"k":"key %d"}\n'):format(i)) end
    assert.is_true(r:stats().rejected.limit > 100)
    local before = r:stats().aggregated
    -- [0, 1000) has been open since the first record.
    r:feed '{"t":950,"k":"mine"}\n'
    assert.equal(before + 1, r:stats().aggregated)
    r:finish()
    r:result()
  end)
end)

describe("past limits.distinct_values", function()
  -- [0, 10): 1 to 4 and 1, four; [10, 20): 10 to 14 and 1, six; [20, 30): likewise; [30, 40): 30.
  local records = {}
  for i = 1, 30 do records[i] = { t = i, v = i % 10 < 5 and i or 1 } end

  it("a window's distinct is an estimate, its panes say so, and it is counted once", function()
    local r = run([[aggregate = { d = ln.distinct 'v', n = ln.count() }, limits = { distinct_values = 5 },
      trigger = ln.at_watermark { early = ln.each() }]], records)
    local last, approx = {}, 0
    for _, pane in ipairs(r.panes) do
      if pane.final then last[#last + 1] = { pane.value.d, pane.approx } end
      if pane.approx then approx = approx + 1 end
    end
    assert.same({ { 4 }, { 6, true }, { 6, true }, { 1 } }, last) -- so few are exact in a sketch, too
    assert.equal(12, approx) -- of each of the two the panes from the sixth record on, and the last one
    assert.equal(2, r.stats[1].distinct_over)
    assert.equal(0, r.stats[1].distinct_refused)
    assert.same({}, r.notices)
  end)

  it("it is null where the script wants an error, which is told once", function()
    local r = run([[aggregate = { d = ln.distinct('v', { past_limit = "error" }), n = ln.count() },
      trigger = ln.at_watermark(), limits = { distinct_values = 5 }]], records)
    assert.same({ 4, "null", "null", 1 }, values(r, "d"))
    assert.same({ 9, 10, 10, 1 }, values(r, "n"))
    assert.equal(2, r.stats[1].distinct_refused)
    assert.equal(0, r.stats[1].distinct_over)
    for _, pane in ipairs(r.panes) do assert.is_nil(pane.approx) end
    assert.equal(1, #r.notices)
    assert.truthy(r.notices[1]:find("limits.distinct_values", 1, true))
  end)

  it("exactly at the limit it is a number", function()
    local r = run([[aggregate = { d = ln.distinct 'v' }, trigger = ln.at_watermark(), limits = { distinct_values = 5 },
      window = ln.global()]], { { t = 1, v = 1 }, { t = 1, v = 2 }, { t = 1, v = 3 }, { t = 1, v = 4 },
        { t = 1, v = 5 }, { t = 1, v = 5.0 } })
    assert.same({ 5 }, values(r, "d"))
    assert.equal(0, r.stats[1].distinct_over)
  end)
end)

describe("a record beyond a limit", function()
  local cases = {
    { "record_bytes = 40", { t = 2, x = ("a"):rep(60) }, "a record is larger than limits.record_bytes" },
    { "nesting = 2", { t = 2, x = json.array { json.array { 1 } } }, "a record is nested deeper than limits.nesting" },
    { "elements = 5", { t = 2, x = json.array { 1, 2, 3, 4 } }, "a record has more values than limits.elements" },
  }
  for _, case in ipairs(cases) do
    local records = { { t = 1 }, case[2], { t = 3 } }
    local fields = "trigger = ln.at_watermark(), limits = { " .. case[1] .. " }"

    it("is one reject in JSON: " .. case[1], function()
      local r = run(fields, records)
      assert.same({ malformed = 1 }, r.stats[1].rejected)
      assert.equal(2, r.stats[1].aggregated)
      assert.is_truthy(r.rejects[1].message:find(case[3], 1, true))
    end)

    it("ends a stream of msgpack, after all before it: " .. case[1], function()
      local r = run(fields, records, { format = "msgpack" })
      local before = #engine.encode({ { t = 1 } }, "msgpack")
      assert.is_truthy(r.broken:find(case[3], 1, true))
      assert.is_true(tonumber(r.broken:match "^byte (%d+)") >= before)
      assert.equal(1, r.stats[1].aggregated)
      assert.same({ 1 }, values(r, "n"))
    end)
  end
end)
