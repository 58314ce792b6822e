--- Pipelines inside of the specs' own process: opened from a script's text, fed with bytes in any pieces, and looked
-- into after every batch: the engine must find nothing wrong with itself, and the account of its records must hold. The
-- processing clock is an argument.
package.loaded["lunette.core_path"] = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
local carry = require "lunette.carry"
local driver = require "lunette.driver"
local ffi = require "lunette.ffi"
local json = require "spec.support.json"
local loader = require "lunette.loader"
local value = require "lunette.value"

local lib = ffi.lib
local BYTES_MAX = 64 * 1024 * 1024 -- more than that is no output of a test, but one without an end
local FORMATS = { json = lib.LN_FORMAT_JSON, msgpack = lib.LN_FORMAT_MSGPACK }

local engine = {}
local Run = {}
Run.__index = Run

--- The normalized pipelines of a script; raises its problems.
function engine.load(script)
  local path, old_print = package.path, print
  local pipelines, problems = loader.load_text(script, "script.lua")
  package.path, _G.print = path, old_print
  return pipelines or error("the script has problems:\n" .. table.concat(problems, "\n"), 0)
end

-- ---- what comes out

-- Values as a script sees them: a null is nil.
local function plain(v)
  if v == json.null then return nil end
  if type(v) ~= "table" then return v end
  local out = {}
  for name, item in pairs(v) do out[name] = plain(item) end
  return out
end

