--- A trace as what is to be drawn: columns of plain numbers, with what goes across (event time) and what goes up (the
-- clock, or the order of arrival) worked out, and keys and sources by number. Both the page and the picture draw it.
local stories = require "lunette.trace.story"
local value = require "lunette.value"
local words = require "lunette.trace.words"

local huge = math.huge
local array = value.array

local M = {}

--- What becomes of a record, as its mark shows it.
M.FATES = { "taken", "behind", "filtered", "late", "rejected", "waiting" }
local TAKEN, BEHIND, FILTERED, LATE, REJECTED, WAITING = 0, 1, 2, 3, 4, 5
local TIMINGS = { early = 0, on_time = 1, late = 2 }

-- ---- choosing

local function wanted_keys(story, texts)
  if #texts == 0 then return nil end
  local wanted = {}
  for _, text in ipairs(texts) do
    local form = story.keys[stories.text_of(text)] and stories.text_of(text) or story.keys[text] and text
    if not form then error(("--key %s: the trace has no record with this key"):format(text), 0) end
    wanted[form] = true
  end
  return wanted
end

-- The clock goes up, unless it tells fewer than half of the records apart.
local function choose_up(story, given)
  if given then return given end
  local differ, last = 0, nil
  for _, r in ipairs(story.records) do
    if r.clock ~= last then differ, last = differ + 1, r.clock end
  end
  return last and last > -huge and 2 * differ > #story.records and "clock" or "order"
end

-- Numbers for texts, in the order in which they come.
local function numbering()
  local list, numbers = array {}, {}
  return list, function(text)
    if not text then return -1 end
    local n = numbers[text]
    if not n then
      n = #list
      list[n + 1], numbers[text] = text, n
    end
    return n
  end
end

-- ---- ranges

local Range = {}
Range.__index = Range
local function range() return setmetatable({ least = huge, most = -huge }, Range) end

function Range:take(x)
  if not x or x == huge or x == -huge then return end
  if x < self.least then self.least = x end
  if x > self.most then self.most = x end
end

-- With a margin, and never of no extent.
function Range:padded(share)
  local least, most = self.least, self.most
  if least > most then least, most = 0, 1 end
  local pad = (most - least) * share
  if pad == 0 then pad = 1 end
  return array { least - pad, most + pad }
end

-- ---- parts

local function fate_of(r)
  if r.fate == "filtered" then return FILTERED end
  if r.fate == "rejected" or r.fate == "refused" then return r.reason == "late" and LATE or REJECTED end
  if r.fate == "waiting" then return WAITING end
  return r.time and r.time < r.watermark and BEHIND or TAKEN
end

-- What hovering over a record tells beside its numbers.
local function note_of(r, length)
  local out = r.reason or r.fate
  if r.late_by then out = out .. " by " .. length(r.late_by) end
  if r.lateness_over then out = out .. ": a lateness above " .. length(r.lateness_over) .. " would have taken it" end
  if r.message then out = out .. ": " .. r.message end
  return out
end

local function short(x)
  if type(x) == "number" then return words.plain(x) end
  if type(x) == "string" then return x end
  return stories.text_of(x)
end

