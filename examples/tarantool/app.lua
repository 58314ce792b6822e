--- Orders come in by a function that clients call; what each user has spent in each minute is kept in a space, complete
-- minutes only. After a restart, also one after a crash, the orders of the minutes that were open are read again.
local fiber = require "fiber"
local log = require "log"
local lunette = require "lunette"

local STEP_US = 1000 -- for the engine, in each turn of its fiber

box.cfg { listen = os.getenv "LISTEN", log_level = 4 }

box.once("spend", function()
  local orders = box.schema.space.create("orders", { format = {
    { "id", "unsigned" }, { "ts", "unsigned" }, { "user", "string" }, { "amount", "number" },
  } })
  orders:create_index("id", { sequence = true })
  orders:create_index("ts", { unique = false, parts = { "ts" } })
  local spent = box.schema.space.create("spent", { format = {
    { "user", "string" }, { "start", "unsigned" }, { "stop", "unsigned" }, { "orders", "unsigned" },
    { "total", "number" },
  } })
  spent:create_index("user", { parts = { "user", "start" } })
  spent:create_index("start", { unique = false, parts = { "start" } })
end)
local orders, spent = box.space.orders, box.space.spent

local engine = assert(lunette.open(lunette.pipeline {
  time      = { field = "ts", unit = "s" },
  watermark = { delay = "5s" },
  key       = "user",
  window    = lunette.tumbling "1m",
  aggregate = { n = lunette.count(), total = lunette.sum "amount" },
}))

local function add(order)
  local ok, message = engine:add { ts = order.ts, user = order.user, amount = order.amount }
  if not ok then log.error("order %s is not counted: %s", order.id, message) end
end

-- The last minute that is stored may lack users: its panes replace what is there.
local last = spent.index.start:max()
for _, order in orders.index.ts:pairs(last and last.start or 0, { iterator = "GE" }) do add(order) end

--- An order: `conn:call("place_order", { ts, user, amount })`. Returns its number.
function _G.place_order(ts, user, amount)
  local order = orders:insert { nil, ts, user, amount }
  add(order)
  return order.id
end

-- Writing to a space lets other fibers run, which may add orders meanwhile; only this one steps the engine.
local function store()
  for pane in engine:panes() do
    spent:replace { pane.key, pane.start, pane["end"], pane.value.n, pane.value.total }
  end
end

fiber.create(function()
  fiber.name "lunette"
  while true do
    local status, message = engine:step(fiber.time64(), STEP_US)
    if not status then
      log.error("lunette: %s", message)
      os.exit(1)
    end
    store()
    for _, notice in ipairs(engine:notices()) do log.warn("lunette: %s", notice) end
    fiber.sleep(status == "idle" and 0.01 or 0)
  end
end)
