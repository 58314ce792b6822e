--- A firing of many windows: the host has its turn meanwhile, may look away for as long as it likes, or for good.
package.loaded["lunette.core_path"] = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
local engine = require "spec.support.engine"
local driver = require "lunette.driver"
local ffi = require "lunette.ffi"

local lib = ffi.lib
local KEYS = 100000 -- enough that a slice is too large to be kept for the next one
local WINDOWS_A_TURN = 4096 -- more than a turn may make

local function record(t, k)
  return ("\130\161t\205%s\161k%s%s"):format(string.char(math.floor(t / 256), t % 256), string.char(160 + #k), k)
end

local function push(app, bytes)
  assert(lib.ln_reader_push(app.reader, bytes, #bytes) == lib.LN_OK)
end

-- An engine with one open window for each key, and the record that completes them in its reader.
local function full(how)
  local pipelines = engine.load(([[
    local ln = require "lunette"
    return ln.pipeline { time = { field = "t", unit = "ms" }, watermark = { delay = 0 }, key = "k", %s }]]):format(how))
  local app = driver.open(pipelines,
    { in_format = lib.LN_FORMAT_MSGPACK, out_format = lib.LN_FORMAT_MSGPACK, seed = 1 })
  local piece = {}
  for i = 1, KEYS do
    piece[#piece + 1] = record(1000, "key" .. i)
    if #piece == 1000 then
      push(app, table.concat(piece))
      assert(app:pump(0) == driver.NEEDS_INPUT)
      piece = {}
    end
  end
  push(app, record(60000, "key1"))
  return app
end

describe("a firing of many windows", function()
  for _, case in ipairs {
    { "tumbling, in slices", "window = ln.tumbling '10s', aggregate = { n = ln.count(), s = ln.sum 't' }" },
    { "tumbling, in slices that hold memory", "window = ln.tumbling '10s', aggregate = { d = ln.distinct 't' }" },
    { "hopping, in slices", "window = ln.hopping('10s', '5s'), aggregate = { n = ln.count() }" },
    { "tumbling, in cells", "window = ln.tumbling '10s', lateness = '1s', aggregate = { n = ln.count() }" },
    { "sessions", "window = ln.session '5s', aggregate = { n = ln.count() }" },
    { "sessions with a maximum", "window = ln.session('5s', { max = '9s' }), aggregate = { n = ln.count() }" },
    { "by the event's time",
      "window = ln.global(), trigger = ln.every('1m', { time = 'event' }), aggregate = { n = ln.count() }" },
  } do
    it("is done in turns: " .. case[1], function()
      local app = full(case[2])
      local before, turns = app:stats_of(1), 0
      local made = tonumber(before.panes[0] + before.panes[1] + before.panes[2])
      repeat
        local status = app:pump(0)
        local s = app:stats_of(1)
        local now = tonumber(s.panes[0] + s.panes[1] + s.panes[2])
        assert.is_true(now - made <= WINDOWS_A_TURN, "panes in one turn: " .. now - made)
        made, turns = now, turns + 1
        lib.ln_output_clear(app.output, lib.LN_STREAM_PANES)
      until status ~= driver.DRAIN
      assert.is_true(made >= KEYS)
      assert.is_true(turns >= KEYS / WINDOWS_A_TURN)
      assert.is_nil(app:verify())
      app:close()
    end)

    it("can be left in its middle: " .. case[1], function()
      for _, turns in ipairs { 1, 12, 60, 110, 160 } do
        local app, turn = full(case[2]), 0
        repeat
          local status = app:pump(0)
          turn = turn + 1
          lib.ln_output_clear(app.output, lib.LN_STREAM_PANES)
        until status ~= driver.DRAIN or turn == turns
        assert.is_true(turn == turns or turns > 12, "it was over after " .. turn)
        app:close()
      end
    end)
  end
end)
