--- The checks of aggregates that have parameters, each with the exact line it reports, and what becomes of good ones.
local check = require("spec.support.plan").check

local function f() end

-- Rows of { an aggregate, what is reported of it, ... }.
local function each_reports(rows)
  for _, row in ipairs(rows) do
    it(row[1], function()
      local lines = {}
      for i = 2, #row do lines[i - 1] = "p.lua:3: aggregate.a" .. row[i] end
      local pipelines, problems = check("s.aggregate.a = " .. row[1], f)
      assert.same(lines, problems or {})
      if #lines > 0 then assert.is_nil(pipelines) end
    end)
  end
end

describe("plan.check reports of aggregates with parameters,", function()
  local path = 'write the name of a field, such as "user" or "meta.zone"'

  describe("distinct:", function()
    each_reports {
      { 'ln.distinct("x", { aprox = false })', '.aprox: unknown field: did you mean "approx"?' },
      { 'ln.distinct("x", { approx = 1 })', ".approx: is 1: write true or false" },
      { 'ln.distinct("x", { precision = 12 })',
        ".precision: does nothing without approx: leave it out: the exact count needs none" },
      { 'ln.distinct("x", { approx = true, precision = 9 })', ".precision: is 9: write a whole number from 10" },
      { 'ln.distinct("x", { approx = true, precision = 17 })', ".precision: 17 is too large: write at most 16" },
      { 'ln.distinct("x", { approx = true, past_limit = "error" })',
        ".past_limit: does nothing with approx: leave it out: a sketch has no limit" },
      { 'ln.distinct("x", { past_limit = "null" })',
        '.past_limit: "null" is unknown: write "approx" or "error"' },
    }
  end)

  describe("quantile:", function()
    each_reports {
      { "ln.quantile()", ".q: missing: write a number from 0 to 1", ".field: missing: " .. path },
      { 'ln.quantile("x", 99)', ".q: is 99: write a number from 0 to 1" },
      { 'ln.quantile("x", 0/0)', ".q: is NaN: write a number from 0 to 1" },
      { 'ln.quantile("x", "p99")', '.q: is "p99": write a number from 0 to 1' },
      { 'ln.quantile("x", {})', ".q: is empty: write shares from 0 to 1, such as { 0.5, 0.99 }" },
      { 'ln.quantile("x", { 0.5, -0.1, f })', ".q[2]: is -0.1: write a number from 0 to 1",
        ".q[3]: is a function: write a number from 0 to 1" },
      { 'ln.quantile("x", { p = 0.5 })', ".q: is no plain list: write shares from 0 to 1, such as { 0.5, 0.99 }" },
      { 'ln.quantile("x", (function() local q = {} for i = 1, 1001 do q[i] = 0 end return q end)())',
        ".q: has 1001 numbers: write at most 1000" },
      { 'ln.quantile("x", 0.5, { accuracy = 0 })', ".accuracy: is 0: write a number from 0.001 to 0.5" },
      { 'ln.quantile("x", 0.5, { accuracy = "1%" })', '.accuracy: is "1%": write a number from 0.001 to 0.5' },
      { 'ln.quantile("x", 0.5, 0.01)', ".options: is 0.01: write them in a table: { accuracy = ... }" },
    }
  end)

  describe("top:", function()
    each_reports {
      { 'ln.top("x")', ".k: missing: write a whole number from 1" },
      { 'ln.top("x", 0)', ".k: is 0: write a whole number from 1" },
      { 'ln.top("x", 1001)', ".k: 1001 is too large: write at most 1000" },
      { 'ln.top("x", 5, { by = 7 })', ".by: is 7: " .. path },
      { 'ln.top("x", 5, { capacity = 4 })', ".capacity: is 4: write a whole number from 5" },
      { 'ln.top("x", 5, { capacity = 1e6 })', ".capacity: 1000000 is too large: write at most 65536" },
    }
  end)

  describe("the others:", function()
    each_reports {
      { "ln.min_by()", ".by: missing: " .. path, ".field: missing: " .. path },
      { 'ln.max_by("x")', ".by: missing: " .. path },
      { 'ln.max_by("x", "y", "z")', ": too many arguments for ln.max_by: write ln.max_by(field, by)" },
      { 'ln.collect("x", { limit = 0 })', ".limit: is 0: write a whole number from 1" },
      { 'ln.collect("x", { limit = 1e7 })', ".limit: 10000000 is too large: write at most 1000000" },
      { 'ln.histogram("x")', ".bounds: missing: write a list of rising numbers, such as { 0.1, 1, 10 }" },
      { 'ln.histogram("x", { bounds = 5 })',
        ".bounds: is 5: write a list of rising numbers, such as { 0.1, 1, 10 }" },
      { 'ln.histogram("x", { bounds = { 1, 1 } })',
        ".bounds[2]: is not above the bound before it: write the bounds in rising order" },
      { 'ln.histogram("x", { bounds = { 1, 1/0 } })', ".bounds[2]: is inf: write a finite number" },
      { 'ln.rate("x", { per = 0 })', ".per: is 0: write a duration above 0" },
      { "ln.ratio()", ".fn: missing: write function(record) return ... end" },
      { 'ln.ratio "x"', '.fn: is "x": write function(record) return ... end' },
    }

    local fields = 'write its fields with their types, as in { n = "double", last = "int64" }'
    each_reports {
      { "ln.fold { state = 5, add = f }", ".state: is 5: " .. fields },
      { "ln.fold { state = {}, add = f }", ".state: is a table: " .. fields },
      { 'ln.fold { state = { n = "double" } }', ".add: missing: write function(acc, record) acc.x = ... end" },
      { 'ln.fold { state = { n = "string", __x = "double", ["end"] = "bool", "int64" }, add = f, init = 1 }',
        ".state.__x: is no name of a field: write letters, digits and _, and no word of C or Lua",
        ".state.end: is no name of a field: write letters, digits and _, and no word of C or Lua",
        '.state.n: "string" is unknown: the types are double, float, int64, uint64, int32, uint32, bool',
        ".state[1]: is no name of a field: write letters, digits and _, and no word of C or Lua",
        ".init: is 1: write function(acc) acc.x = ... end" },
    }

    it("a declared fold without merge where windows merge", function()
      local _, problems = check(
        's.window, s.aggregate.a = ln.session(5), ln.fold { state = { n = "double" }, add = f }', f)
      assert.same({ "p.lua:3: aggregate.a.merge: missing, and windows of ln.session merge: "
        .. "write merge = function(a, b) a.x = ... end" }, problems)
    end)

    it("a rate of a window without a length", function()
      local _, problems = check("s.window, s.aggregate.a = ln.global(), ln.rate()")
      assert.same({ "p.lua:3: aggregate.a: ln.global has no length that a rate could be over: use ln.sum or ln.count, "
        .. "or another window" }, problems)
    end)
  end)
end)

