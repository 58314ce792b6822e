--- An engine that `lunette.open` has opened: what goes in, how it works, what comes out.
local support = require "spec.support.opened"
local lunette = require "lunette"

local sums, opened, list, run = support.sums, support.opened, support.list, support.run

describe("an engine", function()
  it("shows panes as tables, with exact integers and without nulls", function()
    local big, huge = 9007199254740993LL, 18446744073709551615ULL
    local engine = opened(lunette.pipeline {
      time = { field = "t" }, key = { "k", "none" }, window = lunette.global(), trigger = lunette.each(),
      aggregate = { first = lunette.first "v", all = lunette.collect "v", avg = lunette.avg "none" },
    })
    local given = { big, huge, -5, 0.5, true, "text", ("x"):rep(300), -9007199254740993LL, 2 ^ 53, 2 ^ 40, -1e300,
      { 1, lunette.null, { a = "b" } }, {} }
    for i, v in ipairs(given) do
      assert(engine:add { t = 0, k = i, v = v })
      assert.equal("idle", (engine:step(0)))
      local pane = engine:panes()(engine)
      assert.same({ i, lunette.null }, { pane.key[1], pane.key[2] })
      assert.is_nil(pane.start)
      assert.is_nil(pane.value.avg)
      assert.equal("early", pane.timing)
      assert.equal(type(v), type(pane.value.first))
      if type(v) == "table" then assert.same(v, pane.value.first)
      else assert.is_true(v == pane.value.first)
      end
      assert.equal(1, #pane.value.all)
    end
    engine:close()
  end)

  it("takes nulls of the host's, and refuses what is no value, naming the field", function()
    local ffi = require "ffi"
    local engine = opened(sums { limits = { nesting = 4, elements = 20, record_bytes = 1000 } })
    assert(engine:add { t = 1, k = ffi.new "void *", v = 1 })
    assert(engine:add { t = 1, k = lunette.null, v = 1 })
    local deep = {}
    deep.deep = deep
    local many, wide = {}, {}
    for i = 1, 30 do
      many[i] = i
      wide["f" .. i] = i
    end
    for message, v in pairs {
      ["the field v of the record is a function, which is no value of a record"] = print,
      ["the field v of the record is a thread, which is no value of a record"] = coroutine.create(print),
      ["the field v of the record is a cdata, which is no value of a record"] = ffi.new "int[3]",
      ["the field v of the record is a userdata, which is no value of a record"] = io.stderr,
      ["the field v of the record is nested deeper than limits.nesting"] = deep,
      ["the field v of the record takes the record past limits.elements"] = many,
      ["the field v of the record is longer than limits.record_bytes"] = ("x"):rep(1001),
    } do
      local ok, why, taken = engine:add({ t = 1, k = "x", v = 1 }, { v = v }, { t = 1 })
      assert.is_nil(ok)
      assert.same({ message, 1 }, { why, taken })
    end
    assert.is_nil((engine:add(wide)))
    local ok, why = engine:add { v = ("x"):rep(500), w = ("x"):rep(500) }
    assert.same({ nil, "the record is longer than limits.record_bytes" }, { ok, why })
    assert.is_true(engine:add { a = { { {} } } })
    run(engine, "finish", function() end)
    local stats = engine:stats().pipelines[1]
    assert.same({ 10, 9, 1 }, { stats.read, stats.aggregated, stats.rejected.no_time })
    assert.same({ 2, 7 }, (function()
      local n = {}
      for pane in engine:panes() do n[pane.key == nil and 1 or 2] = pane.value.n end
      return n
    end)())
    engine:close()
  end)

  it("takes bytes from an address", function()
    local ffi = require "ffi"
    local engine = opened()
    local text = '{"t":1,"k":"a","v":2}\n'
    assert(engine:push(ffi.cast("const char *", text), #text))
    assert.equal("idle", (engine:finish(0)))
    assert.equal(2, list(engine:panes())[1].value.total)
    engine:close()
  end)

  it("says when it is full, takes nothing then, and goes on after a step", function()
    local engine = opened(nil, { input_bytes = 100 })
    local line = '{"t":1,"k":"a","v":2}\n'
    local pushed = 0
    while engine:push(line) do pushed = pushed + 1 end
    assert.equal(math.floor(100 / #line), pushed)
    local ok, message = engine:push(line)
    assert.same({ nil, "the engine is full: step it, then push again" }, { ok, message })
    ok, message = engine:add { t = 1, k = "a", v = 2 }
    assert.same({ nil, "the engine is full: step it, then push again" }, { ok, message })
    ok, message = engine:push(line:rep(10))
    assert.is_nil(ok)
    assert.truthy(message:find "input_bytes")
    assert.equal("idle", (engine:step(0)))
    assert(engine:push(line))
    run(engine, "finish", function() end)
    assert.equal(pushed + 1, list(engine:panes())[1].value.n)
    engine:close()
  end)

  it("wants panes and rejects to be taken before they grow without end", function()
    local engine = opened(sums { trigger = lunette.each() }, { rejects = true })
    for i = 1, 20000 do assert(engine:add { t = 1, k = i, v = i, text = ("x"):rep(10) }) end
    for _ = 1, 3 do assert.equal("drain", (engine:step(0))) end
    local panes = 0
    local turns = run(engine, "step", function(e) panes = panes + #list(e:panes()) end)
    assert.equal(20000, panes)
    assert.is_true(turns > 10, turns)
    for i = 1, 20000 do assert(engine:add { k = i }) end
    for _ = 1, 3 do assert.equal("drain", (engine:step(0))) end
    local rejects = 0
    turns = run(engine, "step", function(e)
      for reject in e:rejects() do
        assert.equal("no_time", reject.reason)
        rejects = rejects + 1
        assert.equal(rejects, reject.record.k)
      end
    end)
    assert.equal(20000, rejects)
    assert.is_true(turns > 5, turns)
    engine:close()
  end)

  it("with a budget stops early and goes on where it stopped, also in a firing of many keys", function()
    local engine = opened(lunette.pipeline { time = { field = "t" }, key = "k", window = lunette.tumbling(10),
      aggregate = { n = lunette.count() }, emit = function() return nil end })
    for i = 1, 30000 do assert(engine:add { t = 1, k = i }) end
    assert.is_true(run(engine, "step", function() end, 0) > 30)
    assert(engine:add { t = 100, k = "last" })
    assert.is_true(run(engine, "step", function() end, 0) > 5)
    assert.equal(1, engine:stats().pipelines[1].windows_open)
    assert.is_true(run(engine, "finish", function() end, 0) >= 1)
    engine:close()
  end)

  it("keeps the panes behind a break, and gives them as bytes too", function()
    local engine = opened()
    for i = 1, 5 do assert(engine:add { t = 1, k = i }) end
    run(engine, "finish", function() end)
    local seen = {}
    for pane in engine:panes() do
      seen[#seen + 1] = pane.key
      if #seen == 2 then break end
    end
    local rest = engine:take()
    assert.equal("", engine:take())
    assert.same({}, list(engine:panes()))
    local other = opened(lunette.pipeline { time = "processing", window = lunette.global(),
      aggregate = { keys = lunette.collect "key" } })
    assert(other:push(rest))
    run(other, "finish", function() end)
    for _, key in ipairs(list(other:panes())[1].value.keys) do seen[#seen + 1] = key end
    table.sort(seen)
    assert.same({ 1, 2, 3, 4, 5 }, seen)
    engine:close()
    other:close()
  end)

  it("goes on after bytes that are broken, which are one malformed record", function()
    local engine = opened(nil, { rejects = true })
    assert(engine:push "\129\161t\1\193 and more")
    local status, message = engine:step(0)
    assert.equal("broken", status)
    assert.truthy(message:find "byte", message)
    assert(engine:add { t = 1, k = "a" })
    assert(engine:push '{"t":1,"k":"b"}\n')
    assert.equal("idle", (engine:step(0)))
    run(engine, "finish", function() end)
    local stats = engine:stats().pipelines[1]
    assert.same({ 4, 3, 1 }, { stats.read, stats.aggregated, stats.rejected.malformed })
    engine:close()
  end)

  it("takes the rest of a stream that ends inside of a record for malformed", function()
    local engine = opened(nil, { rejects = true })
    assert(engine:push "\131\161t\1\161k")
    local status
    repeat status = engine:finish(0) until status ~= "broken"
    assert.equal("idle", status)
    assert.equal("malformed", list(engine:rejects())[1].reason)
    engine:close()
  end)

  it("raises the watermark to what the host promises, in order with its records", function()
    local engine = opened(sums { watermark = { delay = "1h" } }, { rejects = true })
    assert(engine:add { t = 1, k = "a" })
    assert(engine:advance(2e6))
    assert(engine:add { t = 1, k = "late" })
    assert(engine:advance(1000000LL))
    assert.equal("idle", (engine:step(0)))
    local panes = list(engine:panes())
    assert.same({ 1, "a", "on_time" }, { #panes, panes[1].key, panes[1].timing })
    assert.equal("late", list(engine:rejects())[1].reason)
    engine:close()
    local other = opened(lunette.pipeline { time = "processing", window = lunette.global(),
      aggregate = { n = lunette.count() } })
    assert.has_error(function() other:advance(1) end)
    other:close()
  end)

  it("goes by the host's clock", function()
    local engine = opened(lunette.pipeline { time = "processing", key = "k", window = lunette.tumbling "10s",
      aggregate = { n = lunette.count() } })
    assert(engine:add { k = "a" })
    assert.equal("idle", (engine:step(1e6)))
    assert(engine:add({ k = "a" }, { k = "a" }))
    assert.equal("idle", (engine:step(9.9e6)))
    assert.same({}, list(engine:panes()))
    assert.equal("idle", (engine:step(10000000LL)))
    local panes = list(engine:panes())
    assert.same({ 0, 10000, 3 }, { panes[1].start, panes[1]["end"], panes[1].value.n })
    engine:close()
  end)

  it("tells once of each error in a function of the script", function()
    local engine = opened(sums { where = function(r) return r.v > 1 end })
    for _ = 1, 3 do assert(engine:add { t = 1, k = "a" }) end
    assert.equal("idle", (engine:step(0)))
    assert.equal(1, #engine:notices())
    assert.same({}, engine:notices())
    local stats = engine:stats()
    assert.same({ 3, 3 }, { stats.script_errors, stats.pipelines[1].rejected.script_error })
    engine:close()
  end)

  it("refuses more after its end, and raises after close", function()
    local engine = opened()
    assert.equal("idle", (engine:finish(0)))
    assert.is_nil((engine:add {}))
    assert.is_nil((engine:push "x"))
    assert.equal("idle", (engine:finish(0)))
    engine:close()
    engine:close()
    for _, name in ipairs { "push", "add", "advance", "step", "finish", "panes", "take", "rejects", "stats",
      "notices" } do
      local ok, message = pcall(engine[name], engine, 0)
      assert.is_false(ok)
      assert.truthy(message:find(name .. ": the engine is closed", 1, true), message)
    end
    local other = opened()
    assert.has_error(function() other:push(5) end, "push takes a string, or an address and a length")
    assert.has_error(function() other:add "x" end)
    assert.has_error(function() other:step() end)
    assert.has_error(function() other:step(0 / 0) end)
    assert.has_error(function() other:step(0, "x") end)
    other:close()
  end)

  it("is one of several that know nothing of each other, stepped in coroutines", function()
    local totals, threads = {}, {}
    for n = 1, 4 do
      threads[n] = coroutine.create(function()
        local engine = opened(sums { where = function(r) return r.v % n == 0 end })
        for i = 1, 600 do
          assert(engine:add { t = 1, k = "a", v = i })
          if i % 7 == 0 then
            engine:step(0, 0)
            coroutine.yield()
          end
        end
        run(engine, "finish", coroutine.yield)
        for pane in engine:panes() do
          coroutine.yield()
          totals[n] = (totals[n] or 0) + pane.value.n
        end
        engine:close()
      end)
    end
    local alive = true
    while alive do
      alive = false
      for _, thread in ipairs(threads) do
        if coroutine.status(thread) ~= "dead" then
          assert(coroutine.resume(thread))
          alive = true
        end
      end
    end
    assert.same({ 600, 300, 200, 150 }, totals)
  end)

  it("frees all that it holds when it is closed, and when it is collected", function()
    if (os.getenv "LD_PRELOAD" or ""):find "asan" then return end -- which keeps what is freed, and tells what is not
    local function resident()
      for line in io.lines "/proc/self/status" do
        local kilobytes = line:match "^VmRSS:%s+(%d+)"
        if kilobytes then return tonumber(kilobytes) end
      end
    end
    local function round(close)
      local engine = opened()
      engine:add { t = 1, k = "a", v = ("x"):rep(100000) }
      engine:step(0)
      if close then engine:close() end
    end
    for i = 1, 200 do round(i % 2 == 0) end
    collectgarbage()
    collectgarbage()
    local before = resident()
    for i = 1, 1000 do round(i % 2 == 0) end
    collectgarbage()
    collectgarbage()
    assert.is_true(resident() - before < 32 * 1024, resident() - before)
  end)
end)
