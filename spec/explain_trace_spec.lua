--- `lunette explain --trace`: why nothing has come out, in words that are right. Traces of runs that still go on are
-- made by cutting off what the end of the input brought.
local shell = require "spec.support.shell"

local root = io.popen("pwd"):read "*l"
local folder
before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t", unit = "s" }, key = "k", window = ln.tumbling "1m",
  %s
  aggregate = { n = ln.count() },
}
]]

-- The trace of a run that has not come to its end.
local function trace(fields, records)
  shell.write(folder .. "/s.lua", SCRIPT:format(fields))
  shell.write(folder .. "/in.jsonl", table.concat(records, "\n") .. "\n")
  local r = shell.run(folder, [["$LUNETTE" run --clock at --trace whole s.lua in.jsonl >panes 2>words &&
    sed '/"event":"finish"/,$d' whole >trace]])
  assert.same({ 0, "" }, { r.code, r.err })
end

local function ask(arguments)
  local r = shell.run(folder, '"$LUNETTE" explain --trace trace ' .. arguments)
  assert.same({ 0, "" }, { r.code, r.err })
  return r.out
end

local function says(text, ...)
  for _, part in ipairs { ... } do
    assert.truthy(text:find(part, 1, true), ("not said: %s\nin: %s"):format(part, text))
  end
end

local function first_line(text) return text:match "^[^\n]*" end

describe("why has nothing come out?", function()
  it("the watermark is on its way", function()
    trace('watermark = { delay = "10s" },', { '{"t":5,"k":"a"}', '{"t":42,"k":"a"}' })
    local out = ask "--key a"
    assert.equal('[0, 60) of "a" has shown nothing yet: it waits for the watermark to reach its end at 60, 28s from '
      .. "where it stands at 32; a record at 70 or later brings it there.", first_line(out))
    says(out, "records: 2: 1 (time 5), 2 (time 42)", "no pane has come out", "the delay of 10s", "breaks off")
  end)

  it("a silent source holds it", function()
    trace('watermark = { source = "h" },', { '{"t":5,"k":"a","h":"x","at":6}', '{"t":8,"k":"a","h":"y","at":9}',
      '{"t":300,"k":"b","h":"y","at":301}' })
    local out = ask "--key a"
    says(first_line(out), 'held there by source "x", silent for 4m55s')
    says(out, 'source "x" holds it', "its last record was record 1 (clock 6), with time 5",
      'with watermark.idle = "30s" the others would go on without it')
  end)

  it("sources are missing", function()
    trace('watermark = { source = "h", sources = 3 },', { '{"t":5,"k":"a","h":"x"}', '{"t":8,"k":"a","h":"y"}' })
    local out = ask "--key a"
    says(first_line(out), "which has not begun")
    says(out, "it begins when 3 sources have been heard; 2 were")
  end)

  it("the trigger waits for records, a clock, or silence", function()
    trace([[trigger = ln.at_watermark { early = ln.any { ln.after_count(5), ln.after_delay "30s",
      ln.after_idle "20s" } },]], { '{"t":5,"k":"a","at":6}', '{"t":8,"k":"a","at":9}' })
    says(ask "--key a", "for 5 records since its last pane, and has 2", "for the clock to reach 36, 30s after",
      "for the clock to reach 29 without a record before, 20s after the latest")
  end)

  it("a plain trigger knows no end", function()
    trace("trigger = ln.after_count(3),", { '{"t":5,"k":"a","at":6}', '{"t":90,"k":"b","at":91}', '{"t":61,"k":"a"}' })
    says(first_line(ask "--key a --window 60"), "it waits for 3 records since its last pane, and has 1.")
  end)

  it("all records were late, by so much", function()
    trace('lateness = "5s",', { '{"t":500,"k":"b"}', '{"t":30,"k":"a"}', '{"t":70,"k":"a"}' })
    local out = ask "--key a"
    assert.equal('No record of "a" was taken: 2 late.', first_line(out))
    says(out, "record 2, time 30: late by 7m50s for [0, 60); the watermark was at 500",
      "a lateness above 7m20s would have taken it; it is 5s")
    says(first_line(ask "--key a --window 60"), "record 3 would have opened it, and was late.")
  end)

  it("they were filtered, or not good", function()
    trace('where = function(r) return r.ok end,', { '{"t":1,"k":"a"}', '{"t":"x","k":"a","ok":true}' })
    local out = ask "--key a"
    assert.equal('No record of "a" was taken: 1 filtered, 1 no_time.', first_line(out))
    says(out, "record 1, time 1: `where` said no", "it has no time that can be read as one (no_time)")
  end)

  it("it has come out", function()
    trace("", { '{"t":5,"k":"a"}', '{"t":65,"k":"a"}' })
    says(first_line(ask "--key a --window 0"), "has come out: 1 pane, the last at record 2; it is gone.")
  end)

  it("no record has that key, and these are there", function()
    trace("", { '{"t":5,"k":"a"}', '{"t":6,"k":7}' })
    local out = ask "--key b"
    assert.equal('No record with the key "b" was read.', first_line(out))
    says(out, '"a": 1 record, 1 window', "7: 1 record, 1 window")
    says(first_line(ask "--key 7"), "[0, 60) of 7 has shown nothing yet")
  end)

  it("the trace was cut short", function()
    shell.write(folder .. "/s.lua", SCRIPT:format "")
    shell.write(folder .. "/in.jsonl", ('{"t":5,"k":"a"}\n'):rep(50))
    shell.run(folder, '"$LUNETTE" run --trace trace --trace-limit 2000 --trace-key a s.lua in.jsonl')
    says(ask "--key a", "events are missing from it, past the limit of 2000 bytes", "narrowed to the keys a")
  end)
end)

