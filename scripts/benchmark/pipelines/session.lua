-- Sessions that end after 5 s of silence.
local ln = require "lunette"

return ln.pipeline {
  time      = { field = "ts", unit = "ms" },
  watermark = { delay = "2s" },
  key       = "user",
  window    = ln.session "5s",
  aggregate = { n = ln.count(), s = ln.sum "value", lo = ln.min "value", hi = ln.max "value" },
}
