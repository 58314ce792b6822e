--- In the steady state no record costs memory in Lua: what there is to collect comes by batches.
local engine = require "spec.support.engine"
local value = require "lunette.value"

local SCRIPT = [[local ln = require "lunette"
  local double = function(r) return r.value * 2 end
  return ln.pipeline { time = { field = "ts" }, watermark = { delay = 20 }, window = ln.tumbling(1000),
    where = function(r) return r.level ~= "debug" end, key = function(r) return r.user end, %s
    aggregate = { n = ln.count(), s = ln.sum(double), hi = ln.max(double), %s } }]]

local WHEN = "trigger = ln.at_watermark { early = ln.when(function(w) return w.value.n % 1000 == 0 end) },"
local FOLD = "f = ln.fold { init = function() return 0 end, add = function(a, r) return a + r.value end }"

-- Records of 500 users from time `from` on, as msgpack.
local function records(from, count)
  local out = {}
  for i = 1, count do
    out[i] = value.pack { ts = from + i, user = "user" .. i * 7 % 500, value = i % 100 / 4,
      level = i % 20 == 0 and "debug" or "info" }
  end
  return table.concat(out)
end

describe("a record costs no memory in Lua", function()
  for name, parts in pairs { ["where, key and value"] = { "", "" }, ["a predicate"] = { WHEN, "" },
    ["a fold"] = { "", FOLD } } do
    it("with " .. name, function()
      local run = engine.open(SCRIPT:format(parts[1], parts[2]), { format = "msgpack", verify = false, keep = false })
      local inputs = {}
      for i = 1, 8 do inputs[i] = records(i * 20000, 20000) end
      for i = 1, 4 do run:feed(inputs[i]) end
      collectgarbage()
      collectgarbage()
      collectgarbage "stop"
      local before = collectgarbage "count"
      for i = 5, 8 do run:feed(inputs[i]) end
      local grown = (collectgarbage "count" - before) * 1024
      collectgarbage "restart"
      run:finish()
      local stats = run:stats()
      assert.equal(160000, stats.read)
      assert.is_true(stats.panes > 500)
      run:result()
      assert.is_true(grown / 80000 < 2, ("%.2f bytes a record"):format(grown / 80000))
    end)
  end
end)
