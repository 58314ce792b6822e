--- What a C host calls to write the state of what runs, and to go on from one that was written.
local carry = require "lunette.carry"
local driver = require "lunette.driver"
local ffi = require "lunette.ffi"
local reload = require "lunette.reload"

local lib = ffi.lib
local FAILED = 3

local function pipelines_of(app)
  local out = {}
  for i, part in ipairs(app.parts) do out[i] = part.pipeline end
  return out
end

--- Adds these functions to those of the host.
-- @param own { app }: of the host
return function(host, own)
  local saver, under_way -- the latter: a checkpoint has been begun and is not written yet
  local loader, bytes, before

  local function close()
    if saver then saver:close() end
    saver, under_way = nil, false
  end

  -- The cut: what must be written of this moment, before anything else happens.
  local function begin(changes)
    local app = own.app()
    if not (changes and saver) then
      close()
      saver = carry.saver(app)
      saver:plans(reload.describe(pipelines_of(app)))
    else
      saver:cut()
    end
    saver:rest()
    saver:fill_whole()
    under_way = true
  end

  local function piece(changes, budget_us)
    if not under_way then
      if not own.app():go_on() then return driver.DRAIN, 0, 0 end
      if saver then saver:clear() end
      begin(changes)
    else
      saver:clear()
    end
    local from = os.clock()
    local over = saver:fill(function() return (os.clock() - from) * 1e6 >= budget_us end)
    local at, len = saver:taken()
    if over then under_way = false end
    return over and driver.NEEDS_INPUT or driver.DRAIN, ffi.address(at), len
  end

  --- @return a status (0: the last bytes), the address of the bytes and their length; or 3 and a message
  function host.checkpoint(changes, budget_us)
    local ok, status, at, len = pcall(piece, changes ~= 0, budget_us)
    if ok then return status, at, len end
    close()
    return FAILED, status
  end

  --- Changes are noted no longer, and what was under way is given up.
  function host.checkpoint_end() close() return "" end

  local function begin_restore()
    local app = own.app()
    before = {}
    bytes = ffi.owned(lib.ln_bytes_new(), lib.ln_bytes_delete)
    loader = carry.loader(function(name, about)
      before[#before + 1] = about.about
      if #reload.compare({ about.about }, reload.describe(pipelines_of(app))) > 0 then return nil end
      return app:part_for(name, not about.sliced, about.staged)
    end, true)
  end

  --- Some bytes of a state.
  function host.restore(address, len)
    local ok, message = pcall(function()
      if not loader then begin_restore() end
      if lib.ln_bytes_push(bytes, ffi.at("const uint8_t *", address), len) ~= lib.LN_OK then
        error("out of memory for a state", 0)
      end
      local size = ffi.new "size_t[1]"
      local at = lib.ln_bytes_data(bytes, size)
      lib.ln_bytes_drop(bytes, loader:take(at, tonumber(size[0])))
    end)
    if ok then return 0 end
    return FAILED, message
  end

  --- What of the state can't be gone on with: a list of problems.
  function host.restore_problems()
    return (reload.compare(before or {}, reload.describe(pipelines_of(own.app()))))
  end

  --- All has come.
  function host.restore_end()
    local ok, status = pcall(function()
      if not loader then error("there is no state: give some bytes first", 0) end
      local size = ffi.new "size_t[1]"
      lib.ln_bytes_data(bytes, size)
      if size[0] > 0 then error("the state ends in the middle of an entry", 0) end
      local app = own.app()
      local forgets = reload.forgotten(before, reload.describe(pipelines_of(app)))
      loader:finish(function(part)
        return forgets[part.name] or (app.options.streams and not part.pipeline.watermark.source)
      end)
      ffi.free(bytes, lib.ln_bytes_delete)
      loader, bytes = nil, nil
      return app:catch_up()
    end)
    if ok then return status end
    return FAILED, status
  end
end
