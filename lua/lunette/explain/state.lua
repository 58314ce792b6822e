--- How much memory a pipeline's state takes: bytes of a key and of a window as the engine itself lays them out, and
-- what aggregates add as they grow, by the sizes that they grow to.
local driver = require "lunette.driver"
local ffi = require "lunette.ffi"
local lower = require "lunette.lower"
local section = require "lunette.explain.section"

local lib = ffi.lib
local number, bytes_text = section.number, section.bytes

local M = {}

local PLACE_BYTES = 8 -- of a set, of which it has 1.5 to 3 for each value
local HEAVY_BYTES, HEAVY_PLACE_BYTES = 32, 4 -- of a value of top, and twice a place
local ITEM_BYTES = 32 -- of a value of collect
local SKETCH_HEAD = 24
local SPILL_PRECISION = 14 -- the sketch of an exact distinct past its limit
local OCTAVES = 64
-- A key is found by four bytes in a table that is at most three quarters full, or half as much.
local KEY_PLACE_BYTES = 4

local function power_of_two(n)
  local p = 8
  while p < n do p = p * 2 end
  return p
end

-- What an aggregate may keep beside its fixed part: the most bytes (nil: without a bound of its own), and words.
local grows = {}

function grows.first() return nil, "and the value itself, where it is a text, an array or a map" end
grows.last, grows.min_by, grows.max_by = grows.first, grows.first, grows.first

function grows.distinct(a, p)
  local limit = p.limits.distinct_values
  local past = a.refuse and "nothing" or "a sketch of " .. bytes_text(2 ^ SPILL_PRECISION + SKETCH_HEAD)
  return nil, ("and %d to %d bytes and once or twice the value for each different one, up to %s; past that %s"):format(
    1.5 * PLACE_BYTES, 3 * PLACE_BYTES, number(limit), past)
end

function grows.distinct_approx(a)
  local most = 2 ^ a.precision + SKETCH_HEAD
  return most, ("and a sketch of at most %s, exact up to %s values"):format(bytes_text(most),
    number(3 / 32 * 2 ^ a.precision))
end

function grows.quantile(a)
  local bins = math.ceil(OCTAVES * 0.7 / math.log((1 + a.accuracy) / (1 - a.accuracy)))
  local most = 2 * 4 * (bins + 64)
  return most, ("and a sketch of at most %s, half of it where all numbers have one sign"):format(bytes_text(most))
end

function grows.top(a)
  local most = power_of_two(a.capacity) * (HEAVY_BYTES + 2 * HEAVY_PLACE_BYTES) + 112
  return nil, ("and at most %s and the values themselves, %s of them"):format(bytes_text(most), number(a.capacity))
end

function grows.collect(a)
  local most = power_of_two(2 * a.limit) * ITEM_BYTES + 96
  return nil, ("and at most %s and the values themselves, %s of them, or twice as many out of order"):format(
    bytes_text(most), number(a.limit))
end

