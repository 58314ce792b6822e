--- Runs of one pipeline with one record a batch, so that the engine and its account are looked at after every record.
local engine = require "spec.support.engine"

local single = {}

--- `fields` are those of the pipeline beside a time, a key and a count, in Lua.
function single.run(fields, records, options)
  local script = ([[
    local ln = require "lunette"
    local lines = {
      time = { field = "t" }, key = "k", window = ln.tumbling(10), trigger = ln.each(),
      aggregate = { n = ln.count() },
    }
    for name, x in pairs { %s } do lines[name] = x end
    return ln.pipeline(lines)]]):format(fields)
  options = options or {}
  options.rows_max = 1
  local batches = 0
  options.on_batch = function(_, s)
    batches = batches + 1
    if options.on_stats then options.on_stats(s) end
  end
  local input = type(records) == "string" and records or engine.encode(records, options.format or "json")
  local r = engine.run(script, input, options)
  assert(batches >= r.stats[1].read)
  return r
end

-- Records at 1, 2, 3 ... whose v is their number.
function single.numbered(n)
  local out = {}
  for i = 1, n do out[i] = { t = i, v = i } end
  return out
end

function single.values(r, name)
  local out = {}
  for i, p in ipairs(r.panes) do out[i] = p.value[name] == nil and "null" or p.value[name] end
  return out
end

return single