describe("plan.check puts in numbers", function()
  local x, y = "x", "y"
  local rows = {
    ['ln.distinct("x")'] = { kind = "distinct", path = x },
    ['ln.distinct("x", { approx = false, past_limit = "approx" })'] = { kind = "distinct", path = x },
    ['ln.distinct("x", { past_limit = "error" })'] = { kind = "distinct", path = x, refuse = true },
    ['ln.distinct("x", { approx = true })'] = { kind = "distinct_approx", path = x, precision = 12 },
    ['ln.distinct(f, { approx = true, precision = 16 })'] = { kind = "distinct_approx", fn = f, precision = 16 },
    ['ln.quantile("x", 0.9)'] = { kind = "quantile", path = x, list = false, shares = { 0.9 }, accuracy = 0.01 },
    ['ln.quantile("x", { 0, 1 }, { accuracy = 0.1 })'] =
      { kind = "quantile", path = x, list = true, shares = { 0, 1 }, accuracy = 0.1 },
    ['ln.top("x", 3)'] = { kind = "top", path = x, k = 3, capacity = 1024 },
    ['ln.top("x", 100)'] = { kind = "top", path = x, k = 100, capacity = 1600 },
    ['ln.top(f, 1, { by = "y", capacity = 2 })'] = { kind = "top", fn = f, k = 1, capacity = 2, by = { path = y } },
    ['ln.min_by("x", f)'] = { kind = "min_by", path = x, by = { fn = f } },
    ['ln.collect("x")'] = { kind = "collect", path = x, limit = 1000 },
    ['ln.histogram("x", { bounds = { -1, 2.5 } })'] = { kind = "histogram", path = x, bounds = { -1, 2.5 } },
    ["ln.rate()"] = { kind = "rate", per_us = 1e6 },
    ['ln.rate("x", { per = "1m" })'] = { kind = "rate", path = x, per_us = 60e6 },
    ["ln.ratio(f)"] = { kind = "ratio", fn = f },
    ['ln.fold { state = { n = "double", a = "bool" }, add = f }'] =
      { kind = "fold", state = { { name = "a", type = "bool" }, { name = "n", type = "double" } }, add = f },
  }
  for text, want in pairs(rows) do
    it(text, function()
      want.name = "a"
      local pipelines, problems = check("s.aggregate = { a = " .. text .. " }", f)
      assert.is_nil(problems)
      assert.same({ want }, pipelines[1].aggregates)
    end)
  end

  it("a rate in ticks", function()
    local pipelines = check 's.time.unit = "tick" s.aggregate = { a = ln.rate(), b = ln.rate("x", { per = 60 }) }'
    assert.same({ { name = "a", kind = "rate", per_us = 1 }, { name = "b", kind = "rate", path = "x", per_us = 60 } },
      pipelines[1].aggregates)
  end)
end)
