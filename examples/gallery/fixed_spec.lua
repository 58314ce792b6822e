-- lunette test examples/gallery/fixed_spec.lua
local test = require "lunette.test"

describe("fixed windows", function()
  local p
  before_each(function() p = test.load("fixed.lua", { clock = "at" }) end)

  it("show a sum every 20 seconds of the clock, where something is new", function()
    p:add({ ts = 8, at = 12, n = 5 }, { ts = 25, at = 29, n = 7 })
    assert.panes(p, { { start = 0, timing = "early", sum = 5 } })
    p:add { ts = 26, at = 39, n = 1 }
    p:expect_no_panes()
    p:add { ts = 41, at = 47, n = 3 }
    assert.panes(p, { { start = 0, timing = "early", sum = 13 } })
  end)

  it("are complete when the watermark says so, and are corrected for a minute", function()
    p:add({ ts = 54, at = 55, n = 4 }, { ts = 70, at = 71, n = 8 })
    assert.panes(p, { { start = 0, timing = "early", sum = 4 }, { start = 0, timing = "on_time", sum = 4 } })
    p:add { ts = 35, at = 72, n = 9 }
    assert.panes(p, { { start = 0, timing = "late", sum = 13 } })
  end)

  it("take what the picture shows, but for one record", function()
    p:add_file "fixed.jsonl"
    assert.rejects(p, { { reason = "late", ts = 21 } })
    assert.stats(p, { aggregated = 11, rejected = { late = 1 } })
  end)
end)
