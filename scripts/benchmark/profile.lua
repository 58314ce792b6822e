--- The samples of perf by rooms and files. Called by scripts/profile, from the root:
--   profile.lua KIND REPORT WORDS
-- KIND is what the report of perf is sorted by, "dso,srcfile" or "dso,symbol"; WORDS holds the run's account.
local kind, report_path, words_path = arg[1], arg[2], arg[3]

local LEAST = 0.5 -- percent: files and functions below are not named

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local report = read(report_path)
local nanoseconds = tonumber(report:match "Event count %(approx%.%): (%d+)")
local records = tonumber(read(words_path):match '"read":(%d+)') or 0

-- File name -> room, such as "window" or "window/aggregate".
local function rooms()
  local map = {}
  local list = assert(io.popen "find core -name '*.[ch]' -o -name '*.cpp'")
  for path in list:lines() do
    local room, name = path:match "^core/(.*)/([^/]+)$"
    if room then map[name] = room end
  end
  list:close()
  return map
end

local room_of = rooms()

-- Where a sample belongs that is in no file of ours.
local LIBRARIES = {
  { "^%[JIT%]", "compiled Lua" }, { "^//anon", "compiled Lua" }, { "luajit", "LuaJIT" }, { "^%[", "kernel" },
  { "liblunette", "other" }, { "^lunette$", "cli" }, { "", "libraries" },
}

local function place_of(library, name)
  if room_of[name] then return room_of[name] end
  if name == "malloc.c" then return "malloc" end
  for _, row in ipairs(LIBRARIES) do
    if library:find(row[1]) then return row[2] end
  end
end

local function time_of(percent)
  return records > 0 and ("%6.1f ns"):format(nanoseconds * percent / 100 / records) or ""
end

local lines, places, order = {}, {}, {}
for line in report:gmatch "[^\n]+" do
  local percent, library, name = line:match "^ *([%d.]+)%% *|([^|]-) *|([^|]-) *$"
  if not percent then percent, library, name = line:match "^ *([%d.]+)%% *|([^|]-) *|%[.%] ([^|]-) *|" end
  percent = tonumber(percent)
  if percent and kind == "dso,symbol" then
    if percent >= LEAST then
      lines[#lines + 1] = ("%5.1f %% %s  %-24s %s"):format(percent, time_of(percent), library, name)
    end
  elseif percent then
    local place = place_of(library, name)
    if not places[place] then
      places[place] = { name = place, percent = 0, files = {} }
      order[#order + 1] = places[place]
    end
    places[place].percent = places[place].percent + percent
    if percent >= LEAST and name ~= "" then
      table.insert(places[place].files, ("%s %.1f"):format(name, percent))
    end
  end
end

table.sort(order, function(a, b) return a.percent > b.percent end)
for _, place in ipairs(order) do
  if place.percent >= LEAST then
    lines[#lines + 1] = ("%5.1f %% %s  %-16s %s"):format(place.percent, time_of(place.percent), place.name,
      table.concat(place.files, ", "))
  end
end
if records > 0 then
  print(("%.0f records, %.1f ns a record"):format(records, nanoseconds / records))
end
for _, line in ipairs(lines) do print((line:gsub(" +$", ""))) end
