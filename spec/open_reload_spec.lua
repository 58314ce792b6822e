--- An engine that `lunette.open` has opened goes on with another pipeline.
local support = require "spec.support.opened"
local lunette = require "lunette"

local sums, opened, list, run = support.sums, support.opened, support.list, support.run

-- Steps until a reload has ended; `take` is called in between.
local function change(engine, take, budget_us)
  for _ = 1, 1e5 do
    local status, message = engine:step(0, budget_us)
    assert(status, message)
    take(engine)
    if status == "reloaded" or status == "kept" then return status, message end
  end
  error "the reload does not end"
end

local function nothing() end

describe("engine:reload", function()
  it("goes on with windows and counters, and with the functions of the new pipeline", function()
    local engine = opened()
    assert(engine:add({ t = 1, k = "a", v = 1 }, { t = 1, k = "a", v = 2 }))
    assert.equal("idle", (engine:step(0)))
    assert(engine:reload(sums { where = function(r) return r.v > 10 end }))
    assert(engine:add { t = 1, k = "a", v = 4 }) -- still the old one's, or already the new one's
    assert.equal("reloaded", change(engine, nothing))
    assert(engine:add({ t = 1, k = "a", v = 8 }, { t = 1, k = "a", v = 16 }))
    assert(engine:push '{"t":1,"k":"a","v":32}\n')
    run(engine, "finish", nothing)
    local pane = list(engine:panes())[1]
    local total, filtered = pane.value.total, engine:stats().pipelines[1].filtered
    assert.is_true(total == 51 and filtered == 2 or total == 55 and filtered == 1, total)
    assert.equal(6, engine:stats().pipelines[1].read)
    engine:close()
  end)

  it("in the middle of records, with any budget, changes nothing where the pipeline is the same", function()
    local function pipeline()
      return sums {
        window = lunette.session(40), lateness = 20, trigger = lunette.at_watermark { early = lunette.after_count(3) },
        watermark = { delay = 30 },
        aggregate = { n = lunette.count(), values = lunette.fold {
          init = function() return {} end,
          add = function(acc, r) acc[#acc + 1] = r.v return acc end,
          merge = function(a, b)
            for i = 1, #b do a[#a + 1] = b[i] end
            return a
          end,
          result = function(acc) return #acc end,
        } },
        emit = function(pane)
          pane.twice = 2 * pane.value.n
          return pane
        end,
      }
    end
    -- The lines of each key in their order; across keys it is free.
    local function by_key(bytes)
      local out = {}
      for line in bytes:gmatch "[^\n]+" do
        local key = tonumber(line:match '^{"key":(%d+)') + 1
        out[key] = (out[key] or "") .. line .. "\n"
      end
      return out
    end
    local function panes(reloads, budget_us)
      local engine, out, ended = opened(pipeline(), { format = "json", seed = 1 }), {}, 0
      local begun = 0
      local function take(e) out[#out + 1] = e:take() end
      for i = 1, 6000 do
        assert(engine:add { t = i + i * 7919 % 60, k = i * 31 % 400, v = i })
        if reloads and i % 2000 == 500 and begun == ended then
          begun = begun + 1
          assert(engine:reload(pipeline()))
        end
        if i % 50 == 0 then
          repeat
            local status, message = engine:step(0, budget_us)
            assert(status and status ~= "kept", message)
            if status == "reloaded" then ended = ended + 1 end
            take(engine)
          until status == "idle" or status == "more"
        end
      end
      run(engine, "step", take)
      run(engine, "finish", take)
      local stats = engine:stats().pipelines[1]
      engine:close()
      return by_key(table.concat(out)), stats, ended
    end
    local want, stats = panes(false)
    assert.equal(400, #want)
    for _, budget_us in ipairs { false, 0, 300 } do
      local got, account, ended = panes(true, budget_us or nil)
      assert.same(want, got)
      assert.same({ stats.read, stats.panes, stats.rejected }, { account.read, account.panes, account.rejected })
      assert.is_true(budget_us ~= false or ended == 3)
    end
  end)

  it("refuses a script that is not right, and changes that no state survives; the old one goes on", function()
    local engine = opened()
    assert(engine:add { t = 1, k = "a", v = 1 })
    local ok, message, problems = engine:reload { text = "return (", name = "new.lua" }
    assert.is_nil(ok)
    assert.truthy(message:find "^new.lua:1: ")
    assert.equal(1, #problems)
    ok, message = engine:reload(sums { window = lunette.tumbling "2s" })
    assert.is_nil(ok)
    assert.truthy(message:find "^spec/.*: window: was .* and is .* now: ", message)
    assert.has_error(function() engine:reload(5) end)
    assert.has_error(function() engine:reload(sums(), 5) end)
    run(engine, "finish", nothing)
    assert.equal(1, list(engine:panes())[1].value.total)
    assert.is_nil((engine:reload(sums())))
    engine:close()
  end)

  it("keeps the old pipeline where a fold holds what can't go on", function()
    local function pipeline()
      return sums { aggregate = { last = lunette.fold {
        init = function() return {} end,
        add = function(acc, r)
          acc.say = function() return r.v end
          acc.v = r.v
          return acc
        end,
        result = function(acc) return acc.v end,
      } } }
    end
    local engine = opened(pipeline())
    assert(engine:add { t = 1, k = "a", v = 7 })
    assert.equal("idle", (engine:step(0)))
    local ok, message = engine:reload(pipeline())
    if ok then
      local status
      status, message = change(engine, nothing)
      assert.equal("kept", status)
    end
    assert.truthy(message:find("only plain data can go on", 1, true), message)
    run(engine, "finish", nothing)
    assert.equal(7, list(engine:panes())[1].value.last)
    engine:close()
  end)

  it("may be under way once, and is given up at the end and when the engine is closed", function()
    for _, how in ipairs { "finish", "close" } do
      local engine = opened()
      for i = 1, 3000 do assert(engine:add { t = 1, k = i, v = 1 }) end
      assert.equal("idle", (engine:step(0)))
      assert(engine:reload(sums()))
      local ok, message = engine:reload(sums())
      assert.is_nil(ok)
      assert.truthy(message:find("under way", 1, true))
      engine:step(0, 0)
      if how == "finish" then
        local panes = 0
        run(engine, "finish", function(e) panes = panes + #list(e:panes()) end)
        assert.equal(3000, panes)
      end
      engine:close()
    end
  end)

  it("hands parameters to the new script, and frees the old engines bit by bit", function()
    local script = { text = [[
      local ln = require "lunette"
      local most = ln.param("most", 100)
      return ln.pipeline { time = { field = "t", unit = "s" }, key = "k", window = ln.tumbling "1s",
        where = function(r) return r.v <= most end, aggregate = { n = ln.count() } }]] }
    local engine = opened(script)
    for i = 1, 20000 do assert(engine:add { t = 1, k = i, v = 50 }) end
    assert.equal("idle", (engine:step(0)))
    assert(engine:reload(script, { most = 10 }))
    assert.equal("reloaded", change(engine, nothing))
    assert(engine:add { t = 1, k = "more", v = 50 })
    for _ = 1, 20 do engine:step(0) end
    assert.is_nil(engine.retired)
    local stats = engine:stats().pipelines[1]
    assert.same({ 20000, 1 }, { stats.aggregated, stats.filtered })
    engine:close()
  end)
end)
