--- Running the program as a user does: a folder with two scripts and an input, and short texts for panes.
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local M = {}

-- Windows of a second, counted; a pane as soon as a record is there, so that a test can wait for it.
M.COUNT = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" },
  window = ln.tumbling "1s",
  %s
  aggregate = { n = ln.count() },
}
]]
M.EARLY = "trigger = ln.at_watermark { early = ln.each() },"

local folder

function M.put(name, bytes) shell.write(folder .. "/" .. name, bytes) end
function M.get(name) return shell.read(folder .. "/" .. name) end
function M.run(text) return shell.run(folder, text) end

function M.lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\r\n]+" do lines[#lines + 1] = line end
  return lines
end

-- JSON lines as short texts.
function M.panes(text)
  local short = {}
  for i, line in ipairs(M.lines_of(text)) do
    local pane = json.decode(line)
    short[i] = ("[%s,%s) %s"):format(tostring(pane.start), tostring(pane["end"]), tostring(pane.value.n))
  end
  return short
end

-- A map { t = `t` } in msgpack, for 256 <= t < 65536.
function M.packed(t) return "\129\161t\205" .. string.char(math.floor(t / 256), t % 256) end

--- To be called before each test; returns the folder.
function M.prepare()
  folder = shell.folder()
  M.put("count.lua", M.COUNT:format "")
  M.put("early.lua", M.COUNT:format(M.EARLY))
  M.put("in.jsonl", '{"t":500}\n{"t":700}\n{"t":1200}\n')
  M.put("in.msgpack", M.packed(500) .. M.packed(700) .. M.packed(1200))
  return folder
end

--- To be called after each test.
function M.clear() shell.remove(folder) end

return M
