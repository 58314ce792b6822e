--- Page views per minute: tumbling windows, the smallest useful pipeline.
--
--   scripts/lunette run examples/page_views.lua examples/page_views.jsonl
--
-- A record is one request, {"ts":41250,"page":"/pricing","user":"u12","status":200}. One line leaves for each page and
-- minute that had views: how many, and by how many different users.
local ln = require "lunette"

return ln.pipeline {
  -- Where a record's time is: in its field `ts`, in milliseconds. Real ones count from 1970; these count from the
  -- beginning of the recording, so that a minute is easy to see: 60000, 120000, ...
  time = { field = "ts", unit = "ms" },

  -- The servers' logs are merged on their way here, so a record may come up to two seconds behind a later one. A minute
  -- is therefore complete when a record two seconds past its end has been seen.
  watermark = { delay = "2s" },

  -- Records for which this is false are filtered. They are counted, and they still move time on.
  where = function(r) return r.status < 400 and r.page ~= "/health" end,

  -- Every page has windows of its own.
  key = "page",

  -- Which windows does a record belong to? The one minute that its time lies in: [0, 60000), [60000, 120000), ...
  window = ln.tumbling "1m",

  -- What is kept of a window's records, by name.
  aggregate = {
    views = ln.count(),
    users = ln.distinct "user",
  },

  -- When does a result leave? Nothing is said here, so once, when the minute is complete: ln.at_watermark().
}
