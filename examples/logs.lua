--- Logs of many machines, between those who ship them (Fluent Bit, Fluentd, a logger in a program) and the collector:
-- what each service wrote in each minute goes on, and too many errors at once.
--
--   scripts/lunette run examples/logs.lua
--
-- Fluent Bit sends to it with
--
--   [OUTPUT]
--       Name                  forward
--       Match                 *
--       Host                  127.0.0.1
--       Port                  24224
--       Require_ack_response  On
--
-- A record is one line of a log. Its time and its tag, such as "shop.cart", come with it from the sender.
local ln = require "lunette"

local alarm = ln.param("alarm", 10) -- errors of a service in a minute that are told at once

return ln.pipeline {
  source = "forward://127.0.0.1:24224",
  -- The collector files panes under the tag, at the time at which their window ends.
  sink = "forward://127.0.0.1:24225?tag=logs.minutes&time=end",

  -- The sender's time, whatever the log says. Each connection is a source with its own clock: a machine that is a
  -- minute behind holds the others back, until it says nothing for 30 s. One that was cut off sends what it kept
  -- later; five minutes are waited for, and what comes changes the minute that it belongs to.
  time = { field = "$time" },
  watermark = { delay = "5s", idle = "30s", max_ahead = "1m" },
  lateness = "5m",

  key = "$tag",
  window = ln.tumbling "1m",

  trigger = ln.at_watermark {
    early = ln.once(ln.when(function(w) return w.value.errors >= alarm end)),
    late = ln.after_delay "10s",
  },

  aggregate = {
    lines = ln.count(),
    errors = ln.sum(function(r) return r.level == "error" and 1 or 0 end),
    latest = ln.last "message",
    -- How long the lines were under way, at most: the time that the program wrote itself, and that of the sender.
    delay_ms = ln.max(function(r) return r.written_ms and r["$time"] - r.written_ms end),
  },
}
