--- Long runs after which nothing may be left behind. Only with LUNETTE_SOAK=1: they take minutes, and print figures.
if os.getenv "LUNETTE_SOAK" ~= "1" then return end

local ffi = require "ffi"
local engine = require "spec.support.engine"

ffi.cdef "int malloc_trim(size_t pad);"

local MILLION = 1000000
local CHUNK = 1000

-- Bytes of this process that are in memory. With `trimmed` what is free has been given back to the system: the
-- allocator keeps it otherwise.
local function resident(trimmed)
  collectgarbage()
  collectgarbage()
  if trimmed then ffi.C.malloc_trim(0) end
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
      lines = {}
      local s = run:stats()
      for _, name in ipairs { "windows", "keys", "state_bytes" } do most[name] = math.max(most[name] or 0, s[name]) end
    end
    if i % 200000 == 0 or i == count then most.resident = math.max(most.resident or 0, resident()) end
  end
end

local function count_of(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n
end

-- What a script's functions hold: accumulators of folds, and panes that may be withdrawn.
local function in_lua(run)
  local work = run.app.parts[1].work
  local n = count_of(work.kept)
  for _, held in ipairs(work.held) do n = n + count_of(held) end
  return n
end

-- Runs a script over lines, then over a record that closes all their windows, and looks at what is left beside its own.
local function soak(title, script, count, line_of, closing)
  local run = engine.open(script, { verify = false, keep = false })
  local before, fresh, most = resident(true), run:stats(), {}
  local lua_before = collectgarbage "count"
  local started = os.clock()
  feed(run, count, line_of, most)
  run:feed(closing)
  local seconds, s, values = os.clock() - started, run:stats(), in_lua(run)
  local kept, after = resident(), resident(true)
  local lua_grown = (collectgarbage "count" - lua_before) * 1024
  print(("\n%s: %d records in %.1f s, %d windows opened, %d panes, %d withdrawals"):format(title, s.read, seconds,
    s.windows_opened, s.panes, s.withdrawals))
  print(("  most: %d windows, %d keys, state %s, resident %s"):format(most.windows, most.keys,
    megabytes(most.state_bytes), megabytes(most.resident)))
  print(("  at the start: state %d bytes, resident %s"):format(fresh.state_bytes, megabytes(before)))
  print(("  closed: %d windows, %d keys, %d values in Lua, state %d bytes, Lua's heap %s more"):format(s.windows,
    s.keys,
    values, s.state_bytes, megabytes(lua_grown)))
  print(("  resident %s, and %s when free memory is given back"):format(megabytes(kept), megabytes(after)))

  assert.is_nil(run.app:verify())
  assert.equal(count + 1, s.read)
  assert.equal(count + 1, s.aggregated)
  assert.equal(1, s.keys) -- that of the closing record, with its windows
  assert.is_true(s.windows <= 4)
  assert.is_true(values <= 2)
  run:finish()
  assert.equal(0, run:stats().windows + run:stats().keys + in_lua(run))
  run:result()
  assert.is_true(lua_grown <= 16 * 1024 * 1024)
  -- LuaJIT keeps what its heap has once grown to: only without panes in Lua can the whole process be held to it.
  if not script:find "fold" and not script:find "emit" then assert.is_true(after - before <= 80 * 1024 * 1024) end
  assert.is_true(s.state_bytes <= fresh.state_bytes + 65536 + most.state_bytes / 64)
  return s
end

local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline { time = { field = "t" }, key = "k", window = %s, %s
  aggregate = { n = ln.count(), s = ln.sum "t", d = ln.distinct "k", last = ln.last "k" %s } }
]]
local FOLD = [[, f = ln.fold { init = function() return {} end, add = function(a, r) a[#a + 1] = r.k return a end,
  merge = function(a, b) for i = 1, #b do a[#a + 1] = b[i] end return a end, result = function(a) return #a end }]]

local CLOSING = '{"t":9000000000,"k":"closing"}\n'

describe("a million keys that never return leave nothing behind", function()
  local function key_line(i) return ('{"t":%d,"k":"a key that never returns %d"}\n'):format(i, i) end

  for _, case in ipairs {
    { "tumbling, a few thousand at a time", "ln.tumbling(7001)", "" },
    { "tumbling, all at once", "ln.tumbling(100000000)", "" },
    { "tumbling with a fold, all at once", "ln.tumbling(100000000)", "", FOLD },
    { "hopping, in slices", "ln.hopping(20000, 5000)", "" },
    { "hopping, in cells", "ln.hopping(20000, 5000)", "lateness = 5000," },
    { "sessions, all at once", "ln.session(100000000)", "lateness = 1000," },
    { "sessions with a maximum, all waiting", "ln.session(1000, { max = 5000 })", "watermark = { delay = 2000000 },",
      FOLD },
    { "early panes by the clock, retracting", "ln.tumbling(7001)",
      "panes = 'retracting', trigger = ln.at_watermark { early = ln.any { ln.after_delay(10), ln.every(100) } }," },
    { "early panes by the clock, all at once", "ln.tumbling(100000000)",
      "trigger = ln.at_watermark { early = ln.any { ln.after_delay(10000000), ln.every(400000) } }," },
  } do
    it(case[1], function()
      soak(case[1], SCRIPT:format(case[2], case[3], case[4] or ""), MILLION, key_line, CLOSING)
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
    { "accumulating", "" }, { "discarding", "panes = 'discarding'," },
    { "retracting, with a fold", "panes = 'retracting',", FOLD },
    { "with an emit", "emit = function(p) return p end," },
  } do
    it(case[1], function()
      local script = SCRIPT:format("ln.session(10)",
        "trigger = ln.each(), watermark = { delay = 10000 }, lateness = 50, " .. case[2], case[3] or "")
      local s = soak("bridged, " .. case[1], script, 3 * MILLION / 2, bridge_line, CLOSING)
      assert.equal(MILLION + 1, s.windows_opened)
      if not case[2]:find "discarding" then assert.is_true(s.withdrawals >= MILLION / 2) end
    end)
  end
end)
