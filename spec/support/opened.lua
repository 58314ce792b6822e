--- Engines opened by `lunette.open`, in the specs' own Lua state.
package.loaded["lunette.core_path"] = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
local lunette = require "lunette"

local M = {}

--- One sum for each key and second, with other fields beside or instead.
function M.sums(fields)
  local spec = {
    time = { field = "t", unit = "s" }, key = "k", window = lunette.tumbling "1s",
    aggregate = { n = lunette.count(), total = lunette.sum "v" },
  }
  for name, value in pairs(fields or {}) do spec[name] = value end
  return lunette.pipeline(spec)
end

function M.opened(pipeline, options) return assert(lunette.open(pipeline or M.sums(), options)) end

--- What an iterator gives, as a list.
function M.list(iterator, engine)
  local out = {}
  for value in iterator, engine do out[#out + 1] = value end
  return out
end

--- Steps or finishes until there is no more to do, calling `take` in between; how often that was.
function M.run(engine, verb, take, budget_us)
  local turns = 0
  while true do
    local status, message = engine[verb](engine, 0, budget_us)
    assert(status, message)
    take(engine)
    turns = turns + 1
    if status == "idle" then return turns end
    assert(turns < 1e6)
  end
end

return M
