--- `lunette explain --trace FILE --key K [--window START]`.
local explain = require "lunette.trace.explain"

local HELP = "; see `lunette explain --help`"

local function number(text)
  local n = tonumber(text)
  if not n then error(("--window %s: write the window's start as a number, in the pipeline's unit"):format(text), 0) end
  return n
end

return function(args)
  local o = {}
  for _, arg in ipairs(args) do o[arg[1]] = arg[2] end
  if not o.trace then error("--trace FILE is missing" .. HELP, 0) end
  if not o.key then error("--key is missing: of which key is it asked?" .. HELP, 0) end
  local window = o.window and number(o.window)
  local lines = explain.lines { trace = o.trace, key = o.key, window = window, pipeline = o.pipeline }
  io.stdout:write(table.concat(lines, "\n"), "\n")
  return 0
end
