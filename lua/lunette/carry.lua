--- Carries the state of pipelines out of their engines and into others, in bytes: what the engines hold, entry by
-- entry, and beside each what Lua holds for it: accumulators of folds, panes that were kept. The bytes may come from
-- another Lua state, or from a disk, and nothing of them is trusted.
local ffi = require "lunette.ffi"
local plain = require "lunette.plain"

local lib = ffi.lib
local OK, ENOMEM = lib.LN_OK, lib.LN_ENOMEM
local NONE, KEY, PLAN = lib.LN_ENTRY_NONE, lib.LN_ENTRY_KEY, lib.LN_ENTRY_PLAN
local PIECE = 64 -- entries between two looks at the clock

local M = {}

local function check(err, part)
  if err == OK then return end
  if err == ENOMEM then error("out of memory for a state", 0) end
  error(("%s: %s"):format(part.name, ffi.string(lib.ln_engine_error(part.engine))), 0)
end

-- Folds of a part whose accumulators are Lua's own: their numbers and names.
local function folds_of(part)
  local numbers, names = {}, {}
  for i, fold in ipairs(part.work.folds) do
    if not fold.declared then numbers[#numbers + 1], names[#names + 1] = i, fold.name end
  end
  return numbers, names
end

-- ---- out

local Saver = {}
Saver.__index = Saver

--- Begins to save all pipelines of an app. In a `chase` what is saved is as it is then, and only a last round in which
-- nothing else happens makes a whole of it; else each round is of one moment.
function M.saver(app, chase)
  local self = setmetatable({ app = app, parts = {}, entry = ffi.new "ln_entry", at = 1, written = 0,
    bytes = ffi.owned(lib.ln_bytes_new(), lib.ln_bytes_delete) }, Saver)
  for i, part in ipairs(app.parts) do
    local numbers, names = folds_of(part)
    local own = { engine = part.engine, name = part.name, folds = numbers, names = names, work = part.work }
    -- What Lua holds can't be saved before it changes: then all of a round is saved before anything else happens.
    own.whole = #numbers > 0 or part.staged
    check(lib.ln_engine_save(part.engine, (chase or own.whole) and lib.LN_SAVE_CHASE or lib.LN_SAVE_CUT), part)
    self.parts[i] = own
  end
  return self
end

local function put_folds(out, own, entry)
  for i, fold in ipairs(own.folds) do
    local held, place = own.work.held[fold], ("fold `%s`: its accumulator"):format(own.names[i])
    for n = 0, entry.slots_count - 1 do
      local acc = held[entry.slots[n]]
      if acc == own.work.BROKEN then out[#out + 1] = "B" else plain.put(out, acc, place) end
    end
  end
end

-- What Lua holds for an entry, as a text; "" for nothing.
local function beside(own, entry)
  if entry.bytes == nil or (entry.slots_count == 0 and entry.handles_count == 0) then return "" end
  local out = {}
  local ok, message = pcall(put_folds, out, own, entry)
  if not ok then error(("%s: %s: only plain data can go on"):format(own.name, message), 0) end
  for n = 0, entry.handles_count - 1 do plain.put(out, own.work.kept[entry.handles[n]], "a kept pane") end
  return table.concat(out)
end

function Saver:write(i, text)
  lib.ln_bytes_write(self.bytes, i - 1, self.entry, text, #text)
  self.written = self.written + 1
end

-- Some entries of a part; true where its round is over.
function Saver:some(i, own, count)
  local entry = self.entry
  for _ = 1, count do
    check(lib.ln_engine_save_next(own.engine, entry), own)
    if entry.kind == NONE then return true end
    self:write(i, beside(own, entry))
  end
  return false
end

--- The bytes of the plans: to be loaded before anything else. `about` may have something for each, which the loader's
-- `to` is told.
function Saver:plans(about)
  for i, own in ipairs(self.parts) do
    local part = self.app.parts[i]
    check(lib.ln_engine_save_plan(own.engine, self.entry), own)
    self:write(i, plain.encode { folds = own.names, name = own.name, sliced = part.sliced, staged = part.staged,
      about = about and about[i] })
  end
end

--- Writes the rest of a round of those pipelines that must not go on before it is over.
function Saver:fill_whole()
  for i, own in ipairs(self.parts) do
    if own.whole then while not self:some(i, own, PIECE) do end end
  end
end

--- Appends entries to `bytes` until the round is over (true), or `stop()` says that it is enough.
function Saver:fill(stop)
  while self.at <= #self.parts do
    if self:some(self.at, self.parts[self.at], PIECE) then self.at = self.at + 1
    elseif stop and stop() then return false
    end
  end
  return true
end

--- How many entries the next round would have at least.
function Saver:changed()
  local n = 0
  for _, own in ipairs(self.parts) do n = n + tonumber(lib.ln_engine_save_changed(own.engine)) end
  return n
end

--- The next round begins, of what has changed since the one before. Nothing may be under way.
function Saver:cut()
  for _, own in ipairs(self.parts) do check(lib.ln_engine_save_cut(own.engine), own) end
  self.at = 1
end

--- What is no entry of a round: at the moment of its cut.
function Saver:rest()
  for i, own in ipairs(self.parts) do
    check(lib.ln_engine_save_rest(own.engine, self.entry), own)
    self:write(i, "")
  end
end

--- What has been written since the last `clear`: a pointer and a length.
function Saver:taken()
  local len = ffi.new "size_t[1]"
  local at = lib.ln_bytes_data(self.bytes, len)
  if at == nil then error("out of memory for a state", 0) end
  return at, tonumber(len[0])
end

function Saver:clear() lib.ln_bytes_clear(self.bytes) end

function Saver:close()
  for _, own in ipairs(self.parts) do lib.ln_engine_save_end(own.engine) end
  ffi.free(self.bytes, lib.ln_bytes_delete)
  self.parts = {}
end

-- ---- in

local Loader = {}
Loader.__index = Loader

--- Loads into the engines of an app that has not begun. `to` finds a part by a pipeline's name; what belongs to a
-- pipeline for which it finds none is passed over. It is told what else is known of the pipeline: whether its windows
-- are in slices, whether its panes pass through Lua, and what the saver was told. `exact`: see ln_engine_load.
function M.loader(to, exact)
  return setmetatable({ to = to, exact = exact and 1 or 0, parts = {}, read = ffi.new "ln_read_entry",
    entry = ffi.new "ln_entry", loaded = {} }, Loader)
end

function Loader:plan(number, read)
  local from = plain.from(read.beside, tonumber(read.beside_len))
  local about = plain.get(from)
  if type(about) ~= "table" or type(about.folds) ~= "table" or self.parts[number] ~= nil then
    error("bytes that are broken", 0)
  end
  local part = self.to(about.name, about)
  self.parts[number] = part and { part = part, folds = {} } or false
  if not part then return end
  local _, names = folds_of(part)
  local numbers = folds_of(part)
  for i, name in ipairs(about.folds) do
    for k, known in ipairs(names) do
      if known == name then self.parts[number].folds[i] = numbers[k] end
    end
    if not self.parts[number].folds[i] then error(("fold `%s` is not there"):format(tostring(name)), 0) end
  end
  check(lib.ln_engine_load(part.engine, read.bytes, read.len, self.exact), part)
  self.loaded[#self.loaded + 1] = part
end

-- Puts what Lua holds under the numbers that the engine has now.
local function take_beside(own, entry, from)
  local work = own.part.work
  for _, fold in ipairs(own.folds) do
    for n = 0, entry.slots_count - 1 do
      local acc
      if from.at < from.stop and from.at[0] == 66 then -- "B"
        acc, from.at = work.BROKEN, from.at + 1
      else
        acc = plain.get(from)
      end
      work.held[fold][entry.slots[n]] = acc
    end
  end
  for n = 0, entry.handles_count - 1 do
    local kept = plain.get(from)
    if type(kept) ~= "string" then error("bytes that are broken", 0) end
    work.kept[entry.handles[n]] = kept
  end
  if from.at ~= from.stop then error("bytes that are broken", 0) end
end

function Loader:take_entry(read)
  local number = read.part
  if read.kind == PLAN then return self:plan(number, read) end
  local own = self.parts[number]
  if own == nil then error("bytes that are broken", 0) end
  if not own then return end
  local part, entry = own.part, self.entry
  check(lib.ln_engine_load_entry(part.engine, read.kind, read.number, read.bytes, read.len, entry), part)
  if part.staged then part.work:run() end -- what was there before is forgotten
  if read.kind == KEY and read.beside_len > 0 then
    take_beside(own, entry, plain.from(read.beside, tonumber(read.beside_len)))
  end
end

--- Loads the entries of these bytes: how many bytes they take.
function Loader:take(at, len)
  local read, done = self.read, 0
  while done < len do
    local n = tonumber(lib.ln_bytes_read(at + done, len - done, read))
    if n < 0 then error("bytes that are broken", 0) end
    if n == 0 then return done end
    self:take_entry(read)
    done = done + n
  end
  return done
end

--- All has been loaded. `forgets` tells of a part whether the sources that were known are to be forgotten. Then each
-- engine is to be stepped until it is done.
function Loader:finish(forgets)
  for _, part in ipairs(self.loaded) do
    check(lib.ln_engine_load_end(part.engine, forgets and forgets(part) and 1 or 0), part)
    if part.staged then part.work:run() end
  end
end

return M
