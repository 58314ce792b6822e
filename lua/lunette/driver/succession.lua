--- How one app goes on in the place of another: what is handed over and taken over, and what of the old one drains.
local ffi = require "lunette.ffi"

local lib = ffi.lib
local OK = lib.LN_OK
local NEEDS_INPUT, DRAIN = 0, 1

--- Adds these functions to those of an app.
return function(App)
  --- The part of that name, made anew where a state has been saved by one whose windows each had a cell, or whose panes
  -- passed through Lua; nil where there is none. Nothing may have been done to it.
  function App:part_for(name, celled, kept)
    for i, part in ipairs(self.parts) do
      if part.name == name then
        if (celled and part.sliced) or (kept and not part.staged) then
          ffi.free(part.engine, lib.ln_engine_delete)
          self.parts[i] = self.make(part.pipeline, celled or not part.sliced, kept)
        end
        return self.parts[i]
      end
    end
  end

  --- An app that has handed over goes on with some of its parts, which take no more records: `names` has theirs. The
  -- others are parts of the app that is returned, which is only to be disposed of and closed.
  function App:drain_parts(names, output)
    local kept, others = {}, {}
    for _, part in ipairs(self.parts) do
      local list = names[part.name] and kept or others
      list[#list + 1] = part
    end
    self.parts, self.output, self.borrows = kept, output, true
    return setmetatable({ parts = others, streams = {} }, App)
  end

  --- Moves the watermark of each part to where `marks` has that of its name, or else to `marks[1]`, and the clock; a
  -- status. Each call goes on with the one before.
  function App:drain(now_us, marks)
    if not self:go_on() then return DRAIN end
    return self:begin_round(function(engine)
      return lib.ln_engine_move(engine, marks[self.parts[self.at_part].name] or marks[1], now_us)
    end) and NEEDS_INPUT or DRAIN
  end

  --- The watermark of each part by its name, and at 1 that of the first.
  function App:marks()
    local out = {}
    for i, part in ipairs(self.parts) do
      local mark = ffi.new("int64_t", self:stats_of(i).watermark_us)
      out[part.name], out[1] = mark, out[1] or mark
    end
    return out
  end

  --- Open windows of all parts.
  function App:windows_open()
    local n = 0
    for i = 1, #self.parts do n = n + tonumber(self:stats_of(i).windows) end
    return n
  end

  --- Engines have been loaded, and are to be stepped before anything else: a status.
  function App:catch_up() return self:begin_round(function() return OK end) and NEEDS_INPUT or DRAIN end

  --- Is nothing under way, so that another may take over?
  function App:rests() return not self.batch and not self.round end

  --- What another app needs of this one, which then has nothing more to do than to be closed: the reader, the output
  -- and the readers of streams are the other's to free.
  function App:hand_over()
    local out = { reader = ffi.released(self.reader), output = ffi.released(self.output), streams = {} }
    for number, stream in pairs(self.streams) do
      out.streams[number] = { reader = ffi.released(stream.reader), messages = stream.messages }
    end
    for _, name in ipairs { "streams_opened", "set_us", "unheard_us", "script_errors", "finishing", "news" } do
      out[name] = self[name]
    end
    self.reader, self.output, self.streams = nil, nil, {}
    return out
  end

  --- Takes the place of that other app: goes on where it stood, with its own functions, columns and engines, into which
  -- the state has been loaded. What is then under way is to be gone on with.
  function App:take_over(from)
    local reader = ffi.owned(from.reader, lib.ln_reader_delete)
    lib.ln_reader_adopt(reader, self.reader)
    ffi.free(self.reader, lib.ln_reader_delete)
    self.reader, self.output = reader, ffi.owned(from.output, lib.ln_output_delete)
    self.borrows = false
    self.view.columns.use(reader)
    for number, stream in pairs(from.streams) do
      lib.ln_reader_follow(stream.reader, reader)
      self.streams[number] = { reader = ffi.owned(stream.reader, lib.ln_reader_delete), messages = stream.messages }
    end
    self.streams_opened, self.set_us, self.unheard_us = from.streams_opened, from.set_us, from.unheard_us
    self.finishing, self.script_errors = from.finishing, from.script_errors + self.script_errors
    for i, text in ipairs(from.news) do table.insert(self.news, i, text) end
    if self.announce then self.announce() end
    return self:catch_up()
  end

  --- Frees some of what the engines of an app hold that has handed over; true when nothing is left that takes long.
  function App:dispose(count)
    for _, part in ipairs(self.parts) do
      if lib.ln_engine_dispose(part.engine, count) == 0 then return false end
    end
    return true
  end
end
