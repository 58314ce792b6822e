--- Changes the pipelines of an app while it runs: what may change and what may not, and the way of the state from the
-- old engines into the new ones, in pieces between which records go their way.
--
-- The state is saved while it changes, round after round: the first one of all, each later one of what has changed
-- since. When little is left, the last is saved and loaded at once, and the new app takes over.
local carry = require "lunette.carry"
local words = require "lunette.trace.words"

local M = {}

local LAST_US = 4000 -- the last round may take about so long
local ROUNDS_MAX = 200 -- then it is the last one, whatever it takes

-- ---- what may change

local function key_words(key)
  if key.kind == "none" then return "none" end
  if key.kind == "function" then return "a function" end
  return key.path or "{ " .. table.concat(key.paths, ", ") .. " }"
end

local function time_words(time)
  if time.kind == "processing" then return '"processing"' end
  return ("%s, unit %s"):format(time.path or "a function", time.unit)
end

local PARAMETERS = { "list", "shares", "accuracy", "k", "capacity", "precision", "refuse", "bounds", "limit", "per_us",
  "state" }

local function parameter_words(x)
  if type(x) ~= "table" then return tostring(x) end
  local out = {}
  for i, item in ipairs(x) do
    out[i] = type(item) == "table" and ("%s %s"):format(item.type, item.name) or tostring(item)
  end
  return "{ " .. table.concat(out, ", ") .. " }"
end

local function source_words(a) return a.path or a.fn and "a function" or nil end

