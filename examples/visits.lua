--- Visits of users: session windows, early results, and what happens when two sessions turn out to be one.
--
--   scripts/lunette run examples/visits.lua examples/visits.jsonl
--
-- A record is one click, {"ts":32520,"user":"ann","page":"/cart"}. A visit goes on as long as the user's
-- clicks are less than 15 minutes apart.
local ln = require "lunette"

local GAP_S = 15 * 60

return ln.pipeline {
  -- Seconds. Real ones count from 1970; these count from midnight.
  time = { field = "ts", unit = "s" },
  watermark = { delay = "1m" },
  key = "user",

  -- The window of a visit reaches from its first click to 15 minutes after its last one, and grows with every click.
  -- A click between two visits can join them: they then go on as one, under the start of the earlier.
  window = ln.session(GAP_S),

  -- A first look at a visit at every third click, the result when it is complete, and one more pane for every click
  -- that comes after that.
  trigger = ln.at_watermark { early = ln.after_count(3), late = ln.each() },

  -- Phones send clicks late, when they are online again: a visit is kept for an hour past its end. Where a late click
  -- joins two visits that have been shown, the second one no longer exists. Its last pane leaves once more, with
  -- "retract":true, so that whoever has stored it takes it back. See what becomes of ann's visits.
  lateness = "1h",

  aggregate = {
    clicks = ln.count(),
    entry = ln.first "page", -- first and last in event time, not in order of arrival
    exit = ln.last "page",
  },

  -- How long the visit took, from the first click to the last. This sees withdrawals too, and must treat them alike.
  emit = function(pane)
    pane.value.seconds = pane["end"] - pane.start - GAP_S
    return pane
  end,
}
