--- A script that changes while it runs, as a C host sees it: lunette_reload_begin, _step and _cancel.
local ffi = require "ffi"
local host = require "spec.support.host"
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local lib = host.lib
local push, take, finish = host.push, host.take, host.finish

local function script(fields)
  fields = fields or {}
  return ([[
local ln = require "lunette"
%s
return ln.pipeline {
  time = { field = "t" },
  key = %s,
  window = %s,
  trigger = %s,
  lateness = %s,
  where = %s,
  aggregate = { n = ln.count(), s = ln.sum "v"%s },
}
]]):format(fields.before or "", fields.key or '"k"', fields.window or "ln.tumbling(1000)", fields.trigger or "nil",
    fields.lateness or "nil", fields.where or "nil", fields.more or "")
end

local folder

before_each(function() folder = host.prepare(script()) end)
after_each(host.clear)

local function write(name, text)
  shell.write(folder .. "/" .. name, text)
  return folder .. "/" .. name
end

local function error_of(l) return ffi.string(lib.lunette_error(l)) end

local function problems_of(l)
  local out, i = {}, 0
  while true do
    local text = lib.lunette_problem(l, i)
    if text == nil then return out end
    i = i + 1
    out[i] = ffi.string(text)
  end
end

-- A whole reload; what came out meanwhile.
local function reload(l, path, on_change)
  assert(lib.lunette_reload_begin(l, path, nil, on_change or lib.LUNETTE_CHANGE_REFUSE) == lib.LUNETTE_OK,
    table.concat(problems_of(l), "\n") .. error_of(l))
  local text, code = ""
  repeat
    code = lib.lunette_reload_step(l, 0, 1000)
    text = text .. take(l)
  until code ~= lib.LUNETTE_DRAIN
  assert(code == lib.LUNETTE_OK, error_of(l))
  return text
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

