--- The tables of the bench: aligned text for a terminal, or markdown.
local M = {}

local function first_line(command, pattern)
  local pipe = assert(io.popen(command .. " 2>/dev/null"))
  local text = pipe:read "*a"
  pipe:close()
  return text:match(pattern) or "unknown"
end

--- What the figures were measured on.
function M.machine()
  return {
    processor = first_line("cat /proc/cpuinfo", "model name%s*:%s*([^\n]+)"),
    compiler = first_line("${CC:-cc} --version", "[^\n]+"),
    luajit = first_line("luajit -v", "LuaJIT [^ ]+"),
  }
end

-- 1234567 as 1,234,567.
local function whole(n)
  local text = ("%.0f"):format(n)
  repeat
    local changed
    text, changed = text:gsub("^(%d+)(%d%d%d)", "%1,%2")
  until changed == 0
  return text
end

local JOBS = {
  { "job", function(r) return r.name end },
  { "ns a record", function(r) return ("%.0f"):format(r.cpu_ns_per_record) end },
  { "CPU s", function(r) return ("%.2f"):format(r.cpu_s) end },
  { "records/s", function(r) return ("%.1f M"):format(r.records_per_s / 1e6) end },
  { "ratio", function(r) return r.ratio and ("%.2f"):format(r.ratio) or "-" end },
  { "to", function(r) return r.yardstick or "-" end, left = true },
  { "peak MiB", function(r) return ("%.0f"):format(r.peak_bytes / 2 ^ 20) end },
  { "panes", function(r) return whole(r.panes) end },
}

local LIVE = {
  { "open", function(r) return r.name end },
  { "windows", function(r) return whole(r.windows) end },
  { "state bytes", function(r) return whole(r.state_bytes) end },
  { "bytes each", function(r) return ("%.1f"):format(r.bytes_per_window) end },
  { "of them key text", function(r) return ("%.1f"):format(r.key_bytes) end },
}

-- The first column and those that say so stand left, all others right.
local function cells_of(columns, rows)
  local lines, widths = {}, {}
  local function add(line)
    for i, cell in ipairs(line) do widths[i] = math.max(widths[i] or 0, #cell) end
    lines[#lines + 1] = line
  end
  local heads = {}
  for i, column in ipairs(columns) do heads[i] = column[1] end
  add(heads)
  for _, row in ipairs(rows) do
    local line = {}
    for i, column in ipairs(columns) do line[i] = column[2](row) end
    add(line)
  end
  return lines, widths
end

local function is_left(columns, i) return i == 1 or columns[i].left end

local function print_text(columns, rows)
  local lines, widths = cells_of(columns, rows)
  for _, line in ipairs(lines) do
    local out = {}
    for i, cell in ipairs(line) do
      out[i] = ("%" .. (is_left(columns, i) and "-" or "") .. widths[i] .. "s"):format(cell)
    end
    print((table.concat(out, "  "):gsub(" +$", "")))
  end
end

local function print_markdown(columns, rows)
  local lines = cells_of(columns, rows)
  for n, line in ipairs(lines) do
    print("| " .. table.concat(line, " | ") .. " |")
    if n == 1 then
      local rules = {}
      for i = 1, #columns do rules[i] = is_left(columns, i) and "---" or "--:" end
      print("|" .. table.concat(rules, "|") .. "|")
    end
  end
end

--- Prints what run.lua found.
-- @param format "text" or "markdown"
function M.print(results, format)
  local print_table = format == "markdown" and print_markdown or print_text
  local machine = results.machine
  print(("%s, %s, %s: %s records a job, medians of %d %s."):format(machine.processor, machine.compiler, machine.luajit,
    whole(results.records), results.pairs, results.pairs == 1 and "pair" or "pairs"))
  print ""
  if #results.jobs > 0 then print_table(JOBS, results.jobs) end
  if #results.jobs > 0 and #results.live > 0 then print "" end
  if #results.live > 0 then print_table(LIVE, results.live) end
end

return M
