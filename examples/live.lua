--- Requests of a web service, live: every machine sends its own over a connection, whoever wants to watch connects.
--
--   scripts/lunette run examples/live.lua
--   printf '{"ts":1767225600.2,"route":"/cart","ms":12}\n' | nc 127.0.0.1 7010      # a machine
--   nc 127.0.0.1 7011                                                               # somebody who watches
--
-- A record is one request, with the machine's own clock in seconds.
local ln = require "lunette"

return ln.pipeline {
  -- Connections and datagrams on this machine. `lunette run --in tcp://127.0.0.1:0 examples/live.lua` takes other ones.
  source = { "tcp://127.0.0.1:7010", "udp://127.0.0.1:7010" },
  sink = "tcp://127.0.0.1:7011?listen",

  time = { field = "ts", unit = "s" },

  -- Each connection is a source with its own clock: a second is complete when every machine has come to its end. One
  -- that says nothing for five seconds holds the others back no longer (30 s unless the script says so), and one that
  -- hangs up holds them back not at all. A machine whose clock is wrong by more than a minute does not count.
  watermark = { delay = "500ms", idle = "5s", max_ahead = "1m" },

  key = "route",
  window = ln.tumbling "1s",

  -- A first look twice a second, by the wall clock.
  trigger = ln.at_watermark { early = ln.every("500ms", { if_new = true }) },

  aggregate = { requests = ln.count(), mean_ms = ln.avg "ms", worst_ms = ln.max "ms" },
}