--- The values of a text of JSON lines, or of a string of msgpack.
function engine.decode(bytes, format)
  local out = {}
  if format == "json" then
    for line in bytes:gmatch "[^\n]+" do out[#out + 1] = plain(json.decode(line)) end
    return out
  end
  local at = ffi.cast("const uint8_t *", bytes)
  local stop = at + #bytes
  while at < stop do out[#out + 1], at = value.read(at, stop) end
  return out
end

--- JSON lines, or msgpack, of a list of plain records.
function engine.encode(records, format)
  local out = {}
  for i, record in ipairs(records) do
    out[i] = format == "json" and json.encode(record) .. "\n" or value.pack(record)
  end
  return table.concat(out)
end

-- ---- one run

local function count(n) return tonumber(n) end

--- The account of pipeline `i`, as plain numbers.
function Run:stats(i)
  local s = self.app:stats_of(i or 1)
  local out = {
    read = count(s.read), aggregated = count(s.aggregated), filtered = count(s.filtered), rejected = {}, refused = 0,
    panes = count(s.panes[0] + s.panes[1] + s.panes[2]), withdrawals = count(s.withdrawals),
    refusals_late = count(s.refusals_late), values_skipped = count(s.values_skipped),
    distinct_over = count(s.distinct_over), distinct_refused = count(s.distinct_refused),
    windows = count(s.windows), keys = count(s.keys),
    windows_opened = count(s.windows_opened), state_bytes = count(s.state_bytes), watermark_us = s.watermark_us,
  }
  for reason = 0, lib.LN_REASONS - 1 do
    local n = count(s.rejected[reason])
    if n > 0 then out.rejected[ffi.string(lib.ln_reason_name(reason))] = n end
    out.refused = out.refused + n
  end
  return out
end

-- Raises what is wrong inside.
function Run:check()
  if not self.verified then return end
  self.checks = self.checks + 1
  local wrong = self.app:verify()
  if wrong then error("the engine finds in itself: " .. wrong, 0) end
  for i = 1, #self.app.parts do
    local s = self:stats(i)
    if s.read ~= s.aggregated + s.filtered + s.refused then
      error(("the account does not hold: read %d, aggregated %d, filtered %d, rejected %d"):format(s.read, s.aggregated,
        s.filtered, s.refused), 0)
    end
    if self.on_batch then self.on_batch(i, s) end
  end
end

local function take(self, stream, into)
  local len = self.len
  local bytes = lib.ln_output_take(self.app.output, stream, len)
  if len[0] == 0 then return end
  if self.kept then
    self.taken = self.taken + tonumber(len[0])
    if self.taken > BYTES_MAX then error("the output does not end", 0) end
    into[#into + 1] = ffi.string(bytes, len[0])
  end
  lib.ln_output_clear(self.app.output, stream)
end

-- Takes what has been written, and hears what a script's errors say.
function Run:collect()
  take(self, lib.LN_STREAM_PANES, self.pane_bytes)
  take(self, lib.LN_STREAM_REJECTS, self.reject_bytes)
  for _, notice in ipairs(self.app:notices() or {}) do self.notices[#self.notices + 1] = notice end
end

--- Opens a script, or pipelines that have been loaded.
-- @param options { format, out, rows_max, clock, slices, texts_max, verify = false, keep = false for no output,
--   on_batch = function(pipeline, stats) }
function engine.open(script, options)
  options = options or {}
  local pipelines = type(script) == "string" and engine.load(script) or script
  local app = driver.open(pipelines, {
    in_format = options.format and FORMATS[options.format], out_format = options.out and FORMATS[options.out],
    rows_max = options.rows_max, clock = options.clock, slices = options.slices, plain = options.plain,
    texts_max = options.texts_max,
    rejects = true, seed = 1,
  })
  local self = setmetatable({
    app = app, format = options.out or options.format or "json", verified = options.verify ~= false,
    kept = options.keep ~= false, on_batch = options.on_batch, pane_bytes = {}, reject_bytes = {}, notices = {},
      len = ffi.new "size_t[1]",
    checks = 0, taken = 0,
  }, Run)
  self:use(app)
  return self
end

--- Goes on with another app. A pump may work through many batches: each is looked at when it is done.
function Run:use(app)
  local work = app.work
  self.app = app
  app.work = function(this)
    local done = work(this)
    if done then self:check() end
    return done
  end
end

function Run:push(bytes)
  if lib.ln_reader_push(self.app.reader, bytes, #bytes) ~= lib.LN_OK then error("out of memory", 0) end
end

--- The state of an app between two batches, as bytes.
function engine.save(app)
  local saver = carry.saver(app)
  saver:plans()
  assert(saver:fill())
  saver:rest()
  local bytes = ffi.string(saver:taken())
  saver:close()
  return bytes
end

--- Loads such bytes into an app that has not begun; raises what is wrong. Its engines are then to be stepped.
function engine.go_on(app, bytes)
  local incoming = carry.loader(function(name)
    for _, part in ipairs(app.parts) do
      if part.name == name then return part end
    end
  end, true)
  if incoming:take(value.bytes(bytes), #bytes) ~= #bytes then error("bytes that are broken", 0) end
  incoming:finish()
end

--- Goes on in engines that are new and are given the state of those that were, which are freed. To be called where a
-- record has ended. `script` may be another one than before; options as for `open`.
-- @return the bytes of the state
function Run:restart(script, options)
  local old = self.app
  local fresh = engine.open(script, options).app
  local bytes = engine.save(old)
  engine.go_on(fresh, bytes)
  fresh.script_errors, fresh.told, fresh.told_count = old.script_errors, old.told, old.told_count
  lib.ln_output_format(fresh.output, lib.ln_output_format_used(old.output))
  old:close()
  self.app = fresh
  local done = fresh:begin_round(function() return lib.LN_OK end)
  while not done do
    self:collect()
    done = fresh:go_on()
  end
  self:check()
  self:collect()
  return bytes
end

--- Works on what has been pushed, with the clock at `now_us`; false where the input is broken.
function Run:pump(now_us)
  local status
  repeat
    status = self.app:pump(now_us or 0)
    self:check()
    self:collect()
  until status ~= driver.DRAIN
  return status == driver.NEEDS_INPUT
end

--- Pushes and works.
function Run:feed(bytes, now_us)
  self:push(bytes)
  return self:pump(now_us)
end

--- The input has ended: what is left of it, and then every window.
function Run:finish(now_us)
  if not self.broken then
    lib.ln_reader_end(self.app.reader)
    if not self:pump(now_us) then self.broken = ffi.string(lib.ln_reader_error(self.app.reader)) end
  end
  local status
  repeat
    status = self.app:finish()
    self:check()
    self:collect()
  until status ~= driver.DRAIN
end

--- What the run came to, its engines freed: bytes, panes, reject_bytes, rejects, stats of each pipeline, notices,
-- broken (the reader's message), checks (how often the engine was looked into).
function Run:result()
  local out = {
    bytes = table.concat(self.pane_bytes), reject_bytes = table.concat(self.reject_bytes), notices = self.notices,
    script_errors = self.app.script_errors, broken = self.broken, stats = {}, checks = self.checks,
  }
  for i = 1, #self.app.parts do out.stats[i] = self:stats(i) end
  out.panes = engine.decode(out.bytes, self.format)
  out.rejects = engine.decode(out.reject_bytes, self.format)
  self.app:close()
  return out
end

-- The sizes of pieces: a number for all, or a function of the piece's number.
local function pieces_of(pieces)
  if type(pieces) == "function" then return pieces end
  return function() return pieces or math.huge end
end

--- A whole run over one input. Options as for `open`, and pieces (how many bytes each read has: a number, or a function
-- of the read's number) and now (the clock of each read in microseconds, likewise).
function engine.run(script, input, options)
  options = options or {}
  local self = engine.open(script, options)
  local size_of, now = pieces_of(options.pieces), options.now or 0
  local at, i, clock = 1, 0, 0
  while at <= #input and not self.broken do
    i = i + 1
    local size = math.min(size_of(i), #input)
    clock = type(now) == "function" and now(i) or now
    if not self:feed(input:sub(at, at + size - 1), clock) then
      self.broken = ffi.string(lib.ln_reader_error(self.app.reader))
    end
    at = at + size
  end
  self:finish(clock)
  return self:result()
end

return engine
