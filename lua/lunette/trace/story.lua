--- What a trace tells, put together again: records, windows with what became of them, and the watermark. Times are in
-- the pipeline's unit; minus and plus infinity stand for what has no bound. Keys and sources go by their JSON text.
local read = require "lunette.trace.read"
local value = require "lunette.value"

local null, huge = value.null, math.huge

local M = {}

--- A key or a source as the text that it goes by; "null" where there is none.
local function text_of(x)
  if type(x) == "string" and not x:find '[%c"\\\128-\255]' then return '"' .. x .. '"' end
  return (value.json(x):gsub("\n$", ""))
end
M.text_of = text_of

-- Whole numbers that a double can't hold come as cdata: times are told to about a microsecond then.
local function from(x) return (x == nil or x == null) and -huge or tonumber(x) end
local function to(x) return (x == nil or x == null) and huge or tonumber(x) end

local TIMES = { "time", "clock", "watermark", "late_by", "lateness_over", "promise", "heard" }

local function plain_times(event)
  for _, name in ipairs(TIMES) do
    if type(event[name]) == "cdata" then event[name] = tonumber(event[name]) end
  end
end

---@class lunette.Window
---@field key string
---@field start number
---@field stop number
---@field opened table? record, clock and watermark of its first record
---@field records table[] in order of arrival; those of windows that were merged into it are with those
---@field new { count: integer, first: number?, last: number? } since the last pane: how many, and the clock
---@field panes table[]
---@field at_end table? `new` as it was when the input ended, where the end has shown it; and how many panes there were
---@field panes_before integer?
---@field completed table?
---@field expired table?
---@field into lunette.Window? that it was merged into
---@field absorbed lunette.Window[] that were merged into it

local Story = {}
Story.__index = Story

local function id_of(self, start, stop)
  if self.grows then return start end
  return start .. " " .. stop
end