describe("explain --trace", function()
  local function refused(code, arguments, words)
    local r = shell.run(folder, '"$LUNETTE" explain ' .. arguments)
    assert.same({ code, "" }, { r.code, r.out })
    says(r.err, words)
  end

  it("says what is wrong with its command line, or with the file", function()
    trace("", { '{"t":5,"k":"a"}' })
    refused(2, "--trace trace", "--key KEY is missing")
    refused(2, "--trace trace --key a --window", "--window needs a value")
    refused(2, "--key a", "--trace FILE is missing")
    refused(2, "--trace trace --key a --window soon", "--window soon: write the window's start as a number")
    refused(2, "--trace trace --kye a", "did you mean --key?")
    refused(1, "--trace s.lua --key a", "s.lua: it is no trace: make one with `lunette run --trace FILE`")
    refused(1, "--trace nowhere --key a", "nowhere: No such file")
    refused(1, "--trace trace --key a --pipeline x", "no such pipeline; it has pipeline")
  end)

  it("wants no key where the pipeline has none", function()
    shell.write(folder .. "/s.lua", (SCRIPT:format(""):gsub('key = "k", ', "")))
    shell.write(folder .. "/in.jsonl", '{"t":5,"k":"a"}\n')
    shell.run(folder, '"$LUNETTE" run --trace trace s.lua in.jsonl')
    refused(2, "--trace trace --key a", "--key a: the pipeline has no key: leave it out")
    says(ask "", "[0, 60) has come out only when the input ended")
  end)

  it("reads a trace from a pipe, and one that breaks off in a line", function()
    trace("", { '{"t":5,"k":"a"}' })
    local r = shell.run(folder, 'head -c -20 trace | "$LUNETTE" explain --trace - --key a')
    assert.equal(0, r.code)
    says(r.out, '[0, 60) of "a" has shown nothing yet')
  end)

  it("answers for the gallery's held watermark", function()
    local r = shell.run(folder, ([["$LUNETTE" run --clock at --set idle=1h --trace trace %s/idle.lua %s/idle.jsonl \
      >panes && sed '/"event":"finish"/,$d' trace | "$LUNETTE" explain --trace -]]):format(
      root .. "/examples/gallery", root .. "/examples/gallery"))
    says(first_line(r.out), "[30, 60) has shown nothing yet", 'held there by source "b", silent for 1m20s')
  end)
end)
