--- Reads a trace: its lines as tables, one after the other. Null is nil, and `value.null` inside of arrays.
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local lib = ffi.lib
local FORMAT = 1
local PIECE = 1024 * 1024

local M = {}

local function open(path)
  if path == "-" then return io.stdin end
  local file, why = io.open(path, "rb")
  if not file then error(why, 0) end
  return file
end

local HOW = ": it is no trace: make one with `lunette run --trace FILE`"

local function check_head(path, event)
  if event.event ~= "trace" then error(path .. HOW, 0) end
  if event.format ~= FORMAT then
    error(("%s: this trace is of another version of Lunette (format %s, and this one reads %d)"):format(path,
      tostring(event.format), FORMAT), 0)
  end
end

-- The lines that a reader holds now. A line that was cut off, as when the run was killed, is the end.
local function drain(reader, batches, path, state, see)
  while true do
    if lib.ln_reader_next(reader, batches) ~= lib.LN_OK then return end
    local batch = batches[0]
    if batch.rows == 0 then return end
    for r = 0, batch.rows - 1 do
      if batch.malformed[r] ~= 0 then
        if state.lines == 0 then error(path .. HOW, 0) end
        state.broken = state.lines + 1
      else
        local event = value.read(batch.record[r], batch.record[r] + batch.record_bytes[r])
        if state.lines == 0 then check_head(path, event) end
        see(event)
      end
      state.lines = state.lines + 1
    end
  end
end

--- Calls `see` with each line of the trace. Raises where the file can't be read or is no trace.
---@param path string a file, or "-" for standard input
---@param see fun(event: table)
---@return integer? broken the number of the last line that was none
function M.each(path, see)
  local file = open(path)
  local limits = ffi.new "ln_limits"
  limits.record_bytes = 64 * 1024 * 1024
  limits.elements = 2 ^ 24
  local reader = ffi.owned(lib.ln_reader_new(lib.LN_FORMAT_JSON, limits, 0), lib.ln_reader_delete)
  local batches = ffi.new "const ln_batch *[1]"
  local state = { lines = 0 }
  while true do
    local piece, why = file:read(PIECE)
    if why then error(path .. ": " .. why, 0) end
    if not piece then break end
    if lib.ln_reader_push(reader, piece, #piece) ~= lib.LN_OK then error("memory is short", 0) end
    drain(reader, batches, path, state, see)
  end
  lib.ln_reader_end(reader)
  drain(reader, batches, path, state, see)
  if file ~= io.stdin then file:close() end
  ffi.free(reader, lib.ln_reader_delete)
  if state.lines == 0 then error(path .. ": it is empty, and no trace", 0) end
  return state.broken
end

return M
