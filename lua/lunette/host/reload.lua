--- What a C host calls to reload a script: some functions of the Lua state whose script runs, the others of the new
-- one. What goes from one to the other are texts, and addresses as numbers.
local driver = require "lunette.driver"
local ffi = require "lunette.ffi"
local plain = require "lunette.plain"
local reload = require "lunette.reload"

local FAILED, DRAINED = 3, 5

local function pipelines_of(app)
  local out = {}
  for i, part in ipairs(app.parts) do out[i] = part.pipeline end
  return out
end

--- Adds these functions to those of the host.
-- @param own { load, begin, guarded, app }: of the host
return function(host, own)
  local carried -- on the old side what goes out, on the new one what comes in

  --- What a new state must know of this one, as a text.
  function host.about()
    local app = own.app()
    return plain.encode { describe = reload.describe(pipelines_of(app)), shape = reload.shape(app),
      output = ffi.address(app.output), options = app.own_options }
  end

  --- Loads a script and opens its pipelines beside those of another state, of which `about` tells.
  -- @return true and the texts of addresses, or nil and a list of problems
  function host.open_beside(path, params, about, files, drains)
    about = plain.decode(about)
    local pipelines, texts, streams = own.load(path, params, about.options.streams and 1 or -1, files)
    if not pipelines then return nil, texts end
    local problems, concerned = reload.compare(about.describe, reload.describe(pipelines))
    if #problems > 0 and not drains then return nil, problems end
    local options = {}
    for name, x in pairs(about.options) do options[name] = x end
    options.output, options.streams = ffi.at("ln_output *", about.output), streams
    options.celled, options.kept = about.shape.celled, about.shape.kept
    local ok, opened = pcall(driver.open, pipelines, options)
    if not ok then return nil, { ("%s: %s"):format(path, opened) } end
    own.begin(opened, about.options)
    carried = { concerned = concerned, loader = reload.loader(opened, concerned),
      forgets = reload.forgotten(about.describe, reload.describe(pipelines)) }
    for _, note in ipairs(reload.notes(about.describe, reload.describe(pipelines))) do
      opened.news[#opened.news + 1] = note
    end
    return true, texts
  end

  -- The old side.
  function host.carry_begin()
    host.checkpoint_end() -- the new engines note no changes yet
    local ok, out = pcall(reload.out, own.app())
    if not ok then return FAILED, out end
    carried = out
    return 0
  end

  --- @return a status (0: the last bytes), the address of the bytes and their length; or 3 and a message
  function host.carry_out(budget_us)
    local ok, status, at, len = pcall(function()
      if carried.taken then carried.saver:clear() end
      if not own.app():go_on() then return driver.DRAIN, 0, 0 end
      local last = carried:piece(budget_us)
      local bytes, n = carried.saver:taken()
      carried.taken = true
      return last and driver.NEEDS_INPUT or driver.DRAIN, ffi.address(bytes), n
    end)
    if ok then return status, at, len end
    return FAILED, status
  end

  function host.carry_end()
    if carried then carried:close() end
    carried = nil
    return ""
  end

  --- The objects of this state, which are the other's now, as a text.
  function host.hand_over()
    host.carry_end()
    local out = own.app():hand_over()
    out.reader, out.output = ffi.address(out.reader), ffi.address(out.output)
    for _, stream in pairs(out.streams) do stream.reader = ffi.address(stream.reader) end
    return plain.encode(out)
  end

  -- ---- the old side, where some of its pipelines keep their windows until they expire

  local others -- what is to be freed, of the pipelines that do not

  --- After handing over: goes on with those of these names. Whether there are any windows.
  function host.keep(text, output)
    others = own.app():drain_parts(plain.decode(text), ffi.at("ln_output *", output))
    return own.app():windows_open() > 0
  end

  --- The watermarks of what runs, as a text.
  function host.marks() return plain.encode(own.app():marks()) end

  --- @return a status, with 5 where no window is left; or 3 and a message
  function host.drain(text, now_us)
    if others and others:dispose(2048) then
      others:close()
      others = nil
    end
    local app = own.app()
    local status, message = own.guarded(app.drain, now_us, plain.decode(text))
    if status == driver.NEEDS_INPUT and app:windows_open() == 0 then return DRAINED end
    return status, message
  end

  --- Frees some of what this state holds, which has handed over; whether all is free that would take long.
  function host.dispose()
    local app = own.app()
    if not app:dispose(2048) then return false end
    for _, part in ipairs(app.parts) do part.work = nil end
    return collectgarbage("step", 100)
  end

  -- The new side.
  function host.carry_in(address, len)
    local ok, message = pcall(function()
      if carried.loader:take(ffi.at("const uint8_t *", address), len) ~= len then error("bytes that are broken", 0) end
    end)
    if ok then return 0 end
    return FAILED, message
  end

  --- All has come: the last check of what was loaded, after which nothing can be in the way.
  function host.carry_done()
    local function forgets(part) return carried.forgets[part.name] end
    local ok, message = pcall(carried.loader.finish, carried.loader, forgets)
    if ok then return 0 end
    return FAILED, message
  end

  --- The names of the pipelines that have changed too much, as a text.
  function host.concerned() return plain.encode(carried.concerned) end

  function host.take_over(text)
    local from = plain.decode(text)
    from.reader, from.output = ffi.at("ln_reader *", from.reader), ffi.at("ln_output *", from.output)
    for _, stream in pairs(from.streams) do stream.reader = ffi.at("ln_reader *", stream.reader) end
    carried = nil
    return own.guarded(own.app().take_over, from)
  end
end
