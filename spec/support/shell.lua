--- Programs from specs: pieces of bash, each run in a folder of its own and bounded in time. $LUNETTE is the program
-- under test: that of the environment's LUNETTE_BIN, else build/lunette.
local M = {}

local SECONDS = 20

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function line_of(command)
  local pipe = assert(io.popen(command))
  local line = pipe:read "*l"
  pipe:close()
  return line
end

local function absolute(path)
  return path:sub(1, 1) == "/" and path or line_of "pwd" .. "/" .. path
end

M.program = absolute(os.getenv "LUNETTE_BIN" or "build/lunette")

function M.folder() return assert(line_of "mktemp -d") end

function M.remove(folder) os.execute("rm -rf " .. quote(folder)) end

function M.write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

function M.read(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read "*a"
  file:close()
  return bytes
end

--- Runs `text` in `folder`, with an empty standard input: its exit code, standard output and standard error. A piece
-- that does not end in time is killed, with exit code 124 or 137. What was preloaded for the specs themselves (the
-- runtime of a sanitizer) is not for the programs that they start.
function M.run(folder, text)
  M.write(folder .. "/.run", text .. "\n")
  local command = ("env -u LD_PRELOAD LUNETTE=%s timeout -k 1 %d bash .run"):format(quote(M.program), SECONDS)
  os.execute(("cd %s && { %s > .out 2> .err < /dev/null; echo $? > .code; }"):format(quote(folder), command))
  local function read(name) return M.read(folder .. "/" .. name) end
  return { code = tonumber(read ".code"), out = read ".out", err = read ".err" }
end

return M
