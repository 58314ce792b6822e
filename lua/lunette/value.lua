--- Values between C and Lua: those of columns, and msgpack both ways. Whole numbers beyond 2^53 stay exact as int64 and
-- uint64 cdata; a null is nil, and `ln.null` inside an array, where a nil would be a hole.
local ffi = require "lunette.ffi"
local node = require "lunette.node"

local lib, text_of, floor = ffi.lib, ffi.string, math.floor
local null = node.null

local NULL, BOOL, INT, UINT, DOUBLE = lib.LN_NULL, lib.LN_BOOL, lib.LN_INT, lib.LN_UINT, lib.LN_DOUBLE
local TEXT, BYTES, ARRAY, MAP, EXT = lib.LN_TEXT, lib.LN_BYTES, lib.LN_ARRAY, lib.LN_MAP, lib.LN_EXT
local DEPTH_MAX = 200 -- of what is written: a pane, with values that are themselves at most 128 deep
local OWN_DEPTH_MAX = 128

local M = { null = null }

-- Tables that were arrays stay arrays when they are written again, also when they are empty.
local array_mt = {}
function M.array(t) return setmetatable(t, array_mt) end

-- One cell for each depth, since reading an inner value must not overwrite the outer one.
local cells = {}
for depth = 0, DEPTH_MAX do cells[depth] = ffi.new "ln_value" end

-- A second in the unit of the pipeline whose functions are called; nil: it counts no seconds.
local SECOND = { s = 1, ms = 1e3, us = 1e6, ns = 1e9, rfc3339 = 1e3 }
local second, microsecond

--- Times are numbers in this unit from here on, as they are in what the pipeline's functions return.
function M.in_unit(unit)
  second = SECOND[unit]
  microsecond = second and 1e6 / second
end

local function be32(p) return p[0] * 16777216 + p[1] * 65536 + p[2] * 256 + p[3] end

-- The time that an extension stands for, a msgpack timestamp or a Fluent event time; nil for any other. By way of whole
-- microseconds, so that it is the time that the engine sees.
local function instant(v)
  local p, len, ns = v.at, v.len, 0
  local s
  if v.ext == -1 and len == 4 then s = be32(p)
  elseif v.ext == -1 and len == 8 then
    local high, low = be32(p), be32(p + 4)
    local over = high % 4
    s, ns = over * 4294967296 + low, (high - over) / 4
  elseif v.ext == -1 and len == 12 then
    local high = be32(p + 4)
    s, ns = (high < 2147483648 and high or high - 4294967296) * 4294967296 + be32(p + 8), be32(p)
  elseif v.ext == 0 and len == 8 then s, ns = be32(p), be32(p + 4)
  else return nil
  end
  if ns > 999999999 or not second then return nil end
  local us = s * 1e6 + floor(ns / 1000)
  return second == 1e9 and us * 1000 or us / microsecond
end

local read

-- What a null in a map becomes: nil, or `ln.null` while a pane is read whole.
local null_in_map

local function read_items(p, stop, cell, depth)
  local n, kind = cell.len, cell.type
  local out = {}
  if kind == ARRAY then
    M.array(out)
    for i = 1, n do
      local item
      item, p = read(p, stop, depth + 1)
      if item == nil then item = null end
      out[i] = item
    end
  else
    for _ = 1, n do
      local name, item
      name, p = read(p, stop, depth + 1)
      item, p = read(p, stop, depth + 1)
      if item == nil then item = null_in_map end
      if name ~= nil and name == name then out[name] = item end
    end
  end
  return out, p
end

--- The value of a cell that is neither an array nor a map.
local function scalar(v)
  local kind = v.type
  if kind == TEXT or kind == BYTES then return (text_of(v.at, v.len)) end
  if kind == INT then
    local i = v.i
    if i <= 9007199254740992LL and i >= -9007199254740992LL then return (tonumber(i)) end
    return i
  end
  if kind == DOUBLE then return v.d end
  if kind == BOOL then return v.i ~= 0 end
  if kind == UINT then return v.u end
  if kind == EXT then return (instant(v)) end
end

-- The msgpack value at p and its end. The bytes have been passed by the reader or written by the engine.
function read(p, stop, depth)
  local cell = cells[depth]
  local after = lib.ln_value_read(p, stop, 0, cell)
  local kind = cell.type
  if kind == ARRAY or kind == MAP then return read_items(after, stop, cell, depth) end
  return scalar(cell), after
end

--- The msgpack value at p, before `stop`, as a Lua value, and where it ends.
function M.read(p, stop)
  null_in_map = nil
  return read(p, stop, 0)
