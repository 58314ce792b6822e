-- Tumbling windows with functions: a filter, the key, and the value of each aggregate.
local ln = require "lunette"

local function twice(r) return r.value * 2 end

return ln.pipeline {
  time      = { field = "ts", unit = "ms" },
  watermark = { delay = "2s" },
  where     = function(r) return r.level ~= "debug" end,
  key       = function(r) return r.user end,
  window    = ln.tumbling "5s",
  aggregate = { n = ln.count(), s = ln.sum(twice), lo = ln.min(twice), hi = ln.max(twice) },
}