function Story:key(text)
  local key = self.keys[text]
  if not key then
    key = { text = text, open = {}, windows = {}, records = {} }
    self.keys[text] = key
    self.key_order[#self.key_order + 1] = key
  end
  return key
end

function Story:window(key, start, stop, event)
  local id = id_of(self, start, stop)
  local w = key.open[id]
  if not w then
    w = { key = key.text, start = start, stop = stop, records = {}, new = { count = 0 }, panes = {}, absorbed = {},
      opened = self:place(event) }
    key.open[id] = w
    key.windows[#key.windows + 1] = w
  elseif stop > w.stop then
    w.stop = stop
  end
  return w
end

function Story:watermark_of(event)
  local w = event.watermark
  if w == nil and event.event == "emitted" then return self.watermark end
  if w == nil then return self.finished and huge or -huge end
  return w
end

-- Where in the run it happened: `seen` records had been read, the present one with them.
function Story:place(event)
  return { record = event.record, clock = event.clock or self.clock, watermark = self:watermark_of(event),
    seen = self.seen + (self.finished and 1 or 0) }
end

local function join(w, record)
  local new = w.new
  w.records[#w.records + 1] = record
  new.count = new.count + 1
  new.first = new.first or record.clock
  new.last = record.clock
end

local see = {}

function see.record(self, event)
  local key = self:key(text_of(event.key))
  local record = { n = event.record, time = event.time, clock = from(event.clock), key = key.text,
    keyless = event.key == nil or nil, source = event.source ~= nil and text_of(event.source) or nil,
    fate = event.fate, reason = event.reason, message = event.message, late_by = event.late_by,
    lateness_over = event.lateness_over, watermark = self:watermark_of(event), windows = {}, refused = {} }
  self.records[#self.records + 1] = record
  key.records[#key.records + 1] = record
  self.fates[event.reason or event.fate] = (self.fates[event.reason or event.fate] or 0) + 1
  for i, bounds in ipairs(event.windows or {}) do
    local w = self:window(key, from(bounds[1]), to(bounds[2]), event)
    join(w, record)
    record.windows[i] = w
  end
  for i, bounds in ipairs(event.late_windows or {}) do record.refused[i] = { from(bounds[1]), to(bounds[2]) } end
end

function see.joined(self, event)
  local key = self:key(text_of(event.key))
  local record
  for i = #key.records, 1, -1 do -- of those that wait at this time the first
    local r = key.records[i]
    if r.fate == "waiting" and r.time == event.time then record = r end
  end
  if not record then return end
  record.fate = "taken"
  for i, bounds in ipairs(event.windows or {}) do
    local w = self:window(key, from(bounds[1]), to(bounds[2]), event)
    join(w, record)
    record.windows[i] = w
  end
  if not event.windows then record.fate, record.reason = "refused", "late" end
end

function see.opened(self, event)
  local w = self:window(self:key(text_of(event.key)), from(event.start), to(event["end"]), event)
  w.empty = event.empty
end

function see.merged(self, event)
  local key = self:key(text_of(event.key))
  local old = key.open[id_of(self, from(event.from[1]), to(event.from[2]))]
  local w = self:window(key, from(event.start), to(event["end"]), event)
  if not old or old == w then return end
  key.open[old.start] = nil
  old.into, old.merged = w, self:place(event)
  w.absorbed[#w.absorbed + 1] = old
  local new, was = w.new, old.new
  new.count = new.count + was.count
  new.first = math.min(new.first or huge, was.first or huge)
  new.last = math.max(new.last or -huge, was.last or -huge)
end

function see.completed(self, event)
  self:window(self:key(text_of(event.key)), from(event.start), to(event["end"]), event).completed = self:place(event)
end

function see.pane(self, event)
  local key = self:key(text_of(event.key))
  local start, stop = from(event.start), to(event["end"])
  local pane = self:place(event)
  pane.pane, pane.timing, pane.final, pane.retract = event.pane, event.timing, event.final, event.retract
  pane.value, pane.cause, pane.absorbed = event.value, event.cause, event.absorbed
  pane.key, pane.start, pane.stop = key.text, start, stop
  self.panes[#self.panes + 1] = pane
  if event.retract then return end -- it may be one of a window that is no more
  local w = self:window(key, start, stop, event)
  w.panes[#w.panes + 1] = pane
  if self.finished and not w.at_end then w.at_end, w.panes_before = w.new, #w.panes - 1 end
  w.new = { count = 0 }
end

-- Panes that a fold or an emit has had a part in are told once more when they leave, in the same order. One that an
-- emit has made into something else, or dropped, keeps the value that it had.
function see.emitted(self, event)
  local e = event.emitted
  if type(e) ~= "table" or e.value == nil or e.pane == nil then return end
  local key, start, stop = text_of(e.key ~= null and e.key or nil), from(e.start), to(e["end"])
  for i = self.told, #self.panes do
    local p = self.panes[i]
    if p.key == key and p.start == start and p.stop == stop and p.pane == e.pane and not p.retract == not e.retract then
      p.value, self.told = e.value, i + 1
      return
    end
  end
  if not e.retract then return end
  local before = self.panes[self.told] or self:place(event) -- it leaves right before the next one
  local pane = { record = before.record, clock = before.clock, watermark = before.watermark, seen = before.seen }
  pane.pane, pane.timing, pane.retract, pane.value = e.pane, e.timing, true, e.value
  pane.key, pane.start, pane.stop = key, start, stop
  table.insert(self.panes, self.told, pane)
  self.told = self.told + 1
end

function see.expired(self, event)
  local key = self:key(text_of(event.key))
  local start, stop = from(event.start), to(event["end"])
  local w = self:window(key, start, stop, event)
  w.expired = self:place(event)
  key.open[id_of(self, start, stop)] = nil
end

function see.watermark(self, event)
  local move = self:place(event)
  move.source = event.source ~= nil and text_of(event.source) or nil
  self.moves[#self.moves + 1] = move
end

local function silence(kind)
  return function(self, event)
    local at = self:place(event)
    at.kind, at.source = kind, event.source ~= nil and text_of(event.source) or nil
    self.silences[#self.silences + 1] = at
  end
end
see.idle, see.gone = silence "idle", silence "gone"

function see.finish(self, event)
  self.finished, self.stood = true, self.watermark
  self.finish = self:place(event)
  self.finish.watermark = huge
end

see["end"] = function(self, event)
  self.last = event
  for _, s in ipairs(event.sources or {}) do
    plain_times(s)
    s.name = s.source ~= nil and text_of(s.source) or nil
  end
end

local function choose(facts, wanted, path)
  for _, p in ipairs(facts) do
    if p.name == wanted then return p end
  end
  local names = {}
  for i, p in ipairs(facts) do names[i] = p.name end
  names = table.concat(names, ", ")
  if wanted then
    error(("--pipeline %s: the trace %s has no such pipeline; it has %s"):format(wanted, path, names), 0)
  elseif #facts > 1 then
    error(("%s holds several pipelines: name one of %s with --pipeline"):format(path, names), 0)
  end
  return facts[1]
end

--- Reads a trace, of several pipelines that of one.
---@param path string
---@param options { pipeline: string? }
---@return table story
function M.read(path, options)
  local self = setmetatable({ path = path, records = {}, panes = {}, moves = {}, silences = {}, keys = {},
    key_order = {}, fates = {}, finished = false, clock = -huge, watermark = -huge, seen = 0, told = 1 }, Story)
  local facts, name = {}, nil
  self.broken = read.each(path, function(event)
    local kind = event.event
    if kind == "trace" then -- also when a script is exchanged in the middle of a run
      self.head, self.facts, facts = event, nil, {}
    elseif kind == "pipeline" then
      facts[#facts + 1] = event
    else
      if not self.facts then
        self.facts = choose(facts, options.pipeline, path)
        self.grows = self.facts.window.kind == "session" or self.facts.window.merge == true
        name = #facts > 1 and self.facts.name or nil
      end
      if event.pipeline ~= name then return end
      if event.record and event.record > self.seen then self.seen = event.record end
      plain_times(event)
      if see[kind] then see[kind](self, event) end
      if event.clock then self.clock = event.clock end
      self.watermark = self:watermark_of(event)
    end
  end)
  self.facts = self.facts or choose(facts, options.pipeline, path)
  self.stood = self.stood or self.watermark -- where it stood before the input ended
  return self
end

return M
