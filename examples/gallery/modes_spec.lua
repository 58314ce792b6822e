-- lunette test examples/gallery/modes_spec.lua
local test = require "lunette.test"

-- The panes of the first minute, in the three ways of showing the same.
local function first_minute(mode)
  local p = test.load("modes.lua", { clock = "at", params = { panes = mode } })
  p:add_file "modes.jsonl"
  p:finish()
  local sums = {}
  for _, pane in ipairs(p:panes()) do
    if pane.start == 0 then sums[#sums + 1] = pane.retract and -pane.value.sum or pane.value.sum end
  end
  return sums
end

describe("panes", function()
  it("replace each other", function() assert.same({ 12, 19, 22, 31 }, first_minute "accumulating") end)
  it("add up", function() assert.same({ 12, 7, 3, 9 }, first_minute "discarding") end)
  it("are taken back", function() assert.same({ 12, -12, 19, -19, 22, -22, 31 }, first_minute "retracting") end)
end)
