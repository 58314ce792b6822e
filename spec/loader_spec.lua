--- The loader: from a script's file to pipelines or problems.
local loader = require "lunette.loader"

local folder

local function write(name, text)
  local path = folder .. "/" .. name
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

-- Loads `text` as the script "p.lua", and gives the problems with that short name instead of its path.
local function problems_of(text, params)
  local path = write("p.lua", text)
  local pipelines, problems = loader.load(path, { params = params })
  for i, problem in ipairs(problems or {}) do
    local at, stop = problem:find(path, 1, true)
    if at == 1 then problems[i] = "p.lua" .. problem:sub(stop + 1) end
  end
  return problems or {}, pipelines
end

local GOOD = 'time = { field = "t" }, window = ln.tumbling(10), aggregate = { n = ln.count() }'

describe("loader", function()
  local saved_print, saved_path

  before_each(function()
    saved_print, saved_path = print, package.path
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder) == 0)
  end)

  after_each(function()
    _G.print, package.path = saved_print, saved_path
    os.execute("rm -r " .. folder)
  end)

  it("gives the pipelines of a script, at the line of its closing return", function()
    local path = write("p.lua", [[
local ln = require "lunette"
-- return nothing here
local function f() return "return" end

return ln.pipeline {
  time = f,
  emit = function(pane)
    return pane
  end, window = ln.global(), aggregate = { n = ln.count() } } -- return
]])
    local pipelines, problems = loader.load(path)
    assert.is_nil(problems)
    assert.equal(1, #pipelines)
    assert.equal(path .. ":5", pipelines[1].origin)
  end)

  it("passes over a byte order mark and a first line for the shell", function()
    local text = '#!/usr/bin/env lunette\nlocal ln = require "lunette"\nreturn ln.pipeline { lateness = %d, '
    text = text .. GOOD .. " }"
    assert.same({}, (problems_of("\239\187\191" .. text:format(1))))
    assert.same({ "p.lua:3: lateness: -1 is negative: write a duration of 0 or more" }, (problems_of(text:format(-1))))
  end)

  describe("reports", function()
    it("a file that can't be read", function()
      local path = folder .. "/none.lua"
      assert.same({ path .. ": can't be read: No such file or directory" }, (select(2, loader.load(path))))
      assert.same({ folder .. ": can't be read: Is a directory" }, (select(2, loader.load(folder))))
    end)

    it("bytecode", function()
      assert.same({ "p.lua: the script is bytecode: give its source text" },
        (problems_of(string.dump(function() return 1 end))))
    end)

    it("an error of syntax, with its line", function()
      assert.same({ "p.lua:3: '}' expected (to close '{' at line 2) near 'x'" },
        (problems_of 'local ln = require "lunette"\nreturn ln.pipeline {\n  a = 1 x = 2 }'))
    end)

    it("an error while running, with its line and whatever was raised", function()
      local rows = {
        ['\nerror "no"'] = "p.lua:2: no",
        ['\n\nerror("no", 0)'] = "p.lua:3: no",
        ["\nlocal x = nil + 1"] = "p.lua:2: attempt to perform arithmetic on a nil value",
        ["error(setmetatable({}, { __tostring = function() return 'odd' end }))"] = "p.lua:1: odd",
        ['error "two\\n  lines"'] = "p.lua:1: two lines",
        ['require "no.such.module"'] = "p.lua:1: module 'no.such.module' not found: put it beside the script",
      }
      for text, problem in pairs(rows) do assert.same({ problem }, (problems_of(text))) end
    end)

    it("words that do not exist, with whatever else is wrong", function()
      assert.same({
        'p.lua:2: ln.tumblin: no such word: did you mean "tumbling"?',
        'p.lua:2: ln.cuont: no such word: did you mean "count"?',
        'p.lua:2: panes: "acumulating" is unknown: did you mean "accumulating"?',
      }, (problems_of('local ln = require "lunette"\nreturn ln.pipeline { time = { field = "t" }, '
        .. 'window = ln.tumblin(5), panes = "acumulating", aggregate = { n = ln.cuont() } }')))
      assert.same({ 'p.lua:1: ln.pipelin: no such word: did you mean "pipeline"?' },
        (problems_of 'return require("lunette").pipelin { time = 1 }'))
    end)

    it("the whole path where it is long", function()
      local long = folder .. "/" .. ("x"):rep(80)
      os.execute("mkdir " .. long)
      local path = write(("x"):rep(80) .. "/p.lua", "error 'no'")
      assert.same({ path .. ":1: no" }, (select(2, loader.load(path))))
      write(("x"):rep(80) .. "/p.lua", "return )")
      assert.same({ path .. ":1: unexpected symbol near ')'" }, (select(2, loader.load(path))))
    end)

    it("a script that returns nothing, or too much", function()
      local how = "return ln.pipeline { ... }, or a list of them"
      assert.same({ "p.lua:1: the script returns nothing: " .. how }, (problems_of "local x = 1"))
      assert.same({ "p.lua:3: the script returns more than one value: return { a, b, ... }, one list" },
        (problems_of('local ln = require "lunette"\nlocal p = ln.pipeline { ' .. GOOD .. " }\nreturn p, p")))
    end)
  end)

  describe("params", function()
    local function size(default, params)
      local text = ('local ln = require "lunette"\nlocal x = ln.param("size", %s)\nRESULT = x\n'):format(default)
      local problems, pipelines = problems_of(text .. "return ln.pipeline { " .. GOOD .. " }", params)
      local result = rawget(_G, "RESULT")
      rawset(_G, "RESULT", nil)
      return problems[1] or result, pipelines
    end

    it("take the type of their default", function()
      assert.equal(5, (size "5"))
      assert.equal(60, (size("5", { size = "60" })))
      assert.equal("60", (size('"5m"', { size = "60" })))
      assert.equal(true, (size("false", { size = "true" })))
      assert.equal(false, (size("true", { size = "false" })))
      assert.equal("60", (size("nil", { size = "60" })))
      assert.is_nil((size "nil"))
    end)

    it("report a text that is none of that type, and the default is taken", function()
      assert.equal('p.lua:2: ln.param "size": "abc" is no number: write a number, such as 10',
        (size("5", { size = "abc" })))
      assert.equal('p.lua:2: ln.param "size": "nan" is no number: write a number, such as 10',
        (size("5", { size = "nan" })))
      assert.equal('p.lua:2: ln.param "size": "1" is neither true nor false: write one of them',
        (size("true", { size = "1" })))
      assert.equal('p.lua:2: ln.param "size": the default is a table: give a text, a number or a boolean', (size "{}"))
    end)

    it("report what was set and never asked for", function()
      local text = 'local ln = require "lunette"\nlocal a, b = ln.param("name", ""), ln.param("size", 5)\n'
      assert.same({
        '--set nmae=...: no ln.param asks for it: did you mean "name"?',
        "--set zone=...: no ln.param asks for it: the script asks for name, size",
      }, (problems_of(text .. "return ln.pipeline { " .. GOOD .. " }", { nmae = "x", size = "7", zone = "y" })))
      assert.same({ "--set zone=...: no ln.param asks for it: the script asks for none" },
        (problems_of('local ln = require "lunette"\nreturn ln.pipeline { ' .. GOOD .. " }", { zone = "y" })))
    end)

    it("start anew with every script", function()
      assert.equal(60, (size("5", { size = "60" })))
      assert.equal(5, (size "5"))
    end)

    it("end with the loading", function()
      local text = 'local ln = require "lunette"\nreturn ln.pipeline { where = function() return ln.param "x" end,\n'
      local _, pipelines = problems_of(text .. GOOD .. " }")
      local ok, message = pcall(pipelines[1].where)
      assert.is_false(ok)
      assert.equal('ln.param "x": the script has loaded already: keep its value in a local', message)
    end)
  end)

  it("reports all problems of a script at once", function()
    local text = [[
local ln = require "lunette"
local size = ln.param("size", 5)
return ln.pipeline { time = "ts", window = ln.tumbling(0),
  aggregate = { n = ln.count(5) } }]]
    assert.same({
      'p.lua:2: ln.param "size": "x" is no number: write a number, such as 10',
      'p.lua:3: time: "ts" is unknown: write time = { field = "ts" }',
      "p.lua:3: window.size: is 0: write a duration above 0",
      'p.lua:4: aggregate.n.field: is 5: write the name of a field, such as "user" or "meta.zone"',
      "--set y=...: no ln.param asks for it: the script asks for size",
    }, (problems_of(text, { size = "x", y = "1" })))
  end)

  it("finds modules beside the script first, and reads them anew", function()
    local text = 'local ln = require "lunette"\nlocal w = require "parts.windows"\nreturn ln.pipeline { window = w, '
      .. 'time = "processing", aggregate = { n = ln.count() } }'
    os.execute("mkdir " .. folder .. "/parts")
    for _, size in ipairs { 5, 7 } do
      write("parts/windows.lua", ('return require("lunette").tumbling(%d)'):format(size))
      local _, pipelines = problems_of(text)
      assert.equal(size * 1000, pipelines[1].window.size_us)
    end
    local length = #package.path
    problems_of(text)
    assert.equal(length, #package.path)
  end)

  it("knows the files that it has read, and takes texts for them", function()
    local text = 'local size = require "size"\nreturn require("lunette").pipeline { time = "processing", '
      .. "window = require('lunette').tumbling(size), aggregate = { n = require('lunette').count() } }"
    write("size.lua", "return 5")
    write("p.lua", text)
    local script, module = folder .. "/p.lua", folder .. "/size.lua"
    local function size_with(texts)
      local pipelines, problems = loader.load(script, { texts = texts })
      return pipelines and pipelines[1].window.size_us or problems[1]
    end
    assert.equal(5000, size_with())
    assert.same({ { path = script, text = text }, { path = module, text = "return 5" } }, loader.files())
    assert.equal(7000, size_with { [module] = "return 7" })
    assert.same({ { path = script, text = text }, { path = module, text = "return 7" } }, loader.files())
    os.remove(module)
    assert.equal(7000, size_with { [module] = "return 7" })
    assert.truthy(size_with():find "module 'size' not found: put it beside the script$")
    assert.truthy(size_with { [module] = "return return" }:find "size.lua:1: unexpected symbol near 'return'$")
    assert.equal(5000, size_with { [script] = text:gsub("size%)", "5)"):gsub("^.-\n", "") })
  end)

  it("sends print to stderr", function()
    local stderr, lines = io.stderr, {}
    rawset(io, "stderr", { write = function(_, ...) lines[#lines + 1] = table.concat { ... } end })
    finally(function() rawset(io, "stderr", stderr) end)
    problems_of 'print("a", nil, 5)'
    assert.same({ "a\tnil\t5\n" }, lines)
  end)
end)