-- A pane's value in few letters: that of its only aggregate, or each with its name.
local function label_of(values)
  if type(values) ~= "table" then return short(values) end
  local names = {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  if #names == 1 then return short(values[names[1]]) end
  local out = {}
  for i, name in ipairs(names) do
    out[i] = ("%s %s"):format(name, values[name] == nil and "null" or short(values[name]))
  end
  local text = table.concat(out, "  ")
  return #text > 40 and text:sub(1, 38) .. "..." or text
end

local function infinite(x) return (x == huge or x == -huge) and value.null or x end

local Scene = {}
Scene.__index = Scene

-- What the end of the input brings stands apart from what its last record did.
function Scene:up_of(place)
  if place.watermark == huge then return self.top end
  if self.up == "clock" then return place.clock > -huge and place.clock or self.floor end
  return place.n or place.seen
end

function Scene:take_records(story, wanted)
  local r = self.records
  local function length(n) return words.duration(words.us(n, self.unit), self.unit) end
  for _, record in ipairs(story.records) do
    if not wanted or wanted[record.key] then
      local i, y, fate = #r.n + 1, self:up_of(record), fate_of(record)
      r.n[i], r.time[i], r.up[i] = record.n, record.time or value.null, y
      r.key[i], r.source[i], r.fate[i] = self.key_of(record.key), self.source_of(record.source), fate
      if fate > BEHIND then r.notes[#r.notes + 1] = array { i - 1, note_of(record, length) } end
      self.across_range:take(record.time)
      self.up_range:take(y)
    end
  end
end

function Scene:take_window(w)
  local to = w.expired or w.merged
  local top = to and self:up_of(to) or self.top
  local bottom = self:up_of(w.opened)
  if w.records[1] and not w.absorbed[1] then bottom = self:up_of(w.records[1]) end
  local all = self.windows
  all[#all + 1] = array { infinite(w.start), infinite(w.stop), bottom, top, self.key_of(w.key), #w.records,
    w.into and 2 or w.expired and 1 or 0 }
  self.across_range:take(w.start)
  self.across_range:take(w.stop)
  self.up_range:take(top)
end

function Scene:take_panes(story, wanted)
  for _, p in ipairs(story.panes) do
    if not wanted or wanted[p.key] then
      self.panes[#self.panes + 1] = array { infinite(p.start), infinite(p.stop), self:up_of(p), self.key_of(p.key),
        p.pane, TIMINGS[p.timing], p.final and 1 or 0, p.retract and 1 or 0, label_of(p.value),
        stories.text_of(p.value) }
      self.up_range:take(self:up_of(p))
    end
  end
end

function Scene:take_watermark(story)
  local steps = self.watermark
  for _, move in ipairs(story.moves) do
    if move.watermark > -huge then
      steps[#steps + 1] = array { self:up_of(move), move.watermark, self.source_of(move.source) }
      self.up_range:take(self:up_of(move))
    end
  end
  if story.finished then
    self.finish = self:up_of(story.finish)
    self.up_range:take(self.finish)
  end
  for _, s in ipairs(story.silences) do
    self.silences[#self.silences + 1] = array { self:up_of(s), self.source_of(s.source), s.kind }
  end
end

local function facts_of(story, self)
  local f, out = story.facts, array {}
  local function length(n) return words.duration(words.us(n, self.unit), self.unit) end
  out[1] = f.window.words
  out[2] = f.trigger.words
  if f.delay and f.delay > 0 then out[#out + 1] = "delay " .. length(f.delay) end
  if f.lateness and f.lateness > 0 then out[#out + 1] = "lateness " .. length(f.lateness) end
  out[#out + 1] = f.panes
  return out
end

--- The scene of a story.
---@param story table
---@param options { keys: string[], up: string?, lanes: string?, title: string? }
---@return table
function M.of(story, options)
  local self = setmetatable({
    unit = story.facts.unit, up = choose_up(story, options.up), lanes = options.lanes,
    title = options.title or story.facts.name, facts = {},
    records = { n = array {}, time = array {}, up = array {}, key = array {}, source = array {}, fate = array {},
      notes = array {} },
    windows = array {}, panes = array {}, watermark = array {}, silences = array {},
    across_range = range(), up_range = range(), floor = 0, top = 0,
  }, Scene)
  if self.up == "clock" then
    for _, r in ipairs(story.records) do
      if r.clock > -huge then self.floor = r.clock break end
    end
  end
  self.keys, self.key_of = numbering()
  self.sources, self.source_of = numbering()
  self.facts = facts_of(story, self)
  self.top = story.seen + (story.finished and 1 or 0)
  if self.up == "clock" then
    self.top = story.clock > -huge and story.clock or 0
    if story.finished then self.top = self.top + math.max((self.top - self.floor) * 0.06, 1e-6) end
  end
  local wanted = wanted_keys(story, options.keys)
  self:take_records(story, wanted)
  for _, key in ipairs(story.key_order) do
    if not wanted or wanted[key.text] then
      for _, w in ipairs(key.windows) do self:take_window(w) end
    end
  end
  self:take_panes(story, wanted)
  self:take_watermark(story)
  self.x, self.y = self.across_range:padded(0.04), self.up_range:padded(0.06)
  self.left_out = story.last and story.last.left_out or 0
  return self
end

return M
