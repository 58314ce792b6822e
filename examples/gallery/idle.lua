-- Two hosts, of which one stops. The watermark is the least of what both have promised: where no silence counts as idle
-- (`--set idle=1h`, which is past the end), it stays where the silent one has left it, and no window completes.
local ln = require "lunette"

local idle = ln.param("idle", "30s")

return ln.pipeline {
  name      = idle == "30s" and "a source that stops is idle after 30s" or "a source that stops holds the watermark",
  time      = { field = "ts", unit = "s" },
  watermark = { delay = "5s", source = "host", sources = 2, idle = idle },
  window    = ln.tumbling "30s",
  aggregate = { n = ln.count() },
}
