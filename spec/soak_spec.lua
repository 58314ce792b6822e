--- Long runs after which nothing may be left behind. Only with LUNETTE_SOAK=1: they take minutes, and print their figures.
if os.getenv "LUNETTE_SOAK" ~= "1" then return end

local engine = require "spec.support.engine"

local MILLION = 1000000
local CHUNK = 1000

-- Bytes of this process that are in memory.
local function resident()
  collectgarbage()
  collectgarbage()
  local file = assert(io.open "/proc/self/statm")
  local pages = file:read("*a"):match "^%d+ (%d+)"
  file:close()
  return tonumber(pages) * 4096
end

local function megabytes(bytes) return ("%.1f MB"):format(bytes / 1e6) end

-- Feeds `count` lines, made one by one, in chunks; notes the most of windows, keys, state and memory on the way.
local function feed(run, count, line_of, most)
  local lines = {}
  for i = 1, count do
    lines[#lines + 1] = line_of(i)
    if #lines == CHUNK or i == count then
      run:feed(table.concat(lines))
      run.pane_bytes, run.reject_bytes = {}, {}
      run.taken = 0
      lines = {}
      if i % 100000 == 0 then
        local s = run:stats()
        for _, name in ipairs { "windows", "keys", "state_bytes" } do most[name] = math.max(most[name] or 0, s[name]) end
        most.resident = math.max(most.resident or 0, resident())
      end
    end
  end
end

-- Runs a script over lines, then over what closes them, and looks at what is left.
local function soak(title, script, count, line_of, closing)
  -- Once over a little, so that code and tables of this process are there before anything is measured.
  local warm = engine.open(script, { verify = false })
  feed(warm, 20000, line_of, {})
  warm:feed(closing)
  warm:finish()
  warm.app:close()

  local before = resident()
  local run = engine.open(script, { verify = false })
  local fresh = run:stats()
  local most, started = {}, os.clock()
  feed(run, count, line_of, most)
  run:feed(closing)
  local seconds = os.clock() - started
  local s = run:stats()
  run:collect()
  run.pane_bytes, run.reject_bytes = {}, {}
  local after = resident()
  print(("\n%s: %d records in %.1f s, %d windows opened, %d panes, %d withdrawals"):format(title, s.read, seconds,
    s.windows_opened, s.panes, s.withdrawals))
  print(("  most: %d windows, %d keys, state %s, resident %s"):format(most.windows, most.keys, megabytes(most.state_bytes),
    megabytes(most.resident)))
  print(("  at the start: state %d bytes, resident %s; in the end: %d windows, %d keys, state %d bytes, resident %s"):format(
    fresh.state_bytes, megabytes(before), s.windows, s.keys, s.state_bytes, megabytes(after)))
  assert.is_nil(run.app:verify())
  for _, held in ipairs(run.app.parts[1].work.held) do assert.is_nil(next(held)) end
  assert.is_nil(next(run.app.parts[1].work.kept))
  run:finish()
  run.app:close()
  return s, fresh, after - before
end

local function nothing_left(s, fresh, grown)
  assert.equal(1, s.windows) -- that of the closing record
  assert.equal(1, s.keys)
  assert.is_true(s.state_bytes <= fresh.state_bytes + 65536)
  assert.is_true(grown <= 64 * 1024 * 1024)
end

local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline { time = { field = "t" }, key = "k", window = %s, %s
  aggregate = { n = ln.count(), s = ln.sum "t", d = ln.distinct "k", last = ln.last "k" %s } }
]]
local FOLD = [[, f = ln.fold { init = function() return {} end, add = function(a, r) a[#a + 1] = r.k return a end,
  merge = function(a, b) for i = 1, #b do a[#a + 1] = b[i] end return a end, result = function(a) return #a end }]]

local function key_line(i) return ('{"t":%d,"k":"a key that never returns %d"}\n'):format(i, i) end
local CLOSING = '{"t":9000000000,"k":"closing"}\n'

describe("a million keys that never return leave nothing behind", function()
  for _, case in ipairs {
    { "tumbling, a few thousand at a time", "ln.tumbling(5000)", "" },
    { "tumbling, all at once", "ln.tumbling(100000000)", "" },
    { "tumbling with a fold, all at once", "ln.tumbling(100000000)", "", FOLD },
    { "hopping, in slices", "ln.hopping(20000, 5000)", "" },
    { "hopping, in cells", "ln.hopping(20000, 5000)", "lateness = 5000," },
    { "sessions, all at once", "ln.session(100000000)", "lateness = 1000," },
    { "sessions with a maximum, waiting", "ln.session(1000, { max = 5000 })", "watermark = { delay = 2000000 },", FOLD },
    { "early panes by the clock, retracting", "ln.tumbling(5000)",
      "panes = 'retracting', trigger = ln.at_watermark { early = ln.any { ln.after_delay(10), ln.every(100) } }," },
  } do
    it(case[1], function()
      nothing_left(soak(case[1], SCRIPT:format(case[2], case[3], case[4] or ""), MILLION, key_line, CLOSING))
    end)
  end
end)

describe("a million sessions bridged and absorbed leave nothing behind", function()
  -- Of three records the third bridges the sessions of the first two, both of which have been shown.
  local function bridge_line(i)
    local group, part = math.floor((i - 1) / 3), (i - 1) % 3
    return ('{"t":%d,"k":"k%d"}\n'):format(group * 100 + ({ [0] = 0, 12, 6 })[part], group % 7)
  end

  for _, case in ipairs {
    { "accumulating", "" }, { "discarding", "panes = 'discarding'," }, { "retracting, with a fold", "panes = 'retracting',", FOLD },
    { "with an emit", "emit = function(p) return p end," },
  } do
    it(case[1], function()
      local s, fresh, grown = soak("bridged, " .. case[1], SCRIPT:format("ln.session(10)",
        "trigger = ln.each(), watermark = { delay = 10000 }, lateness = 50, " .. case[2], case[3] or ""), 3 * MILLION / 2,
        bridge_line, CLOSING)
      nothing_left(s, fresh, grown)
      assert.equal(MILLION + 1, s.windows_opened)
      if not case[2]:find "discarding" then assert.is_true(s.withdrawals >= MILLION / 2) end
    end)
  end
end)
