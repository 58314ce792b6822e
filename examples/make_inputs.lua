--- Makes the inputs of the examples, the same bytes on every machine.
--
--   luajit examples/make_inputs.lua [FOLDER]      default: the folder of this script
local folder = arg[1] or arg[0]:match "^(.*)/[^/]*$" or "."

-- The minimal standard generator of Lehmer: whole numbers below 2^47, which doubles hold exactly.
local state
local function seed(n) state = n end
local function draw(n) -- from 1 to n
  state = state * 48271 % 2147483647
  return math.floor(state / 2147483647 * n) + 1
end
local function pick(list) return list[draw(#list)] end

-- Orders by `at`; among equal ones what was made first comes first.
local function by_arrival(records)
  for i, r in ipairs(records) do r.made = i end
  table.sort(records, function(a, b)
    if a.at ~= b.at then return a.at < b.at end
    return a.made < b.made
  end)
  return records
end

-- Writes the records in the order in which they arrive: each has a time `at` of arrival and a text.
local function write(name, records)
  local file = assert(io.open(folder .. "/" .. name, "wb"))
  for _, r in ipairs(by_arrival(records)) do file:write(r.text, "\n") end
  file:close()
end

-- Five minutes of requests. Some arrive up to 1.9 seconds after they were made.
local function page_views()
  local pages = { "/", "/", "/", "/docs", "/docs", "/pricing", "/health" }
  local records, ts = {}, 0
  seed(1)
  while ts < 300000 do
    local delay = draw(4) == 1 and draw(1900) or 0
    local status = draw(20) == 1 and 503 or 200
    records[#records + 1] = {
      at = ts + delay,
      text = ('{"ts":%d,"page":"%s","user":"u%d","status":%d}'):format(ts, pick(pages), draw(25), status),
    }
    ts = ts + draw(3000)
  end
  write("page_views.jsonl", records)
end

-- Three hours of readings of three sensors, each every five minutes, on the radio for up to two minutes. The gateway of
-- t3 is offline from 08:35 to 09:12.
local function sensors()
  local records = {}
  seed(2)
  for i = 0, 35 do
    for s = 1, 3 do
      local second = i * 300 + s * 12 + draw(9)
      local tenths = 180 + s * 10 + math.floor(i / 3) + draw(7)
      local celsius = draw(30) == 1 and "null" or ("%d.%d"):format(math.floor(tenths / 10), tenths % 10)
      local offline = s == 3 and second >= 35 * 60 and second < 72 * 60
      local minute = math.floor(second / 60)
      records[#records + 1] = {
        at = offline and 72 * 60 or second + draw(118),
        text = ('{"at":"2026-03-01T%02d:%02d:%02dZ","sensor":"t%d","celsius":%s}'):format(8 + math.floor(minute / 60),
          minute % 60, second % 60, s, celsius),
      }
    end
  end
  write("sensors.jsonl", records)
end

-- A morning of clicks: each user makes a few visits. Ann's phone holds back two of her clicks, of 09:24 and 09:33,
-- until 10:25, when what she did before and after has been shown as two visits.
local function visits()
  local pages = { "/", "/shoes", "/hats", "/cart", "/help" }
  local records = {}
  local function click(user, ts, at)
    local text = ('{"ts":%d,"user":"%s","page":"%s"}'):format(ts, user, pick(pages))
    records[#records + 1] = { at = at, text = text }
  end
  seed(3)
  for _, user in ipairs { "bob", "cyd", "dee", "eve" } do
    local ts = 9 * 3600 + draw(3600)
    for _ = 1, 1 + draw(3) do
      for _ = 1, draw(7) do
        click(user, ts, ts + draw(50))
        ts = ts + draw(420)
      end
      ts = ts + 1200 + draw(2400)
    end
  end
  for _, minute in ipairs { 5, 9, 17, 42, 44 } do click("ann", 9 * 3600 + minute * 60, 9 * 3600 + minute * 60 + 5) end
  for _, minute in ipairs { 24, 33 } do click("ann", 9 * 3600 + minute * 60, 10 * 3600 + 1500) end
  write("visits.jsonl", records)
end

-- A match of sixty throws.
local function scores()
  local records, tick = {}, 0
  seed(4)
  for i = 1, 60 do
    tick = tick + draw(20)
    local points = draw(4) == 1 and 0 or draw(3)
    local text = ('{"tick":%d,"player":"%s","points":%d}'):format(tick, pick { "kim", "lee", "mia" }, points)
    records[i] = { at = tick, text = text }
  end
  write("scores.jsonl", records)
end

page_views()
sensors()
visits()
scores()
