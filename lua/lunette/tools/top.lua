--- What `lunette top` shows: two snapshots of a server, and what has happened between them. Each call takes a snapshot
-- and gives the lines of a screen, or of a report for a pipe. On a screen a line begins with a letter for its look:
-- "h" head, "t" title, "w" warning, "n" normal, "d" dim.
local reports = require "lunette.trace.report"
local stories = require "lunette.trace.story"
local value = require "lunette.value"
local words = require "lunette.trace.words"

local SHORTEST = 0.2 -- seconds over which rates are worked out

local before -- the snapshot before this one: { seconds, stats }

-- ---- numbers as people read them

local function grouped(n)
  local text = ("%.0f"):format(n)
  local out = text:reverse():gsub("(%d%d%d)", "%1,"):reverse()
  return (out:gsub("^,", ""))
end

local function bytes(n)
  local units, i = { "B", "KiB", "MiB", "GiB", "TiB" }, 1
  while n >= 1024 and i < #units do n, i = n / 1024, i + 1 end
  return ("%s %s"):format(i > 1 and n < 100 and ("%.1f"):format(n) or ("%.0f"):format(n), units[i])
end

local function rate(now, was, seconds)
  if not was or seconds <= 0 or now < was then return nil end
  return (now - was) / seconds
end

local function per_second(x)
  if not x then return "-" end
  if x > 0 and x < 10 then return ("%.1f"):format(x) end
  return grouped(math.floor(x + 0.5))
end

local function sum(list)
  local n = 0
  for _, x in pairs(list or {}) do n = n + x end
  return n
end

-- ---- a table of columns

