--- `lunette.open`: an engine in the specs' own Lua state, as a host has it.
package.loaded["lunette.core_path"] = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
local json = require "spec.support.json"
local lunette = require "lunette"
local shell = require "spec.support.shell"

local ROOT = shell.run(".", "pwd").out:gsub("\n", "")

-- One sum for each key and second.
local function sums(fields)
  local spec = {
    time = { field = "t", unit = "s" }, key = "k", window = lunette.tumbling "1s",
    aggregate = { n = lunette.count(), total = lunette.sum "v" },
  }
  for name, value in pairs(fields or {}) do spec[name] = value end
  return lunette.pipeline(spec)
end

local function opened(pipeline, options) return assert(lunette.open(pipeline or sums(), options)) end

local function list(iterator, engine)
  local out = {}
  for value in iterator, engine do out[#out + 1] = value end
  return out
end

local function lines(bytes)
  local out = {}
  for line in bytes:gmatch "[^\n]+" do out[#out + 1] = json.encode(json.decode(line)) end
  return out
end

-- Steps or finishes until there is no more to do; `take` is called in between.
local function run(engine, verb, take, budget_us)
  local turns = 0
  while true do
    local status, message = engine[verb](engine, 0, budget_us)
    assert(status, message)
    take(engine)
    turns = turns + 1
    if status == "idle" then return turns end
    assert(turns < 1e6)
  end
end

local function no_nulls(record)
  local out = {}
  for name, value in pairs(record) do out[name] = value == json.null and lunette.null or value end
  return out
end

describe("lunette.open", function()
  describe("gives the panes that the program gives, of", function()
    for _, name in ipairs { "page_views", "sensors", "visits", "scores" } do
      local base = ROOT .. "/examples/" .. name
      local want = lines(shell.read(base .. ".panes.jsonl"))
      local input = shell.read(base .. ".jsonl")

      local function panes_of(give, budget_us)
        local engine = opened(base .. ".lua", { format = "json" })
        local out = {}
        local function take(e) out[#out + 1] = e:take() end
        give(engine, function() run(engine, "step", take, budget_us) end)
        run(engine, "finish", take, budget_us)
        engine:close()
        return lines(table.concat(out))
      end

      it(name .. " as bytes", function()
        assert.same(want, panes_of(function(engine) assert(engine:push(input)) end))
      end)

      it(name .. " as pieces of bytes, each stepped, with a budget that is spent at once", function()
        assert.same(want, panes_of(function(engine, step)
          for at = 1, #input, 97 do
            assert(engine:push(input:sub(at, at + 96)))
            step()
          end
        end, 0))
      end)

      it(name .. " as tables", function()
        assert.same(want, panes_of(function(engine)
          for line in input:gmatch "[^\n]+" do assert(engine:add(no_nulls(json.decode(line)))) end
        end))
      end)

      it(name .. " as tables and bytes by turns", function()
        assert.same(want, panes_of(function(engine, step)
          local i = 0
          for line in input:gmatch "[^\n]+" do
            i = i + 1
            if i % 3 == 0 then assert(engine:push(line .. "\n"))
            else assert(engine:add(no_nulls(json.decode(line))))
            end
            if i % 50 == 0 then step() end
          end
        end))
      end)
    end
  end)

  it("takes a path, a script as a text, and tables; alone or as a list", function()
    local script = 'local ln = require "lunette"\n'
      .. 'return ln.pipeline { time = { field = "t" }, window = ln.global(), aggregate = { n = ln.count() } }'
    local folder = shell.folder()
    shell.write(folder .. "/p.lua", script)
    for _, pipeline in ipairs {
      folder .. "/p.lua", { text = script }, { text = script, name = "p.lua" }, sums(), { sums(), sums { name = "b" } },
    } do
      local engine = opened(pipeline)
      assert(engine:add { t = 1, k = "a", v = 2 })
      run(engine, "finish", function() end)
      assert.is_true(#list(engine:panes()) > 0)
      engine:close()
    end
    shell.remove(folder)
  end)

  it("returns nil and the problems, as a text and as a list, of a pipeline that is not right", function()
    local engine, message, problems = lunette.open(lunette.pipeline { window = lunette.tumbling "soon" })
    assert.is_nil(engine)
    assert.is_true(#problems > 1)
    assert.equal(table.concat(problems, "\n"), message)
    for _, problem in ipairs(problems) do assert.truthy(problem:find "^spec/open_spec.lua:%d+: ", problem) end

    engine, message = lunette.open "spec/no_such_pipeline.lua"
    assert.is_nil(engine)
    assert.truthy(message:find("spec/no_such_pipeline.lua: can't be read", 1, true), message)

    engine, message = lunette.open { text = "return (", name = "mine.lua" }
    assert.is_nil(engine)
    assert.truthy(message:find "^mine.lua:1: ", message)

    engine, message = lunette.open({ window = lunette.global() })
    assert.is_nil(engine)
    assert.truthy(message:find "^spec/open_spec.lua:%d+: .*write ln.pipeline before it", message)

    engine, message = lunette.open(sums { watermark = { sources = 2 } })
    assert.is_nil(engine)
    assert.truthy(message:find("watermark.sources: without source", 1, true), message)
  end)

  it("raises, at the host's line, what is no pipeline and no option", function()
    local function wrong(pattern, ...)
      local ok, message = pcall(lunette.open, ...)
      assert.is_false(ok)
      assert.truthy(message:find(pattern), message)
    end
    wrong("takes a path", 5)
    wrong("a script is", { text = 5 })
    wrong("no option formt", sums(), { formt = "json" })
    wrong("rejects is no boolean", sums(), { rejects = 1 })
    wrong('neither "msgpack" nor "json"', sums(), { format = "xml" })
    wrong("options are no table", sums(), "json")
    local ok, message = pcall(function() return (lunette.open(nil)) end)
    assert.is_false(ok)
    assert.truthy(message:find "^spec/open_spec.lua:%d+: ", message)
  end)

  it("hands parameters to the script, and says so where one is wrong", function()
    local script = { text = [[
      local ln = require "lunette"
      local key = ln.param("key", "k")
      return ln.pipeline { time = { field = "t" }, key = key, window = ln.global(),
        trigger = ln.after_count(ln.param("n", 5)), aggregate = { n = ln.count() } }]] }
    local engine = opened(script, { params = { key = "who", n = 2 } })
    assert(engine:add({ t = 1, who = "ann" }, { t = 1, who = "ann" }))
    engine:step(0)
    assert.equal("ann", engine:panes()(engine).key)
    engine:close()
    local none, message = lunette.open(script, { params = { ky = "who" } })
    assert.is_nil(none)
    assert.truthy(message:find("options.params: ky=...: no ln.param asks for it", 1, true), message)
  end)
end)

describe("a script in a host's Lua state", function()
  local folder
  before_each(function() folder = shell.folder() end)
  after_each(function() shell.remove(folder) end)

  it("leaves the host's globals, print, path and modules as they are", function()
    shell.write(folder .. "/helper.lua", "mine = 5\nreturn { unit = 's' }")
    shell.write(folder .. "/p.lua", [[
      local ln = require "lunette"
      local helper = require "helper"
      assert(require "helper" == helper and mine == 5)
      a_global = 1
      return ln.pipeline { time = { field = "t", unit = helper.unit }, window = ln.global(),
        aggregate = { n = ln.count() } }]])
    local path, old_print, loaded = package.path, print, {}
    require "lunette.engine"
    for name in pairs(package.loaded) do loaded[name] = true end
    local globals = {}
    for name in pairs(_G) do globals[name] = true end
    opened(folder .. "/p.lua"):close()
    assert.equal(path, package.path)
    assert.equal(old_print, print)
    for name in pairs(package.loaded) do assert.is_true(loaded[name], name) end
    for name in pairs(_G) do assert.is_true(globals[name], name) end
  end)

  it("has modules of its own, also where another has some of the same names", function()
    for _, unit in ipairs { "s", "ms" } do
      assert(os.execute(("mkdir %s/%s"):format(folder, unit)))
      shell.write(("%s/%s/helper.lua"):format(folder, unit), ("return %q"):format(unit))
      shell.write(("%s/%s/p.lua"):format(folder, unit), [[
        local ln = require "lunette"
        return ln.pipeline { time = { field = "t", unit = require "helper" }, window = ln.tumbling "1s",
          aggregate = { n = ln.count() } }]])
    end
    for unit, stop in pairs { s = 1, ms = 1000 } do
      local engine = opened(("%s/%s/p.lua"):format(folder, unit))
      engine:add { t = 0 }
      run(engine, "finish", function() end)
      assert.equal(stop, list(engine:panes())[1]["end"])
      engine:close()
    end
  end)
end)

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
