--- The lines of a trace that the driver writes: what the whole was told, and what each pipeline is. All other lines
-- come from the engine.
local ffi = require "lunette.ffi"
local value = require "lunette.value"
local words = require "lunette.trace.words"

local lib = ffi.lib

local M = {}

local FORMAT = 1 -- of the lines: raised where a reader of the one before would misread them

-- A line whose first field is its event.
local function line(output, event, fields)
  local text = value.json(fields):gsub("\n$", "")
  text = ('{"event":"%s",%s'):format(event, text:sub(2))
  lib.ln_output_trace_line(output, text, #text)
end

-- Functions are left out, and times are in the pipeline's unit.
local function plain_trigger(t, unit)
  if t == nil then return nil end
  local out = { kind = t.kind, n = t.n, time = t.time, if_new = t.if_new or nil }
  if t.period_us then out.period = words.number(t.period_us, unit) end
  if t.delay_us then out.delay = words.number(t.delay_us, unit) end
  if t.trigger then out.parts = value.array { plain_trigger(t.trigger, unit) } end
  if t.list then
    out.parts = value.array {}
    for i, part in ipairs(t.list) do out.parts[i] = plain_trigger(part, unit) end
  end
  return out
end

--- What a checked pipeline is, in plain values; times are in its unit.
function M.facts(p)
  local unit = p.time.unit
  local function number(us) return us and us ~= math.huge and words.number(us, unit) or nil end
  local w, mark = p.window, p.watermark
  return {
    key = p.key.kind ~= "none" and (p.key.paths and value.array(p.key.paths) or p.key.path or p.key.kind) or nil,
    name = p.name, origin = p.origin, unit = unit, time = p.time.kind,
    window = { kind = w.kind, words = words.window(w, unit), size = number(w.size_us), hop = number(w.hop_us),
      offset = number(w.offset_us), gap = number(w.gap_us), max = number(w.max_us), longest = number(w.longest_us),
      merge = w.merge or nil },
    trigger = { words = words.trigger(p.trigger, unit), at_watermark = p.trigger.root ~= "plain",
      early = plain_trigger(p.trigger.early or p.trigger.tree, unit), late = plain_trigger(p.trigger.late, unit) },
    delay = number(mark.delay_us), marks = mark.mark and true or nil, source = mark.source, sources = mark.sources,
    idle = number(mark.idle_us), on_idle = mark.idle_us and mark.on_idle or nil,
    max_ahead = number(mark.max_ahead_us), lateness = number(p.lateness_us), panes = p.panes,
    closing = p.closing_always and "always" or nil, fill = p.fill, where = p.where and true or nil,
    shaped = (p.emit ~= nil) or nil,
  }
end

--- The keys that a text on the command line may mean, packed: the text itself and, where it is JSON, the value.
function M.meanings(text)
  local out = { value.pack(text) }
  local parsed = value.from_json(text)
  if parsed ~= nil then
    local packed = value.pack(parsed)
    if packed ~= out[1] then out[2] = packed end
  end
  return out
end

-- The keys that were asked for, by their packed form; nil where all are.
local function wanted_keys(texts)
  if not texts or #texts == 0 then return nil end
  local wanted = {}
  for _, text in ipairs(texts) do
    for _, packed in ipairs(M.meanings(text)) do wanted[packed] = true end
  end
  return wanted
end

local function is_wanted(wanted, pane)
  if not wanted then return true end
  return type(pane) == "table" and wanted[value.pack(pane.key)] == true
end

--- Tells of panes as they leave the driver, in pipelines where a fold or an emit has a part in them: `mark` before, and
-- `tell` of all that came since.
---@param output ffi.cdata*
---@param name string|false of the pipeline, where it is shown
---@param keys string[]?
function M.emitted(output, name, keys)
  local len, from, wanted = ffi.new "size_t[1]", 0, wanted_keys(keys)
  local function mark()
    lib.ln_output_packed(output, len)
    from = tonumber(len[0])
  end
  local function tell()
    local bytes = lib.ln_output_packed(output, len)
    local at, stop = bytes + from, bytes + len[0]
    local panes = {}
    while at < stop do
      panes[#panes + 1], at = value.read_whole(at, stop)
    end
    for _, pane in ipairs(panes) do
      if is_wanted(wanted, pane) then
        local text = value.json { pipeline = name or nil, emitted = pane }:gsub("\n$", "")
        text = '{"event":"emitted",' .. text:sub(2)
        lib.ln_output_trace_event(output, text, #text)
      end
    end
  end
  return { mark = mark, tell = tell }
end

--- The lines at the beginning of a trace, also where a script takes the place of another.
function M.announce(output, pipelines, options)
  line(output, "trace", { format = FORMAT, version = ffi.string(lib.ln_version()), limit = options.trace_bytes,
    keys = options.trace_keys and #options.trace_keys > 0 and value.array(options.trace_keys) or nil,
    clock = options.clock, several = #pipelines > 1 or nil })
  for _, p in ipairs(pipelines) do line(output, "pipeline", M.facts(p)) end
end

--- Makes the output ready for a trace of these pipelines.
---@param output ffi.cdata*
---@param pipelines table[] checked
---@param options { trace_bytes: number, trace_keys: string[]?, clock: string? }
function M.begin(output, pipelines, options)
  lib.ln_output_want_trace(output, options.trace_bytes)
  for _, text in ipairs(options.trace_keys or {}) do
    for _, packed in ipairs(M.meanings(text)) do
      if lib.ln_output_trace_key(output, packed, #packed) ~= lib.LN_OK then
        error("--trace-key: more keys than a trace can be narrowed to: name 32 at most", 0)
      end
    end
  end
  M.announce(output, pipelines, options)
end

return M
