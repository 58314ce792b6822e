--- What a script's functions see of a record: `r.name` reads a field of the present row. There is one such view for
-- each reader, moved from row to row, so it holds no values itself and must not be kept past the call; `ln.copy(r)`
-- gives a table that may be. A field that is no column yet is looked up in the record's bytes, and is a column from
-- the next batch on.
local columns = require "lunette.columns"
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local lib, of_cell = ffi.lib, value.of_cell
local HELD = lib.LN_ROW_HELD
local AWAY = -1

local M = {}

-- Views by themselves, so that `ln.copy` knows one.
local copies = setmetatable({}, { __mode = "k" })

--- A view over a reader's batches: the record that functions are given, the cursor by which it is moved, and
-- `enter(batch)`.
-- @param options { seed, texts_max }: see lunette.columns
function M.view(reader, options)
  local cursor = ffi.cursor() -- row: of the present batch; below 0 the view stands on no row of it
  local batch -- the present one
  local bytes, bytes_len = nil, 0 -- of a record of an earlier batch, where the view stands on one
  local found = ffi.new "ln_value"
  local held_len = ffi.new "size_t[1]"
  local cols

  local function present_bytes()
    local row = cursor.row
    if row >= 0 then return batch.record[row], batch.record_bytes[row] end
    if bytes == nil then
      error("a record lives only during the call: use ln.copy(record) for one that stays", 3)
    end
    return bytes, bytes_len
  end

  -- A name with a dot in it is that name, not a path: the reader has no column for it.
  local function look_up(name)
    local at, len = present_bytes()
    if type(name) ~= "string" or name:find(".", 1, true) then return (value.read(at, at + len))[name] end
    cols.ask(name)
    lib.ln_record_get(at, len, name, #name, found)
    return of_cell(found)
  end

  cols = columns.new(reader, cursor, look_up, options)
  local get = cols.get
  cursor.row = AWAY

  local record = setmetatable({}, {
    __index = function(_, name)
      local read = get[name]
      if read then return (read()) end
      return look_up(name)
    end,
    __newindex = function() error("a record can't be changed: use ln.copy(record) for a table of your own", 2) end,
    __metatable = "a record of Lunette",
  })

  local view = { record = record, cursor = cursor, columns = cols }

  --- Stands on a row of the batch, or on a record of an earlier one that `engine` has held.
  function view.move(to, engine)
    if to < HELD then
      cursor.row = to
    else
      cursor.row = AWAY
      bytes = lib.ln_engine_held(engine, to, held_len)
      bytes_len = tonumber(held_len[0])
    end
  end

  --- Stands on nothing: whoever kept the record finds it gone, and no memory that is another's by now.
  function view.leave() bytes, cursor.row = nil, AWAY end

  --- Takes the next batch.
  function view.enter(next_batch)
    batch = next_batch
    cols.enter(next_batch)
  end

  copies[record] = function()
    local at, len = present_bytes()
    return (value.read(at, at + len))
  end
  return view
end

--- Says how a view is copied.
function M.copyable(view, copy) copies[view] = copy end

--- A record, or another view, as a plain table, which stays what it is when the record is gone.
function M.copy(view)
  local copy = copies[view]
  if not copy then error("ln.copy takes a record, as functions of a pipeline are given it", 2) end
  return copy()
end

return M
