-- One aggregate of `value`, by its name.
local ln = require "lunette"

local aggregate = ln[ln.param("aggregate", "sum")]

return ln.pipeline {
  time      = { field = "ts", unit = "ms" },
  watermark = { delay = "2s" },
  key       = "user",
  window    = ln.tumbling "5s",
  aggregate = { a = aggregate "value" },
}