-- Cells are texts; the first column is on the left, the others on the right.
local function rows_of(rows)
  local widths = {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, #cell) end
  end
  local out = {}
  for n, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do
      cells[i] = i == 1 and cell .. (" "):rep(widths[i] - #cell) or (" "):rep(widths[i] - #cell) .. cell
    end
    out[n] = table.concat(cells, "  ")
  end
  return out
end

-- ---- parts

-- A length of time, in whole seconds where it is long.
local function length(n, unit)
  local us = math.max(words.us(n, unit), 0)
  if unit == "tick" then return words.duration(us, unit) end
  local grain = us >= 10e6 and 1e6 or 1e5
  return words.duration(math.floor(us / grain) * grain, unit)
end

local function lag_of(p)
  if not p.watermark then return "none yet" end
  if not p.clock or not words.date(p.watermark, p.unit) then return "-" end
  return length(p.clock - p.watermark, p.unit)
end

-- Where there is little room a date is shown without its day.
local function moment(x, unit, columns)
  local date = words.date(x, unit)
  if not date then return words.plain(x) end
  return columns < 110 and date:sub(12, 19) or (date:gsub("%.%d+Z$", "Z"))
end

local function watermark_of(p, columns)
  return p.watermark and moment(p.watermark, p.unit, columns) or "none yet"
end

local function totals(stats)
  local t = { read = 0, panes = 0, late = 0, rejected = 0, state = 0 }
  for _, p in ipairs(stats.pipelines) do
    t.read, t.panes = t.read + p.read, t.panes + p.panes.early + p.panes.on_time + p.panes.late
    t.late, t.rejected = t.late + p.rejected.late, t.rejected + sum(p.rejected)
    t.state = t.state + p.state_bytes
  end
  return t
end

local function head_lines(now, was, seconds)
  local t, old = totals(now), was and totals(was) or {}
  local server, then_server = now.server or {}, was and was.server or {}
  local function r(name) return per_second(rate(t[name], old[name], seconds)) end
  local out = { ("%s records/s, %s panes/s, %s late/s, %s rejected/s"):format(r "read", r "panes", r "late",
    r "rejected") }
  local received = rate(server.bytes_received or 0, then_server.bytes_received, seconds)
  local parts = { bytes(t.state) .. " of state" }
  if server.connections then
    local function counted(n, one) return ("%s %s%s"):format(grouped(n), one, n == 1 and "" or "s") end
    parts[#parts + 1] = counted(server.connections, "connection") .. ", "
      .. counted(server.subscribers or 0, "subscriber")
    parts[#parts + 1] = ("%s/s in, %s queued"):format(received and bytes(received) or "-",
      bytes(server.queued_bytes or 0))
    if (server.panes_lost or 0) > 0 then parts[#parts + 1] = grouped(server.panes_lost) .. " panes lost" end
  end
  out[2] = table.concat(parts, "; ")
  return out
end

local function pipeline_rows(o, now, was, opened, seconds)
  local rows = { { "pipeline", "watermark", "behind", "keys", "windows", "records/s", "panes/s", "late", "rejected",
    "state" } }
  for i, p in ipairs(now.pipelines) do
    local old = was and was.pipelines[i] or {}
    local function panes_of(x) return x.panes and x.panes.early + x.panes.on_time + x.panes.late end
    local open = opened[i] or {}
    local name = #p.name > 24 and p.name:sub(1, 22) .. ".." or p.name
    rows[#rows + 1] = { name, watermark_of(open, o.columns), lag_of(open), grouped(p.keys), grouped(p.windows_open),
      per_second(rate(p.read, old.read, seconds)), per_second(rate(panes_of(p), panes_of(old), seconds)),
      grouped(p.rejected.late), grouped(sum(p.rejected)), bytes(p.state_bytes) }
  end
  if o.columns < 96 then -- what it all takes is told above
    for _, row in ipairs(rows) do row[#row] = nil end
  end
  return rows
end

local function source_rows(p, most, columns)
  local rows = { { "source", "promise", "behind", "silent", "" } }
  local newest = -math.huge
  for _, s in ipairs(p.sources) do newest = math.max(newest, s.promise or -math.huge) end
  for i, s in ipairs(p.sources) do
    if i > most then break end
    rows[#rows + 1] = { s.source ~= nil and stories.text_of(s.source) or "the input",
      s.promise and moment(s.promise, p.unit, columns) or "none",
      s.promise and length(newest - s.promise, p.unit) or "-",
      s.heard and p.clock and length(p.clock - s.heard, p.unit) or "-",
      s.idle and "idle" or s.holds and "holds" or "" }
  end
  return rows
end

-- ---- the whole

local function screen(o, now, opened, seconds)
  local out = {}
  local function put(look, text) out[#out + 1] = look .. text end
  put("h", ("lunette top  %s  %s"):format(o.address, o.time))
  for _, line in ipairs(head_lines(now, before and before.stats, seconds)) do put("n", line) end
  put("n", "")
  for i, line in ipairs(rows_of(pipeline_rows(o, now, before and before.stats, opened, seconds))) do
    put(i == 1 and "t" or "n", line)
  end
  local shown = opened[math.min(o.pipeline, #opened)]
  if shown and #shown.sources > 0 then
    put("n", "")
    local known = shown.sources_known or #shown.sources
    put("d", ("%s of %s"):format(reports.times(known, "source"), shown.name))
    for i, line in ipairs(rows_of(source_rows(shown, math.max(o.rows - #out - 2, 1), o.columns))) do
      local look = i == 1 and "t" or line:find " holds$" and "w" or "n"
      put(look, line)
    end
  end
  return out
end

local function report(o, now, opened, seconds)
  local out = { o.time }
  for _, line in ipairs(head_lines(now, before and before.stats, seconds)) do out[#out + 1] = "  " .. line end
  for _, line in ipairs(rows_of(pipeline_rows(o, now, before and before.stats, opened, seconds))) do
    out[#out + 1] = "  " .. line
  end
  for _, p in ipairs(opened) do
    for _, s in ipairs(p.sources) do
      if s.holds and s.source ~= nil then
        out[#out + 1] = ("  the watermark of %s is held by source %s"):format(p.name, stories.text_of(s.source))
      end
    end
  end
  out[#out + 1] = ""
  return out
end

--- One snapshot more.
---@return integer status
---@return string text its lines
return function(args)
  local o = { columns = 200, rows = 24, pipeline = 1, address = "", time = "" }
  for _, arg in ipairs(args) do o[arg[1]] = tonumber(arg[2]) or arg[2] end
  local now, opened = value.from_json(o.stats), value.from_json(o.windows)
  local wrong = type(now) == "table" and now.error or type(opened) == "table" and opened.error
  if wrong then error(tostring(wrong), 0) end
  if type(now) ~= "table" or type(now.pipelines) ~= "table" or type(opened) ~= "table" then
    error("the server's answer is none that this version understands", 0)
  end
  local lines = (o.look == "screen" and screen or report)(o, now, opened, before and o.seconds - before.seconds or 0)
  if not before or o.seconds - before.seconds >= SHORTEST then before = { seconds = o.seconds, stats = now } end
  return 0, table.concat(lines, "\n") .. "\n"
end
