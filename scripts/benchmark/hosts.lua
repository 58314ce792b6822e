--- What an engine costs inside of a LuaJIT host, in CPU time of the process: `scripts/build`, then
--   LUNETTE_CORE=build/liblunette-core.so LUA_PATH='lua/?.lua;lua/?/init.lua;build/lua/?.lua' \
--     luajit scripts/benchmark/hosts.lua [RECORDS]
-- Each figure is the median of runs in turn; the collector runs as it does in a host.
local RECORDS = tonumber(arg[1]) or 1000000
local RUNS = 7

local clock = os.clock
local before = clock()
local lunette = require "lunette"
require "lunette.engine"
local loaded_ms = (clock() - before) * 1e3

local function pipeline()
  return lunette.pipeline {
    time = { field = "ts" }, key = "user", window = lunette.tumbling "1m",
    aggregate = { n = lunette.count(), total = lunette.sum "amount" },
  }
end

local function median(list)
  table.sort(list)
  return list[math.ceil(#list / 2)]
end

-- Nanoseconds a record of `give(engine, i)`, which gives `each` records, and of the steps.
local function measure(each, give)
  local engine = assert(lunette.open(pipeline()))
  local given, stepped = 0, 0
  for first = 1, RECORDS, 1024 do
    local start = clock()
    for i = first, first + 1023, each do give(engine, i) end
    local middle = clock()
    while engine:step(0) ~= "idle" do engine:take() end
    engine:take()
    given, stepped = given + (middle - start), stepped + (clock() - middle)
  end
  engine:close()
  return given / RECORDS * 1e9, stepped / RECORDS * 1e9
end

local users = {}
for i = 0, 999 do users[i] = "user-" .. i end

local function record(i) return { ts = i * 3, user = users[i % 1000], amount = i % 100 + 0.5, page = "/index.html" } end
local kept = {}
for i = 1, 1024 do kept[i] = record(i) end
local function line(i)
  return ('{"ts":%d,"user":"%s","amount":%.1f,"page":"/index.html"}\n'):format(i * 3, users[i % 1000], i % 100 + 0.5)
end
local lines, blocks = {}, {}
for i = 1, 1024 do lines[i] = line(i) end
for i = 1, 1024, 64 do blocks[i] = table.concat(lines, "", i, i + 63) end
local packed = {}
do
  local value = require "lunette.value"
  for i = 1, 1024 do packed[i] = value.pack(kept[i]) end
end
local packed_blocks = {}
for i = 1, 1024, 64 do packed_blocks[i] = table.concat(packed, "", i, i + 63) end

local function at(i) return (i - 1) % 1024 + 1 end

local ways = {
  { "add, a table made for each record", 1, function(e, i) e:add(record(i)) end },
  { "add, a table that is there", 1, function(e, i) e:add(kept[at(i)]) end },
  { "push, one JSON line at a time", 1, function(e, i) e:push(lines[at(i)]) end },
  { "push, 64 JSON lines at a time", 64, function(e, i) e:push(blocks[at(i)]) end },
  { "push, one record of msgpack at a time", 1, function(e, i) e:push(packed[at(i)]) end },
  { "push, 64 records of msgpack at a time", 64, function(e, i) e:push(packed_blocks[at(i)]) end },
}

local opening = {}
for i = 1, 101 do
  local start = clock()
  local engine = assert(lunette.open(pipeline()))
  opening[i] = (clock() - start) * 1e3
  engine:close()
end

local results = {}
for run = 1, RUNS do
  for n, way in ipairs(ways) do
    results[n] = results[n] or { {}, {} }
    results[n][1][run], results[n][2][run] = measure(way[2], way[3])
  end
end

print(("loading the modules %.1f ms, opening an engine %.2f ms"):format(loaded_ms, median(opening)))
print "| | given, ns a record | stepped, ns a record |\n|---|---|---|"
for n, way in ipairs(ways) do
  print(("| %s | %.0f | %.0f |"):format(way[1], median(results[n][1]), median(results[n][2])))
end
