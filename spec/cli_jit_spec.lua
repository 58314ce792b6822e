--- `--jit-report`: what of a script LuaJIT could not compile, by place and reason.
local cli = require "spec.support.cli"
local json = require "spec.support.json"

local put, run, lines_of = cli.put, cli.run, cli.lines_of

before_each(function()
  cli.prepare()
  local records = {}
  for t = 1, 20000 do records[t] = ('{"t":%d,"name":"n%d"}\n'):format(t, t % 7) end
  put("many.jsonl", table.concat(records))
end)
after_each(cli.clear)

-- The report on a script whose `where` is this function, which stands from line 4 on.
local function report(where, before)
  put("script.lua", ([[
local ln = require "lunette" %s
return ln.pipeline {
  time = { field = "t" }, window = ln.tumbling "1s", aggregate = { n = ln.count() },
  where = %s,
}
]]):format(before or "", where))
  local r = run "$LUNETTE run --jit-report --stats --out null: script.lua many.jsonl"
  assert.equal(0, r.code, r.err)
  local lines = lines_of(r.err)
  local stats = json.decode(table.remove(lines))
  return lines, stats
end

local function finds(lines, text)
  for _, line in ipairs(lines) do
    if line:find(text, 1, true) then return true end
  end
  return false
end

describe("the report on compiling", function()
  -- LuaJIT chooses by chance what it tries when, and may have to leave an exit to the interpreter.
  it("says of a script that was compiled that all of it was, in one of three runs at least", function()
    for _ = 1, 3 do
      local lines, stats = report "function(r) return r.t % 3 > 0 end"
      assert.equal(stats.not_compiled == 0, lines[1]:find "all that became hot was compiled$" ~= nil)
      if stats.not_compiled == 0 then return end
    end
    error "not compiled"
  end)

  it("says of one that reads many numbers, in one of three runs at least, that no loop was unrolled", function()
    for _ = 1, 3 do
      local lines = report [[function(r)
    local sum = r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t + r.t
    return sum % 3 > 0
  end]]
      if not finds(lines, "unroll") then return end
    end
    error "a loop was unrolled each time"
  end)

  it("names the line that makes a function, and says what to do", function()
    local lines, stats = report [[function(r)
    local t = r.t
    return (function() return t > 0 end)()
  end]]
    assert.truthy(lines[1]:find "not compiled:$", lines[1])
    assert.is_true(finds(lines, "script.lua:6: NYI: bytecode FNEW (a function is made here: make it once, outside)"),
      table.concat(lines, "\n"))
    assert.is_true(stats.not_compiled >= 1)
    assert.is_true(stats.traces_aborted >= 1)
  end)

  it("names a function of the libraries at which compiled code ends, with its caller", function()
    local lines, stats = report([[function(r)
    return #r.name:gsub("%d", sub) > 0
  end]], "local function sub() end")
    assert.is_true(finds(lines, "script.lua:5: string.gsub can't be compiled: the trace ends there"),
      table.concat(lines, "\n"))
    assert.is_true(stats.not_compiled >= 1)
  end)

  it("keeps what it found when LuaJIT drops its traces", function()
    local lines = report([[function(r)
    if r.t == 15000 then jit.flush() end
    return r.t < 5000 or r.t >= 15000 or late(r.t)
  end]], "local function late(t) return (function() return t > 0 end)() end")
    assert.is_true(finds(lines, "script.lua:1: NYI: bytecode FNEW"), table.concat(lines, "\n"))
  end)

  it("says that a script has switched the compiler off", function()
    local lines = report("function() return true end", "jit.off()")
    assert.same({ "jit: the compiler is off: everything was interpreted" }, lines)
  end)
end)
