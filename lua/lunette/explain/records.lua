--- Which records count: where they come from, their time, their key, and why one is rejected.
local section = require "lunette.explain.section"

local list, place = section.list, section.place

local M = {}

local function say_time(s, p)
  local time = p.time
  if time.kind == "processing" then
    s:say "A record's time is the clock when it arrives, in milliseconds."
  elseif time.kind == "function" then
    s:say("A record's time is what the function at %s returns, in %s.", place(time.fn), section.unit(p))
  elseif time.unit == "rfc3339" then
    s:say("A record's time is its field %s, a text with an offset from UTC; numbers are milliseconds.", time.path)
  else
    s:say("A record's time is its field %s, in %s.", time.path, section.unit(p))
  end
end

local function say_key(s, p)
  local key = p.key
  if key.kind == "none" then
    s:say "There is no key: all records belong together."
  elseif key.kind == "field" then
    s:say("Each value of the field %s has windows of its own; without the field it is null.", key.path)
  elseif key.kind == "composite" then
    s:say("Each combination of the fields %s has windows of its own; a missing one is null.", list(key.paths))
  else
    s:say("Each value that the function at %s returns has windows of its own.", place(key.fn))
  end
end

--- What a record must have, and where it comes from.
function M.section(p, addresses)
  local s = section.new "Records"
  local from = {}
  for _, address in ipairs(addresses) do
    if not address.sink then from[#from + 1] = address.text end
  end
  s:say("They come from %s.", #from > 0 and list(from) .. ", unless the command line names something else"
    or "what the command line names, or standard input")
  say_time(s, p)
  if p.where then s:say("Those count for which the function at %s is true; others are filtered.", place(p.where)) end
  say_key(s, p)
  return s
end

-- Whether the script's code can meet an error that rejects a record.
local function has_code(p)
  if p.time.fn or p.where or p.key.fn or p.window.fn then return true end
  for _, a in ipairs(p.aggregates) do
    if a.kind ~= "fold" and (a.fn or a.by and a.by.fn) then return true end
  end
  return false
end

local function has_gaps(p)
  local w = p.window
  return w.kind == "assigner" or w.kind == "grid" and w.hop_us > w.size_us
end

--- The reasons for which a record of this pipeline can be rejected, each { name, when }.
function M.reasons(p)
  local out = {}
  local function reason(name, text, ...)
    out[#out + 1] = { name = name, when = select("#", ...) > 0 and text:format(...) or text }
  end
  local limits = p.limits
  reason("malformed", "it is no map, not JSON, larger than %s, nested deeper than %d, or of more than %s values",
    section.bytes(limits.record_bytes), limits.nesting, section.number(limits.elements))
  if p.time.kind ~= "processing" then
    reason("no_time", p.time.unit == "rfc3339" and "its time is missing, or no text with an offset from UTC"
      or "its time is missing, or no finite number in range")
  end
  if p.watermark.max_ahead_us then
    reason("future", "its time is more than %s ahead of the clock", section.duration(p, p.watermark.max_ahead_us))
  end
  if p.key.kind ~= "none" then
    reason("bad_key", "its key is NaN, a map, or something else that can't be compared")
  end
  if has_gaps(p) then
    reason("no_window", p.window.kind == "assigner" and "the assigner returns no window for it"
      or "its time lies in the gap between two windows")
  end
  if p.window.kind ~= "global" and p.time.kind ~= "processing" then
    reason("late", p.lateness_us > 0 and "each of its windows ended %s or more before the watermark"
      or "each of its windows is complete", section.duration(p, p.lateness_us))
  end
  if has_code(p) then reason("script_error", "a function of the script meets an error") end
  reason("limit", "it needs a new key or window, and state takes %s already", section.bytes(limits.state_bytes))
  return out
end

--- The same as words.
function M.rejected(p)
  local s = section.new "A record is rejected as"
  for _, r in ipairs(M.reasons(p)) do s:say("%s, where %s.", r.name, r.when) end
  return s
end

--- The functions of the script that are called, each { what, place, called }.
function M.functions(p)
  local out = {}
  local function add(what, fn, called)
    if fn then out[#out + 1] = { what = what, place = place(fn), called = called } end
  end
  add("time", p.time.fn, "for each record")
  add("watermark.mark", p.watermark.mark, "for each record")
  add("where", p.where, "for each record")
  add("key", p.key.fn, "for each record that counts")
  add("window", p.window.fn, "for each record that counts")
  for _, a in ipairs(p.aggregates) do
    add("aggregate." .. a.name, a.kind ~= "fold" and a.fn, "for each record that counts")
    add("aggregate." .. a.name .. ".by", a.by and a.by.fn, "for each record that counts")
    if a.kind == "fold" then add("aggregate." .. a.name .. ".add", a.add, "for each record and window") end
  end
  local function walk(t)
    if not t then return end
    add("trigger", t.fn, "for each record and window")
    for _, part in ipairs(t.list or { t.trigger }) do walk(part) end
  end
  walk(p.trigger.tree)
  walk(p.trigger.early)
  walk(p.trigger.late)
  add("emit", p.emit, "for each pane")
  return out
end

function M.in_lua(p)
  local s = section.new "In Lua"
  local functions = M.functions(p)
  for _, f in ipairs(functions) do s:say("%s (%s), %s.", f.what, f.place, f.called) end
  if #functions == 0 then
    s:say "Nothing: all of it runs in C."
  else
    s:say "The rest runs in C. `lunette run --jit-report` tells what of it LuaJIT could not compile."
  end
  return s
end

return M
