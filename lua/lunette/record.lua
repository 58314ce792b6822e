--- What a script's functions see of a record: `r.name` reads a field of the present row. There is one such view for
-- each reader, moved from row to row, so it holds no values itself and must not be kept past the call; `ln.copy(r)`
-- gives a table that may be. A field that is no column yet is looked up in the record's bytes, and is a column from
-- the next batch on.
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local lib = ffi.lib
local HELD = lib.LN_ROW_HELD
local of_cell = value.of_cell

local M = {}

-- Views by themselves, so that `ln.copy` knows one.
local copies = setmetatable({}, { __mode = "k" })

--- A view over a reader's batches: the record that functions are given, `move(row)`, and `enter(batch)`.
function M.view(reader)
  local columns = {} -- name -> number, where every batch from now on has it
  local pending = {} -- name -> number, from the next batch on
  local entered -- the present batch
  local batch, cells, row = nil, nil, 0 -- the same while the view stands on a row of it
  local found = ffi.new "ln_value"
  local bytes, bytes_len = nil, 0 -- of a record of an earlier batch, where the view stands on one
  local held_len = ffi.new "size_t[1]"

  local function gone() error("a record lives only during the call: use ln.copy(record) for one that stays", 3) end

  local function present_bytes()
    if bytes ~= nil then return bytes, bytes_len end
    if batch == nil then gone() end
    return batch.record[row], batch.record_bytes[row]
  end

  -- A name with a dot in it is that name, not a path: the reader has no column for it.
  local function look_up(name)
    local at, len = present_bytes()
    if type(name) ~= "string" or name:find(".", 1, true) then return (value.read(at, at + len))[name] end
    if pending[name] == nil then
      local column = lib.ln_reader_column(reader, name, #name)
      if column >= 0 then pending[name] = column end
    end
    lib.ln_record_get(at, len, name, #name, found)
    return of_cell(found)
  end

  local record = setmetatable({}, {
    __index = function(_, name)
      local column = columns[name]
      if not column or bytes ~= nil then return look_up(name) end
      if cells == nil then gone() end
      return of_cell(cells[column][row])
    end,
    __newindex = function() error("a record can't be changed: use ln.copy(record) for a table of your own", 2) end,
    __metatable = "a record of Lunette",
  })

  local view = { record = record }

  --- Stands on a row of the batch, or on a record of an earlier one that `engine` has held.
  function view.move(to, engine)
    bytes, row = nil, to
    if to < HELD then
      batch, cells = entered, entered.column
    else
      bytes = lib.ln_engine_held(engine, to, held_len)
      bytes_len = tonumber(held_len[0])
    end
  end

  --- Stands on nothing: whoever kept the record finds it gone, and no memory that is another's by now.
  function view.leave() bytes, batch, cells = nil, nil, nil end

  --- Takes the next batch. Fields asked for since the last one are its columns now.
  function view.enter(next_batch)
    entered = next_batch
    for name, column in pairs(pending) do
      if column < next_batch.columns then columns[name], pending[name] = column, nil end
    end
  end

  --- Says that a column of this name is in every batch.
  function view.know(name, column)
    if not name:find(".", 1, true) then columns[name] = column end
  end

  copies[record] = function()
    local at, len = present_bytes()
    return (value.read(at, at + len))
  end
  return view
end

--- A record as a plain table, which stays what it is when the record is gone.
function M.copy(record)
  local copy = copies[record]
  if not copy then error("ln.copy takes a record, as functions of a pipeline are given it", 2) end
  return copy()
end

return M
