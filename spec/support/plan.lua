--- A pipeline of one line in question, checked.
local plan = require "lunette.plan"

local M = {}

-- Runs `text` as line 3 of a script between a good pipeline's fields `s` and the `ln.pipeline(s)` of line 4.
function M.check(text, f)
  local script = table.concat({
    'local ln, f = require "lunette", ...',
    'local s = { time = { field = "t" }, window = ln.tumbling(1000), aggregate = { n = ln.count() } }',
    text,
    "local p = ln.pipeline(s)",
    "return p",
  }, "\n")
  return plan.check(assert(loadstring(script, "@p.lua"))(f or function() end), "p.lua:5")
end

return M
