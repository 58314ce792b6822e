--- Timestamps of msgpack and event times of Fluent Forward, as functions of a script read them: what they read is the
-- time that the engine takes from the same field.
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local folder
before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

-- A window of a microsecond shows a time exactly.
local SCRIPT = [[
local ln = require "lunette"
local function at(r) return r.at end
return ln.pipeline {
  time = %s,
  window = ln.tumbling(SIZE),
  trigger = ln.each(),
  aggregate = { read = ln.last(at), whole = ln.last(function(r) return ln.copy(r).at end) },
}
]]

local function be(n, bytes)
  local text = ""
  for _ = 1, bytes do
    text = string.char(n % 256) .. text
    n = math.floor(n / 256)
  end
  return text
end

local function ext(kind, data)
  local heads = { [4] = "\214", [8] = "\215" }
  return (heads[#data] or "\199" .. string.char(#data)) .. kind .. data
end

local TIMESTAMP, EVENT = "\255", "\0"
local function short(s) return ext(TIMESTAMP, be(s, 4)) end
local function middle(s, ns)
  return ext(TIMESTAMP, be(ns * 4 + math.floor(s / 4294967296), 4) .. be(s % 4294967296, 4))
end
local function long(s, ns)
  local high = math.floor(s / 4294967296)
  return ext(TIMESTAMP, be(ns, 4) .. be(high % 4294967296, 4) .. be(s % 4294967296, 4))
end
local function event(s, ns) return ext(EVENT, be(s, 4) .. be(ns, 4)) end

local GOOD = {
  short(0), short(1700000000), short(4294967295),
  middle(1700000000, 5), middle(1700000000, 123456789), middle(5000000000, 999999999),
  long(1700000000, 1000), long(-1, 999999999), long(-86400, 0),
  event(1700000000, 5), event(1700000001, 999999999), event(4294967295, 1),
}
for i = 1, 200 do GOOD[#GOOD + 1] = middle(1600000000 + i * 1234567, (i * 77777777) % 1000000000) end
local NONE = { middle(1, 1000000000), event(1, 1000000000), ext(TIMESTAMP, "12345"), ext("\5", "12345678"),
  ext(EVENT, "1234") }

local function run(time, values)
  local records = {}
  for i, v in ipairs(values) do records[i] = "\129\162at" .. v end
  shell.write(folder .. "/records", table.concat(records))
  local size = time:find "tick" and "1" or '"1us"'
  shell.write(folder .. "/p.lua", (SCRIPT:format(time):gsub("SIZE", size)))
  local r = shell.run(folder, "$LUNETTE run --stats --in-format msgpack --out-format json p.lua records")
  assert.equal(0, r.code, r.err)
  local panes = {}
  for line in r.out:gmatch "[^\n]+" do panes[#panes + 1] = json.decode(line) end
  return panes, json.decode(r.err:match "({.*})\n").pipelines[1], r.out
end

describe("a timestamp that a function reads", function()
  for _, unit in ipairs { "s", "ms", "us", "ns", "rfc3339" } do
    it("is the time of the engine in " .. unit, function()
      local one, stats, out = run(('{ fn = at, unit = "%s" }, lateness = "100000d"'):format(unit), GOOD)
      local _, _, same = run(('{ field = "at", unit = "%s" }, lateness = "100000d"'):format(unit), GOOD)
      assert.equal(same, out)
      assert.equal(#GOOD, stats.aggregated)
      for _, pane in ipairs(one) do
        local start = tonumber(pane.start) -- in nanoseconds a number of Lua is the nearest there is
        assert.same({ start, start }, { tonumber(pane.value.read), tonumber(pane.value.whole) })
      end
    end)
  end

  it("is nil where it is none, and in ticks", function()
    for _, time in ipairs { "{ fn = at }", '{ field = "at" }' } do
      local panes, stats = run(time, NONE)
      assert.same({ 0, #NONE }, { #panes, stats.rejected.no_time })
    end
    local panes, stats = run('{ fn = at, unit = "tick" }', { short(5) })
    assert.same({ 0, 1 }, { #panes, stats.rejected.no_time })
  end)

  it("is in the unit of each of several pipelines", function()
    shell.write(folder .. "/records", "\129\162at" .. event(1700000000, 500000000))
    shell.write(folder .. "/p.lua", [[
      local ln = require "lunette"
      local list = {}
      for i, unit in ipairs { "s", "ms", "ns", "s" } do
        list[i] = ln.pipeline {
          time = { field = "at", unit = unit },
          window = ln.global(),
          trigger = ln.when(function(_, r) return r.at > 0 end),
          aggregate = {
            read = ln.last(function(r) return r.at end),
            folded = ln.fold { init = function() return 0 end, add = function(_, r) return r.at end },
          },
          emit = function(pane) return { pane.value.read, pane.value.folded } end,
        }
      end
      return list
    ]])
    local r = shell.run(folder, "$LUNETTE run --in-format msgpack --out-format json p.lua records")
    assert.equal("[1700000000.5,1700000000.5]\n[1700000000500,1700000000500]\n"
      .. "[1.7000000005e+18,1.7000000005e+18]\n[1700000000.5,1700000000.5]\n", r.out .. r.err)
  end)
end)
