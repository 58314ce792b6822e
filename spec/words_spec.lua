--- The public words: what they make is plain data, and wrong arguments are no error until the check.
local ln = require "lunette"
local node = require "lunette.node"

local words = {
  window = { "tumbling", "hopping", "sliding", "session", "global", "assigner" },
  trigger = {
    "at_watermark", "every", "each", "never", "after_count", "after_delay", "after_idle", "when", "any", "all",
    "sequence", "once",
  },
  aggregate = {
    "count", "sum", "min", "max", "avg", "variance", "stddev", "first", "last", "distinct", "fold", "quantile", "top",
    "min_by", "max_by", "collect", "histogram", "rate", "ratio",
  },
  pipeline = { "pipeline" },
}

describe("a word", function()
  for family, names in pairs(words) do
    for _, name in ipairs(names) do
      it("ln." .. name .. " makes a plain table and takes any argument", function()
        for _, arguments in ipairs { {}, { -1, "x", {}, print }, { print }, { {} }, { "a", ln }, { ln.null } } do
          local made = ln[name](unpack(arguments))
          assert.equal(name == "sliding" and "hopping" or name, made.kind)
          assert.equal(family, node.mark(made).family)
          assert.equal(name, node.mark(made).word)
          assert.is_nil(getmetatable(made))
        end
      end)
    end
  end

  it("exists for everything that the module holds", function()
    local known = { param = true, null = true, copy = true, open = true }
    for _, names in pairs(words) do
      for _, name in ipairs(names) do known[name] = true end
    end
    for name in pairs(ln) do assert.is_true(known[name], name) end
  end)

  it("keeps the line that called it, through helpers and pcall", function()
    local script = [[
      local ln = require "lunette"
      local function minutes(n)
        local w = ln.tumbling(n .. "m")
        return w
      end
      local function each() return ln.each() end
      local a, b = minutes(5), each()
      local _, c = pcall(ln.count)
      return { a, b, c }]]
    local lines = {}
    for i, made in ipairs(loadstring(script, "@w.lua")()) do lines[i] = node.mark(made).origin end
    assert.same({ "w.lua:3", "w.lua:7", "w.lua:8" }, lines)
  end)

  it("changes no table that it is given", function()
    local each = ln.each()
    local spec, list, options = { name = "x" }, { each }, { offset = 1 }
    ln.pipeline(spec)
    ln.any(list)
    ln.tumbling(5, options)
    assert.same({ { name = "x" }, { each }, { offset = 1 } }, { spec, list, options })
  end)

  it("that does not exist raises where it is called, with the nearest one", function()
    local rows = {
      { "tumblin", 'w.lua:1: ln.tumblin: no such word: did you mean "tumbling"?' },
      { "Session", 'w.lua:1: ln.Session: no such word: did you mean "session"?' },
      { "cuont", 'w.lua:1: ln.cuont: no such word: did you mean "count"?' },
      { "xyzzy", "w.lua:1: ln.xyzzy: no such word: see the reference of words" },
    }
    for _, row in ipairs(rows) do
      local ok, message = pcall(loadstring(('return require("lunette").%s("1m")'):format(row[1]), "@w.lua"))
      assert.is_false(ok)
      assert.equal(row[2], message)
    end
  end)
end)

describe("ln.null", function()
  it("is one constant, shown as null", function()
    assert.equal("null", tostring(ln.null))
    assert.equal(node.null, ln.null)
    assert.has_error(function() ln.null.x = 1 end, "ln.null is a constant")
  end)
end)

describe("ln.param", function()
  it("gives its default where no loader runs", function()
    assert.equal(5, ln.param("size", 5))
    assert.equal(false, ln.param("fast", false))
    assert.is_nil(ln.param "size")
  end)
end)
