--- The Lua state for C hosts: liblunette as a C program sees it, by the declarations of lunette.h. Only what the
-- program does not show: codes, views, misuse, and two of them side by side.
local ffi = require "ffi"
local host = require "spec.support.host"
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local core, lib = host.core, host.lib
local new, options, opened = host.new, host.options, host.opened
local push, take, finish = host.push, host.take, host.finish

local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" },
  window = ln.tumbling(ln.param("size", 1000)),
  where = function(r) return r.t + (r.x or 0) > 0 end,
  aggregate = { n = ln.count() },
}
]]

local folder, script

before_each(function() folder, script = host.prepare(SCRIPT) end)
after_each(host.clear)

local function error_of(l) return ffi.string(lib.lunette_error(l)) end
local function problem(l, i)
  local text = lib.lunette_problem(l, i)
  return text ~= nil and ffi.string(text) or nil
end

describe("liblunette", function()
  it("runs a script over bytes that the host pushes", function()
    local l = opened()
    push(l, '{"t":500}\n{"t":15')
    assert.equal(lib.LUNETTE_OK, lib.lunette_pump(l, 0))
    assert.equal("", take(l))
    push(l, "00}\n")
    assert.equal(lib.LUNETTE_OK, lib.lunette_pump(l, 0))
    assert.equal(0, json.decode(take(l)).start)
    assert.equal(1000, json.decode(finish(l)).start)
    assert.equal(2, json.decode(ffi.string(lib.lunette_stats(l))).pipelines[1].read)
    local progress = ffi.new "lunette_progress"
    assert.equal(lib.LUNETTE_OK, lib.lunette_progress_get(l, progress))
    assert.equal(2, tonumber(progress.records))
    assert.equal(0, tonumber(progress.windows))
  end)

  it("keeps two of them apart", function()
    local param = ffi.new("lunette_param[1]", { { name = "size", value = "2000" } })
    local a, b = opened(), opened { params = param, params_count = 1 }
    push(a, '{"t":500}\n')
    push(b, '{"t":500}\n{"t":1500}\n')
    lib.lunette_pump(a, 0)
    lib.lunette_pump(b, 0)
    assert.equal(1000, json.decode(finish(a))["end"])
    assert.equal(2, json.decode(finish(b)).value.n)
  end)

  it("tells what is wrong with a script, and forgets it with the next", function()
    local l = new()
    shell.write(folder .. "/bad.lua", "return 1")
    assert.equal(lib.LUNETTE_PROBLEMS, lib.lunette_open(l, folder .. "/bad.lua", options()))
    assert.truthy(problem(l, 0):find("bad.lua:1:", 1, true))
    assert.is_nil(problem(l, 1))
    assert.is_true(lib.lunette_reader(l) == nil)
    assert.equal(lib.LUNETTE_OK, lib.lunette_check(l, script, nil))
    assert.is_nil(problem(l, 0))
    assert.equal(lib.LUNETTE_OK, lib.lunette_open(l, script, nil))
  end)

  it("tells where the input is broken", function()
    local l = opened { in_format = lib.LN_FORMAT_MSGPACK }
    push(l, "\129\161t\1\193")
    assert.equal(lib.LUNETTE_BROKEN, lib.lunette_pump(l, 0))
    assert.equal(4, tonumber(core.ln_reader_error_offset(lib.lunette_reader(l))))
    assert.is_true(#finish(l) > 0)
  end)

  it("hands out a notice once", function()
    local l = opened()
    push(l, '{"t":500,"x":{}}\n{"t":600,"x":{}}\n')
    assert.equal(lib.LUNETTE_OK, lib.lunette_pump(l, 0))
    assert.truthy(ffi.string(lib.lunette_notice(l)):find("script.lua:5:", 1, true))
    assert.is_true(lib.lunette_notice(l) == nil)
    push(l, '{"t":700,"x":{}}\n')
    lib.lunette_pump(l, 0)
    assert.is_true(lib.lunette_notice(l) == nil)
  end)

  it("refuses to run without a script, and to open a second one", function()
    local l = new()
    assert.equal(lib.LUNETTE_FAILED, lib.lunette_pump(l, 0))
    assert.equal("no script is open", error_of(l))
    assert.equal(lib.LUNETTE_FAILED, lib.lunette_finish(l, 0))
    assert.is_true(lib.lunette_stats(l) == nil)
    assert.equal(lib.LUNETTE_OK, lib.lunette_open(l, script, nil))
    assert.equal(lib.LUNETTE_FAILED, lib.lunette_open(l, script, nil))
    assert.truthy(error_of(l):find("open already", 1, true))
  end)

  it("takes the options of a program built against an older or a newer header", function()
    local l = new()
    local older = options { in_format = lib.LN_FORMAT_MSGPACK, traceback = 1, params_count = 1 }
    older.size = ffi.offsetof("lunette_options", "out_format")
    assert.equal(lib.LUNETTE_OK, lib.lunette_check(l, script, older))
    local newer = ffi.new "struct { lunette_options known; int added; }"
    newer.known.size = ffi.sizeof(newer)
    assert.equal(lib.LUNETTE_OK, lib.lunette_check(l, script, newer.known))
    newer.added = 1
    assert.equal(lib.LUNETTE_FAILED, lib.lunette_check(l, script, newer.known))
    assert.truthy(error_of(l):find("this version does not have", 1, true))
  end)
end)
