--- `lunette explain --trace FILE --key K [--window START]`.
local explain = require "lunette.trace.explain"
local usage = require "lunette.tools.usage"

local function work(args)
  local o = {}
  for _, arg in ipairs(args) do o[arg[1]] = arg[2] end
  if not o.trace then usage.fail "--trace FILE is missing: the trace of a run" end
  local lines, wrong = explain.lines(o)
  if not lines then usage.fail("%s", wrong) end
  io.stdout:write(table.concat(lines, "\n"), "\n")
  return 0
end

return function(args) return usage.run("explain", work, args) end
