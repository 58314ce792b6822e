-- As scripted.lua, with a trigger that is asked at every record.
local ln = require "lunette"

local function twice(r) return r.value * 2 end

return ln.pipeline {
  time      = { field = "ts", unit = "ms" },
  watermark = { delay = "2s" },
  where     = function(r) return r.level ~= "debug" end,
  key       = function(r) return r.user end,
  window    = ln.tumbling "5s",
  trigger   = ln.at_watermark { early = ln.when(function(w) return w.value.n % 1000 == 0 end) },
  aggregate = { n = ln.count(), s = ln.sum(twice), lo = ln.min(twice), hi = ln.max(twice) },
}
