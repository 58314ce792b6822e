--- The state of what runs as bytes, as a C host writes and reads it.
local ffi = require "ffi"
local host = require "spec.support.host"
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local lib, core = host.lib, host.core
local push, take = host.push, host.take

local SCRIPT = [[
local ln = require "lunette"
local function pipeline(name, window, trigger)
  return ln.pipeline { name = name, time = { field = "t" }, watermark = { delay = 300 }, key = "k", window = window,
    trigger = trigger, panes = "retracting", aggregate = { n = ln.count(), s = ln.sum "v", last = ln.last "v" } }
end
return {
  ln.pipeline { name = "slices", time = { field = "t" }, key = "k", window = ln.hopping(1000, 250),
    aggregate = { n = ln.count(), s = ln.sum "v" } },
  pipeline("cells", ln.tumbling(1000), ln.at_watermark { early = ln.after_count(3) }),
  pipeline("sessions", ln.session(200), nil),
  pipeline("bounded", ln.session(200, { max = 700 }), nil),
}
]]
local FOLDS = [[
local ln = require "lunette"
return ln.pipeline { time = { field = "t" }, key = "k", window = ln.tumbling(1000), aggregate = { n = ln.count(),
  f = ln.fold { init = function() return {} end, add = function(a, r) a[#a + 1] = r.v return a end,
    result = function(a) return #a end } } }
]]

before_each(function() host.prepare(SCRIPT) end)
after_each(host.clear)

local function records(from, count)
  local lines = {}
  for i = from, from + count - 1 do
    lines[#lines + 1] = ('{"t":%d,"k":"k%d","v":%d}\n'):format(i * 13 - i * 7 % 250, i * 31 % 499, i % 7)
  end
  return table.concat(lines)
end

local function feed(l, text)
  push(l, text)
  local out = ""
  repeat
    local code = lib.lunette_pump(l, 0)
    out = out .. take(l)
  until code ~= lib.LUNETTE_DRAIN
  return out
end

-- A checkpoint in small steps, with `between` called after each but the last.
local function checkpoint(l, changes, budget, between)
  local pieces = {}
  local write = ffi.cast("lunette_write", function(_, bytes, len)
    pieces[#pieces + 1] = ffi.string(bytes, len)
    return 0
  end)
  local code
  repeat
    code = lib.lunette_checkpoint(l, changes, budget, write, nil)
    if code == lib.LUNETTE_DRAIN and between then between() end
  until code ~= lib.LUNETTE_DRAIN
  write:free()
  assert.equal(lib.LUNETTE_OK, code)
  return table.concat(pieces), #pieces
end

local function restore(l, bytes, piece)
  for at = 1, #bytes, piece or #bytes do
    local text = bytes:sub(at, at + (piece or #bytes) - 1)
    local code = lib.lunette_restore(l, text, #text)
    if code ~= lib.LUNETTE_OK then return code, "" end
  end
  local code, out = lib.lunette_restore_end(l), ""
  return code, out .. take(l)
end

local function error_of(l) return ffi.string(lib.lunette_error(l)) end

-- The entries of some bytes, into a store of the newest.
local function store(into, bytes)
  local at, left = ffi.cast("const uint8_t *", bytes), #bytes
  local entry = ffi.new "ln_read_entry"
  while left > 0 do
    local n = tonumber(core.ln_bytes_read(at, left, entry))
    assert(n > 0)
    local id = ("%d %d %012.0f"):format(entry.kind == lib.LN_ENTRY_PLAN and 0 or entry.part + 1, entry.kind,
      tonumber(entry.number))
    if entry.bytes == nil and entry.kind == lib.LN_ENTRY_EXTENT then
      local prefix = id:sub(1, 4)
      for known in pairs(into) do
        if known:sub(1, 4) == prefix and known <= id then into[known] = nil end
      end
    end
    into[id] = entry.bytes ~= nil and ffi.string(at, n) or nil
    if entry.kind == lib.LN_ENTRY_PLAN then into[("0 %d"):format(entry.part)], into[id] = ffi.string(at, n), nil end
    at, left = at + n, left - n
  end
end

local function whole_of(into)
  local ids, out = {}, {}
  for id in pairs(into) do ids[#ids + 1] = id end
  table.sort(ids)
  for i, id in ipairs(ids) do out[i] = into[id] end
  return table.concat(out)
end

describe("a checkpoint", function()
  it("is of one moment, however long it is written, and the run goes on from it as if nothing had been", function()
    for at = 200, 1000, 400 do
      local l, want = host.opened(), {}
      feed(l, records(1, at))
      local n = at
      local bytes, pieces = checkpoint(l, 0, 0, function()
        want[#want + 1] = feed(l, records(n + 1, 50))
        n = n + 50
      end)
      if at > 200 then assert.is_true(pieces > 2) end
      want[#want + 1] = feed(l, records(n + 1, 1500 - n)) .. host.finish(l)
      local m = host.opened()
      local code, out = restore(m, bytes, 777)
      assert.equal(lib.LUNETTE_OK, code, error_of(m))
      out = out .. feed(m, records(at + 1, 1500 - at)) .. host.finish(m)
      assert.equal(table.concat(want), out)
      local function account(x)
        return (ffi.string(lib.lunette_stats(x)):gsub('"state_bytes":%d+', ""):gsub('"traces_aborted":%d+', ""))
      end
      assert.equal(account(l), account(m))
    end
  end)

  it("can be of what has changed since the one before", function()
    local l, into, sizes = host.opened(), {}, {}
    for i = 1, 12 do
      feed(l, records(i * 40, 40))
      local bytes = checkpoint(l, 1, 1000000)
      sizes[i] = #bytes
      store(into, bytes)
    end
    store(into, (checkpoint(l, 1, 1000000)))
    local small = #(checkpoint(l, 1, 1000000))
    assert.is_true(small < sizes[12] / 2, ("%d bytes for nothing, %d for 40 records"):format(small, sizes[12]))
    local m = host.opened()
    local code, out = restore(m, whole_of(into))
    assert.equal(lib.LUNETTE_OK, code, error_of(m))
    assert.equal(feed(l, records(1000, 300)) .. host.finish(l), out .. feed(m, records(1000, 300)) .. host.finish(m))
  end)

  it("has the accumulators of folds", function()
    shell.write(host.script, FOLDS)
    local l, m = host.opened(), host.opened()
    feed(l, records(1, 60))
    assert.equal(lib.LUNETTE_OK, (restore(m, (checkpoint(l, 0, 0)))))
    assert.equal(feed(l, records(61, 200)) .. host.finish(l), feed(m, records(61, 200)) .. host.finish(m))
  end)

  it("is opened by a changed script by the rules of a reload", function()
    local l = host.opened()
    feed(l, records(1, 100))
    local bytes = checkpoint(l, 0, 0)
    shell.write(host.script, (SCRIPT:gsub("ln.hopping%(1000, 250%)", "ln.hopping(1000, 500)")))
    local m = host.opened()
    assert.equal(lib.LUNETTE_PROBLEMS, (restore(m, bytes)))
    local problem = ffi.string(lib.lunette_problem(m, 0))
    assert.truthy(problem:find("window: was hopping 1s, every 250ms and is hopping 1s, every 500ms now", 1, true),
      problem)
    shell.write(host.script, (SCRIPT:gsub("trigger = trigger", "trigger = nil")))
    local n = host.opened()
    assert.equal(lib.LUNETTE_OK, (restore(n, bytes)), error_of(n))
    for line in (feed(n, records(101, 50)) .. host.finish(n)):gmatch "[^\n]+" do
      local pane = json.decode(line)
      assert.is_true(pane.timing ~= "early" or pane.retract)
    end
  end)

  it("that is broken, cut short, or none is refused", function()
    local l = host.opened()
    feed(l, records(1, 100))
    local bytes = checkpoint(l, 0, 0)
    for i = 1, 200 do
      local at = i * 37 % #bytes + 1
      local broken = bytes:sub(1, at - 1) .. string.char((bytes:byte(at) + 1) % 256) .. bytes:sub(at + 1)
      local m = host.opened()
      assert.equal(lib.LUNETTE_FAILED, (restore(m, broken)))
      assert.truthy(#error_of(m) > 0)
    end
    local m = host.opened()
    assert.equal(lib.LUNETTE_FAILED, (restore(m, bytes:sub(1, -2))))
    assert.equal(lib.LUNETTE_FAILED, lib.lunette_restore_end(host.opened()))
  end)

  it("is given up where it can't be written", function()
    local l = host.opened()
    feed(l, records(1, 100))
    local write = ffi.cast("lunette_write", function() return 1 end)
    assert.equal(lib.LUNETTE_FAILED, lib.lunette_checkpoint(l, 0, 0, write, nil))
    write:free()
    assert.truthy(error_of(l):find("could not be written", 1, true))
    assert.is_true(#checkpoint(l, 0, 0) > 0)
  end)
end)
