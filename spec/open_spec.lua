--- `lunette.open`: what it opens, and what it leaves alone, in the Lua state of a host.
local json = require "spec.support.json"
local support = require "spec.support.opened"
local lunette = require "lunette"
local shell = require "spec.support.shell"

local sums, opened, list, run = support.sums, support.opened, support.list, support.run
local ROOT = io.popen("pwd"):read "*l"

local function lines(bytes)
  local out = {}
  for line in bytes:gmatch "[^\n]+" do out[#out + 1] = json.encode(json.decode(line)) end
  return out
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

it("engines may be collected after the library was let go of", function()
  local folder = shell.folder()
  shell.write(folder .. "/p.lua", [[
    for _ = 1, 50 do
      local lunette = require "lunette"
      for _ = 1, 5 do
        local engine = assert(lunette.open(lunette.pipeline { time = { field = "t" }, window = lunette.global(),
          aggregate = { n = lunette.count() } }))
        engine:add { t = 1 }
        engine:step(0)
      end
      for name in pairs(package.loaded) do
        if name:find "^lunette" then package.loaded[name] = nil end
      end
      collectgarbage()
      collectgarbage()
    end
    print "well"
  ]])
  local core = os.getenv "LUNETTE_CORE" or ROOT .. "/build/liblunette-core.so"
  local path = ("%s/lua/?.lua;%s/lua/?/init.lua;%s/lua/?.lua;;"):format(ROOT, ROOT, core:match "^(.*)/")
  local preload = os.getenv "LD_PRELOAD"
  local r = shell.run(folder, ("export LUA_PATH='%s' LUNETTE_CORE='%s' %s; luajit p.lua"):format(path, core,
    preload and ("LD_PRELOAD='%s'"):format(preload) or ""))
  shell.remove(folder)
  assert.same({ 0, "well\n" }, { r.code, r.out }, r.err)
end)
