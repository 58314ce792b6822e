-- lunette test examples/gallery/sessions_spec.lua
local test = require "lunette.test"

describe("sessions", function()
  local p
  before_each(function() p = test.load "sessions.lua" end)

  it("end after 20 quiet seconds", function()
    p:add({ ts = 6, user = "ann" }, { ts = 17, user = "ann" }, { ts = 38, user = "ann" })
    p:panes()
    p:finish()
    assert.panes(p, { { start = 6, ["end"] = 37, n = 2 }, { start = 38, ["end"] = 58, n = 1 } })
  end)

  it("become one, and what was shown of the second is withdrawn", function()
    p:add({ ts = 6, user = "ann" }, { ts = 17, user = "ann" }, { ts = 50, user = "ann" }, { ts = 53, user = "ann" })
    assert.panes(p, { { start = 6, n = 2 }, { start = 50, n = 2 } })
    p:add({ ts = 32, user = "ann" }, { ts = 33, user = "ann" })
    assert.panes(p, { { start = 50, n = 2, retract = true }, { start = 6, ["end"] = 73, n = 6 } })
  end)
end)
