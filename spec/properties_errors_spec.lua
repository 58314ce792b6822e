--- Errors in users' functions: what becomes of the record, that everything is counted, and that the engine goes on. The
-- account is looked at after every record.
local engine = require "spec.support.engine"
local json = require "spec.support.json"
local single = require "spec.support.single"
local streams = require "spec.support.streams"

local run, numbered, values = single.run, single.numbered, single.values

-- What is told, without the place in the script.
local function told(r)
  local out = {}
  for i, notice in ipairs(r.notices) do out[i] = notice:gsub("script%.lua:%d+: ", "") end
  return out
end

describe("an error in a function of the record rejects it", function()
  local function rejected(fields, reason, message)
    local r = run(fields, numbered(4))
    assert.same({ [reason] = 1 }, r.stats[1].rejected)
    assert.equal(3, r.stats[1].aggregated)
    assert.same({ 1, 2, 3 }, values(r, "n"))
    assert.equal(2, r.rejects[1].record.v)
    assert.equal(reason, r.rejects[1].reason)
    if message then assert.is_truthy(r.rejects[1].message:find(message, 1, true)) end
    assert.equal(message and 1 or 0, r.script_errors)
    assert.equal(message and 1 or 0, #r.notices)
  end
  local broken = "function(r) if r.v == 2 then error 'oh' end return r.%s end"

  it("where", function() rejected("where = " .. broken:format "v", "script_error", "oh") end)
  it("key", function() rejected("key = " .. broken:format "t and 1", "script_error", "oh") end)
  it("time", function() rejected("time = { field = " .. broken:format "t" .. " }", "script_error", "oh") end)
  it("a field", function()
    rejected("aggregate = { n = ln.count(), s = ln.sum(" .. broken:format "v" .. ") }", "script_error", "oh")
  end)
  it("an assigner", function()
    local fn = "window = ln.assigner(function(t, r) if r.v == 2 then %s end return 0, 10 end%s)"
    rejected(fn:format("error 'oh'", ""), "script_error", "oh")
    rejected(fn:format("error 'oh'", ", { merge = true, longest = 10 }"), "script_error", "oh")
    rejected(fn:format("return 1", ""), "script_error", "odd number")
    rejected(fn:format("return 5, 5", ""), "script_error", "start >= stop")
    rejected(fn:format("return 0 / 0, 5", ""), "script_error", "out of range")
    rejected(fn:format("return 'a', 'b'", ""), "script_error", "returns numbers")
    rejected(fn:format("return 1, 2, 3, 4", ", { merge = true, longest = 10 }"), "script_error", "one pair")
    rejected(fn:format("return 0, 11", ", { merge = true, longest = 10 }"), "script_error", "longest")
    rejected(fn:format("return", ""), "no_window")
  end)
  it("but what merely is no time or no key has a reason of its own", function()
    rejected("time = { field = function(r) if r.v ~= 2 then return r.t end end }", "no_time")
    rejected("time = { field = function(r) return r.v == 2 and 'x' or r.t end }", "no_time")
    rejected("time = { field = function(r) return r.v == 2 and 0 / 0 or r.t end }", "no_time")
    rejected("key = function(r) return r.v == 2 and { {} } or 1 end", "bad_key")
    rejected("key = function(r) return r.v == 2 and 0 / 0 or 1 end", "bad_key")
    rejected("key = function(r) return r.v == 2 and print or 1 end", "bad_key")
  end)
  it("whatever is raised", function()
    for _, raised in ipairs { "error()", "error {}", "error(7)", "r.a.b = 1",
      "local function f() return 1 + f() end f()" } do
      local r = run(("where = function(r) if r.v == 2 then %s end return true end"):format(raised), numbered(3))
      assert.same({ script_error = 1 }, r.stats[1].rejected)
      assert.equal("string", type(r.rejects[1].message))
      assert.same({ 1, 2 }, values(r, "n"))
    end
  end)
  it("and none of its fields has been counted", function()
    local r = run([[aggregate = { n = ln.count(), a = ln.sum "v",
      b = ln.sum(function(r) return r.v == 2 and error "oh" or r.v end),
      c = ln.sum(function(r) return r.v end) }]], numbered(3))
    assert.same({ n = 2, a = 4, b = 4, c = 4 }, r.panes[#r.panes].value)
  end)
end)

describe("a record that is rejected or filtered", function()
  -- W after a first record at 1 and a second one at 50.
  local function w_after(fields, second, options)
    local input = ('{"t":1,"v":1,"c":1}\n%s\n{"t":2,"v":1,"c":2}\n'):format(second)
    local r = run(fields .. ", watermark = { max_ahead = 100 }", input, options)
    -- The third, at 2, is late where W has come to 50.
    return r.stats[1].rejected.late and 50 or 1
  end
  local fails = "function(r) if r.v == 2 then error 'oh' end return r.v end"

  it("moves W, or not, as the rules say", function()
    local second = '{"t":50,"v":2,"c":2}'
    local moving = {
      "where = function(r) return r.v ~= 2 end", "where = " .. fails, "key = " .. fails,
      "key = function(r) return r.v == 2 and { {} } or 1 end", "aggregate = { n = ln.sum(" .. fails .. ") }",
      "window = ln.assigner(function(t, r) if t == 50 then return end return 0, 10 end)",
    }
    for _, fields in ipairs(moving) do assert.equal(50, w_after(fields, second, { clock = "c" }), fields) end
    local time = "time = { field = function(r) if r.v == 2 then error 'oh' end return r.t end }"
    assert.equal(1, w_after(time, second, { clock = "c" }))
    assert.equal(1, w_after("fill = nil", '{"t":"soon","v":2,"c":2}', { clock = "c" }))
    assert.equal(1, w_after("fill = nil", '{"t":500,"v":2,"c":2}', { clock = "c" }))
    assert.equal(1, w_after("fill = nil", "[50]", { clock = "c" }))
    assert.equal(50, w_after("fill = nil", second, { clock = "c" }))
  end)
end)

describe("an error in a fold", function()
  local fold = [[window = ln.tumbling(100), aggregate = { n = ln.count(),
    good = ln.fold { init = function() return 0 end, add = function(a, r) return a + r.v end,
      merge = function(a, b) return a + b end },
    bad = ln.fold { init = function() %s return 0 end, add = function(a, r) %s return a + r.v end,
      merge = function(a, b) %s return a + b end, result = function(a) %s return a end } }]]

  it("in add skips the record for that fold alone", function()
    local r = run(fold:format("", "if r.v == 2 then error 'oh' end", "", ""), numbered(4))
    assert.same({ 1, 1, 4, 8 }, values(r, "bad"))
    assert.same({ 1, 3, 6, 10 }, values(r, "good"))
    assert.same({ 1, 2, 3, 4 }, values(r, "n"))
    assert.equal(1, r.script_errors)
    assert.same({ "pipeline: add of fold bad: oh" }, told(r))
    assert.same({}, r.stats[1].rejected)
  end)

  it("in result makes its value null in that pane alone", function()
    local r = run(fold:format("", "", "", "if a == 3 then error 'oh' end"), numbered(4))
    assert.same({ 1, "null", 6, 10 }, values(r, "bad"))
    assert.same({ 1, 3, 6, 10 }, values(r, "good"))
    assert.equal(1, r.script_errors)
  end)

  it("whose result can't leave the script makes its value null, and no other's", function()
    local r = run(fold:format("", "", "", "if a == 3 then return print end"), numbered(4))
    assert.same({ 1, "null", 6, 10 }, values(r, "bad"))
    assert.same({ 1, 3, 6, 10 }, values(r, "good"))
    assert.equal(1, r.script_errors)
  end)

  it("in merge makes its value null from then on, for that window alone", function()
    local records = { { t = 1, v = 1 }, { t = 41, v = 2 }, { t = 21, v = 3 }, { t = 22, v = 4 }, { t = 500, v = 5 } }
    local r = run(fold:format("", "", "error 'oh'", "") .. ", watermark = { delay = 1000 }, window = ln.session(21)",
      records)
    assert.same({ 1, 2, "null", "null", 5 }, (function()
      local out = {}
      for _, p in ipairs(r.panes) do
        if not p.retract then out[#out + 1] = p.value.bad == nil and "null" or p.value.bad end
      end
      return out
    end)())
    local good = values(r, "good")
    assert.equal(10, good[#good - 1])
    assert.equal(1, r.script_errors)
    assert.same({ "pipeline: merge of fold bad: oh" }, told(r))
  end)

  it("in init skips the record, and an empty window's value is null", function()
    local r = run(fold:format("error 'oh'", "", "", ""), numbered(2))
    assert.same({ "null", "null" }, values(r, "bad"))
    assert.same({ 1, 3 }, values(r, "good"))
    assert.same({}, r.stats[1].rejected)
  end)

  it("does not outlive the pane where panes are discarded", function()
    local r = run(fold:format("", "", "", "if a == 2 then error 'oh' end") .. ", panes = 'discarding'", numbered(4))
    assert.same({ 1, "null", 3, 4 }, values(r, "bad"))
  end)
end)

describe("a fold", function()
  it("changes nothing else in a pane", function()
    streams.each(20, function(g, about)
      local window = g:window()
      local input = engine.encode(g:delayed(g:records { count = 50 }, 20), "json")
      local how = { window = window, delay = 10, key = g:pick { '"k"', "nil" }, trigger = g:rooted() }
      how.aggregates = { "n", "first", "low", "var" }
      local without = engine.run(streams.script(how), input, { clock = "t" })
      how.aggregates = { "n", "first", "low", "var", "f" }
      about.script = streams.script(how)
      local with = engine.run(about.script, input, { clock = "t" })
      local function canonical(r)
        local lines = {}
        for line in r.bytes:gmatch "[^\n]+" do
          local pane = json.decode(line)
          pane.value.f = nil
          lines[#lines + 1] = json.encode(pane)
        end
        return table.concat(lines, "\n")
      end
      assert.equal(canonical(without), canonical(with))
    end)
  end)
end)

describe("an error in a trigger's predicate", function()
  it("is not now, and nothing else", function()
    local r = run("trigger = ln.when(function(w, r) if r.v == 2 then error 'oh' end return true end)", numbered(4))
    assert.same({ 1, 3, 4 }, values(r, "n"))
    assert.equal(1, r.script_errors)
    assert.same({ "pipeline: when: oh" }, told(r))
    assert.equal(4, r.stats[1].aggregated)
  end)

  it("leaves the other parts as they are", function()
    local r = run("trigger = ln.any { ln.when(function(w, r) error 'oh' end), ln.after_count(2) }", numbered(4))
    assert.same({ 2, 4 }, values(r, "n"))
    assert.equal(4, r.script_errors)
    assert.equal(1, #r.notices)
  end)
end)

describe("an error in mark", function()
  it("promises nothing", function()
    local r = run([[trigger = ln.at_watermark(),
      watermark = { mark = function(r) if r.v == 2 then error "oh" end return r.v >= 3 and 10 end }]], numbered(3))
    assert.equal(3, r.stats[1].aggregated)
    assert.equal(1, r.script_errors)
    assert.same({ "pipeline: mark: oh" }, told(r))
    assert.equal("on_time", r.panes[#r.panes].timing)
  end)

  it("leaves the delay's promise as it is", function()
    local r = run("watermark = { delay = 5, mark = function(r) error 'oh' end }",
      { { t = 1 }, { t = 40 }, { t = 9 }, { t = 36 } })
    assert.same({ late = 1 }, r.stats[1].rejected)
    assert.equal(4, r.script_errors)
  end)
end)

describe("an error in emit", function()
  it("lets the pane leave unchanged", function()
    local r = run("emit = function(p) p.value.n = p.value.n * 10 if p.pane == 1 then error 'oh' end return p end",
      numbered(3))
    assert.same({ 10, 2, 30 }, values(r, "n"))
    assert.equal(1, r.script_errors)
    assert.same({ "pipeline: emit: oh" }, told(r))
  end)

  it("and so does a result that can't leave the script", function()
    for _, result in ipairs { "print", "{ x = { print } }", "(function() local t = {} t.t = t return t end)()" } do
      local r = run(("emit = function(p) if p.pane == 1 then return %s end return p end"):format(result), numbered(3))
      assert.same({ 1, 2, 3 }, values(r, "n"))
      assert.equal(1, r.script_errors)
    end
  end)

  it("holds for withdrawals too", function()
    local r = run("panes = 'retracting', emit = function(p) if p.retract then error 'oh' end return p end", numbered(3))
    assert.same({ false, true, false, true, false }, (function()
      local out = {}
      for i, p in ipairs(r.panes) do out[i] = p.retract or false end
      return out
    end)())
    assert.equal(2, r.script_errors)
    assert.equal(1, #r.notices)
  end)
end)

describe("what is told of errors", function()
  it("is each distinct message once, and at most a hundred", function()
    local r = run("where = function(r) error('number ' .. r.v % 7) end", numbered(70))
    assert.equal(7, #r.notices)
    assert.equal(70, r.script_errors)
    assert.same({ script_error = 70 }, r.stats[1].rejected)
    r = run("where = function(r) error('number ' .. r.v) end", numbered(150))
    assert.equal(101, #r.notices)
    assert.equal(150, r.script_errors)
    assert.equal(150, r.stats[1].rejected.script_error)
  end)

  it("is one line", function()
    local r = run("where = function(r) error 'first\\nsecond' end", numbered(1))
    assert.equal(1, #r.notices)
    assert.is_nil(r.notices[1]:find("\n", 1, true))
  end)

  it("is of each pipeline by itself", function()
    local script = [[
      local ln = require "lunette"
      local function one(name) return ln.pipeline { name = name, time = { field = "t" }, window = ln.tumbling(10),
        where = function(r) return r.none.x end, aggregate = { n = ln.count() } } end
      return { one "a", one "b" }]]
    local r = engine.run(script, engine.encode(numbered(3), "json"))
    assert.equal(2, #r.notices)
    assert.equal(6, r.script_errors)
    assert.equal(3, r.stats[1].rejected.script_error)
    assert.equal(3, r.stats[2].rejected.script_error)
    assert.equal("b", r.rejects[2].pipeline)
  end)
end)

describe("random pipelines whose functions often fail", function()
  it("keep the account and finish, whatever fails where", function()
    local errors = 0
    local function failing(g, body)
      return ("function(r) if r.id %% %d == 0 then error('e' .. r.id %% 3) end %s end"):format(2 + g:rnd(5), body)
    end
    streams.each(60, function(g, about)
      local window, kind = g:window()
      if g:chance(4) then
        kind, window = "merging", [[ln.assigner(function(t, r)
          if r.id % 4 == 0 then error "a" end
          return t, t + r.id % 9
        end, { merge = true, longest = 7 })]]
      end
      local fields = {
        "window = " .. window, "trigger = " .. g:pick { "ln.each()", "ln.after_count(2)",
          "ln.when(function(w, r) if r.id % 2 == 0 then error 'w' end return w.value.n > 1 and w.value.f > 0 end)" },
        "panes = '" .. g:pick { "accumulating", "discarding", "retracting" } .. "'", "lateness = " .. g:pick { 0, 9 },
        "watermark = { delay = 9" .. (g:chance(2) and ", mark = " .. failing(g, "return r.t - 12") or "") .. " }",
        g:chance(2) and "where = " .. failing(g, "return r.v ~= 3") or "fill = nil",
        g:chance(2) and "key = " .. failing(g, "return r.k") or 'key = "k"',
        g:chance(2) and "time = { field = " .. failing(g, "return r.t") .. " }" or 'time = { field = "t" }',
        ([[aggregate = { n = ln.count(), s = ln.sum(%s), f = ln.fold { init = function() return 0 end,
          add = function(a, r) if r.id %% 3 == 0 then error "add" end return a + r.v end,
          merge = function(a, b) if (a + b) %% 2 == 0 then error "merge" end return a + b end,
          result = function(a) if a %% 5 == 0 then error "result" end return a end } }]]):format(
          g:chance(2) and failing(g, "return r.v") or "'v'"),
        g:chance(2) and "emit = function(p) if p.pane % 3 == 0 then error 'emit' end return p end" or "fill = nil",
      }
      local text = table.concat(fields, ",\n")
      about.script = text
      local r = run(text, g:delayed(g:records { count = 80 }, 12))
      errors = errors + r.script_errors
      local s = r.stats[1]
      assert.equal(80, s.read)
      assert.equal(s.refused, #r.rejects)
      assert.equal(0, s.windows + s.keys)
      if kind == "global" then assert.is_nil(s.rejected.late) end
    end)
    if streams.usual() then assert.is_true(errors > 2000) end
  end)
end)
