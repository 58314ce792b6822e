-- From the root of the source tree: luarocks make lua/lunette-0.1.0-1.rockspec
rockspec_format = "3.0"
package = "lunette"
version = "0.1.0-1"
source = {
  url = "file://lunette-0.1.0.tar.gz", -- an archive of the tree, for `luarocks build` and `luarocks pack`
  dir = "lunette-0.1.0",
}
description = {
  summary = "Windows over endless streams, inside of a LuaJIT host",
  detailed = [[
Cuts endless streams of records into windows of time and keeps aggregates of each: late records, sessions, triggers,
watermarks. An engine in C that LuaJIT drives through its FFI, on the host's own loop and clock.]],
  license = "MIT",
  labels = { "streaming", "windows", "luajit", "ffi" },
}
supported_platforms = { "linux" }
dependencies = { "lua == 5.1" } -- which LuaJIT is to LuaRocks; it needs the FFI
external_dependencies = {
  SIMDJSON = { header = "simdjson.h" },
  XXHASH = { header = "xxhash.h" },
}
build = {
  type = "command",
  build_command = "cmake -S . -B build-rock -DLUNETTE_CORE_ONLY=ON -DCMAKE_INSTALL_LIBDIR=$(LIBDIR)"
    .. " -DLUNETTE_LUADIR=$(LUADIR) && cmake --build build-rock --parallel",
  install_command = "cmake --install build-rock --component lunette_core"
    .. " && cmake --install build-rock --component lunette_lua",
}
