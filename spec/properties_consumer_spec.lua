--- What a consumer of panes may rely on: whatever the triggers, the lateness and the mode, it ends with exactly the
-- windows as they are, and no pane on the way breaks a promise.
local brute = require "spec.support.brute"
local engine = require "spec.support.engine"
local ledger = require "spec.support.ledger"
local streams = require "spec.support.streams"

local MODES = { "accumulating", "discarding", "retracting" }
local FOLDED = { "n", "s", "d", "low", "high", "first", "last", "xs", "mean", "var", "some", "f" }
local PLAIN = { "n", "s", "d", "low", "high", "first", "last", "xs", "mean", "var", "some" }

local function set(names)
  local out = {}
  for _, name in ipairs(names) do out[name] = true end
  return out
end

-- Gives the records a clock that moves on as they arrive.
local function clocked(g, records)
  local at = 0
  for _, r in ipairs(records) do
    at = at + g:rnd(4)
    r.at = at
  end
  return records
end

-- A window of a kind with the function that works it out by force: from the records in their order of arrival, those
-- that were rejected, and the pipeline's delay and lateness.
local windows = {}
function windows.grid(g)
  local text, size, hop, offset = g:grid()
  return text, function(records, _, how) return brute.grid(records, size, hop, offset, how.delay, how.lateness) end
end
function windows.session(g)
  local gap = 2 + g:rnd(9)
  return ("ln.session(%d)"):format(gap), function(records, rejects)
    return brute.session(brute.taken(records, rejects), gap)
  end
end
function windows.merging(g)
  local reach = 2 + g:rnd(9)
  return streams.merging:format(reach, reach + 4), function(records, rejects)
    return brute.merging(brute.taken(records, rejects), function(r) return r.t - r.id % 5, r.t + reach end)
  end
end
function windows.bounded(g)
  local gap = 2 + g:rnd(9)
  local max = gap + g:rnd(15)
  return ("ln.session(%d, { max = %d })"):format(gap, max), function(records)
    return brute.bounded(records, gap, max)
  end
end
windows["global"] = function() return "ln.global()", brute.global end

-- One case: the script with each mode, and its input.
local function case_of(g, kind)
  local how = { trigger = g:rooted(), delay = g:rnd(20), lateness = g:pick { 0, 0, 7, 30 } }
  local disorder = how.delay + g:pick { 0, 5, 25 }
  if kind == "bounded" then disorder = math.max(how.delay - 1, 0) end
  local by_force
  how.window, by_force = windows[kind](g)
  how.aggregates = g:chance(2) and FOLDED or PLAIN
  if g:chance(4) then how.more = 'closing = "always",' end
  local records = g:records { count = 40 + g:rnd(60), step = g:pick { 2, 4, 9 }, jumps = 60, same_times = g:chance(2) }
  records = clocked(g, g:delayed(records, disorder))
  return how, records, by_force
end

local totals = { panes = 0, withdrawn = 0, absorbed = 0, late = 0 }

local function check_case(g, about, kind)
  local how, records, by_force = case_of(g, kind)
  local input = engine.encode(records, "json")
  for _, mode in ipairs(MODES) do
    how.panes = mode
    about.script = streams.script(how)
    local r = engine.run(about.script, input, { clock = "at", rows_max = g:pick { 1, 7, 1024 }, out = "msgpack" })
    assert.equal(0, r.script_errors)
    local grid = kind == "grid"
    local held = ledger.of(r.panes, mode, grid)
    ledger.compare(by_force(records, r.rejects, how), held.windows,
      set(mode == "discarding" and { "n", "s", "d", "low", "high", "some", how.aggregates == FOLDED and "f" or nil }
        or how.aggregates))
    local s = r.stats[1]
    assert.equal(s.windows + s.keys, 0)
    assert.equal(s.withdrawals, held.counts.withdrawn)
    assert.equal(s.panes, held.counts.panes)
    for name, n in pairs(held.counts) do totals[name] = totals[name] + n end
    totals.late = totals.late + (s.rejected.late or 0) + s.refusals_late
  end
end

