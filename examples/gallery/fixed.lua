-- Fixed windows of a minute. A sum leaves every 20 seconds of the clock while a window fills, when the watermark says
-- that it is complete, and once more for each record that comes after that, for a minute.
local ln = require "lunette"

return ln.pipeline {
  name      = "fixed windows: early, on time, late",
  time      = { field = "ts", unit = "s" },
  watermark = { delay = "10s" },
  window    = ln.tumbling "1m",
  trigger   = ln.at_watermark { early = ln.every("20s", { if_new = true }), late = ln.each() },
  lateness  = "1m",
  aggregate = { sum = ln.sum "n" },
}
