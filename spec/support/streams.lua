--- Random streams for properties, as tables, so that a spec can reorder and count them, and pipelines for them as
-- texts. Everything follows from a seed. A property runs over several; LUNETTE_SEED=N runs seed N alone,
-- LUNETTE_SEEDS=FROM-TO others, and a failure says so.
local streams = {}
local G = {}
G.__index = G

--- A source of random numbers, the same for the same seed on every machine.
function streams.source(seed)
  local g = setmetatable({ state = seed * 48271 % 2147483647 + 1, seed = seed }, G)
  for _ = 1, 8 do g:rnd(2) end
  return g
end

-- 0 .. n - 1
function G:rnd(n)
  self.state = self.state * 16807 % 2147483647
  return math.floor(self.state / 2147483647 * n)
end
function G:chance(n) return self:rnd(n) == 0 end
function G:pick(list) return list[self:rnd(#list) + 1] end

function G:shuffle(list)
  for i = #list, 2, -1 do
    local k = self:rnd(i) + 1
    list[i], list[k] = list[k], list[i]
  end
  return list
end

local function range(count)
  local one = os.getenv "LUNETTE_SEED"
  if one then return tonumber(one), tonumber(one) end
  local from, to = (os.getenv "LUNETTE_SEEDS" or ""):match "^(%d+)%-(%d+)$"
  return tonumber(from) or 1, tonumber(to) or count
end

--- Whether the seeds are the usual ones: what many of them must come to together is only asked then.
function streams.usual() return not (os.getenv "LUNETTE_SEED" or os.getenv "LUNETTE_SEEDS") end

--- Runs `body(source, about)` for seeds 1 to `count`. What it puts into `about.script` is told where it fails.
function streams.each(count, body)
  local file = debug.getinfo(2, "S").short_src
  local first, last = range(count)
  for seed = first, last do
    local about = {}
    local ok, err = pcall(body, streams.source(seed), about)
    if not ok then
      if type(err) == "table" then err = err.message and tostring(err.message) or tostring(err) end
      error(("seed %d: %s\nagain: LUNETTE_SEED=%d busted --lua=luajit %s\n%s"):format(seed, err, seed,
        file, about.script or ""), 0)
    end
  end
end

-- ---- records

--- Records { id, t, k, v, d, x, b } in the order of t, which is different for each unless `same_times`. v is a whole
-- number, d a multiple of 0.25, so that sums of it are exact in any order; b may be huge; x is of any type.
-- @param how { count, keys, step (most between two), start, jumps = how far time leaps now and then, same_times }
function G:records(how)
  local out, t = {}, how.start or self:rnd(200) - 100
  local odd = { 3, -7, 0, "a", "b", "", true, 2.5, 0.5, 9007199254740993LL, -9223372036854775807LL - 1 }
  for id = 1, how.count do
    t = t + (how.same_times and 0 or 1) + self:rnd(how.step or 4)
    if how.jumps and self:chance(15) then t = t + self:rnd(how.jumps) end
    out[id] = {
      id = id, t = t, k = "k" .. self:rnd(how.keys or 3), v = self:rnd(40) - 10, d = (self:rnd(400) - 200) / 4,
      b = self:pick { 9007199254740993LL, 9223372036854775807LL, -9223372036854775807LL - 1, 1, -3 },
      x = not self:chance(6) and self:pick(odd) or nil,
    }
  end
  return out
end

--- The same records in an order of arrival in which none comes behind one that is more than `delay` ahead of it.
function G:delayed(records, delay)
  local order = {}
  for i, record in ipairs(records) do order[i] = { at = record.t + self:rnd(delay + 1), i = i, record = record } end
  table.sort(order, function(a, b) return a.at < b.at or a.at == b.at and a.i < b.i end)
  for i, item in ipairs(order) do order[i] = item.record end
  return order
end

-- ---- pipelines

streams.aggregates = {
  n = "ln.count()", s = 'ln.sum "v"', d = 'ln.sum "d"', b = 'ln.sum "b"', low = 'ln.min "b"', high = 'ln.max "v"',
  first = 'ln.first "x"', last = 'ln.last "id"', xs = 'ln.distinct "x"', mean = 'ln.avg "v"', var = 'ln.variance "v"',
  dev = 'ln.stddev "d"', some = 'ln.count "x"', f = [[ln.fold {
    init = function() return { n = 0, s = 0 } end,
    add = function(a, r) a.n, a.s = a.n + 1, a.s + r.v return a end,
    merge = function(a, b) return { n = a.n + b.n, s = a.s + b.s } end,
    result = function(a) return a.n > 0 and { n = a.n, s = a.s } or nil end,
  }]],
}

--- A script of one pipeline over such records. `how` has window (a text), and may have trigger, panes, lateness, delay,
-- aggregates (names of the above; all but the fold unless told), and `more`, further lines.
function streams.script(how)
  local names, parts = {}, {}
  for name in pairs(streams.aggregates) do
    if how.aggregates == nil and name ~= "f" then names[#names + 1] = name end
  end
  for _, name in ipairs(how.aggregates or {}) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do parts[i] = ("    %s = %s,\n"):format(name, streams.aggregates[name]) end
  return ([[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" },
  watermark = { delay = %d },
  key = %s,
  window = %s,
  trigger = %s,
  lateness = %d,
  panes = "%s",
  aggregate = {
%s  },
  %s
}
]]):format(how.delay or 0, how.key or '"k"', how.window, how.trigger or "nil", how.lateness or 0,
    how.panes or "accumulating", table.concat(parts), how.more or "")
end

--- A grid as a text, with its numbers: size, hop, offset.
function G:grid(largest)
  local size, hop = 1 + self:rnd(largest or 40), 1 + self:rnd(largest or 40)
  local offset = self:chance(2) and 0 or self:rnd(100) - 50
  return ("ln.hopping(%d, %d, { offset = %d })"):format(size, hop, offset), size, hop, offset
end

streams.merging = "ln.assigner(function(t, r) return t - r.id %% 5, t + %d end, { merge = true, longest = %d })"

--- Any window, as a text, and its kind: "grid", "session", "max" (a session with one), "merging" or "global".
function G:window()
  local kind = self:pick { "grid", "grid", "session", "session", "max", "merging", "global" }
  if kind == "grid" then return self:grid(), kind end
  if kind == "global" then return "ln.global()", kind end
  local gap = 2 + self:rnd(9)
  if kind == "session" then return ("ln.session(%d)"):format(gap), kind end
  if kind == "max" then return ("ln.session(%d, { max = %d })"):format(gap, gap + self:rnd(20)), kind end
  return streams.merging:format(gap, gap + 5), kind
end

--- A trigger of event time and records, of any depth.
function G:trigger(depth)
  local roll = self:rnd((depth or 2) > 0 and 10 or 5)
  local function inner() return self:trigger((depth or 2) - 1) end
  if roll == 0 then return "ln.each()" end
  if roll == 1 then return ("ln.after_count(%d)"):format(1 + self:rnd(4)) end
  if roll == 2 then return ("ln.every(%d, { time = 'event' })"):format(2 + self:rnd(9)) end
  if roll == 3 then
    return ("ln.when(function(w, r) return r.id %% %d == 0 and w.value.n > 1 end)"):format(2 + self:rnd(3))
  end
  if roll == 4 then return "ln.never()" end
  if roll == 5 then return ("ln.any { %s, %s }"):format(inner(), inner()) end
  if roll == 6 then return ("ln.all { %s, %s }"):format(inner(), inner()) end
  if roll == 7 then return ("ln.sequence { %s, %s }"):format(inner(), inner()) end
  if roll == 8 then return ("ln.once(%s)"):format(inner()) end
  return ("ln.every(%d)"):format(2 + self:rnd(9))
end

--- The whole of a trigger: at the watermark with parts, or without, or plain.
function G:rooted()
  local roll = self:rnd(4)
  if roll == 0 then return "nil" end
  if roll == 1 then return self:trigger() end
  local early, late = self:trigger(), self:chance(3) and "nil" or self:trigger()
  return ("ln.at_watermark { early = %s, late = %s }"):format(early, late)
end

return streams
