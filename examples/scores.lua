--- A running score of players: global windows, a trigger that counts, time in ticks, and a fold in Lua.
--
--   scripts/lunette run examples/scores.lua examples/scores.jsonl
--   scripts/lunette run --set every=1 examples/scores.lua examples/scores.jsonl
--
-- A record is one throw, {"tick":84,"player":"kim","points":3}; a miss is worth 0 points.
local ln = require "lunette"

-- Set on the command line, or 5. The default's type says how the text is read.
local every = ln.param("every", 5)

return ln.pipeline {
  -- A tick is the number of a frame of the game: a count without a unit. Durations are then numbers of ticks, too.
  time = { field = "tick", unit = "tick" },
  key = "player",

  -- One window for each player, without bounds. Its start and end are null.
  window = ln.global(),

  -- A window without an end is never complete, so the default trigger would say nothing before the end of the input.
  -- This one shows the score after every so many throws of a player. What has come since leaves in a last pane at the
  -- end: nothing that was taken is lost, whatever the trigger.
  trigger = ln.after_count(every),

  aggregate = {
    score = ln.sum "points",
    throws = ln.count(),

    -- What no word of the vocabulary keeps, a fold does: here the longest run of throws without a miss. `add` is called
    -- for each record of a window in order of arrival, and returns the new state.
    streak = ln.fold {
      init = function() return { now = 0, best = 0 } end,
      add = function(s, r)
        s.now = r.points > 0 and s.now + 1 or 0
        s.best = math.max(s.best, s.now)
        return s
      end,
      result = function(s) return s.best end,
    },
  },
}
