-- The same windows three times: what a pane holds when panes replace each other (accumulating), add up (discarding), or
-- are taken back one by one (retracting). `--set panes=discarding` tells which.
local ln = require "lunette"

local panes = ln.param("panes", "accumulating")

return ln.pipeline {
  name      = panes,
  time      = { field = "ts", unit = "s" },
  watermark = { delay = "5s" },
  window    = ln.tumbling "1m",
  trigger   = ln.at_watermark { early = ln.after_count(2), late = ln.each() },
  lateness  = "1m",
  panes     = panes,
  aggregate = { sum = ln.sum "n" },
}
