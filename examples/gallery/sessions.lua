-- Sessions that end after 20 quiet seconds. Three runs of records are three sessions, until a straggler that was out of
-- reach fills the gap between two of them: they become one, and what had come out of the second is withdrawn.
local ln = require "lunette"

return ln.pipeline {
  name      = "sessions that merge",
  time      = { field = "ts", unit = "s" },
  watermark = { delay = "40s" },
  key       = "user",
  window    = ln.session "20s",
  trigger   = ln.at_watermark { early = ln.after_count(2) },
  aggregate = { n = ln.count() },
}
