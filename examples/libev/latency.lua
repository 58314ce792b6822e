local ln = require "lunette"

-- Lines such as {"ts":1764565200.25,"route":"/cart","ms":12.5}, from any number of connections.
return ln.pipeline {
  time = { field = "ts", unit = "s" },
  watermark = { delay = "1s", idle = "5s", on_idle = "advance" },
  key = "route",
  window = ln.tumbling "10s",
  aggregate = { requests = ln.count(), ms = ln.quantile("ms", { 0.5, 0.99 }), slowest = ln.max "ms" },
}
