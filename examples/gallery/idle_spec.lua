-- lunette test examples/gallery/idle_spec.lua
local test = require "lunette.test"

local BEFORE = { { ts = 4, at = 4, host = "a" }, { ts = 41, at = 41, host = "b" }, { ts = 52, at = 52, host = "a" } }
local SILENT = { { ts = 67, at = 67, host = "a" }, { ts = 80, at = 80, host = "a" },
  { ts = 110, at = 110, host = "a" } }

describe("a source that stops", function()
  it("holds the watermark where it left it", function()
    local p = test.load("idle.lua", { clock = "at", params = { idle = "1h" } })
    p:add(unpack(BEFORE))
    assert.panes(p, { { start = 0, n = 1 } })
    p:add(unpack(SILENT))
    p:expect_no_panes()
  end)

  it("is idle after 30 seconds, and holds it no longer", function()
    local p = test.load("idle.lua", { clock = "at" })
    p:add(unpack(BEFORE))
    assert.panes(p, { { start = 0, n = 1 } })
    p:add(unpack(SILENT))
    assert.panes(p, { { start = 30, n = 2 }, { start = 60, n = 2 } })
  end)
end)
