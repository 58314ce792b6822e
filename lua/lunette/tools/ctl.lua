--- What `lunette ctl` shows a person: the answer of a control socket as lines. Each call gives a status, which is 1
-- where the server refused, and a text.
local reports = require "lunette.trace.report"
local stories = require "lunette.trace.story"
local value = require "lunette.value"
local words = require "lunette.trace.words"

local function whole(n) return ("%.0f"):format(n) end

-- Columns side by side: the first `left` of them begin at their left edge, the others end at their right.
local function columns(rows, left)
  local widths, out = {}, {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, #cell) end
  end
  for n, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      local room = (" "):rep(widths[i] - #cell)
      cells[i] = i <= left and cell .. room or room .. cell
    end
    out[n] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  return out
end

local function append(out, lines)
  for _, line in ipairs(lines) do out[#out + 1] = line end
end

local function moment(x, unit) return x and words.moment(x, unit) or "none yet" end

-- ---- status

-- Pairs of a table in the order of their names, numbers that are 0 left out.
local function told(t)
  local names, out = {}, {}
  for name, n in pairs(t) do
    if n ~= 0 then names[#names + 1] = name end
  end
  table.sort(names)
  for i, name in ipairs(names) do out[i] = ("%s %s"):format((name:gsub("_", " ")), whole(t[name])) end
  return #out > 0 and table.concat(out, ", ") or "none"
end

local SHOWN = { "read", "aggregated", "filtered", "windows_open", "keys", "state_bytes" }

local function status(answer)
  local run = answer.run
  local out = { ("%s for %s, process %s, version %s"):format(run.state,
    words.duration(math.floor(run.uptime_s) * 1e6, "us"), whole(run.pid), run.version), "" }
  local head = { "pipeline" }
  for i, name in ipairs(SHOWN) do head[i + 1] = (name:gsub("_", " ")) end
  local rows = { head }
  for _, p in ipairs(answer.pipelines) do
    local row = { p.name }
    for i, name in ipairs(SHOWN) do row[i + 1] = whole(p[name]) end
    rows[#rows + 1] = row
  end
  append(out, columns(rows, 1))
  out[#out + 1] = ""
  rows = {}
  for _, p in ipairs(answer.pipelines) do
    rows[#rows + 1] = { p.name, "panes: " .. told(p.panes) .. "; rejected: " .. told(p.rejected) }
  end
  rows[#rows + 1] = { "server", told(answer.server) }
  rows[#rows + 1] = { "script errors", whole(answer.script_errors) }
  if answer.reload then
    local r = answer.reload
    rows[#rows + 1] = { "reloads", ("%s done, %s failed%s"):format(whole(r.done), whole(r.failed),
      r.under_way and ", one is under way" or "") }
    for line in (r.problem or ""):gmatch "[^\n]+" do rows[#rows + 1] = { "", line } end
  end
  append(out, columns(rows, 2))
  return out
end

-- ---- windows

local function source_lines(p)
  local rows = { { "source", "has promised", "" } }
  for _, s in ipairs(p.sources) do
    rows[#rows + 1] = { s.source ~= nil and stories.text_of(s.source) or "the input",
      s.promise and words.moment(s.promise, p.unit) or "nothing yet",
      s.idle and "idle" or s.holds and "holds the watermark" or "" }
  end
  return columns(rows, 3)
end

local function windows_of(p)
  local out = { ("%s: watermark %s; %s, %s"):format(p.name, moment(p.watermark, p.unit),
    reports.times(p.keys, "key"), reports.times(p.windows_open, "open window")) }
  if #p.sources > 0 then
    out[#out + 1] = ""
    append(out, source_lines(p))
    if p.sources_known > #p.sources then
      out[#out + 1] = ("and %s more"):format(reports.times(p.sources_known - #p.sources, "source"))
    end
  end
  out[#out + 1] = ""
  local report = reports.new({ unit = p.unit })
  local rows = { { "key", "window", "panes", "new", "waits" } }
  for _, w in ipairs(p.windows) do
    rows[#rows + 1] = { stories.text_of(w.key), report:bounds(w.start or -math.huge, w["end"] or math.huge),
      whole(w.panes), w.records_new and whole(w.records_new) or "-", w.waits or "" }
  end
  if #rows > 1 then append(out, columns(rows, 5)) end
  if p.next then out[#out + 1] = ("more: --pipeline %s --from %s"):format(p.name, p.next) end
  return out
end

local function windows(answer)
  local out = {}
  for i, p in ipairs(answer) do
    if i > 1 then out[#out + 1] = "" end
    append(out, windows_of(p))
  end
  return out
end

local function connections(answer)
  local rows = { { "source", "silent", "name" } }
  table.sort(answer, function(a, b) return a.source < b.source end)
  for _, c in ipairs(answer) do
    rows[#rows + 1] = { whole(c.source), words.duration(math.floor(c.silent_s * 10) * 1e5, "us"), c.name }
  end
  return columns(rows, 3)
end

-- ---- the whole

local COMMANDS = {
  connections = connections,
  status = status,
  windows = windows,
  why = function(answer) return { (answer.text:gsub("\n$", "")) } end,
  reload = function() return { "the script was reloaded" } end,
  rollback = function() return { "the script before runs again" } end,
  drain = function() return { "draining" } end,
}

---@return integer status
---@return string text
return function(args)
  local o = {}
  for _, arg in ipairs(args) do o[arg[1]] = arg[2] end
  local answer = value.from_json(o.answer)
  if type(answer) ~= "table" then error("the server's answer is none that this version understands", 0) end
  if answer.error then return 1, answer.error end
  return 0, table.concat(COMMANDS[o.command](answer), "\n") .. "\n"
end
