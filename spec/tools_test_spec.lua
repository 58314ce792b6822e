--- `lunette test`, from outside: which specs it runs, and how what does not agree reads.
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local SPEND = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "ts", unit = "s" },
  watermark = { delay = "10s" },
  key = "user",
  window = ln.tumbling "1m",
  lateness = ln.param("lateness", "1m"),
  aggregate = { n = ln.count(), total = ln.sum "amount" },
}
]]

local folder

local function put(name, text) shell.write(folder .. "/" .. name, text) end
local function get(name) return shell.read(folder .. "/" .. name) end
local function run(text) return shell.run(folder, text) end

-- A spec file of one test with this body.
local function spec(name, body)
  put(name, ([[
local test = require "lunette.test"
local ln = require "lunette"
describe("it", function()
  it("works", function()
%s
  end)
end)
return ln, test
]]):format(body))
end

local function has(text, part) assert.truthy(text:find(part, 1, true), ("%s\nis not in\n%s"):format(part, text)) end

local function lacks(text, part) assert.falsy(text:find(part, 1, true), ("%s\nis in\n%s"):format(part, text)) end

before_each(function()
  folder = shell.folder()
  put("spend.lua", SPEND)
end)
after_each(function() shell.remove(folder) end)

describe("lunette test finds", function()
  local GOOD = 'assert.is_true(true)'

  it("every spec below the present folder, and nothing else", function()
    run "mkdir -p a/b .hidden"
    spec("one_spec.lua", GOOD)
    spec("a/b/two_spec.lua", GOOD)
    spec("other.lua", "error 'not a spec'")
    spec(".hidden/three_spec.lua", "error 'hidden'")
    local r = run "$LUNETTE test --list"
    assert.equal(0, r.code, r.err)
    assert.same({ "./a/b/two_spec.lua:4: it works", "./one_spec.lua:4: it works" }, (function()
      local lines = {}
      for line in r.out:gmatch "[^\n]+" do lines[#lines + 1] = line end
      table.sort(lines)
      return lines
    end)())
    has(run("$LUNETTE test").out, "2 successes / 0 failures")
  end)

  it("the files and folders that are named", function()
    run "mkdir a"
    spec("a/one_spec.lua", GOOD)
    spec("bad_spec.lua", "error 'not asked for'")
    has(run("$LUNETTE test a").out, "1 success / 0 failures")
    has(run("$LUNETTE test a/one_spec.lua").out, "1 success / 0 failures")
    local r = run "mkdir empty; cd empty; $LUNETTE test"
    assert.equal(1, r.code)
    has(r.out, "No file was found whose name holds _spec: `lunette help test` shows how a spec looks")
    r = run "$LUNETTE test nowhere"
    assert.equal(1, r.code)
    has(r.out, "nowhere")
  end)

  it("what .busted says", function()
    run "mkdir a"
    put(".busted", 'return { _all = { ROOT = { "a" }, pattern = "_check", lua = "no such program" } }')
    spec("a/one_check.lua", GOOD)
    spec("bad_spec.lua", "error 'not asked for'")
    has(run("$LUNETTE test").out, "1 success / 0 failures")
  end)
end)

describe("lunette test hands on to Busted", function()
  it("its options, and exits as it does", function()
    spec("good_spec.lua", "assert.is_true(true)")
    spec("bad_spec.lua", "assert.is_true(false)")
    local r = run "$LUNETTE test -o TAP"
    assert.equal(1, r.code)
    has(r.out, "not ok 1 - it works")
    has(r.out, "ok 2 - it works")
    r = run "$LUNETTE test --output json good_spec.lua"
    assert.equal(0, r.code)
    assert.equal(1, #json.decode(r.out).successes)
    r = run "$LUNETTE test --filter nothing"
    assert.equal(0, r.code)
    has(r.out, "0 successes")
    r = run "$LUNETTE test --bogus"
    assert.equal(1, r.code)
    has(r.err, "lunette test: error: unknown/bad flag: --bogus")
    r = run "$LUNETTE test --version"
    assert.equal(0, r.code)
    has(r.out, "2.")
  end)

  it("a terminal, with colours", function()
    spec("good_spec.lua", "assert.is_true(true)")
    spec("bad_spec.lua", [[
      local p = test.load "spend.lua"
      p:add { ts = 1, user = "ann" }
      p:finish()
      assert.panes(p, {})
    ]])
    local r = run 'TERM=xterm script -qec "$LUNETTE test" /dev/null'
    assert.equal(1, r.code)
    has(r.out, "\27[32m1\27[0m success / \27[31m1\27[0m failure")
    has(r.out, "  + [0, 60)  on_time  #0  final  n=1 total=0\r\n")
    lacks(run("$LUNETTE test").out, "\27")
  end)

  it("not the interpreter", function()
    local r = run "$LUNETTE test --lua=lua5.4"
    assert.equal(2, r.code)
    has(r.err, "Lunette's own LuaJIT")
  end)

  it("os.exit of a spec is an error of that test", function()
    spec("exit_spec.lua", "os.exit(0)")
    local r = run "$LUNETTE test"
    assert.equal(1, r.code)
    has(r.out, "os.exit was called by a spec")
  end)

  it("names the package where Busted is missing", function()
    put("hide.lua", 'package.preload["busted.core"] = function() error "hidden" end')
    put("hide_spec.lua", "")
    local r = run 'LUA_PATH="/nowhere/?.lua" LUA_CPATH="/nowhere/?.so" HOME=/nowhere $LUNETTE test'
    assert.equal(1, r.code)
    has(r.err, "apt-get install lua-busted")
  end)
end)

describe("a pipeline under test", function()
  local function passes(body, name)
    spec("x_spec.lua", body)
    local r = run("$LUNETTE test x_spec.lua")
    assert.equal(0, r.code, (name or "") .. r.out .. r.err)
  end

  local function fails(body)
    spec("x_spec.lua", body)
    local r = run "$LUNETTE test x_spec.lua"
    assert.equal(1, r.code, r.out .. r.err)
    return r.out
  end

  it("stands still until time is moved", function()
    passes [[
      local p = test.load "spend.lua"
      assert.is_nil(p:watermark())
      p:add({ ts = 5, user = "ann", amount = 20 }, '{"ts":58,"user":"ann","amount":11}\n{"ts":20,"user":"bob"}')
      p:expect_no_panes()
      assert.equal(48, p:watermark())
      p:advance_watermark(60)
      assert.panes(p, {
        { key = "bob", start = 0, n = 1, total = 0 },
        { key = "ann", start = 0, stop = 60, timing = "on_time", pane = 0, final = false,
          value = { n = 2, total = 31 } },
      })
      p:expect_no_panes()
      p:add { ts = 59, user = "ann", amount = 9 }
      assert.panes(p, { { key = "ann", timing = "late", pane = 1, n = 3, total = 40 } })
      p:advance_watermark "1970-01-01T00:02:00Z"
      p:add { ts = 59, user = "ann", amount = 9 }
      assert.rejects(p, { { reason = "late", ts = 59, user = "ann" } })
      assert.stats(p, { read = 5, aggregated = 4, rejected = { late = 1 }, windows_open = 0 })
      p:finish()
      p:expect_no_panes()
      assert.equal(math.huge, p:watermark())
    ]]
  end)

  it("has a processing clock of its own", function()
    passes [[
      local p = test.load(ln.pipeline {
        time = "processing", window = ln.tumbling "1m", aggregate = { n = ln.count() },
        trigger = ln.at_watermark { early = ln.every "10s" },
      }, { now = "2026-12-01T10:00:00Z" })
      p:add({ x = 1 })
      p:advance_clock "9s"
      p:expect_no_panes()
      p:advance_clock(1000)
      assert.panes(p, { { timing = "early", start = 1796119200000, n = 1 } })
      p:advance_clock "50s"
      assert.panes(p, { { timing = "early", pane = 1 }, { timing = "on_time", final = true, key = test.null } })
    ]]
  end)

  it("takes parameters, a field for a clock, and several streams", function()
    passes [[
      local p = test.load("spend.lua", { params = { lateness = "0s" }, clock = "at", streams = true })
      local a, b = p:stream(), p:stream()
      b:add { ts = 10, user = "ann", amount = 2, at = 1 }
      a:add { ts = 100, user = "ann", amount = 1, at = 1 }
      p:expect_no_panes()
      b:close()
      assert.panes(p, { { start = 0, key = "ann", final = true, total = 2 } })
    ]]
  end)

  it("compares numbers nearly, by functions and matchers, and null", function()
    passes [[
      local p = test.load(ln.pipeline { time = { field = "t" }, window = ln.global(), trigger = ln.each(),
        aggregate = { x = ln.avg "x", all = ln.collect "x", least = ln.min "y" } })
      p:add({ t = 1, x = 1 }, { t = 1, x = 2.5 })
      local match = require "luassert.match"
      assert.panes(p, {
        { x = match.is_number(), start = test.null, key = test.null, least = test.null },
        { x = test.near(1.7, 0.1), all = { 1, 2.5 }, pane = function(n) return n == 1 end },
      })
      assert.is_not.panes(p, { { x = 1 } })
    ]]
  end)

  it("keeps whole numbers beyond 2^53", function()
    passes [[
      local p = test.load(ln.pipeline { time = { field = "t" }, window = ln.global(), trigger = ln.each(),
        key = "id", aggregate = { s = ln.sum "x" } })
      p:add '{"t":1,"x":9007199254740993,"id":18446744073709551615}'
      assert.panes(p, { { key = 18446744073709551615ULL, s = 9007199254740993LL } })
    ]]
  end)

  it("tells what differs, beside what agrees, in UTC", function()
    local out = fails [[
      local p = test.load "spend.lua"
      p:add({ ts = 1700000000, user = "ann", amount = 20 }, { ts = 1700000000, user = "bob", amount = 7 },
        { ts = 1700000061, user = "bob", amount = 7 }, { user = "eve" })
      p:finish()
      assert.panes(p, {
        { key = "ann", start = 1699999980, n = 1, total = 21 },
        { key = "bob", start = 1699999980, n = 1 },
        { key = "cid", start = 1699999980, n = 1 },
      })
    ]]
    has(out, "Other panes than expected: 3 panes expected, 3 came.")
    has(out, [[
key "ann"
  ! [1699999980, 1700000040)  2023-11-14T22:13:00Z  on_time  #0  n=1 total=20
      total: expected 21, came 20
key "bob"
  = [1699999980, 1700000040)  2023-11-14T22:13:00Z  on_time  #0         n=1 total=7
  + [1700000040, 1700000100)  2023-11-14T22:14:00Z  on_time  #0  final  n=1 total=7
key "cid"
  - [1699999980, ?)  2023-11-14T22:13:00Z  n=1
Rejected meanwhile: 1
  no_time: user="eve"
]])
    has(out, "x_spec.lua:")
  end)

  it("tells other rejects, counters, and what a script's errors say", function()
    put("wrong.lua", (SPEND:gsub('key = "user"', 'key = function(r) return r.user .. "!" end')))
    local out = fails [[
      local p = test.load "wrong.lua"
      p:add({ ts = 1 })
      assert.panes(p, { { key = "ann!" } })
    ]]
    has(out, "The script: pipeline: record: ")
    has(out, "wrong.lua:5: attempt to concatenate field 'user' (a nil value)")
    has(out, "script_error: ts=1")
    out = fails [[
      local p = test.load "spend.lua"
      p:add "no json"
      assert.rejects(p, { { reason = "late" } }, "after the storm")
    ]]
    has(out, "after the storm")
    has(out, "reason: expected \"late\", came \"malformed\"")
    out = fails [[
      assert.stats(test.load "spend.lua", { read = 1, rejected = { late = 0, lost = 1 } })
    ]]
    has(out, "  read: expected 1, is 0\n  rejected.lost: there is no such counter\n")
  end)

  it("says what is wrong with a script, in its place", function()
    put("syntax.lua", "local x =\nreturn 1")
    has(fails [[test.load "syntax.lua"]], "syntax.lua:2: unexpected symbol near 'return'")
    put("wrong.lua", (SPEND:gsub("window =", "windwo =")))
    has(fails [[test.load "wrong.lua"]], 'wrong.lua:2: windwo: unknown field: did you mean "window"?')
    has(fails [[test.load "none.lua"]], "x_spec.lua:5: none.lua: can't be read: No such file or directory")
    has(fails [[test.load("spend.lua", { params = { lateness = "soon" } })]], "lateness")
    has(fails [[test.load("spend.lua", { param = {} })]], "unknown option param: there are params, clock")
  end)

  it("tells what a slip of the spec was probably meant to be", function()
    local p = 'local p = test.load "spend.lua" '
    has(fails(p .. "p:advance_watremark(1)"),
      'x_spec.lua:5: p:advance_watremark: there is no such method: did you mean "advance_watermark"?')
    has(fails(p .. "p:wait(1)"), "there are add, add_file, advance_clock,")
    has(fails "test.laod 'spend.lua'", 'x_spec.lua:5: test.laod: there is no such word: did you mean "load"?')
    local out = fails(p .. 'p:add { ts = 1, user = "ann" } p:finish() '
      .. 'assert.panes(p, { { key = "ann", totl = 0, n = 2 } })')
    has(out, '      n: expected 2, came 1\n      totl: expected 0, and there is no such field: did you mean "total"?\n')
    out = fails(p .. 'p:add { ts = 1 } p:finish() assert.panes(p, { { key = "ann" } })')
    has(out, 'key "ann"\n  - (any)\nkey null\n  + [0, 60)')
  end)

  it("refuses what makes no sense", function()
    local p = 'local p = test.load "spend.lua" '
    has(fails(p .. 'p:add(7)'), "x_spec.lua:5: record 1 is a number: a record is a table, or a text of JSON")
    has(fails(p .. 'p:add { x = print }'), "x_spec.lua:5: record 1: a function is no value")
    has(fails(p .. 'p:advance_clock "soon"'), '"soon" is no duration: write numbers with units')
    has(fails(p .. 'p:advance_clock(-1)'), "the clock does not go back")
    has(fails(p .. 'p:advance_watermark "soon"'), "write a number in the pipeline's unit, or a date such as")
    has(fails(p .. 'p:advance_watermark(9) p:advance_watermark(8)'), "it is at 9 already, and does not go back")
    has(fails(p .. 'p:finish() p:add { ts = 1 }'), "the input has ended")
    has(fails(p .. 'p:stream()'), "streams = true")
    has(fails(p .. 'assert.panes(p, { key = 1 })'), "the second argument is no list")
    has(fails 'assert.panes({}, {})', "the first argument is no pipeline of test.load")
  end)
end)

describe("a golden file", function()
  local SPEC = 'test.golden("spend.lua", "in.jsonl", "panes.jsonl")'

  before_each(function()
    put("in.jsonl", '{"ts":5,"user":"bob","amount":20}\n{"ts":7,"user":"ann","amount":1}\n')
    spec("golden_spec.lua", SPEC)
  end)

  it("is written when it is asked for, and compared from then on", function()
    local r = run "$LUNETTE test"
    assert.equal(1, r.code)
    has(r.out, "panes.jsonl: there is no such file: `lunette test --update` writes it")
    r = run "$LUNETTE test --update"
    assert.equal(0, r.code, r.out)
    has(r.err, "panes.jsonl: written anew, 2 panes")
    assert.equal(run("$LUNETTE run spend.lua in.jsonl").out, get "panes.jsonl")
    assert.equal(0, run("$LUNETTE test").code)
    assert.equal("", run("$LUNETTE test --update").err)
  end)

  it("tells every difference, also fields that it does not have", function()
    run "$LUNETTE test --update"
    put("panes.jsonl", (get("panes.jsonl"):gsub('"total":20', '"total":21')))
    local r = run "$LUNETTE test"
    assert.equal(1, r.code)
    has(r.out, "      total: expected 21, came 20")
    has(r.out, "(1 more key is as expected)")
    put("panes.jsonl", (get("panes.jsonl"):gsub(',"total":21', "")))
    has(run("$LUNETTE test").out, "      total: expected null, came 20")
    put("panes.jsonl", "no pane\n")
    has(run("$LUNETTE test").out, "panes.jsonl:1: this line is no pane")
  end)

  it("is aligned also where it is long", function()
    local lines = {}
    for i = 1, 3000 do lines[i] = ('{"ts":%d,"user":"ann","amount":%d}'):format(60 * i, i) end
    put("in.jsonl", table.concat(lines, "\n") .. "\n")
    run "$LUNETTE test --update"
    local panes = get "panes.jsonl"
    local second = panes:match "\n([^\n]*\n)"
    put("panes.jsonl", (panes:gsub("\n[^\n]*\n", "\n", 1):gsub('"total":2998}', '"total":1}')))
    local r = run "$LUNETTE test"
    assert.truthy(second:find '"total":2}')
    has(r.out, "  + [120, 180)")
    has(r.out, "      total: expected 1, came 2998\n")
    has(r.out, "(2989 that agree)")
  end)

  it("may have its keys in any order", function()
    run "$LUNETTE test --update"
    local first, second = get("panes.jsonl"):match "^([^\n]*\n)([^\n]*\n)$"
    put("panes.jsonl", second .. first)
    assert.equal(0, run("$LUNETTE test").code)
  end)
end)