end

--- The same with the nulls of maps as `ln.null`, so that nothing is lost when it is written again.
function M.read_whole(p, stop)
  null_in_map = null
  local x, after = read(p, stop, 0)
  null_in_map = nil
  return x, after
end

--- The Lua value of a column's cell.
function M.of_cell(v)
  local kind = v.type
  if kind == ARRAY or kind == MAP then return (M.read(v.at, v.at + v.len)) end
  return (scalar(v))
end

-- The names of a pane come in their usual order, all others by their text.
local rank = {}
for i, name in ipairs {
  "pipeline", "key", "start", "end", "pane", "timing", "final", "retract", "absorbed", "approx", "cut",
  "value",
} do
  rank[name] = i
end

local function name_before(a, b)
  local x, y = rank[a] or 99, rank[b] or 99
  if x ~= y then return x < y end
  local kind_a, kind_b = type(a), type(b)
  if kind_a ~= kind_b then return kind_a < kind_b end
  if kind_a == "number" or kind_a == "string" then return a < b end
  return tostring(a) < tostring(b)
end

--- Whether a table is written as an array.
local function is_array(t)
  if getmetatable(t) == array_mt then return true end
  local n = #t
  if n == 0 then return false end
  for k in pairs(t) do
    if type(k) ~= "number" or k < 1 or k > n or floor(k) ~= k then return false end
  end
  return true
end

M.is_array = is_array

local write

