--- A part of an explanation: a title and short sentences, and how these words are made.
local words = require "lunette.trace.words"

local Section = {}
Section.__index = Section

local M = {}

---@class lunette.Section
---@field title string
---@field [integer] string sentences

function M.new(title) return setmetatable({ title = title }, Section) end

function Section:say(text, ...)
  self[#self + 1] = select("#", ...) > 0 and text:format(...) or text
end

--- "spend.lua:12" for a function of a script.
function M.place(fn)
  local info = debug.getinfo(fn, "S")
  return ("%s:%d"):format((info.source:gsub("^[@=]", "")), info.linedefined)
end

--- "a", "a and b", "a, b and c".
function M.list(parts, last)
  if #parts < 2 then return parts[1] or "" end
  return table.concat(parts, ", ", 1, #parts - 1) .. (last or " and ") .. parts[#parts]
end

--- 1234567 as "1,234,567".
function M.number(n)
  local text = ("%.0f"):format(n)
  local grouped = text:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
  return grouped
end

--- Bytes as a person reads them; exact below 10,000, and where they are a power of 1,024.
function M.bytes(n)
  for _, unit in ipairs { { 2 ^ 30, "GiB" }, { 2 ^ 20, "MiB" } } do
    if n >= unit[1] and n % unit[1] == 0 then return ("%s %s"):format(M.number(n / unit[1]), unit[2]) end
  end
  if n < 1e4 then return M.number(n) .. " bytes" end
  if n < 1e6 then return ("%.0f kB"):format(n / 1e3) end
  if n < 1e10 then return ("%.0f MB"):format(n / 1e6) end
  return ("%.0f GB"):format(n / 1e9)
end

--- A duration of the pipeline.
function M.duration(p, us) return words.duration(us, p.time.unit) end

--- "the unit" of a pipeline's numbers.
function M.unit(p)
  local names = { s = "seconds", ms = "milliseconds", us = "microseconds", ns = "nanoseconds", tick = "ticks",
    rfc3339 = "milliseconds" }
  return names[p.time.unit]
end

return M
