--- Random pipelines over random input: the program against the naive model, what a consumer may rely on, and runs
-- that must come to the same. A failure names its seed: LUNETTE_SEED=N runs that alone, LUNETTE_SEEDS=FROM-TO others.
local compare = require "spec.support.model.compare"
local consumer = require "spec.support.consumer"
local generate = require "spec.support.generate"
local json = require "spec.support.json"
local model = require "spec.support.model"
local run = require "spec.support.run"

local first, last = 1, 150
local range = os.getenv "LUNETTE_SEED" or os.getenv "LUNETTE_SEEDS"
if range then
  local from, to = range:match "^(%d+)%-?(%d*)$"
  first, last = tonumber(from), tonumber(to) or tonumber(from)
end

-- Fails with the seed and the way to see it again.
local function check(seed, what, case)
  if not what then return end
  error(("seed %d: %s\nagain: LUNETTE_SEED=%d busted --lua=luajit spec/random_spec.lua; files in %s\n%s"):format(
    seed, what, seed, tostring(run.keep()), case.script), 0)
end

local function lines_of(text)
  local n = 0
  for line in text:gmatch "[^\n]+" do
    if line:find "%S" then n = n + 1 end
  end
  return n
end

local function ran(seed, script, input, options)
  local got = run.program_on(script, input, options)
  check(seed, got.code ~= 0 and ("exit code %s: %s"):format(tostring(got.code), got.errors) or nil, { script = script })
  return got
end

describe("the program agrees with the model", function()
  teardown(run.clean)
  for seed = first, last do
    it("on seed " .. seed, function()
      local case = generate.case(seed)
      local got = ran(seed, case.script, case.input, { clock = case.clock })
      local panes, rejects = model.run(run.load(case.script), case.input, case.clock)
      check(seed, compare.panes(panes, got.panes), case)
      check(seed, compare.rejects(rejects, got.rejects), case)
      check(seed, consumer.broken_account(got.accounts[1], got.rejects, lines_of(case.input)), case)
      if not case.shaped then check(seed, consumer.broken_promise(got.panes, case.by_end), case) end
    end)
  end

  it("on two pipelines in one script", function()
    for seed = first, math.min(last, first + 14) do
      local one = generate.case(seed)
      local other = generate.case(seed + 100000, { unit = one.unit })
      local script = ("return { (function()\n%s end)(), (function()\n%s end)() }\n"):format(one.script, other.script)
      local got = ran(seed, script, one.input, { clock = one.clock })
      local panes, rejects = model.run(run.load(script), one.input, one.clock)
      check(seed, compare.panes(panes, got.panes), { script = script })
      local function sorted(list)
        local out = {}
        for i, r in ipairs(list) do out[i] = ("%s %s %s"):format(r.pipeline, r.reason, json.encode(r.record)) end
        table.sort(out)
        return table.concat(out, "\n")
      end
      assert.equal(sorted(rejects), sorted(got.rejects), "seed " .. seed)
    end
  end)
end)

describe("the program gives the same", function()
  teardown(run.clean)

  -- What stands in the end, as one text that is equal for equal windows.
  local function windows(held, with)
    local out = {}
    for id, pane in pairs(held) do out[#out + 1] = id .. " " .. json.encode(with(pane)) end
    table.sort(out)
    return table.concat(out, "\n")
  end
  local function whole(pane)
    local v = pane.value
    return { v.n, v.ids, v.low, v.high, v.first, v.last, v.kinds, ("%.6g %.6g %.6g"):format(v.mean, v.dev == json.null
      and -1 or v.dev, v.double), v.near, v.middle, v.often, v.list, v.least, v.classes, v.odd, pane.cut, pane["end"] }
  end

  it("windows for any order of arrival within the delay", function()
    for seed = first, math.min(last, first + 19) do
      local case = generate.orderly(seed)
      local script = case.script:gsub("MODE", "accumulating"):gsub("LATENESS", "0")
      local reference = ran(seed, script, generate.shuffled(case, 0))
      check(seed, #reference.panes == 0 and "no panes" or nil, { script = script })
      local want = windows(consumer.replacing(reference.panes, case.by_end), whole)
      for _ = 1, 2 do
        local input = generate.shuffled(case, 40)
        local got = ran(seed, script, input)
        for _, reject in ipairs(got.rejects) do -- a hop larger than the size leaves gaps: nothing else may be refused
          check(seed, reject.reason ~= "no_window" and "rejects" or nil, { script = script })
        end
        assert.equal(want, windows(consumer.replacing(got.panes, case.by_end), whole), "seed " .. seed)
      end
    end
  end)

  it("sums, whether panes replace each other or add up", function()
    local absorbed, withdrawn = 0, 0
    for seed = first, math.min(last, first + 29) do
      local case = generate.orderly(seed)
      local input = generate.shuffled(case, 90)
      local late = case.script:gsub("LATENESS", "60")
      local replacing = ran(seed, (late:gsub("MODE", "accumulating")), input)
      local adding = ran(seed, (late:gsub("MODE", "discarding")), input)
      local function sums(v) return { v.n, v.ids } end
      assert.equal(windows(consumer.replacing(replacing.panes, case.by_end), function(p) return sums(p.value) end),
        windows(consumer.adding(adding.panes, case.by_end), sums), "seed " .. seed)
      check(seed, compare.rejects(replacing.rejects, adding.rejects), case)
      for _, pane in ipairs(adding.panes) do absorbed = absorbed + (pane.absorbed and 1 or 0) end
      for _, pane in ipairs(replacing.panes) do withdrawn = withdrawn + (pane.retract and 1 or 0) end
    end
    if not range then assert.is_true(absorbed > 0 and withdrawn > 0) end
  end)

  it("bytes when it runs again", function()
    for seed = first, math.min(last, first + 9) do
      local case = generate.case(seed)
      local one = ran(seed, case.script, case.input, { clock = case.clock })
      assert.equal(one.output, ran(seed, case.script, case.input, { clock = case.clock }).output, "seed " .. seed)
    end
  end)
end)
