--- The engine's library, as Lua sees it. The one module that touches the FFI: the others work with what it hands out.
local ffi = require "ffi"

ffi.cdef(require "lunette.cdef")

-- The program names the library that it runs itself; a host may name one; else it is found where libraries are.
local path = package.loaded["lunette.core_path"] or os.getenv "LUNETTE_CORE" or "lunette-core"

local M = {
  lib = ffi.load(path),
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

--- Frees an object with `delete` when Lua no longer holds it.
function M.owned(object, delete)
  if object == nil then error("out of memory", 0) end
  return ffi.gc(object, delete)
end

--- Frees it now.
function M.free(object, delete) delete(ffi.gc(object, nil)) end

return M
