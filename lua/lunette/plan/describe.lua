--- Values as messages show them: short, on one line, and the same on every run.
local node = require "lunette.node"

local M = {}

--- A text in quotes, cut to 40 bytes, control bytes replaced.
---@param text string
---@return string
function M.quote(text)
  if #text > 40 then text = text:sub(1, 40) .. "..." end
  return '"' .. text:gsub("[%c]", "?") .. '"'
end

--- "the function ln.count, not called", "ln.each()", "a table", "10", ...
---@param value any
---@return string
function M.value(value)
  local mark, kind = node.mark(value), type(value)
  if mark then return mark.word == "pipeline" and "an ln.pipeline" or "ln." .. mark.word end
  if value == node.null then return "ln.null" end
  if kind == "string" then return M.quote(value) end
  if kind == "number" then return value ~= value and "NaN" or tostring(value) end
  if kind == "boolean" then return tostring(value) end
  if kind == "function" then
    local name = node.names[value]
    return name and ("the function ln.%s, not called"):format(name) or "a function"
  end
  return kind == "userdata" and "a userdata" or "a " .. kind
end

--- A key of a table as a step of a path: ".name" for a text, "[1]", "[true]", '["a b"]'.
---@param key any
---@return string
function M.step(key)
  if type(key) == "string" then
    return key:find "^[%a_][%w_]*$" and "." .. key or "[" .. M.quote(key) .. "]"
  end
  return "[" .. M.value(key) .. "]"
end

return M
