--- The watermark as the rules see it: each source's promise, when it was last heard, and what follows from them.
local value = require "spec.support.model.value"
local time = require "spec.support.model.time"

jit.off(true, true)
local watermark = {}
watermark.__index = watermark

function watermark.new(pipeline)
  return setmetatable({ rules = pipeline.watermark, unit = pipeline.time.unit, sources = {}, count = 0 }, watermark)
end

-- A record at `t` was heard while the clock stood at `now`.
function watermark:hear(record, plain, t, now)
  local rules = self.rules
  local id = rules.source and (value.identity(value.at(record, rules.source)) or "?") or "all"
  local source = self.sources[id]
  if not source then
    source = { promise = -math.huge }
    self.sources[id] = source
    self.count = self.count + 1
  end
  source.heard = now
  source.promise = math.max(source.promise, t - rules.delay_us)
  if rules.mark then
    local ok, mark = pcall(rules.mark, plain)
    mark = ok and time.read(mark, self.unit)
    if mark then source.promise = math.max(source.promise, mark) end
  end
end

-- What the sources promise when the clock stands at `now`; nil where that leaves W as it is.
function watermark:promise(now)
  local rules = self.rules
  if self.count == 0 or self.count < rules.sources then return nil end
  local least, highest, latest = nil, -math.huge, nil
  for _, source in pairs(self.sources) do
    local idle = rules.idle_us and now and source.heard and now - source.heard >= rules.idle_us
    if not idle then least = math.min(least or math.huge, source.promise) end
    highest = math.max(highest, source.promise)
    if source.heard then latest = math.max(latest or source.heard, source.heard) end
  end
  if least then return least end
  if rules.on_idle == "advance" then return highest + (now - latest) end
  return nil
end

return watermark
