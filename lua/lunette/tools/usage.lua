--- Wrong command lines of tools: what is wrong is said under the program's name, and the exit status is 2.
local M = {}

local mark = {}

--- Raises what is wrong with the command line.
function M.fail(text, ...) error(setmetatable({ text = text:format(...) }, mark), 0) end

--- Runs a tool's work, which returns an exit status; other errors than those of M.fail go on.
function M.run(tool, work, args)
  local ok, result = pcall(work, args)
  if ok then return result end
  if getmetatable(result) ~= mark then error(result, 0) end
  io.stderr:write(("lunette: %s: %s\nlunette: see `lunette %s --help`\n"):format(tool, result.text, tool))
  return 2
end

return M
