--- Random pipelines and random input for them, as texts: the same seed gives the same case on every machine.
local M = {}

local G = {}
G.__index = G

-- 0 .. n - 1
function G:rnd(n)
  self.state = (self.state * 1103515245 + 12345) % 2147483648
  return math.floor(self.state / 65536) % n
end
function G:chance(n) return self:rnd(n) == 0 end
function G:pick(list) return list[self:rnd(#list) + 1] end

-- Units: micros of one, the steps in which a case counts its times, where its times begin.
local units = {
  ms = { micros = 1e3, steps = { 1, 1, 250, 1000, 3600000 }, origins = { 0, 0, -5000, 1.7e12 } },
  s = { micros = 1e6, steps = { 1, 1, 0.5, 60 }, origins = { 0, -40, 1.7e9 } },
  us = { micros = 1, steps = { 1, 17, 1000 }, origins = { 0, -300, 1.7e15 } },
  ns = { micros = 1e-3, steps = { 1000, 1e6 }, origins = { 0, -50000, 1.7e18 } },
  tick = { micros = 1, steps = { 1, 1, 3 }, origins = { 0, -30, 1e9 } },
  rfc3339 = { micros = 1e3, steps = { 1, 1000, 60000 }, origins = { 1.7e12 } },
}

local function number(n) return n == math.floor(n) and ("%.0f"):format(n) or ("%.17g"):format(n) end

-- A duration of n steps as a script writes it: a number in the unit, or a text.
function G:span(n)
  local amount = n * self.step
  local us = amount * units[self.unit].micros
  if self.unit == "tick" or n < 0 or self:chance(2) then return number(amount) end
  if us % 1000 == 0 then return ('"%.0fms"'):format(us / 1000) end
  return ('"%.0fus"'):format(us)
end

local predicates = {
  "w.value.n ~= nil and w.value.n % 3 == 0", "r.v ~= nil and type(r.v) == 'number' and r.v > 7", "r.opt",
  "w.pane < 2", "r.v + w.pane > 5", "w.start ~= nil and w.stop > w.start and r.id % 4 == 0", "r.id % 5 == 0",
}

function G:trigger(depth)
  local leaves = {
    function() return "ln.each()" end,
    function() return ("ln.after_count(%d)"):format(1 + self:rnd(5)) end,
    function()
      return ("ln.every(%s%s)"):format(self:span(2 + self:rnd(9)), self:pick { "", "", ", { if_new = true }" })
    end,
    function()
      return ("ln.every(%s, { time = 'event'%s })"):format(self:span(2 + self:rnd(9)),
        self:pick { "", "", ", if_new = true" })
    end,
    function() return ("ln.after_delay(%s)"):format(self:span(1 + self:rnd(12))) end,
    function() return ("ln.after_idle(%s)"):format(self:span(1 + self:rnd(12))) end,
    function() return ("ln.when(function(w, r) return %s end)"):format(self:pick(predicates)) end,
    function() return "ln.never()" end,
  }
  if depth > 0 and self:chance(2) then
    local word = self:pick { "any", "all", "sequence", "once" }
    if word == "once" then return ("ln.once(%s)"):format(self:trigger(depth - 1)) end
    local parts = {}
    for i = 1, 1 + self:rnd(3) do parts[i] = self:trigger(depth - 1) end
    return ("ln.%s { %s }"):format(word, table.concat(parts, ", "))
  end
  return self:pick(leaves)()
end

-- A user's assigner, whose arithmetic must stay exact in the unit.
function G:assigner()
  local step = number(self.step)
  local list = {
    "function(t, r) return t - t % (6 * S), t - t % (6 * S) + 6 * S end",
    "function(t, r) if r.id % 3 == 0 then return t - t % (10 * S), t - t % (10 * S) + 10 * S, t - t % (4 * S), "
      .. "t - t % (4 * S) + 4 * S end return t, t + S, t, t + S end",
    "function(t, r) if r.id % 7 == 0 then return end return t - r.id % 5 * S, t + 2 * S end",
    "function(t, r) return t, t + (r.id % 6 - 1) * S end",
    "function(t, r) return t, t + r.len.x * S end",
  }
  local options = ""
  if self:chance(2) then
    list = {
      "function(t, r) return t, t + r.len * S end",
      "function(t, r) return t - r.id % 7 * S, t + r.len * S end",
      "function(t, r) if r.id % 9 == 0 then return t, t + S, t + S, t + 2 * S end return t, t + (r.id % 8) * S end",
    }
    options = (", { merge = true, longest = %s }"):format(self:span(self:pick { 9, 20, 5 }))
    self.grows = true
  end
  return ("ln.assigner(%s%s)"):format(self:pick(list):gsub("S", step), options)
end

function G:window(fills)
  if self.scattered and not fills then
    self.grows = true
    return ("ln.session(%s)"):format(self:span(2 + self:rnd(5)))
  end
  local offset = self:pick { "", "", "", ", { offset = %s }" }:format(self:span(self:rnd(40) - 20))
  local roll = self:rnd(fills and 3 or 8)
  if roll == 0 then return ("ln.tumbling(%s%s)"):format(self:span(1 + self:rnd(20)), offset) end
  if roll <= 2 then
    return ("ln.%s(%s, %s%s)"):format(self:pick { "hopping", "sliding" }, self:span(1 + self:rnd(16)),
      self:span(1 + self:rnd(9)), offset)
  end
  if roll == 3 then
    self.endless = true
    return "ln.global()"
  end
  if roll == 4 and self.unit ~= "ns" then return self:assigner() end
  self.grows = true
  local gap = 1 + self:rnd(12)
  local max = ""
  if self:chance(2) then
    max = (", { max = %s }"):format(self:span(gap + self:rnd(20)))
  end
  return ("ln.session(%s%s)"):format(self:span(gap), max)
end

function G:watermark()
  if self.time == '"processing"' then return "nil" end
  local delay = "delay = " .. self:span(self:pick(self.scattered and { 20, 60 } or { 0, 1, 3, 8, 30 }))
  if self:chance(2) then return self:chance(6) and "nil" or "{ " .. delay .. " }" end
  local mark = ("mark = function(r) if r.id %% %d == 0 then return r.ts - %s end end"):format(3 + self:rnd(4),
    number(self.step * self:rnd(5)))
  local list = {
    delay .. ", source = 'host'",
    ("%s, source = 'host', sources = %d"):format(delay, 1 + self:rnd(4)),
    ("%s, source = 'host', idle = %s"):format(delay, self:span(5 + self:rnd(15))),
    ("%s, source = 'host', sources = 2, idle = %s, on_idle = 'advance'"):format(delay, self:span(3 + self:rnd(15))),
    ("%s, idle = %s, on_idle = '%s'"):format(delay, self:span(2 + self:rnd(8)), self:pick { "advance", "hold" }),
    ("%s, max_ahead = %s"):format(delay, self:span(self:rnd(40))),
  }
  if self.unit ~= "rfc3339" and self.unit ~= "ns" then
    list[#list + 1] = mark
    list[#list + 1] = delay .. ", " .. mark
    list[#list + 1] = mark .. ", source = 'host'"
    list[#list + 1] = "mark = function(r) return r.v.x end"
  end
  return "{ " .. self:pick(list) .. " }"
end

function G:aggregates()
  local list = {
    'total = ln.sum "v"', 'low = ln.min "v"', 'high = ln.max "v"', 'mean = ln.avg "v"', 'var = ln.variance "w"',
    'dev = ln.stddev "w"', 'first = ln.first "id"', 'last = ln.last "id"', 'first_v = ln.first "v"',
    'users = ln.distinct "user"', 'kinds = ln.distinct "v"', 'some = ln.count "opt"', 'vs = ln.count "v"',
    'big = ln.sum "big"', 'big_low = ln.min "big"', 'big_high = ln.max "big"', 'big_first = ln.last "big"',
    'double = ln.sum(function(r) return r.id * 2 end)', 'odd = ln.count(function(r) return r.id % 2 == 1 or nil end)',
    'broken = ln.max(function(r) return r.id % 19 == 0 and r.none.x or r.len end)', 'zone = ln.last "meta.zone"',
    'near = ln.distinct("user", { approx = true })', 'ends = ln.quantile("w", { 1, 0 })', 'often = ln.top("user", 3)',
    'weighty = ln.top("host", 2, { by = "v" })', 'least_id = ln.min_by("id", "w")',
    'most = ln.max_by("v", function(r) return r.len end)', 'some_ids = ln.collect("id", { limit = 4 })',
    'all = ln.collect "meta"', 'classes = ln.histogram("w", { bounds = { -5, 0, 7.5 } })',
    'right = ln.ratio(function(r) return r.id % 3 == 0 end)',
    [[longest = ln.fold {
      init = function() return 0 end,
      add = function(acc, r) return math.max(acc, r.len) end,
      merge = function(a, b) return math.max(a, b) end,
      result = function(acc) return acc > 0 and acc or nil end,
    }]],
    [[odds = ln.fold {
      init = function() return { n = 0 } end,
      add = function(acc, r)
        if r.id % 6 == 0 then error "not this one" end
        acc.n = acc.n + r.id % 2
        return acc
      end,
      merge = function(a, b) return { n = a.n + b.n } end,
      result = function(acc) return { n = acc.n, even = acc.n % 2 == 0 } end,
    }]],
  }
  if not self.endless then
    list[#list + 1] = ('pace = ln.rate("id", { per = %s })'):format(self:span(1 + self:rnd(5)))
    list[#list + 1] = "beat = ln.rate()"
  end
  local out = { "n = ln.count()", 'ids = ln.sum "id"' }
  for _ = 1, 1 + self:rnd(8) do
    out[#out + 1] = table.remove(list, self:rnd(#list) + 1)
  end
  return "{\n    " .. table.concat(out, ",\n    ") .. ",\n  }"
end

local keys = {
  "'user'", "'user'", "{ 'user', 'host' }", "{ 'host' }", "nil", "'meta.zone'", "'v'",
  "function(r) return r.host .. '/' .. r.id % 3 end", "function(r) return { r.host, r.id % 2 } end",
  "function(r) return r.id % 11 == 0 and r.none.x or r.id % 2 == 0 end", "function(r) return r.id % 3 / 2 end",
}
local wheres = {
  "nil", "nil", "function(r) return r.v ~= 3 end", "function(r) return r.id % 4 ~= 0 end",
  "function(r) return r.v > 0 end",
}
local emits = {
  "nil", "nil", "nil", "function(p) return p end", "function(p) if p.pane ~= 1 then return p end end",
  "function(p) p.value.n = p.value.n * 2 p.twice = { true, p.timing } return p end",
  "function(p) return { key = p.key, n = p.value.n, was = p.retract, low = p.value.low } end",
  "function(p) return p.value.n % 2 == 1 and p.value.none.x or p end",
}

function G:script()
  local root = self:pick { "at", "at", "at", "default", "plain" }
  local fill = root ~= "plain" and self:chance(5) and tostring(1 + self:rnd(3)) or "nil"
  local trigger = "nil"
  local depth = 3
  if root == "at" then
    trigger = ("ln.at_watermark { early = %s, late = %s }"):format(
      self:pick { self:trigger(depth), self:trigger(depth), "nil" }, self:pick { self:trigger(depth), "nil" })
  elseif root == "plain" then
    trigger = self:trigger(depth)
  end
  local emit = self:pick(emits)
  self.shaped = emit ~= "nil"
  local modes = { "accumulating", "discarding", "retracting" }
  local lines = {
    'local ln = require "lunette"',
    "return ln.pipeline {",
    "  time = " .. self.time .. ",",
    "  watermark = " .. self:watermark() .. ",",
    "  where = " .. self:pick(wheres) .. ",",
    "  key = " .. (self.scattered and "'host'" or self:pick(keys)) .. ",",
    "  window = " .. self:window(fill ~= "nil") .. ",",
    "  trigger = " .. trigger .. ",",
    "  lateness = " .. self:span(self:pick { 0, 0, 0, 5, 20, 60 }) .. ",",
    '  panes = "' .. self:pick(modes) .. '",',
    "  closing = " .. self:pick { "nil", "nil", "'always'" } .. ",",
    "  fill = " .. fill .. ",",
    "  aggregate = " .. self:aggregates() .. ",",
    "  emit = " .. emit .. ",",
    "}",
  }
  return table.concat(lines, "\n") .. "\n"
end

local int64_base = 1700000000 -- seconds

-- k steps after the origin as JSON.
function G:time_text(k)
  local fraction = 0
  if self.fractions and self:chance(3) then fraction = self:pick { 0.5, 0.25, 0.75 } end
  if self.unit == "ns" then
    local ns = k * self.step + self:rnd(1000)
    if self.origin < 1e15 then return number(self.origin + ns) end
    return ("%.0f%09.0f"):format(int64_base + math.floor(ns / 1e9), ns % 1e9)
  end
  local t = self.origin + k * self.step + fraction
  if self.unit ~= "rfc3339" or self:chance(8) then
    return number(t) .. (t % 1 == 0 and self:chance(9) and ".0" or "")
  end
  local zone = self:pick { 0, 0, 120, -330 }
  local shown = math.floor(t / 1000) + zone * 60
  local sign = zone < 0 and "-" or "+"
  return ('"%s.%03d%s"'):format(os.date("!%Y-%m-%dT%H:%M:%S", shown), t % 1000, zone == 0 and self:pick { "Z", "z" }
    or ("%s%02d:%02d"):format(sign, math.floor(math.abs(zone) / 60), math.abs(zone) % 60))
end

local values = { "3", "-2", "0", "7", "8", "12", "9", "0.5", "-1.25", "3.0", "1e3", "null", '"x"', "true", "[1]", "{}" }
local bigs = {
  "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808", "1", "18446744073709551615",
  "1e300", "0.5", "9007199254740992",
}
local odd_users = {
  "1", "1.0", '"1"', "true", "null", "[1,\"a\"]", "[1.0,\"a\"]", "[[1]]", '{"x":1}', '""', "-0.0", "0", "1.5",
  "9007199254740993", "9007199254740992", '"\\u00e9\\n"', "[null,false]",
}
local broken = {
  "not json", '{"id":0,"arrival":1}', '{"id":0,"ts":"soon"}', '{"id":0,"ts":null}', "[1,2]", "7", "null", "{}",
  '{"id":0,"ts":{"x":1}}', '{"id":0,"ts":[1]}', '{"id":0,"ts":true}', '{"id":1', '"text"',
}

function G:record(id, k, clock)
  local user = self:chance(12) and self:pick(odd_users) or ('"u%d"'):format(self:rnd(self.users))
  local parts = {
    ('"id":%d'):format(id), '"ts":' .. self:time_text(k), '"at":' .. clock, '"user":' .. user,
    ('"host":"h%d"'):format(self:rnd(3)), ('"len":%d'):format(1 + self:rnd(9)),
    ('"w":%d.%d'):format(self:rnd(50) - 20, self:rnd(10)), '"big":' .. self:pick(bigs),
    ('"meta":{"zone":%s,"ts":%d}'):format(self:pick { "1", "2", "null" }, id),
  }
  if not self:chance(8) then parts[#parts + 1] = '"v":' .. self:pick(values) end
  if self:chance(2) then parts[#parts + 1] = '"opt":true' end
  return "{" .. table.concat(parts, ",") .. "}"
end

function G:input(n)
  local out, k, at = {}, self:rnd(40), 0
  for id = 1, n do
    k = k + self:pick { 0, 0, 1, 1, 2, 3, self:chance(30) and 40 or 0, self:chance(80) and 3000 or 0 }
    if self.scattered then k = 40 * math.floor(id / 25) + self:rnd(60) end
    at = at + self:pick { 0, 0, 1, 2, self:chance(20) and 25 or 0 }
    local back = (self:chance(3) and self:rnd(12) or 0) + (self:chance(25) and self:rnd(60) or 0)
    local ahead = self:chance(60) and self:rnd(50) or 0
    -- The clock keeps pace with event time in some cases, and is far from it in others.
    local clock = self.close and math.max(at, k) or at
    if self.close then at = clock end
    out[#out + 1] = self:record(id, k - back + ahead, number(self.clock_origin + clock * self.step))
    if self:chance(60) then out[#out + 1] = self:pick(broken) end
  end
  return table.concat(out, "\n") .. "\n"
end

-- A case: script, input, the clock's field; `shaped` where an emit changes the panes, `by_end` where windows of one
-- start are told apart by their end. Options: records, unit.
function M.case(seed, options)
  options = options or {}
  local g = setmetatable({ state = seed * 7919 + 17 }, G)
  for _ = 1, 5 do g:rnd(2) end
  local names = { "ms", "ms", "s", "us", "ns", "tick", "rfc3339" }
  g.unit = g:pick(names)
  g.unit = options.unit or g.unit
  g.step = g:pick(units[g.unit].steps)
  g.origin = g:pick(units[g.unit].origins)
  g.fractions = (g.unit == "s" or g.unit == "ms") and g:chance(4)
  g.users = g:pick { 1, 3, 3, 40 }
  g.close = g:chance(3)
  g.scattered = g:chance(6) -- many sessions that meet later: merges, withdrawals, stragglers
  g.clock_origin = g.close and g.origin < 1e18 and g.origin or g:rnd(100)
  g.time = ("{ field = 'ts', unit = '%s' }"):format(g.unit)
  if g.unit == "ms" and g.step == 1 and g:chance(8) then g.time = '"processing"' end
  if g.unit ~= "ns" and g:chance(8) and g.time ~= '"processing"' then
    g.time = ("{ field = function(r) return r.id %% 23 == 0 and r.none.x or r.ts end, unit = '%s' }"):format(g.unit)
  end
  local script = g:script()
  return {
    seed = seed, script = script, input = g:input(options.records or 5 + g:rnd(110)), clock = "at", shaped = g.shaped,
    by_end = not g.grows, unit = g.unit,
  }
end

-- A pipeline and records of different times, { t, text }, for comparing runs of it: a script with MODE and LATENESS to
-- be filled in. Its watermark has a delay of 40.
function M.orderly(seed)
  local g = setmetatable({ state = seed * 104729 + 5, unit = "ms", step = 1 }, G)
  for _ = 1, 5 do g:rnd(2) end
  local window = g:pick {
    ("ln.tumbling(%d)"):format(3 + g:rnd(30)), ("ln.hopping(%d, %d)"):format(3 + g:rnd(30), 2 + g:rnd(12)),
    ("ln.session(%d)"):format(2 + g:rnd(9)), ("ln.session(%d)"):format(2 + g:rnd(5)), "ln.global()",
  }
  local trigger = g:pick {
    "nil", "ln.each()", "ln.after_count(3)", "ln.at_watermark { early = ln.after_count(2) }",
    "ln.at_watermark { early = ln.each() }",
  }
  local script = ([[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" },
  watermark = { delay = 40 },
  key = "k",
  window = %s,
  trigger = %s,
  lateness = LATENESS,
  panes = "MODE",
  aggregate = {
    n = ln.count(), ids = ln.sum "id", low = ln.min "v", high = ln.max "v", mean = ln.avg "v", dev = ln.stddev "v",
    first = ln.first "id", last = ln.last "id", kinds = ln.distinct "v", double = ln.sum "d",
    near = ln.distinct("id", { approx = true, precision = 10 }), middle = ln.quantile("d", { 0.2, 0.5, 0.9 }),
    often = ln.top("v", 3), list = ln.collect("id", { limit = 5 }), least = ln.min_by("id", "v"),
    classes = ln.histogram("v", { bounds = { 3, 9 } }), odd = ln.ratio(function(r) return r.v %% 2 == 1 end),
  },
}
]]):format(window, trigger)
  local records, t = {}, g:rnd(100) - 50
  for id = 1, 20 + g:rnd(150) do
    t = t + 1 + g:pick { 0, 0, 1, 2, 5, g:chance(20) and 60 or 0 }
    records[id] = {
      t = t, text = ('{"id":%d,"t":%d,"k":"k%d","v":%d,"d":%d.1}'):format(id, t, g:rnd(3), g:rnd(20), g:rnd(9)),
    }
  end
  return { script = script, records = records, by_end = not window:find "session", generator = g }
end

-- The records' texts in an order of arrival that is late by less than `disorder`.
function M.shuffled(case, disorder)
  local g, order = case.generator, {}
  for i, record in ipairs(case.records) do
    order[i] = { at = record.t + (disorder > 0 and g:rnd(disorder) or 0), i = i, text = record.text }
  end
  table.sort(order, function(a, b) return a.at < b.at or a.at == b.at and a.i < b.i end)
  local out = {}
  for i, record in ipairs(order) do out[i] = record.text end
  return table.concat(out, "\n") .. "\n"
end

return M
