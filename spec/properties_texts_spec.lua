--- Texts that scripts read come from a cache of strings: with it, without it, and with one far too small, the output is
-- the same, byte for byte.
local engine = require "spec.support.engine"
local streams = require "spec.support.streams"

local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" }, watermark = { delay = 6 }, lateness = 4, window = %s,
  where = function(r) return r.level ~= "debug" end,
  key = %s,
  trigger = ln.at_watermark { early = ln.when(function(w, r) return r.k == r.x or w.value.n == 7 end) },
  aggregate = {
    n = ln.count(),
    size = ln.sum(function(r) return type(r.k) == "string" and #r.k or nil end),
    last = ln.last(function(r) return r.x end),
    first = ln.first(function(r) return tostring(r.k) .. "!" end),
    fails = ln.count(function(r) return r.x:rep(2) end),
    all = ln.fold { init = function() return "" end, add = function(a, r) return (a .. tostring(r.k)):sub(-40) end,
      merge = function(a, b) return (a .. b):sub(-40) end },
  },
}]]

local KEYS = {
  "function(r) return r.k end",
  "function(r) return r.x end",
  "function(r) local k = r.k return r.x and k end",
  "function(r) return r.level .. '/' .. tostring(r.k) end",
  "function(r) return { r.level, r.k or ln.null } end",
  "function(r) return r.later or r.k end",
}

-- Texts short and long, with zeros in them, and what is no text.
local function value(g, keys)
  if g:chance(12) then return g:pick { 3, 2.5, false } end
  if g:chance(40) then return nil end
  local n = g:rnd(keys)
  return ("k"):rep(n % 30) .. (n % 7 == 0 and "\0" or "") .. n
end

local function records(g, keys)
  local out = {}
  for i = 1, 400 do
    local k = value(g, keys)
    out[i] = { t = math.floor(i / 3) + g:rnd(6), k = k, x = g:chance(3) and k or value(g, 4),
      level = g:pick { "info", "info", "debug", "error" }, later = i > 300 and value(g, 9) or nil }
  end
  return out
end

describe("a cache of strings changes nothing", function()
  for _, format in ipairs { "json", "msgpack" } do
    it("for texts of any kind, in batches of any size, in " .. format, function()
      local errors, strings = 0, 0
      streams.each(12, function(g, about)
        local script = SCRIPT:format(g:pick { "ln.tumbling(10)", "ln.session(4)", "ln.hopping(12, 4)",
          "ln.session(4, { max = 9 })" }, KEYS[g.seed % #KEYS + 1])
        about.script = script
        local pipelines, input = engine.load(script), engine.encode(records(g, g:pick { 3, 40, 400 }), format)
        local want
        for _, texts_max in ipairs { false, 0, 1, 20 } do
          for _, rows_max in ipairs { 1024, 1, 16 } do
            local r = engine.run(pipelines, input, { format = format, rows_max = rows_max, texts_max = texts_max })
            if want then
              assert.equal(want.bytes, r.bytes)
              assert.equal(want.reject_bytes, r.reject_bytes)
              assert.equal(want.script_errors, r.script_errors)
            end
            want = want or r
          end
        end
        errors, strings = errors + want.script_errors, strings + #want.panes
      end)
      if streams.usual() then assert.is_true(errors > 100 and strings > 100) end
    end)
  end

  -- More texts than the cache has numbers for, most of which never return; then few that do.
  it("when it is full, and when it stands aside", function()
    local script = [[
      local ln = require "lunette"
      return ln.pipeline { time = { field = "t" }, window = ln.global(), key = function(r) return r.k:sub(-1) end,
        trigger = ln.after_count(1000), aggregate = { last = ln.last(function(r) return r.k end),
          s = ln.sum(function(r) return #r.k end) } }]]
    local lines = {}
    for i = 1, 6000 do lines[i] = ('{"t":%d,"k":"k%d"}\n'):format(i, i <= 4000 and i or i % 30) end
    local pipelines, input = engine.load(script), table.concat(lines)
    local want = engine.run(pipelines, input, { rows_max = 2, texts_max = false })
    assert.is_true(#want.panes > 5)
    for _, texts_max in ipairs { 100, 1000, 5000 } do
      for _, rows_max in ipairs { 2, 100 } do
        local r = engine.run(pipelines, input, { rows_max = rows_max, texts_max = texts_max, verify = false })
        assert.equal(want.bytes, r.bytes)
      end
    end
  end)
end)

it("a key that a function returns as a table is an array of plain values, short or long, or is refused", function()
  local r = engine.run([[local ln = require "lunette"
    local null, late, with_x = ln.null, {}, { 1 }
    late[2], late[1], with_x.x = "b", "a", 1
    local list = { { 1 }, { "a", 2.5 }, { 1, null, true }, { 1, 2, 3, 4 }, { 1, 2, 3, 4, 5 }, late, with_x, {},
      { x = 1 }, { {} }, { 1, { 2 } }, { 9007199254740993LL }, { 0/0 }, { print }, { 2, nil, 3 } }
    return ln.pipeline { time = { field = "t" }, window = ln.global(), trigger = ln.each(),
      key = function(r) return list[r.t] end, aggregate = { n = ln.count() } }]],
    (("x"):rep(15):gsub("()x", '{"t":%1}\n')))
  local taken, refused = {}, {}
  for key in r.bytes:gmatch '"key":(.-),"start"' do taken[#taken + 1] = key end
  for i, reject in ipairs(r.rejects) do refused[i] = reject.record.t .. " " .. reject.reason end
  assert.same({ "[1]", '["a",2.5]', "[1,null,true]", "[1,2,3,4]", "[1,2,3,4,5]", '["a","b"]', "[9007199254740993]" },
    taken)
  assert.same({ "7 bad_key", "8 bad_key", "9 bad_key", "10 bad_key", "11 bad_key", "13 bad_key", "14 script_error",
    "15 bad_key" }, refused)
end)
