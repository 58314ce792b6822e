--- Looking into pipelines that run: the windows that are open, the same with slices and with a cell for each window,
-- and why one has shown nothing.
local engine = require "spec.support.engine"
local json = require "spec.support.json"
local look = require "lunette.look"
local value = require "lunette.value"

local NOW = 1000e6

local function opened(script, records, options)
  local r = engine.open(script, options)
  for _, record in ipairs(records) do
    r:push(json.encode(record) .. "\n")
    r:pump(NOW)
  end
  return r
end

local function windows(r, options)
  local out = {}
  for i, p in ipairs(json.decode(value.json(look.windows(r.app, options or {})))) do
    out[i] = p
    table.sort(p.windows, function(a, b)
      local x, y = json.encode(a.key), json.encode(b.key)
      if x ~= y then return x < y end
      return (a.start or -1) < (b.start or -1)
    end)
  end
  return out
end

local function short(list)
  local out = {}
  for i, w in ipairs(list) do
    out[i] = ("%s [%s,%s) %d%s"):format(json.encode(w.key), tostring(w.start), tostring(w["end"]), w.panes,
      w.completed and " complete" or "")
  end
  return out
end

local SPEND = [[
local ln = require "lunette"
return ln.pipeline { name = "spend", time = { field = "t", unit = "s" }, key = "k", lateness = "30s",
  watermark = { delay = "10s", source = "h" }, window = ln.tumbling "1m", trigger = ln.at_watermark {
  early = ln.after_count(3) }, aggregate = { n = ln.count() } }
]]
local RECORDS = {
  { t = 5, k = "a", h = "x" }, { t = 7, k = "b", h = "y" }, { t = 80, k = "a", h = "y" }, { t = 76, k = "c", h = "x" },
}

describe("open windows", function()
  it("are listed by key with the watermark and its sources", function()
    local r = opened(SPEND, RECORDS)
    local p = windows(r)[1]
    assert.same({ '"a" [0,60) 1 complete', '"a" [60,120) 0', '"b" [0,60) 1 complete', '"c" [60,120) 0' },
      short(p.windows))
    assert.same({ "spend", "s", 66, 3, 4 }, { p.name, p.unit, p.watermark, p.keys, p.windows_open })
    assert.same({ { source = "x", promise = 66, heard = 1000, holds = true },
      { source = "y", promise = 70, heard = 1000 } }, p.sources)
    assert.same({ 0, 1 }, { p.windows[1].records_new, p.windows[2].records_new })
    r.app:close()
  end)

  it("are those of one key, and no more than asked for", function()
    local r = opened(SPEND, RECORDS)
    assert.same({ '"b" [0,60) 1 complete' }, short(windows(r, { key = "b" })[1].windows))
    assert.equal(3, #windows(r, { most = "3" })[1].windows)
    assert.same({}, windows(r, { key = "nobody" })[1].windows)
    assert.same({}, windows(r, { pipeline = "other" }))
    r.app:close()
  end)

  -- Where windows share slices they are told by what has come in the slices.
  for seed = 1, 40 do
    it("are the same with slices and cells, on seed " .. seed, function()
      local state = seed * 7919
      local function rnd(n)
        state = (state * 1103515245 + 12345) % 2147483648
        return math.floor(state / 65536) % n
      end
      local hop = 1 + rnd(12)
      local size = hop * (1 + rnd(5)) + (rnd(3) == 0 and rnd(hop) or 0)
      local script = ([[local ln = require "lunette" return ln.pipeline { time = { field = "t" }, key = "k",
        watermark = { delay = %d }, window = ln.hopping(%d, %d, { offset = %d }), aggregate = { n = ln.count() } }]])
        :format(rnd(10), size, hop, rnd(20) - 10)
      local sliced, cells = engine.open(script), engine.open(script, { slices = false })
      local t = rnd(50) - 25
      for _ = 1, 60 do
        t = t + rnd(6)
        local line = ('{"t":%d,"k":%d}\n'):format(t - rnd(12), rnd(4))
        for _, r in ipairs { sliced, cells } do
          r:push(line)
          r:pump(NOW)
        end
        assert.same(short(windows(cells)[1].windows), short(windows(sliced)[1].windows), script)
      end
      sliced.app:close()
      cells.app:close()
    end)
  end
end)

describe("why", function()
  local function why(script, records, options)
    local r = opened(script, records)
    local text, wrong = look.why(r.app, options)
    r.app:close()
    return text, wrong
  end
  local function says(text, ...)
    for _, part in ipairs { ... } do
      assert.truthy(text:find(part, 1, true), ("not said: %s\nin: %s"):format(part, text))
    end
  end

  it("waits a window for the watermark, and for whom", function()
    local text = why(SPEND, RECORDS, { key = "c" })
    says(text, '[60, 120) of "c" has shown nothing yet: it waits for the watermark to reach its end at 120, 54s from '
      .. 'where it stands at 66, held there by source "x".',
      "or it waits for 3 records since its last pane, and has 1 (early)",
      'source "x" has promised 66, and holds it', 'source "y" has promised 70', "4 records read; 0 rejected as late")
  end)

  it("names the window that is asked for", function()
    says(why(SPEND, RECORDS, { key = "a", window = "0" }), '[0, 60) of "a" has shown 1 pane, and has 0 records that',
      "it waits for a record (late)", 'Open windows of "a": 2', "[60, 120): 0 panes, 1 record since")
    says(why(SPEND, RECORDS, { key = "a", window = "30" }), 'No open window of "a" begins at 30.')
  end)

  it("knows no window, and lists keys that have some", function()
    says(why(SPEND, RECORDS, { key = "zoe" }), 'No window of "zoe" is open', "Keys with open windows: 3", '  "a"')
  end)

  it("says what is wrong with what was asked", function()
    local _, wrong = why(SPEND, RECORDS, {})
    assert.equal("of which key is it asked? name it", wrong)
    _, wrong = why(SPEND, RECORDS, { key = "a", pipeline = "x" })
    assert.equal("there is no pipeline x: there is spend", wrong)
    _, wrong = why(SPEND, RECORDS, { key = "a", window = "now" })
    says(wrong, "now is no start of a window")
  end)

  it("answers for windows made of slices, sessions, and what has no end", function()
    local function pipeline(window)
      return ('local ln = require "lunette" return ln.pipeline { time = { field = "t" }, key = "k", window = %s, '
        .. "aggregate = { n = ln.count() } }"):format(window)
    end
    local records = { { t = 5, k = 1 }, { t = 9, k = 1 } }
    says(why(pipeline "ln.hopping(20, 10)", records, { key = "1" }), "[-10, 10) of 1 has shown nothing yet: it waits "
      .. "for the watermark to reach its end at 10, 1ms from where it stands at 9; a record at 10 or later brings it")
    says(why(pipeline "ln.session(10)", records, { key = "1" }), "[5, 19) of 1 has shown nothing yet")
    says(why(pipeline "ln.global()", records, { key = "1" }), "[-inf, inf) of 1 has shown nothing yet: it waits until "
      .. "the input ends: a global window has no other end.")
  end)
end)
