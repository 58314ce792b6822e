--- Errors of scripts: counted, and told once each, as lines that a terminal can bear.
local M = {}

local LINE_MAX = 500 -- bytes of such a message
local NOTICES_MAX = 100 -- distinct messages that are told

--- What was raised, as a text; also where it has none, or making it raises again.
function M.text_of(message)
  if type(message) ~= "string" then
    local made, ok = getmetatable(message), false
    if type(made) == "table" and made.__tostring then ok, message = pcall(tostring, message) end
    if not ok or type(message) ~= "string" then return "an error that is no text" end
  end
  return message
end

-- The same for a terminal: one line, without control characters, of bounded length.
local function line_of(message)
  local text = M.text_of(message):gsub("%c+", " ")
  return #text <= LINE_MAX and text or text:sub(1, LINE_MAX) .. "..."
end

--- A function that counts an error of a pipeline's script, and tells it once.
function M.listener(app, pipeline)
  return function(place, message)
    app.script_errors = app.script_errors + 1
    local text = ("%s: %s: %s"):format(pipeline.name, place, line_of(message))
    if app.told[text] or app.told_count >= NOTICES_MAX then return end
    app.told[text], app.told_count = true, app.told_count + 1
    app.news[#app.news + 1] = text
    if app.told_count == NOTICES_MAX then
      app.news[#app.news + 1] = "more distinct script errors are counted, and not told"
    end
  end
end

return M
