--- liblunette as a C program sees it, by the declarations of lunette.h, with a folder and a script for each test.
local ffi = require "ffi"
local shell = require "spec.support.shell"

local M = {}

-- What a header declares behind its includes, without lines of the preprocessor.
local function declarations(path)
  local text = shell.read(path):match "\n#include \"lunette_trace_ffi.h\"\n(.-)\n#pragma GCC visibility pop"
    or shell.read(path):match "\n#pragma GCC visibility push%(default%)\n(.-)\n#pragma GCC visibility pop"
  return (text:gsub("#define [^\n]*\\\n[^\n]*\n", ""))
end

ffi.cdef(require "lunette.cdef")
ffi.cdef(declarations "core/lunette.h")
ffi.cdef(declarations "core/lunette_program.h")

local core_path = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
M.core = ffi.load(core_path)
M.lib = ffi.load((core_path:gsub("%-core%.so$", ".so")))
local core, lib = M.core, M.lib

--- To be called before each test: the folder, and the path of the script in it.
function M.prepare(text)
  M.folder = shell.folder()
  M.script = M.folder .. "/script.lua"
  shell.write(M.script, text)
  return M.folder, M.script
end

function M.clear() shell.remove(M.folder) end

function M.new() return ffi.gc(lib.lunette_new(nil), lib.lunette_delete) end

function M.options(fields)
  local o = ffi.new("lunette_options", fields or {})
  o.size = ffi.sizeof(o)
  return o
end

function M.opened(fields)
  local l = M.new()
  assert(lib.lunette_open(l, M.script, M.options(fields)) == lib.LUNETTE_OK)
  return l
end

function M.push(l, text, reader)
  assert(core.ln_reader_push(reader or lib.lunette_reader(l), text, #text) == 0)
end

function M.take(l)
  local len = ffi.new "size_t[1]"
  local text = ffi.string(core.ln_output_take(lib.lunette_output(l), lib.LN_STREAM_PANES, len), len[0])
  core.ln_output_clear(lib.lunette_output(l), lib.LN_STREAM_PANES)
  return text
end

function M.finish(l)
  local text = ""
  repeat
    local code = lib.lunette_finish(l, 0)
    text = text .. M.take(l)
  until code ~= lib.LUNETTE_DRAIN
  return text
end

return M