local function panes(text)
  local out = {}
  for line in text:gmatch "[^\n]+" do out[#out + 1] = json.decode(line) end
  return out
end

local function records(n, from)
  local lines = {}
  for i = 1, n do
    local t = (from or 0) + i
    lines[i] = ('{"t":%d,"k":"k%d","v":%d,"w":%d}\n'):format(t * 7, t * 31 % 17, t % 5, t % 11)
  end
  return table.concat(lines)
end

describe("a reload", function()
  it("goes on with windows, with the same reader and output, by the new functions", function()
    local l = host.opened()
    local reader, output = lib.lunette_reader(l), lib.lunette_output(l)
    assert.equal("", feed(l, '{"t":1,"k":"a","v":1}\n{"t":2,"k":"a","v":2}\n'))
    reload(l, write("next.lua", script { where = "function(r) return r.v > 5 end", more = ', w = ln.max "w"' }))
    assert.equal(reader, lib.lunette_reader(l))
    assert.equal(output, lib.lunette_output(l))
    feed(l, '{"t":3,"k":"a","v":3}\n{"t":4,"k":"a","v":10,"w":4}\n')
    local out = panes(finish(l))
    assert.equal(1, #out)
    assert.same({ n = 3, s = 13, w = 4 }, out[1].value)
    local stats = json.decode(ffi.string(lib.lunette_stats(l))).pipelines[1]
    assert.equal(4, stats.read)
    assert.equal(1, stats.filtered)
  end)

  it("tells of an aggregate that is new", function()
    local l = host.opened()
    feed(l, '{"t":1,"k":"a","v":1}\n')
    reload(l, write("next.lua", script { more = ', w = ln.max "w"' }))
    assert.equal("pipeline: aggregate.w is new: in windows that are open it starts empty",
      ffi.string(lib.lunette_notice(l)))
    assert.is_true(lib.lunette_notice(l) == nil)
  end)

  it("refuses what may not change, with the field and both values", function()
    local l = host.opened()
    local changes = {
      { { key = '"host"' }, "key: was k and is host now" },
      { { window = "ln.tumbling(2000)" }, "window: was tumbling 1s and is tumbling 2s now" },
      { { window = "ln.session(1000)" }, "window: was tumbling 1s and is session with a gap of 1s now" },
      { { more = "}, emit = nil, limits = {}, panes = 'retracting', __ = nil, aggregate = { n = ln.count()" },
        nil },
    }
    for i = 1, 3 do
      local path = write("next.lua", script(changes[i][1]))
      assert.equal(lib.LUNETTE_PROBLEMS, lib.lunette_reload_begin(l, path, nil, 0))
      local found = problems_of(l)
      assert.equal(1, #found)
      assert.truthy(found[1]:find(changes[i][2], 1, true), found[1])
      assert.truthy(found[1]:find("next.lua:", 1, true), found[1])
    end
    local gone = script():gsub(', s = ln.sum "v"', "")
    assert.equal(lib.LUNETTE_PROBLEMS, lib.lunette_reload_begin(l, write("next.lua", gone), nil, 0))
    assert.truthy(problems_of(l)[1]:find("aggregate.s: was sum v and is gone now", 1, true))
    feed(l, '{"t":1,"k":"a","v":1}\n')
    assert.equal(1, #panes(finish(l)))
  end)

  it("of a bad script leaves all as it is", function()
    local l = host.opened()
    feed(l, '{"t":1,"k":"a","v":1}\n')
    for _, text in ipairs { "return 1", "x x", 'error "no"' } do
      assert.equal(lib.LUNETTE_PROBLEMS, lib.lunette_reload_begin(l, write("bad.lua", text), nil, 0))
      assert.truthy(problems_of(l)[1]:find("bad.lua", 1, true))
    end
    assert.equal(lib.LUNETTE_FAILED, lib.lunette_reload_step(l, 0, 1000))
    assert.truthy(error_of(l):find("no reload", 1, true))
    lib.lunette_reload_cancel(l)
    assert.equal(1, panes(finish(l))[1].value.n)
  end)

  it("can be cancelled, and begun again", function()
    local l = host.opened()
    feed(l, records(100))
    local path = write("next.lua", script { trigger = "ln.at_watermark { early = ln.each() }" })
    assert.equal(lib.LUNETTE_OK, lib.lunette_reload_begin(l, path, nil, 0))
    assert.equal(lib.LUNETTE_FAILED, lib.lunette_reload_begin(l, path, nil, 0))
    lib.lunette_reload_cancel(l)
    reload(l, path)
    assert.equal("early", panes(feed(l, '{"t":701,"k":"k1","v":1}\n'))[1].timing)
    finish(l)
  end)

  it("takes accumulators of folds along where they are plain data, and refuses others by name", function()
    local fold = [[, f = ln.fold { init = function() return { list = {}, %s } end,
      add = function(a, r) a.list[#a.list + 1] = r.v return a end, result = function(a) return a.list end }]]
    local l = lib.lunette_new(nil)
    assert(lib.lunette_open(l, write("one.lua", script { more = fold:format "x = 1" }), nil) == lib.LUNETTE_OK)
    feed(l, '{"t":1,"k":"a","v":1}\n{"t":2,"k":"a","v":2}\n')
    reload(l, write("two.lua", script { more = fold:format "y = print" }))
    feed(l, '{"t":3,"k":"a","v":3}\n{"t":4,"k":"b","v":3}\n')
    assert.equal(lib.LUNETTE_OK, lib.lunette_reload_begin(l, folder .. "/one.lua", nil, 0))
    local code
    repeat code = lib.lunette_reload_step(l, 0, 1000) until code ~= lib.LUNETTE_DRAIN
    assert.equal(lib.LUNETTE_FAILED, code)
    assert.truthy(error_of(l):find("pipeline: fold `f`: its accumulator holds a function", 1, true), error_of(l))
    local out = panes(finish(l))
    assert.same({ 1, 2, 3 }, out[1].value.f)
    lib.lunette_delete(l)
  end)

  it("is the same as none, 200 times under load, good, bad and with other fields", function()
    local good = {}
    for i = 1, 20 do
      good[i] = write(("good%d.lua"):format(i), script {
        where = ("function(r) return r.other%d == nil end"):format(i),
        lateness = i % 3 == 0 and "0" or nil,
      })
    end
    local bad = write("bad.lua", "return 2")
    local refused = write("refused.lua", script { window = "ln.tumbling(500)" })
    local l, plain = host.opened(), host.opened()
    local out, want, done = {}, {}, 0
    for i = 1, 600 do
      local text = records(40, i * 40)
      if i % 3 == 0 then
        if i % 2 == 0 then
          assert.equal(lib.LUNETTE_PROBLEMS, lib.lunette_reload_begin(l, i % 4 == 0 and bad or refused, nil, 0))
        end
        assert.equal(lib.LUNETTE_OK, lib.lunette_reload_begin(l, good[done % 20 + 1], nil, 0))
        repeat
          push(l, "")
          local code = lib.lunette_reload_step(l, 0, 500)
          assert.is_true(code == lib.LUNETTE_OK or code == lib.LUNETTE_DRAIN, error_of(l))
          out[#out + 1] = take(l)
        until code == lib.LUNETTE_OK
        done = done + 1
      end
      out[#out + 1] = feed(l, text)
      want[#want + 1] = feed(plain, text)
    end
    assert.equal(200, done)
    out[#out + 1], want[#want + 1] = finish(l), finish(plain)
    assert.equal(table.concat(want), table.concat(out))
    assert.is_true(host.core.ln_reader_columns(lib.lunette_reader(l)) < 8)
  end)
end)

describe("a reload that drains", function()
  local function by_start(list)
    table.sort(list, function(a, b) return a.start < b.start or a.start == b.start and a["end"] < b["end"] end)
    return list
  end

  it("lets the old windows be until they expire, and begins anew beside them", function()
    local l = host.opened()
    feed(l, '{"t":1,"k":"a","v":1}\n{"t":2,"k":"b","v":2}\n')
    local path = write("next.lua", script { window = "ln.tumbling(500)", key = '"other"' })
    assert.equal(lib.LUNETTE_PROBLEMS, lib.lunette_reload_begin(l, path, nil, lib.LUNETTE_CHANGE_REFUSE))
    assert.equal("", reload(l, path, lib.LUNETTE_CHANGE_DRAIN))
    assert.equal("", feed(l, '{"t":3,"k":"a","other":"x","v":10}\n'))
    local out = by_start(panes(feed(l, '{"t":1600,"k":"a","other":"x","v":10}\n')))
    assert.equal(3, #out)
    assert.same({ 500, 1000, 1000 }, { out[1]["end"], out[2]["end"], out[3]["end"] })
    assert.same({ n = 1, s = 10 }, out[1].value)
    assert.equal(3, out[2].value.s + out[3].value.s)
    out = panes(finish(l))
    assert.equal(1, #out)
    assert.equal(1500, out[1].start)
  end)

  it("ends with the input, also where several scripts drain, and refuses too many", function()
    local l = host.opened()
    for i = 1, 9 do
      feed(l, '{"t":1,"k":"a","v":1}\n')
      local path = write("next.lua", script { window = ("ln.tumbling(%d)"):format(1000 * (i + 1)) })
      if i == 9 then
        assert.equal(lib.LUNETTE_FAILED, lib.lunette_reload_begin(l, path, nil, lib.LUNETTE_CHANGE_DRAIN))
        assert.truthy(error_of(l):find("wait until", 1, true))
      else
        reload(l, path, lib.LUNETTE_CHANGE_DRAIN)
      end
    end
    local out, ends = panes(finish(l)), {}
    for i, pane in ipairs(out) do ends[i] = pane["end"] end
    table.sort(ends)
    assert.same({ 1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000 }, ends)
  end)

  it("goes on with pipelines of a list that have not changed", function()
    local function list(window)
      return ([[local ln = require "lunette"
        local function p(name, window) return ln.pipeline { name = name, time = { field = "t" }, window = window,
          aggregate = { n = ln.count() } } end
        return { p("one", ln.tumbling(1000)), p("two", %s) }]]):format(window)
    end
    shell.write(host.script, list "ln.tumbling(1000)")
    local l = host.opened()
    feed(l, '{"t":1}\n{"t":2}\n')
    reload(l, write("next.lua", list "ln.tumbling(2000)"), lib.LUNETTE_CHANGE_DRAIN)
    feed(l, '{"t":3}\n')
    local counts = {}
    for _, pane in ipairs(panes(finish(l))) do counts[pane.pipeline .. " " .. pane["end"]] = pane.value.n end
    assert.same({ ["one 1000"] = 3, ["two 1000"] = 2, ["two 2000"] = 1 }, counts)
  end)
end)
