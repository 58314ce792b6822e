local ln = require "lunette"

-- Time is counted in ticks of the simulation: 60 are a second.
return {
  ln.pipeline {
    name = "sprees", -- a killing spree: kills of one player less than 5 seconds apart
    time = { field = "tick", unit = "tick" },
    where = function(e) return e.kind == "kill" end,
    key = "player",
    window = ln.session(300),
    aggregate = { kills = ln.count(), score = ln.sum "score", victims = ln.distinct "victim" },
    emit = function(pane) if pane.value.kills >= 3 then return pane end end,
  },
  ln.pipeline {
    name = "load", -- of the server, each second: how many things happened, and in how many places
    time = { field = "tick", unit = "tick" },
    window = ln.tumbling(60),
    aggregate = { events = ln.count(), entities = ln.distinct("player", { approx = true }) },
  },
}