function grows.histogram(a)
  local most = (#a.bounds + 2) * 8
  return most, ("and %s for %s classes"):format(bytes_text(most), number(#a.bounds + 1))
end

function grows.fold(a)
  if a.state then return nil, "and its declared struct" end
  return nil, "and what its functions keep, in Lua: it counts for no limit"
end

-- How many windows of a key that always has records are there at once; nil where the plan does not tell.
local function windows_at_once(p, width_us)
  local w = p.window
  if w.kind == "global" then return 1 end
  if w.kind ~= "grid" or p.watermark.delay_us == math.huge then return nil end
  local delay_us = p.time.kind == "processing" and 0 or p.watermark.delay_us
  local span_us = w.size_us + delay_us + p.lateness_us
  return math.floor(span_us / (width_us or w.hop_us)) + 1
end

--- The layout of a pipeline's state, as numbers.
---@param p table checked
function M.of(p)
  local width_us, reason = lower.slices(p)
  local app = driver.open({ p }, {})
  local engine = app.parts[1].engine
  local footprint = ffi.new "ln_footprint"
  lib.ln_engine_footprint(engine, footprint)
  local out = {
    slices = width_us ~= nil, slice_us = width_us, reason = reason,
    key_bytes = tonumber(footprint.key_bytes), key_near_bytes = tonumber(footprint.key_near_bytes),
    window_bytes = tonumber(footprint.window_bytes), aggregates = {}, at_once = windows_at_once(p, width_us),
  }
  for i, a in ipairs(p.aggregates) do
    local item = { name = a.name, kind = a.kind, bytes = lib.ln_engine_aggregate_bytes(engine, i - 1) }
    if grows[a.kind] then item.most_bytes, item.grows = grows[a.kind](a, p) end
    out.aggregates[i] = item
  end
  app:close()
  if out.at_once then
    out.typical_bytes = out.key_bytes + 2 * KEY_PLACE_BYTES + out.at_once * out.window_bytes
  end
  return out
end

local function say_layout(s, p, state)
  local w = p.window
  local function d(us) return section.duration(p, us) end
  if state.slices and w.hop_us == w.size_us then
    s:say "Slices: each window is a slice of time, with a row for each key, since it has one pane, at its end."
  elseif state.slices then
    s:say("Slices: windows are put together from slices of %s, so a record is added once, whatever size and hop are.",
      d(state.slice_us))
  else
    s:say("Cells: each window of a key has a state of its own, since %s.", state.reason)
  end
end

local function say_aggregates(s, state)
  local plain, sum = {}, 0
  for _, a in ipairs(state.aggregates) do
    if a.grows then
      s:say("%s: %s of that, %s.", a.name, bytes_text(a.bytes), a.grows)
    else
      plain[#plain + 1], sum = a.name, sum + a.bytes
    end
  end
  if #plain > 0 then s:say("%s: %s of that, and no more.", section.list(plain), bytes_text(sum)) end
end

-- What windows take that is no part of their layout.
local function say_beside(s, p)
  local w = p.window
  if w.kind == "session" and w.max_us then s:say "Records that wait for the watermark are kept whole." end
  local several = not (p.trigger.root == "at_watermark" and p.trigger.early.kind == "never" and p.lateness_us == 0)
  if several and p.panes ~= "discarding" and (p.panes == "retracting" or w.merge or w.kind == "session") then
    s:say "A window that has been shown keeps its last pane, so that it can be withdrawn."
  end
end

local function say_whole(s, p, state)
  if p.key.kind == "none" and state.at_once then
    s:say("Up to %s of them at once: about %s in all.", number(state.at_once), bytes_text(state.typical_bytes))
    return
  end
  local what = state.slices and p.window.hop_us < p.window.size_us and "slices" or "windows"
  if state.at_once then
    s:say("A key that always has records has up to %s %s at once: about %s in all%s.", number(state.at_once),
      state.at_once == 1 and what:sub(1, -2) or what, bytes_text(state.typical_bytes),
      p.watermark.source and ", and more while sources are apart" or "")
    s:say("So %s holds about %s such keys (limits.state_bytes); past that new keys and windows are rejected.",
      bytes_text(p.limits.state_bytes), number(math.floor(p.limits.state_bytes / state.typical_bytes)))
  else
    s:say("How many a key has at once, its records say. Past %s (limits.state_bytes) new ones are rejected.",
      bytes_text(p.limits.state_bytes))
  end
end

--- The same in words.
function M.section(p, state)
  local s = section.new "State"
  say_layout(s, p, state)
  s:say("A key takes %s%s.", bytes_text(state.key_bytes),
    p.key.kind == "none" and "" or (", and its own bytes where they are more than %d"):format(state.key_near_bytes))
  s:say(state.slices and "What it has in one slice takes %s." or "A window of it takes %s.",
    bytes_text(state.window_bytes))
  say_aggregates(s, state)
  say_beside(s, p)
  say_whole(s, p, state)
  return s
end

return M