local function write_table(out, t, depth)
  if depth > DEPTH_MAX then error(("a value is nested deeper than %d"):format(OWN_DEPTH_MAX), 0) end
  local kind = getmetatable(t)
  if type(kind) == "string" then error(("%s is a view and no value: use ln.copy"):format(kind), 0) end
  if is_array(t) then
    lib.ln_output_array(out, #t)
    for i = 1, #t do write(out, t[i], depth + 1) end
    return
  end
  local names, n = {}, 0
  for name in pairs(t) do
    n = n + 1
    names[n] = name
  end
  table.sort(names, name_before)
  lib.ln_output_map(out, n)
  for i = 1, n do
    write(out, names[i], depth + 1)
    write(out, t[names[i]], depth + 1)
  end
end

function write(out, x, depth)
  local kind = type(x)
  if kind == "number" then lib.ln_output_number(out, x)
  elseif kind == "string" then lib.ln_output_text(out, x, #x)
  elseif kind == "boolean" then lib.ln_output_bool(out, x)
  elseif x == nil or x == null then lib.ln_output_nil(out)
  elseif kind == "table" then write_table(out, x, depth)
  elseif kind == "cdata" and ffi.whole_kind(x) == "int64" then lib.ln_output_int(out, x)
  elseif kind == "cdata" and ffi.whole_kind(x) == "uint64" then lib.ln_output_uint(out, x)
  else error(("a %s is no value that can leave a script"):format(kind), 0)
  end
end

--- Appends a Lua value to an output as msgpack. Raises for what can't be written, with nothing appended. `inside` is
-- how deep the value will stand in another.
function M.write(out, x, inside)
  lib.ln_output_mark(out)
  local ok, message = pcall(write, out, x, inside or 0)
  if ok then return end
  lib.ln_output_rewind(out)
  error(message, 0)
end

--- The same for a value, at most 128 deep, that stands in a pane.
function M.write_inside(out, x) M.write(out, x, DEPTH_MAX - OWN_DEPTH_MAX) end

local scratch = ffi.new_output(lib.LN_FORMAT_MSGPACK)
local taken = ffi.new "size_t[1]"

local function packed(x, format, inside)
  lib.ln_output_clear(scratch, lib.LN_STREAM_PANES)
  lib.ln_output_format(scratch, format)
  M.write(scratch, x, inside)
  local bytes = lib.ln_output_take(scratch, lib.LN_STREAM_PANES, taken)
  if lib.ln_output_status(scratch) ~= lib.LN_OK then error("out of memory", 0) end
  return text_of(bytes, taken[0])
end

--- A Lua value, at most 128 deep, as a string of msgpack.
function M.pack(x) return packed(x, lib.LN_FORMAT_MSGPACK, DEPTH_MAX - OWN_DEPTH_MAX) end
--- A Lua value as a line of JSON with its line end.
function M.json(x) return packed(x, lib.LN_FORMAT_JSON) end

--- The value of a JSON text on one line; nil where it is none, or null.
function M.from_json(text)
  local reader = ffi.new_reader(lib.LN_FORMAT_JSON, nil, 1)
  local batch = ffi.new "const ln_batch *[1]"
  local line = '{"it":' .. text:gsub("%c", " ") .. "}\n"
  local column = lib.ln_reader_column(reader, "it", 2)
  local out
  if lib.ln_reader_push(reader, line, #line) == lib.LN_OK and lib.ln_reader_next(reader, batch) == lib.LN_OK
    and batch[0].rows == 1 and batch[0].malformed[0] == 0 then
    out = M.of_cell(batch[0].column[column][0])
  end
  ffi.free(reader, lib.ln_reader_delete)
  return out
end

local bytes_type = "const uint8_t *"

--- How many bytes of a packed pane lie before the name "value".
function M.place_of_value(bytes)
  local start = ffi.cast(bytes_type, bytes)
  local stop, cell = start + #bytes, ffi.new "ln_value"
  local at = lib.ln_value_read(start, stop, 0, cell)
  for _ = 1, cell.len do
    local after = lib.ln_value_read(at, stop, 1, cell)
    if text_of(cell.at, cell.len) == "value" then return tonumber(at - start) end
    at = lib.ln_value_read(after, stop, 1, cell)
  end
end

--- The bytes of a string, which must outlive them.
function M.bytes(s) return ffi.cast(bytes_type, s) end

-- How many values an array of up to four has, its keys being 1, 2, ... in this order and nothing else; nil for any
-- other table. Written out, since a trace of the loop over rows ends at a loop inside.
local function short_length(t)
  if getmetatable(t) ~= nil or next(t) ~= 1 then return nil end
  local k = next(t, 1)
  if k == nil then return 1 end
  if k ~= 2 then return nil end
  k = next(t, 2)
  if k == nil then return 2 end
  if k ~= 3 then return nil end
  k = next(t, 3)
  if k == nil then return 3 end
  return k == 4 and next(t, 4) == nil and 4 or nil
end

local function write_plain(out, x)
  local kind = type(x)
  if kind == "string" then lib.ln_output_text(out, x, #x)
  elseif kind == "number" then lib.ln_output_number(out, x)
  elseif kind == "boolean" then lib.ln_output_bool(out, x)
  elseif x == null then lib.ln_output_nil(out)
  else return false
  end
  return true
end

-- A short array of plain values into `scratch`; false for any other table. Measured with keys of two texts: 320 ns a
-- record in all, against 1,010 through M.pack.
local function pack_short(t)
  local n = short_length(t)
  if not n then return false end
  lib.ln_output_clear(scratch, lib.LN_STREAM_PANES)
  lib.ln_output_format(scratch, lib.LN_FORMAT_MSGPACK)
  lib.ln_output_array(scratch, n)
  return write_plain(scratch, t[1]) and (n < 2 or write_plain(scratch, t[2]))
    and (n < 3 or write_plain(scratch, t[3])) and (n < 4 or write_plain(scratch, t[4]))
end

local function text_to_column(engine, column, row, kind, bytes)
  if lib.ln_engine_text(engine, column, row, kind, bytes, #bytes) ~= lib.LN_OK then error("out of memory", 0) end
end

--- Puts a function's result into a computed column: numbers and booleans at once, the rest through the engine, which
-- copies it. Every number of Lua goes in as a double: see ln_engine_computed. What can't be a value at all becomes an
-- extension, which no key and no aggregate takes.
function M.to_column(engine, cells_of, column, row, x)
  local cell, kind = cells_of[row], type(x)
  if kind == "number" then cell.type, cell.d = DOUBLE, x
  elseif kind == "string" then text_to_column(engine, column, row, TEXT, x)
  elseif kind == "boolean" then cell.type, cell.i = BOOL, x and 1 or 0
  elseif x == nil then cell.type = lib.LN_MISSING
  elseif x == null then cell.type = NULL
  elseif kind == "table" and pack_short(x) then
    local bytes = lib.ln_output_take(scratch, lib.LN_STREAM_PANES, taken)
    if lib.ln_output_status(scratch) ~= lib.LN_OK or
      lib.ln_engine_text(engine, column, row, ARRAY, bytes, taken[0]) ~= lib.LN_OK then error("out of memory", 0) end
  elseif kind == "table" then
    text_to_column(engine, column, row, is_array(x) and ARRAY or MAP, M.pack(x))
  elseif kind == "cdata" and ffi.whole_kind(x) == "int64" then cell.type, cell.i = INT, x
  elseif kind == "cdata" and ffi.whole_kind(x) == "uint64" then
    cell.type, cell.u = x > 9223372036854775807ULL and UINT or INT, x
  else cell.type = lib.LN_EXT
  end
end

return M
