-- As scripted.lua, with a key that is put together: a new text for each record.
local ln = require "lunette"

local function twice(r) return r.value * 2 end

return ln.pipeline {
  time      = { field = "ts", unit = "ms" },
  watermark = { delay = "2s" },
  where     = function(r) return r.level ~= "debug" end,
  key       = function(r) return r.user .. "/" .. r.region end,
  window    = ln.tumbling "5s",
  aggregate = { n = ln.count(), s = ln.sum(twice), lo = ln.min(twice), hi = ln.max(twice) },
}
