--- Runs the jobs and prints what they took. Called by scripts/bench, from the root, when all is built:
--   run.lua DIR RECORDS PAIRS ROOFLINE FORMAT [TEXT ...]
package.path = "scripts/benchmark/?.lua;./?.lua;" .. package.path
local jobs = require "jobs"
local json = require "spec.support.json"
local report = require "report"

local dir, records, pairs_wanted = arg[1], tonumber(arg[2]), tonumber(arg[3])
local has_roofline, format = arg[4] ~= "", arg[5]
local texts = { unpack(arg, 6) }
local tools = dir .. "/benchmark/"

local function fail(text, ...)
  io.stderr:write("scripts/bench: ", text:format(...), "\n")
  os.exit(1)
end

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "*a"
  file:close()
  return text
end

local function execute(command)
  if os.execute(command) ~= 0 then fail("failed: %s", command) end
end

-- What is being done, on a terminal only.
local function say(text)
  if format ~= "json" and os.execute "test -t 2" == 0 then io.stderr:write("\r\27[K", text) end
end

-- ---- inputs

-- NAME=VALUE words, in the order of their names.
local function words(settings)
  local list = {}
  for name, value in pairs(settings) do list[#list + 1] = name .. "=" .. value end
  table.sort(list)
  return list
end

-- The file of a job's input, made if need be; its pages are in memory when it is measured.
local function input_of(job)
  local settings = words(job.input)
  table.insert(settings, 1, "records=" .. records)
  local path = dir .. "/inputs/" .. table.concat(settings, ",")
  local file = io.open(path)
  if not file then
    say("making " .. path)
    execute(("%sgenerate %s > %s.part && mv %s.part %s"):format(tools, table.concat(settings, " "), quote(path),
      quote(path), quote(path)))
  else
    file:close()
  end
  execute(("cat %s > /dev/null"):format(quote(path)))
  return path
end

-- ---- one run

local scratch = tools .. "run"

-- Runs a command under measure: what it took, and what it said on standard error. A `sent` file is sent to it.
local function measure(command, sent)
  execute(("%smeasure %s.result %s %s > /dev/null 2> %s.words < /dev/null"):format(tools, quote(scratch),
    sent and "--send " .. quote(sent) or "", command, quote(scratch)))
  local status, cpu_us, wall_us, peak_kib = read(scratch .. ".result"):match "^(%d+) (%d+) (%d+) (%d+)"
  local said = read(scratch .. ".words")
  if status ~= "0" then fail("exit status %s: %s\n%s", status, command, said) end
  return { cpu_us = tonumber(cpu_us), wall_us = tonumber(wall_us), peak_bytes = tonumber(peak_kib) * 1024 }, said
end

local function script_of(job) return "scripts/benchmark/pipelines/" .. job.script .. ".lua" end

local function run_job(job)
  local options = { "--stats", "--no-progress" }
  if job.null then options[#options + 1] = "-o null:" end
  if job.kept then
    local state = quote(scratch .. ".state")
    execute("rm -rf " .. state)
    options[#options + 1] = ("--state %s --checkpoint-interval %s"):format(state, job.kept)
  end
  for _, word in ipairs(words(job.set)) do options[#options + 1] = "--set " .. quote(word) end
  local through = job.through and job.through .. "://127.0.0.1:0"
  if through then options[#options + 1] = "--flush-on-exit" end
  local command = ("%s/lunette run %s %s %s"):format(quote(dir), table.concat(options, " "), script_of(job),
    quote(through or job.file))
  local run, said = measure(command, through and job.file)
  local account = json.decode(said:match '({"[^\n]*})\n$' or fail("no account: %s\n%s", command, said)).pipelines[1]
  if account.read ~= records or account.read ~= account.aggregated + account.filtered then
    fail("not every record counted: %s\n%s", command, said)
  end
  run.panes = account.panes.early + account.panes.on_time + account.panes.late + account.panes.withdrawn
  return run
end

local function run_by_hand(name, file)
  local run, said = measure(("%sroofline %s %s"):format(quote(tools), name, quote(file)))
  run.panes = tonumber(said:match "(%d+) panes")
  return run
end

-- ---- pairs

local function median(list, of)
  local sorted = {}
  for i, x in ipairs(list) do sorted[i] = of(x) end
  table.sort(sorted)
  local middle = (#sorted + 1) / 2
  return (sorted[math.floor(middle)] + sorted[math.ceil(middle)]) / 2
end

local function named(name)
  for _, job in ipairs(jobs.list) do
    if job.name == name then return job end
  end
  error("no job is called " .. name)
end

-- The yardstick of a job: its name and a function that runs it; nil where there is none.
local function yardstick_of(job)
  if job.by_hand then
    if has_roofline then return "by hand", function() return run_by_hand(job.by_hand, job.file) end end
    return
  end
  local other = named(job.against)
  other.file = other.file or input_of(other)
  return other.name, function() return run_job(other) end
end

-- Each of the two goes first every other time, so that what the machine does slowly falls on both.
local function run_pairs(job)
  local name, run_yardstick = yardstick_of(job)
  local runs, ratios = {}, {}
  for i = 1, pairs_wanted do
    say(("%s: %d of %d"):format(job.name, i, pairs_wanted))
    local other = i % 2 == 0 and run_yardstick and run_yardstick()
    local run = run_job(job)
    other = other or run_yardstick and run_yardstick()
    runs[i] = run
    if other then
      if job.by_hand and not job.panes and other.panes ~= run.panes then
        fail("%s wrote %d panes, %s %d", job.name, run.panes, name, other.panes)
      end
      ratios[i] = run.cpu_us / other.cpu_us
    end
  end
  local function middle(field) return median(runs, function(run) return run[field] end) end
  local cpu_us, wall_us = middle "cpu_us", middle "wall_us"
  return {
    name = job.name, records = records, pairs = pairs_wanted, panes = runs[1].panes,
    cpu_s = cpu_us / 1e6, cpu_ns_per_record = cpu_us * 1e3 / records, records_per_s = records / (wall_us / 1e6),
    peak_bytes = middle "peak_bytes", yardstick = name, ratio = #ratios > 0 and median(ratios, tonumber) or nil,
  }
end

local function key_bytes(keys)
  local total = 0
  for k = 0, keys - 1 do total = total + #("u%d"):format(k) end
  return total / keys
end

local function look_at_live(job)
  say(job.name)
  local pipe = assert(io.popen(("%slive %s %s %s"):format(quote(tools), script_of(job), quote(job.file),
    table.concat(words(job.set), " "))))
  local text = pipe:read "*a"
  pipe:close()
  local account = json.decode(text).pipelines[1]
  return {
    name = job.name, keys = account.keys, windows = account.windows_open, state_bytes = account.state_bytes,
    bytes_per_window = account.state_bytes / account.windows_open, key_bytes = key_bytes(job.input.keys or 10000),
  }
end

-- ---- the whole

local function is_wanted(job)
  if #texts == 0 then return true end
  for _, text in ipairs(texts) do
    if job.name:find(text, 1, true) then return true end
  end
end

local function each(list, run)
  local rows = json.array {}
  for _, job in ipairs(list) do
    if is_wanted(job) then
      job.file = job.file or input_of(job)
      rows[#rows + 1] = run(job)
    end
  end
  return rows
end

local results = { machine = report.machine(), records = records, pairs = pairs_wanted }
results.jobs = each(jobs.list, run_pairs)
results.live = each(jobs.live, look_at_live)
say ""
if #results.jobs + #results.live == 0 then fail "no job has such a name: scripts/bench --list prints them" end
if format == "json" then
  print(json.encode(results))
else
  report.print(results, format)
end
