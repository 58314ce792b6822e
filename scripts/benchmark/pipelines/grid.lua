-- Windows on a grid: tumbling where `hop` is `size`.
local ln = require "lunette"

return ln.pipeline {
  time      = { field = "ts", unit = "ms" },
  watermark = { delay = "2s" },
  key       = "user",
  window    = ln.hopping(ln.param("size", "5s"), ln.param("hop", "5s")),
  aggregate = { n = ln.count(), s = ln.sum "value", lo = ln.min "value", hi = ln.max "value" },
}
