--- A rolling hour of sensor readings: hopping windows, records out of order, and some that are late.
--
--   scripts/lunette run examples/sensors.lua examples/sensors.jsonl
--
-- A record is one reading, {"at":"2026-03-01T08:05:12Z","sensor":"t1","celsius":20.4}. Every ten minutes a line leaves
-- for each sensor: the least, mean and greatest temperature of the hour before.
local ln = require "lunette"

-- Moments in panes are numbers, with "rfc3339" milliseconds since 1970.
local function clock(ms) return os.date("!%H:%M", ms / 1000) end
local function rounded(x) return x and math.floor(x * 100 + 0.5) / 100 end

return ln.pipeline {
  -- A text with its offset from UTC. One without an offset names no moment, and its record is rejected as `no_time`.
  time = { field = "at", unit = "rfc3339" },

  -- The radio network delivers within two minutes, in any order.
  watermark = { delay = "2m" },

  key = "sensor",

  -- Windows of an hour, one beginning every ten minutes: each reading belongs to six of them.
  window = ln.hopping("1h", "10m"),

  -- At 09:12 the gateway of t3 sends what it held back while it was offline, some of it for hours that have been shown.
  -- A window is kept for 30 minutes past its end. Until then each late record that it takes is shown in one more pane,
  -- with timing "late", that replaces the one before. (`final` is true when nothing can follow any more; who waits for
  -- it adds closing = "always".)
  lateness = "30m",

  -- A reading can be null: the sensor was there but measured nothing. Aggregates skip it.
  aggregate = {
    min = ln.min "celsius",
    mean = ln.avg "celsius",
    max = ln.max "celsius",
  },

  -- The last word before a pane leaves: made readable here. Returning nil would drop it.
  emit = function(pane)
    pane.start, pane["end"] = clock(pane.start), clock(pane["end"])
    pane.value.mean = rounded(pane.value.mean)
    return pane
  end,
}
