--- What does each user spend in a minute? As a service: see "A service" in examples/README.md.
local ln = require "lunette"

return ln.pipeline {
  name = "spend",
  time = { field = "ts", unit = "s" },

  -- Each connection is a source: a minute is complete when all of them have come past its end. One that is silent for
  -- half a minute holds the others back no longer.
  watermark = { delay = "10s", idle = "30s" },

  key = "user",
  window = ln.tumbling "1m",
  lateness = "1m",
  aggregate = { n = ln.count(), total = ln.sum "amount" },
}