-- What an aggregate is, but for its functions.
local function aggregate_words(a)
  local out = { a.kind }
  out[#out + 1] = source_words(a)
  if a.by then out[#out + 1] = "by " .. source_words(a.by) end
  for _, name in ipairs(PARAMETERS) do
    if a[name] ~= nil and a[name] ~= false then out[#out + 1] = ("%s %s"):format(name, parameter_words(a[name])) end
  end
  return table.concat(out, " ")
end

-- The window to the last microsecond, beside its words.
local function window_facts(w)
  local out = {}
  for _, name in ipairs { "kind", "size_us", "hop_us", "offset_us", "gap_us", "max_us", "merge", "longest_us" } do
    out[#out + 1] = tostring(w[name] or "")
  end
  return table.concat(out, " ")
end

local function window_words(p)
  local w, unit = p.window, p.time.unit
  local text = words.window(w, unit)
  if w.offset_us and w.offset_us ~= 0 then text = text .. ", offset by " .. words.duration(w.offset_us, unit) end
  if w.longest_us then text = text .. ", longest " .. words.duration(w.longest_us, unit) end
  return text
end

--- What must stay the same of pipelines, as plain data, for a comparison that may happen in another Lua state.
function M.describe(pipelines)
  local out = {}
  for i, p in ipairs(pipelines) do
    local about = { name = p.name, origin = p.origin, source = p.watermark.source, aggregates = {},
      fields = {
        { "time", time_words(p.time) },
        { "key", key_words(p.key) },
        { "window", window_words(p), window_facts(p.window) },
        { "panes", p.panes },
      } }
    for _, a in ipairs(p.aggregates) do about.aggregates[#about.aggregates + 1] = { a.name, aggregate_words(a) } end
    out[i] = about
  end
  return out
end

local function named(list, name)
  for i, about in ipairs(list) do
    if about.name == name then return about, i end
  end
end

local REMEDY = "put it back, or give the pipeline another name and drain the old one"

local function compare_fields(was, is, problem)
  for i, field in ipairs(was.fields) do
    local now = is.fields[i]
    if field[2] ~= now[2] or field[3] ~= now[3] then
      problem(field[1], ("was %s and is %s now"):format(field[2], now[2]))
    end
  end
end

local function compare_aggregates(was, is, problem)
  local now = {}
  for _, a in ipairs(is.aggregates) do now[a[1]] = a[2] end
  for _, a in ipairs(was.aggregates) do
    if not now[a[1]] then problem("aggregate." .. a[1], ("was %s and is gone now"):format(a[2]))
    elseif now[a[1]] ~= a[2] then problem("aggregate." .. a[1], ("was %s and is %s now"):format(a[2], now[a[1]]))
    end
  end
end

--- What is different of two descriptions that a state can't be carried over: a list of problems, and beside it the
-- names of the old pipelines that they concern.
function M.compare(before, after)
  local problems, concerned = {}, {}
  for _, was in ipairs(before) do
    local is = named(after, was.name)
    local function problem(field, what)
      concerned[was.name] = true
      problems[#problems + 1] = ("%s: %s: %s: %s"):format(is and is.origin or was.origin, field, what, REMEDY)
    end
    if is then
      compare_fields(was, is, problem)
      compare_aggregates(was, is, problem)
    else
      problem("name", ("the pipeline %q is gone"):format(was.name))
    end
  end
  return problems, concerned
end

--- What a person should know of a change that is made.
function M.notes(before, after)
  local notes = {}
  for _, is in ipairs(after) do
    local was = named(before, is.name)
    for _, a in ipairs(was and is.aggregates or {}) do
      local known = false
      for _, b in ipairs(was.aggregates) do known = known or a[1] == b[1] end
      if not known then
        notes[#notes + 1] = ("%s: aggregate.%s is new: in windows that are open it starts empty"):format(is.name, a[1])
      end
    end
  end
  return notes
end

--- The names of the pipelines whose sources go by another field: those that were known can promise nothing more.
function M.forgotten(before, after)
  local out = {}
  for _, is in ipairs(after) do
    local was = named(before, is.name)
    if was and was.source ~= is.source then out[is.name] = true end
  end
  return out
end

-- ---- the old side

local Out = {}
Out.__index = Out

--- What the new app must be opened with, beside its own options: which pipelines have a cell for each window, and which
-- pass their panes through Lua.
function M.shape(app)
  local shape = { celled = {}, kept = {} }
  for _, part in ipairs(app.parts) do
    shape.celled[part.name] = not part.sliced or nil
    shape.kept[part.name] = part.staged or nil
  end
  return shape
end

--- Begins to carry the state of an app out.
function M.out(app)
  local self = setmetatable({ app = app, saver = carry.saver(app, true), rounds = 1, entry_us = 1 }, Out)
  self.saver:plans()
  return self
end

--- The next bytes, for about so long with the time that loading them takes; `true` where they are the last.
function Out:piece(budget_us)
  local saver, from = self.saver, os.clock()
  local before = saver.written
  local function spent() return (os.clock() - from) * 1e6 end
  local over = saver:fill(function() return spent() >= budget_us / 3 end) -- loading takes the rest
  local entries = saver.written - before
  if entries >= 64 then self.entry_us = spent() / entries end
  if not over then return false end
  if saver:changed() * self.entry_us * 3 > LAST_US and self.rounds < ROUNDS_MAX then
    saver:cut()
    self.rounds = self.rounds + 1
    return false
  end
  saver:cut()
  saver:fill()
  saver:rest()
  return true
end

function Out:close() self.saver:close() end

-- ---- both sides in one Lua state

local Reload = {}
Reload.__index = Reload

--- Makes ready to go on with other pipelines.
-- @param app that runs
-- @param fresh an app over the same output, opened with M.shape(app), that has not begun
function M.begin(app, fresh)
  local self = setmetatable({ app = app, fresh = fresh, out = M.out(app) }, Reload)
  self.loader = M.loader(fresh)
  return self
end

--- A loader into the parts of an app by name, for what comes out of another. `without`: names of those that are not
-- loaded.
function M.loader(app, without)
  return carry.loader(function(name)
    if without and without[name] then return nil end
    for _, part in ipairs(app.parts) do
      if part.name == name then return part end
    end
  end)
end

--- Carries over for about so long: true when the fresh app has taken over, and the old one may be closed. Raises what
-- is in the way, and then the old one goes on.
function Reload:step(budget_us)
  if not self.app:go_on() then return false end
  local last = self.out:piece(budget_us)
  local at, len = self.out.saver:taken()
  if self.loader:take(at, len) ~= len then error("bytes that are broken", 0) end
  self.out.saver:clear()
  if not last then return false end
  self.loader:finish(function(part) return self.forgets and self.forgets[part.name] end)
  self.out:close()
  self.fresh:take_over(self.app:hand_over())
  return true
end

function Reload:cancel()
  self.out:close()
  self.fresh:close()
end

return M
