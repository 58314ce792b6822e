--- A pipeline in words: what its windows hold, when its panes leave and what to do with them, what its state takes.
-- Made from the checked plan and from the engine's own layout; no record is read.
local at = require "lunette.explain.at"
local panes = require "lunette.explain.panes"
local records = require "lunette.explain.records"
local state = require "lunette.explain.state"
local trace = require "lunette.trace"
local value = require "lunette.value"
local windows = require "lunette.explain.windows"
local words = require "lunette.trace.words"

local WIDTH = 100 -- columns of the text

local M = {}

---@class lunette.ExplainOptions
---@field at? string a time: the windows of a record there are told
---@field record? string that record, as JSON
---@field streams? boolean records come in several streams

local function names_socket(addresses)
  for _, address in ipairs(addresses) do
    if not address.sink and (address.text:find "^%a+://" or address.text:find "^unix:") then return true end
  end
  return false
end

local function state_facts(p, found)
  local function number(us) return us and words.number(us, p.time.unit) end
  return { slices = found.slices, slice = number(found.slice_us), cells_since = found.reason,
    key_bytes = found.key_bytes, window_bytes = found.window_bytes, windows_at_once = found.at_once,
    typical_bytes = found.typical_bytes, aggregates = value.array(found.aggregates) }
end

-- What is told of one pipeline: facts for machines, and sections for people.
local function explain_one(p, addresses, options)
  local streams = options.streams
  if streams == nil then streams = names_socket(addresses) end
  local found = state.of(p)
  local out = trace.facts(p)
  out.key = p.key.paths and value.array(p.key.paths) or p.key.path or p.key.fn and { ["function"] = true } or nil
  out.state, out.consumer = state_facts(p, found), panes.way(p)
  out.functions, out.rejects = value.array(records.functions(p)), value.array(records.reasons(p))
  local sections = { records.section(p, addresses), windows.section(p), windows.watermark(p, streams),
    panes.section(p, addresses), panes.consumer(p), state.section(p, found), records.in_lua(p), records.rejected(p) }
  if options.at or options.record then
    out.record = at.of(p, options.at, options.record)
    sections = { at.section(p, options.at, options.record, out.record) }
  end
  return out, sections
end

--- Explains checked pipelines: of each a table of facts, and its sections, lists of sentences with a title.
---@param pipelines table[] as lunette.loader returns them
---@param addresses lunette.Address[]
---@param options lunette.ExplainOptions
---@return { facts: table, sections: lunette.Section[] }[]
function M.of(pipelines, addresses, options)
  local out = {}
  for i, p in ipairs(pipelines) do
    local facts, sections = explain_one(p, addresses, options)
    out[i] = { facts = facts, sections = sections }
  end
  return out
end

-- Breaks a sentence into lines; those after the first stand further in.
local function wrap(lines, text, indent)
  local line = indent .. text:match "^%s*"
  local empty = true
  for word in text:gmatch "%S+" do
    if not empty and #line + 1 + #word > WIDTH then
      lines[#lines + 1] = line
      line, empty = indent .. "  ", true
    end
    line = line .. (empty and "" or " ") .. word
    empty = false
  end
  lines[#lines + 1] = line
end

--- The text for people, as lines.
---@param explained { facts: table, sections: lunette.Section[] }[]
---@return string[]
function M.lines(explained)
  local lines = {}
  for i, one in ipairs(explained) do
    if i > 1 then lines[#lines + 1] = "" end
    lines[#lines + 1] = ("%s (%s)"):format(one.facts.name, one.facts.origin)
    for _, section in ipairs(one.sections) do
      lines[#lines + 1] = ""
      lines[#lines + 1] = section.title
      for _, sentence in ipairs(section) do wrap(lines, sentence, "  ") end
    end
  end
  return lines
end

--- The same for machines: one line of JSON, with its line end.
function M.json(explained)
  local list = value.array {}
  for i, one in ipairs(explained) do
    local sections = value.array {}
    for k, section in ipairs(one.sections) do
      local text = value.array {}
      for n, sentence in ipairs(section) do text[n] = sentence end
      sections[k] = { title = section.title, text = text }
    end
    one.facts.sections = sections
    list[i] = one.facts
  end
  return value.json { pipelines = list }
end

return M
