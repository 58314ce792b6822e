-- As scripted.lua, with a fold beside the aggregates.
local ln = require "lunette"

local function twice(r) return r.value * 2 end

return ln.pipeline {
  time      = { field = "ts", unit = "ms" },
  watermark = { delay = "2s" },
  where     = function(r) return r.level ~= "debug" end,
  key       = function(r) return r.user end,
  window    = ln.tumbling "5s",
  aggregate = {
    n = ln.count(), s = ln.sum(twice), lo = ln.min(twice), hi = ln.max(twice),
    errors = ln.fold {
      init = function() return 0 end,
      add = function(errors, r) return r.level == "error" and errors + 1 or errors end,
    },
  },
}