describe("a consumer ends with exactly the windows as they are", function()
  for _, kind in ipairs { "grid", "session", "merging", "bounded", "global" } do
    it("in each mode: " .. kind, function()
      streams.each(60, function(g, about) check_case(g, about, kind) end)
    end)
  end

  it("and has seen withdrawals, absorbed windows and late records on the way", function()
    if not streams.usual() then return end
    assert.is_true(totals.panes > 10000)
    assert.is_true(totals.withdrawn > 1000)
    assert.is_true(totals.absorbed > 100)
    assert.is_true(totals.late > 100)
  end)
end)

describe("final windows of one key", function()
  -- A window is final when its last pane says so.
  local function finals(windows_held)
    local by_key = {}
    for _, w in pairs(windows_held) do
      assert.is_true(w.final)
      by_key[w.key] = by_key[w.key] or {}
      table.insert(by_key[w.key], w)
    end
    return by_key
  end

  it("never overlap where they are sessions", function()
    local beside = 0
    streams.each(80, function(g, about)
      local gap = 2 + g:rnd(6)
      local how = { window = g:pick { ("ln.session(%d)"):format(gap),
        ("ln.session(%d, { max = %d })"):format(gap, gap + g:rnd(9)) },
        trigger = g:rooted(), delay = g:rnd(6), lateness = g:pick { 0, 4, 12 }, more = 'closing = "always",',
        aggregates = { "n" }, panes = g:pick(MODES) }
      about.script = streams.script(how)
      local records = clocked(g, g:delayed(g:records { count = 150, step = 3, keys = 2 },
        how.delay + g:pick { 10, 30 }))
      local r = engine.run(about.script, engine.encode(records, "json"), { clock = "at" })
      local n = 0
      for _, list in pairs(finals(ledger.of(r.panes, how.panes, false).windows)) do
        table.sort(list, function(a, b) return a.start < b.start end)
        for i = 2, #list do
          if list[i].start < list[i - 1]["end"] then error(("[%d, %d) and [%d, %d)"):format(list[i - 1].start,
            list[i - 1]["end"], list[i].start, list[i]["end"]), 0) end
        end
        for _, w in ipairs(list) do n = n + w.value.n end
      end
      assert.equal(r.stats[1].aggregated, n)
      beside = beside + (r.stats[1].rejected.late or 0)
    end)
    if streams.usual() then assert.is_true(beside > 500) end
  end)
end)

describe("emit", function()
  it("sees withdrawals, which take the shape of what they withdraw", function()
    local withdrawn = 0
    streams.each(30, function(g, about)
      local how = { window = ("ln.session(%d)"):format(2 + g:rnd(6)),
        trigger = g:pick { "ln.each()", "ln.after_count(2)" }, delay = 30,
        aggregates = g:chance(2) and { "n", "f" } or { "n", "s" }, panes = g:pick { "accumulating", "retracting" } }
      local input = engine.encode(g:delayed(g:records { count = 60 }, 30), "json")
      local plain = engine.run(streams.script(how), input, { out = "msgpack" })
      how.more = [[emit = function(p)
        return { key = p.key, start = p.start, stop = p["end"], nth = p.pane, n = p.value.n * 2, back = p.retract }
      end,]]
      about.script = streams.script(how)
      local shaped = engine.run(about.script, input, { out = "msgpack" })
      assert.equal(#plain.panes, #shaped.panes)
      for i, p in ipairs(plain.panes) do
        local want = { key = p.key, start = p.start, stop = p["end"], nth = p.pane, n = p.value.n * 2,
          back = p.retract }
        assert.same(want, shaped.panes[i])
      end
      withdrawn = withdrawn + plain.stats[1].withdrawals
    end)
    if streams.usual() then assert.is_true(withdrawn > 100) end
  end)

  it("that drops panes at random leaves numbers and withdrawals of the others as they are", function()
    streams.each(20, function(g, about)
      local how = { window = "ln.session(5)", trigger = "ln.each()", delay = 30, aggregates = { "n", "s" },
        panes = "retracting" }
      local input = engine.encode(g:delayed(g:records { count = 60 }, 30), "json")
      local all = engine.run(streams.script(how), input)
      how.more = "emit = function(p) if (p.value.s + p.pane) % 3 ~= 0 then return p end end,"
      about.script = streams.script(how)
      local some, wanted = engine.run(about.script, input), {}
      for _, p in ipairs(all.panes) do
        if (p.value.s + p.pane) % 3 ~= 0 then wanted[#wanted + 1] = p end
      end
      assert.is_true(#wanted < #all.panes)
      assert.same(wanted, some.panes)
    end)
  end)
end)
