--- Counts requests per key and minute, in each worker of nginx: see lunette.conf. Workers know nothing of each other;
-- what they count is added up in a table that they share.
local lunette = require "lunette"

local STEP_US = 1000 -- for the engine, each time
local EVERY = 0.1 -- seconds
local KEPT = 3600 -- seconds that a count is kept in the shared table

local M = {}

local engine, counts

local function collect()
  for pane in engine:panes() do
    local name = ("%.0f %s"):format(pane.start, pane.key)
    local _, message = counts:incr(name, pane.value.n, 0, KEPT)
    if message then ngx.log(ngx.ERR, "lunette: ", name, ": ", message) end
  end
  for _, notice in ipairs(engine:notices()) do ngx.log(ngx.WARN, "lunette: ", notice) end
end

local function turn()
  repeat
    local status, message = engine:step(ngx.now() * 1e6, STEP_US)
    if not status then
      ngx.log(ngx.ERR, "lunette: ", message)
      return
    end
    collect()
  until status ~= "drain"
end

--- For init_worker_by_lua: after the fork, so that each worker has an engine of its own.
-- @param options { size: of the windows, default "1m"; counts: the shared table }
function M.open(options)
  counts = ngx.shared[options.counts]
  engine = assert(lunette.open(lunette.pipeline {
    time      = { field = "ts", unit = "s" },
    watermark = { delay = "5s", idle = "10s", on_idle = "advance" },
    key       = "key",
    window    = lunette.tumbling(options.size or "1m"),
    aggregate = { n = lunette.count() },
  }))
  assert(ngx.timer.every(EVERY, turn))
end

--- For log_by_lua: a request has been answered. Only queues it.
function M.count(key)
  local ok, message = engine:add { ts = ngx.req.start_time(), key = key }
  if not ok then ngx.log(ngx.ERR, "lunette: a request is not counted: ", message) end
end

--- For exit_worker_by_lua: the windows that are open are completed.
function M.close()
  repeat
    local status, message = engine:finish(ngx.now() * 1e6)
    if not status then ngx.log(ngx.ERR, "lunette: ", message) end
    collect()
  until not status or status == "idle"
  engine:close()
end

--- For content_by_lua: the counts of complete minutes, one a line.
function M.show()
  for _, name in ipairs(counts:get_keys(0)) do ngx.say(name, " ", counts:get(name)) end
end

return M
