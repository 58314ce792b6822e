--- The engine's library, as Lua sees it. The one module that touches the FFI: the others work with what it hands out.
local ffi = require "ffi"

-- A host may have dropped this module and required it again: what is declared stays so.
if not pcall(ffi.sizeof, "ln_limits") then ffi.cdef(require "lunette.cdef") end
-- By a name that no host's declaration can meet.
if not pcall(function() return ffi.C.ln_clock_gettime end) then
  ffi.cdef [[int ln_clock_gettime(int, int64_t *) __asm__("clock_gettime");]]
end

-- The program names the library that it runs itself, and a host may name one by the environment. Else it lies where
-- Lua's own libraries in C do, or under the prefix that this module is installed under, or where the system looks.
local function find()
  local named = package.loaded["lunette.core_path"] or os.getenv "LUNETTE_CORE"
  if named then return named end
  local prefix = debug.getinfo(1, "S").source:match "^@(.*)/share/lua/5%.1/lunette/ffi%.lua$"
  local patterns = package.cpath .. (prefix and (";%s/lib/?.so;%s/lib64/?.so"):format(prefix, prefix) or "")
  return package.searchpath("liblunette-core", patterns) or "lunette-core"
end

local function load()
  local path = find()
  local ok, lib = pcall(ffi.load, path)
  if ok then return lib end
  error(("Lunette's library can't be loaded: %s: put liblunette-core.so where package.cpath or the system looks, or "
    .. "name it by the environment variable LUNETTE_CORE"):format(lib), 0)
end

local M = {
  lib = load(),
  string = ffi.string,
  new = ffi.new,
  cast = ffi.cast,
  typeof = ffi.typeof,
  sizeof = ffi.sizeof,
  fill = ffi.fill,
  copy = ffi.copy,
}

-- Where a loop stands. So small a cdata is a constant of the traces that use it.
local cursor = ffi.typeof "struct { int32_t row, stage, column, id; }"
function M.cursor() return cursor() end

local int64, uint64 = ffi.typeof "int64_t", ffi.typeof "uint64_t"

M.int64 = int64

--- "int64", "uint64" or nil for a cdata that is a whole number of 64 bits.
function M.whole_kind(x)
  if ffi.istype(int64, x) then return "int64" end
  if ffi.istype(uint64, x) then return "uint64" end
end

--- The address of an object as a number, for C hosts.
function M.address(object) return tonumber(ffi.cast("uintptr_t", ffi.cast("void *", object))) end

local time = ffi.new "int64_t[2]" -- a struct timespec
local MONOTONIC = 1

--- A clock in microseconds that never goes back, of no particular beginning: for budgets.
function M.clock_us()
  ffi.C.ln_clock_gettime(MONOTONIC, time)
  return tonumber(time[0]) * 1e6 + tonumber(time[1]) / 1e3
end

--- Frees an object with `delete` when Lua no longer holds it.
function M.owned(object, delete)
  if object == nil then error("out of memory", 0) end
  return ffi.gc(object, delete)
end

--- The same object, which Lua frees no longer.
function M.released(object) return ffi.gc(object, nil) end

--- An object of a C type at an address that another Lua state has told.
function M.at(ctype, address) return ffi.cast(ctype, ffi.cast("uintptr_t", address)) end

--- Frees it now.
function M.free(object, delete) delete(ffi.gc(object, nil)) end

-- Where a C host wants memory to come from; nil stands for the heap of the C library.
local named = package.loaded["lunette.allocator"]
local allocator = named and ffi.cast("const ln_allocator *", named) or nil
local lib = M.lib

--- The objects of the library, in the host's memory.
function M.new_reader(format, limits, rows_max)
  return M.owned(lib.ln_reader_new_in(allocator, format, limits, rows_max), lib.ln_reader_delete)
end
function M.new_output(format) return M.owned(lib.ln_output_new_in(allocator, format), lib.ln_output_delete) end
function M.new_engine(plan, sink) return M.owned(lib.ln_engine_new_in(allocator, plan, sink), lib.ln_engine_delete) end

return M
