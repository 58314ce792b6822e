--- Differences as a person reads them: lists side by side, one line each, with a mark in front of what differs.
local compare = require "lunette.test.compare"
local suggest = require "lunette.plan.suggest"
local value = require "lunette.value"
local words = require "lunette.trace.words"

local null = value.null
local LINES_MAX = 200 -- of one difference
local AGREED_MAX = 3 -- agreeing lines shown before and after one that does not agree
local TEXT_MAX = 200 -- bytes of one value

local M = {}

--- A value as a short text: JSON, or what it says of itself.
function M.text(x)
  if x == nil then return "nothing" end
  local says = compare.says(x)
  if says then return says end
  local ok, text = pcall(value.json, x)
  text = ok and text:gsub("\n$", "") or "a " .. type(x)
  if #text <= TEXT_MAX then return text end
  return text:sub(1, TEXT_MAX) .. "..."
end

-- The fields of a map by name, but for some.
local function fields(map, but)
  local names, out = {}, {}
  for name in pairs(map) do
    if not but[name] then names[#names + 1] = name end
  end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  for i, name in ipairs(names) do out[i] = ("%s=%s"):format(name, M.text(map[name])) end
  return table.concat(out, " ")
end

local NONE = {}
local SHOWN = { key = true, start = true, ["end"] = true, stop = true, pane = true, timing = true, final = true,
  retract = true, value = true, pipeline = true }

local function bound(x)
  if x == nil then return "?" end
  if x == null then return "none" end
  return type(x) == "number" and words.plain(x) or M.text(x)
end

local function bounds(x)
  local start, stop = x.start, x["end"] or x.stop
  if start == nil and stop == nil then return "" end
  return ("[%s, %s)"):format(bound(start), bound(stop))
end

-- The parts of a pane's line; those of one column have one width.
local function pane_columns(x, unit)
  local date = type(x.start) == "number" and words.date(x.start, unit) or ""
  local final = x.final and "final" or ""
  if x.retract then final = final == "" and "withdrawn" or final .. ", withdrawn" end
  local timing = x.timing
  if timing ~= nil and type(timing) ~= "string" then timing = M.text(timing) end
  local rest = fields(x, SHOWN)
  local inner = x.value
  if type(inner) == "table" and not compare.says(inner) then
    local text = fields(inner, NONE)
    rest = rest == "" and text or text == "" and rest or rest .. " " .. text
  elseif inner ~= nil then
    rest = "value=" .. M.text(inner)
  end
  return { bounds(x), date, timing or "", x.pane and "#" .. M.text(x.pane) or "", final, rest }
end

-- A pane that came with nothing of a window in it was made by an emit.
local function came_columns(x, unit)
  local columns = pane_columns(x, unit)
  if x.start == nil and x.timing ~= nil then columns[1] = "[none, none)" end
  return columns
end

local function reject_columns(x)
  local record = type(x.record) == "table" and x.record or {}
  local out = { x.reason and M.text(x.reason):gsub('"', "") or "", fields(record, NONE) }
  if x.record ~= nil and type(x.record) ~= "table" then out[2] = M.text(x.record) end
  local rest = fields(x, { reason = true, record = true, pipeline = true, key = true })
  if rest ~= "" then out[2] = out[2] == "" and rest or out[2] .. " (" .. rest .. ")" end
  return out
end

local function align(rows)
  local width = {}
  for _, row in ipairs(rows) do
    for i, text in ipairs(row.columns) do width[i] = math.max(width[i] or 0, #text) end
  end
  for _, row in ipairs(rows) do
    local parts = {}
    for i, text in ipairs(row.columns) do
      if width[i] > 0 then parts[#parts + 1] = text .. (" "):rep(width[i] - #text) end
    end
    row.text = (row.mark .. " " .. table.concat(parts, "  ")):gsub("%s+$", "")
    if #parts == 0 then row.text = row.mark .. " (any)" end
  end
end

-- Which rows are shown: those that do not agree, and a few around each.
local function near_trouble(rows)
  local keep = {}
  for i, row in ipairs(rows) do
    if row.mark ~= "=" then
      for k = i - AGREED_MAX, i + AGREED_MAX do keep[k] = true end
    end
  end
  return keep
end

local function put_difference(lines, d, names)
  local text = ("      %s: expected %s, "):format(d.name, M.text(d.expected))
  if d.unknown then
    local known = {}
    for name in pairs(names) do known[#known + 1] = name end
    table.sort(known)
    local otherwise = "there are " .. table.concat(known, ", ")
    text = text .. "and there is no such field: " .. suggest.how(d.name, known, otherwise)
  else
    text = text .. "came " .. M.text(d.came)
  end
  lines[#lines + 1] = text
end

local function put_steps(lines, steps, columns_of, unit, names)
  local rows = {}
  for i, step in ipairs(steps) do
    local mark = not step.came and "-" or not step.expected and "+" or #step.differences > 0 and "!" or "="
    rows[i] = { mark = mark, step = step,
      columns = step.came and columns_of.came(step.came, unit) or columns_of.expected(step.expected, unit) }
  end
  align(rows)
  local keep, left_out = near_trouble(rows), 0
  for i, row in ipairs(rows) do
    if keep[i] then
      if left_out > 0 then lines[#lines + 1] = ("    (%d that agree)"):format(left_out) end
      left_out = 0
      lines[#lines + 1] = "  " .. row.text
      for _, d in ipairs(row.mark == "!" and row.step.differences or {}) do put_difference(lines, d, names) end
    else
      left_out = left_out + 1
    end
  end
  if left_out > 0 then lines[#lines + 1] = ("    (%d that agree)"):format(left_out) end
end

local COLUMNS = {
  panes = { expected = pane_columns, came = came_columns },
  rejects = { expected = reject_columns, came = reject_columns },
}

--- Groups of steps that do not all agree, as lines. `what` is "panes" or "rejects".
---@param groups { key: any, pipeline: string?, steps: table[], agrees: boolean }[]
---@param what string
---@param unit string
---@param names table<string, true>? that the inner map can have
---@return string[]
function M.groups(groups, what, unit, names)
  local lines, agreeing = {}, 0
  for _, group in ipairs(groups) do
    if group.agrees then
      agreeing = agreeing + 1
    else
      if group.key ~= nil or group.pipeline or #groups > 1 then
        lines[#lines + 1] = ("%skey %s"):format(group.pipeline and group.pipeline .. ", " or "",
          group.key == nil and "null" or M.text(group.key))
      end
      put_steps(lines, group.steps, COLUMNS[what], unit, names)
    end
  end
  if agreeing > 0 then lines[#lines + 1] = ("(%d more %s as expected)"):format(agreeing,
    agreeing == 1 and "key is" or "keys are") end
  if #lines > LINES_MAX then
    local cut = #lines - LINES_MAX
    for i = #lines, LINES_MAX + 1, -1 do lines[i] = nil end
    lines[#lines + 1] = ("(and %d more lines)"):format(cut)
  end
  return lines
end

--- A time in the unit, and as a date where it is one.
M.moment = words.moment

--- One line that tells what else happened: records that were not taken, and errors of the script.
function M.reject(x)
  local columns = reject_columns(x)
  return ("%s: %s"):format(columns[1], columns[2])
end

return M
