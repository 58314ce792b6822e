--- The program, from outside: its commands, exit codes, files and words. What panes say is checked elsewhere; here a
-- pane is mostly one short text, `[start,end) n`.
local cli = require "spec.support.cli"
local json = require "spec.support.json"

local COUNT, put, get, run = cli.COUNT, cli.put, cli.get, cli.run
local lines_of, panes, packed = cli.lines_of, cli.panes, cli.packed

before_each(function() cli.prepare() end)
after_each(cli.clear)

describe("help and usage", function()
  it("explains the program and each command, with an example", function()
    for _, command in ipairs { "", "run", "check", "version", "help" } do
      local r = run("$LUNETTE " .. command .. " --help")
      assert.equal(0, r.code)
      assert.equal("", r.err)
      assert.truthy(r.out:find("\n  [^\n]*lunette " .. command), command)
      assert.equal(r.out, run("$LUNETTE " .. command .. " -h").out)
      assert.equal(r.out, run("$LUNETTE help " .. command).out)
    end
  end)

  it("gives an example that works as printed", function()
    local text = run("$LUNETTE --help").out
    local script = text:match "count.lua:\n\n(.-)\n\n"
    local command = text:match "(printf [^\n]+)"
    put("count.lua", script)
    local r = run((command:gsub("| lunette", "| $LUNETTE")))
    assert.equal(0, r.code)
    assert.same({ "[0,60000) 2" }, panes(r.out))
  end)

  it("names every option of run", function()
    local text = run("$LUNETTE run --help").out
    for _, option in ipairs { "--in FILE", "--in-format", "--out FILE", "--out-format", "--rejects", "--clock", "--set",
      "--stats", "--progress", "--no-progress", "--traceback", "--insecure", "--max-connections NUMBER",
      "--max-connections-per-host", "--record-timeout", "--idle-timeout", "--queue-bytes", "--drain-timeout",
      "--flush-on-exit", "--log-level", "--log-format" } do
      assert.truthy(text:find(option, 1, true), option)
    end
  end)

  it("prints the version", function()
    local r = run "$LUNETTE version; $LUNETTE --version"
    assert.equal(0, r.code)
    local first, second = r.out:match "^(lunette %d+%.%d+%.%d+)\n(.-)\n$"
    assert.equal(first, second)
  end)

  it("refuses what it does not know, and tells what was probably meant", function()
    local cases = {
      { "", 'Lunette' },
      { "rnu", "unknown command rnu: did you mean run?" },
      { "help rum", "unknown command rum: did you mean run?" },
      { "run --stast count.lua", "unknown option --stast: did you mean --stats?" },
      { "run -x count.lua", "unknown option -x" },
      { "run --stats=1 count.lua", "--stats takes no value" },
      { "run count.lua --clock", "--clock needs a value" },
      { "run", "a script to run is missing" },
      { "check", "a script to check is missing" },
      { "version now", "now is one too many" },
      { "run --out-format xml count.lua", "the formats are msgpack and json" },
      { "run --in-format xml count.lua", "the formats are auto, msgpack and json" },
      { "run --set size count.lua", "write it as --set name=value" },
      { "run count.lua tcp://localhost", "the port is missing: write tcp://localhost:PORT" },
      { "run --out tcp:localhost:1 count.lua", "the // is missing: write tcp://HOST:PORT" },
      { "run --in http://localhost:1 count.lua", "http: is unknown: the kinds are" },
      { "run --out udp://localhost:1 count.lua", "not sent in datagrams" },
      { "run --max-connections 0 count.lua", "write a whole number from 1" },
      { "run --idle-timeout 5 count.lua", "write a duration, such as 500ms" },
      { "run --log-level loud count.lua", "the levels are error, warning, info and debug" },
      { "run --log-format xml count.lua", "the formats are text and json" },
      { "run --rejects - count.lua", "the panes go there" },
      { "run --out in.jsonl count.lua in.jsonl", "it is an input too" },
      { "run --rejects ./p --out p count.lua in.jsonl", nil },
    }
    put("p", "")
    for _, case in ipairs(cases) do
      local r = run("$LUNETTE " .. case[1])
      assert.equal(2, r.code, case[1])
      assert.equal("", r.out)
      assert.truthy(r.err:find(case[2] or "a file of their own", 1, true), r.err)
    end
    assert.equal(3, #lines_of(get "in.jsonl"))
  end)

  it("points to the help of the command", function()
    assert.truthy(run("$LUNETTE run --stast count.lua").err:find("see `lunette run --help`", 1, true))
    assert.truthy(run("$LUNETTE rnu").err:find("see `lunette --help`", 1, true))
  end)
end)

describe("check", function()
  it("says ok on standard output", function()
    local r = run "$LUNETTE check count.lua early.lua"
    assert.same({ 0, "count.lua: ok\nearly.lua: ok\n", "" }, { r.code, r.out, r.err })
  end)

  it("lists every problem on a line of its own and exits with 78", function()
    put("bad.lua", 'local ln = require "lunette"\nreturn ln.pipeline {\n  windwo = ln.tumbling(0),\n  key = {},\n}')
    local r = run "$LUNETTE check bad.lua count.lua"
    assert.equal(78, r.code)
    assert.equal("count.lua: ok\n", r.out)
    local problems = lines_of(r.err)
    assert.is_true(#problems >= 2, r.err)
    for _, problem in ipairs(problems) do assert.truthy(problem:find "^bad%.lua:%d+: ", problem) end
  end)

  it("judges the addresses that a script names, and whether there can be several sources", function()
    put("ends.lua", [[local ln = require "lunette"
return ln.pipeline {
  source = { "tcp://127.0.0.1", "in.jsonl", "" }, sink = "udp://127.0.0.1:1",
  time = { field = "t" }, window = ln.tumbling "1s", aggregate = { n = ln.count() },
}]])
    put("two.lua", COUNT:format 'watermark = { sources = 2 },')
    local r = run "$LUNETTE check ends.lua two.lua"
    assert.equal(78, r.code)
    assert.same({
      "ends.lua:2: source[3]: is empty: write an address, such as \"tcp://127.0.0.1:7000\", \"unix:in.sock\" or the "
        .. "name of a file",
      "ends.lua:2: source[1]: tcp://127.0.0.1: the port is missing: write tcp://127.0.0.1:PORT",
      "ends.lua:2: sink: udp://127.0.0.1:1: panes are not sent in datagrams, which may be lost: write tcp:// or unix:",
    }, lines_of(r.err))
    assert.equal("two.lua: ok\n", r.out) -- on sockets each connection is a source
    r = run "$LUNETTE run two.lua in.jsonl"
    assert.equal(78, r.code)
    assert.truthy(r.err:find("two.lua:2: watermark.sources: without source all input is one source: ", 1, true), r.err)
  end)

  it("takes a syntax error, an error while running and a missing file for problems", function()
    put("syntax.lua", "return {\n")
    put("error.lua", "\nerror 'no luck'\n")
    for name, pattern in pairs { syntax = "syntax%.lua:%d+:", error = "error%.lua:2:.*no luck", gone = "gone%.lua" } do
      local r = run(("$LUNETTE check %s.lua"):format(name))
      assert.equal(78, r.code)
      assert.truthy(r.err:find(pattern), r.err)
    end
  end)
end)

describe("run", function()
  it("turns JSON lines into JSON lines, from standard input and from files", function()
    local expected = { "[0,1000) 2", "[1000,2000) 1" }
    for _, command in ipairs { "$LUNETTE run count.lua < in.jsonl", "cat in.jsonl | $LUNETTE run count.lua",
      "$LUNETTE run count.lua in.jsonl", "$LUNETTE run count.lua - < in.jsonl", "$LUNETTE run --in in.jsonl count.lua",
      "$LUNETTE run count.lua null: in.jsonl", "cat in.jsonl | $LUNETTE run --in-format json count.lua -",
      "mkfifo f; cat in.jsonl > f & $LUNETTE run count.lua f" } do
      local r = run(command)
      assert.equal(0, r.code, r.err)
      assert.equal("", r.err)
      assert.same(expected, panes(r.out))
    end
  end)

  it("answers msgpack with msgpack, unless told", function()
    local json_panes = run("$LUNETTE run count.lua in.jsonl").out
    local packed_panes = run("$LUNETTE run count.lua in.msgpack").out
    assert.equal(json_panes, run("$LUNETTE run --out-format json count.lua in.msgpack").out)
    assert.equal(packed_panes, run("$LUNETTE run --out-format msgpack count.lua in.jsonl").out)
    assert.truthy(packed_panes:byte() >= 0x80)
  end)

  it("writes JSON lines to a terminal", function()
    local r = run [[script -qec "$LUNETTE run count.lua in.msgpack" /dev/null]]
    assert.equal(0, r.code)
    assert.same({ "[0,1000) 2", "[1000,2000) 1" }, panes(r.out))
  end)

  it("reads several files as one stream", function()
    put("more.jsonl", '{"t":1300}\n{"t":1400}')
    local r = run "$LUNETTE run --in in.jsonl count.lua more.jsonl"
    assert.same({ "[0,1000) 2", "[1000,2000) 3" }, panes(r.out))
    r = run "$LUNETTE run --out-format json count.lua in.jsonl in.msgpack"
    assert.equal(0, r.code)
    assert.same({ "[0,1000) 2", "[1000,2000) 2" }, panes(r.out))
  end)

  it("reads several pipes one after the other", function()
    local r = run [[
      mkfifo f g
      (head -n 2 in.jsonl; sleep 0.1) > f & (sleep 0.2; tail -n 1 in.jsonl; sleep 0.1) > g &
      $LUNETTE run count.lua f g]]
    assert.equal(0, r.code)
    assert.same({ "[0,1000) 2", "[1000,2000) 1" }, panes(r.out))
  end)

  it("writes to a file, and nowhere", function()
    local r = run "$LUNETTE run -o panes.jsonl count.lua in.jsonl && $LUNETTE run --out null: count.lua in.jsonl"
    assert.same({ 0, "", "" }, { r.code, r.out, r.err })
    assert.same({ "[0,1000) 2", "[1000,2000) 1" }, panes(get "panes.jsonl"))
  end)

  it("leaves the output of the run before as it is, when it can't begin", function()
    put("panes.jsonl", "before")
    put("bad.lua", "return 1")
    assert.equal(78, run("$LUNETTE run -o panes.jsonl bad.lua in.jsonl").code)
    assert.equal(1, run("$LUNETTE run -o panes.jsonl count.lua in.jsonl gone.jsonl").code)
    assert.equal("before", get "panes.jsonl")
  end)

  it("gives the same bytes however slowly they come", function()
    for _, format in ipairs { "jsonl", "msgpack" } do
      local whole = run("$LUNETTE run early.lua in." .. format)
      local split = run(([[
        for ((i = 0; i < $(stat -c %%s in.%s); i += 4)); do
          dd if=in.%s bs=1 skip=$i count=4 status=none; sleep 0.01
        done | $LUNETTE run early.lua]]):format(format, format))
      assert.equal(0, split.code, split.err)
      assert.equal(whole.out, split.out)
      assert.is_true(#whole.out > 0)
    end
  end)

  it("runs from another folder, with modules beside the script", function()
    put("beside.lua", 'return { size = "500ms" }')
    put("uses.lua", (COUNT:format(""):gsub('ln.tumbling "1s"', 'ln.tumbling(require "beside".size)')))
    local r = run "mkdir elsewhere; cd elsewhere; $LUNETTE run ../uses.lua ../in.jsonl"
    assert.same({ "[500,1000) 2", "[1000,1500) 1" }, panes(r.out), r.err)
  end)

  it("sends print to standard error", function()
    put("prints.lua", "print('loading', 1)\n" .. COUNT:format "where = function(r) print(r.t) return true end,")
    local r = run "$LUNETTE run prints.lua in.jsonl"
    assert.same({ "[0,1000) 2", "[1000,2000) 1" }, panes(r.out))
    assert.equal("loading\t1\n500\n700\n1200\n", r.err)
  end)

  it("gives --set to ln.param", function()
    put("set.lua", (COUNT:format(""):gsub('ln.tumbling "1s"', 'ln.tumbling(ln.param("size", 1000))')))
    assert.same({ "[0,2000) 3" }, panes(run("$LUNETTE run --set size=2000 set.lua in.jsonl").out))
    assert.same({ "[0,1000) 2", "[1000,2000) 1" }, panes(run("$LUNETTE run set.lua in.jsonl").out))
    local r = run "$LUNETTE run --set sise=2000 set.lua in.jsonl"
    assert.equal(78, r.code)
    assert.truthy(r.err:find("size", 1, true), r.err)
  end)

  it("takes the processing clock from a field", function()
    put("now.lua", (COUNT:format(""):gsub('{ field = "t" }', '"processing"')))
    local r = run "$LUNETTE run --clock t now.lua in.jsonl"
    assert.equal(0, r.code, r.err)
    assert.same({ "[0,1000) 2", "[1000,2000) 1" }, panes(r.out))
  end)

  it("writes rejected records with their reasons", function()
    put("late.jsonl", '{"t":500}\n{"t":1200}\n{"t":600}\nnonsense\n{"u":1}\n{"t":1300}\n')
    local r = run "$LUNETTE run --rejects rejects.jsonl count.lua late.jsonl"
    assert.equal(0, r.code, r.err)
    assert.same({ "[0,1000) 1", "[1000,2000) 2" }, panes(r.out))
    local reasons = {}
    for i, line in ipairs(lines_of(get "rejects.jsonl")) do reasons[i] = json.decode(line).reason end
    assert.same({ "late", "malformed", "no_time" }, reasons)
  end)

  it("prints an account that holds", function()
    put("late.jsonl", '{"t":500}\n{"t":1200}\n{"t":600}\nnonsense\n{"u":1}\n{"t":1300,"skip":true}\n')
    put("where.lua", COUNT:format "where = function(r) return not r.skip end,")
    local r = run "$LUNETTE run --stats where.lua late.jsonl"
    assert.equal(0, r.code)
    local lines = lines_of(r.err)
    local stats = json.decode(lines[#lines]).pipelines[1]
    local rejected = 0
    for _, n in pairs(stats.rejected) do rejected = rejected + n end
    assert.same({ 6, 2, 1, 3 }, { stats.read, stats.aggregated, stats.filtered, rejected })
  end)

  it("tells of an error in a script's function once, and goes on", function()
    put("fails.lua", COUNT:format "where = function(r) return r.t + r.gone > 0 end,")
    local r = run "$LUNETTE run fails.lua in.jsonl"
    assert.equal(0, r.code)
    local lines = lines_of(r.err)
    assert.equal(2, #lines, r.err)
    assert.truthy(lines[1]:find "^lunette: .*fails%.lua:5:.*gone", r.err)
    assert.equal("lunette: pipeline: 3 of 3 records rejected: script_error 3; --rejects FILE keeps them", lines[2])
  end)

  it("goes on after errors that are no texts, and tells them in lines that a terminal can take", function()
    local odd = "error(setmetatable({}, { __tostring = function() return 5 end }))"
    local long = "error('\\27[2J\\n' .. ('x'):rep(9999), 0)"
    put("odd.lua", COUNT:format("where = function(r) if r.t < 600 then %s end %s end,"):format(odd, long))
    local r = run "$LUNETTE run --rejects odd.jsonl odd.lua in.jsonl"
    assert.equal(0, r.code)
    local lines = lines_of(r.err)
    assert.equal("lunette: pipeline: record: an error that is no text", lines[1])
    assert.truthy(lines[2]:find "^lunette: pipeline: record:  %[2J x+%.%.%.$", r.err)
    assert.is_true(#lines == 2 and #lines[2] < 600)
  end)

  it("overwrites no script", function()
    put("mine.lua", COUNT:format "")
    for _, option in ipairs { "-o", "--rejects" } do
      local r = run("$LUNETTE run " .. option .. " mine.lua mine.lua in.jsonl")
      assert.equal(2, r.code)
      assert.truthy(r.err:find("it is the script", 1, true), r.err)
    end
    assert.equal(0, run("$LUNETTE check mine.lua").code)
  end)

  it("says at the end what did not count, where nobody takes the rejects", function()
    put("skips.lua", COUNT:format "where = function(r) return not r.skip end,"
      :gsub("aggregate = {", 'aggregate = { skipped = ln.sum "name",'))
    put("names.jsonl", '{"t":500,"name":"x"}\n{"u":1}\n[]\n')
    local r = run "$LUNETTE run skips.lua names.jsonl"
    assert.same({
      "lunette: pipeline: 2 of 3 records rejected: malformed 1, no_time 1; --rejects FILE keeps them",
      "lunette: pipeline: values skipped that an aggregate could not take, such as a text in ln.sum: 1",
    }, lines_of(r.err))
    assert.equal("", run("$LUNETTE run --rejects r.jsonl skips.lua names.jsonl").err)
  end)
end)

describe("broken input", function()
  it("names the file and the byte, after everything before it has been processed", function()
    put("bad.msgpack", packed(500) .. packed(700) .. "\193" .. packed(1200))
    local r = run "$LUNETTE run --out-format json count.lua in.jsonl bad.msgpack in.jsonl"
    assert.equal(1, r.code)
    assert.truthy(r.err:find("^lunette: bad%.msgpack: byte 12: "), r.err)
    assert.same({ "[0,1000) 2", "[1000,2000) 1" }, panes(r.out))
    r = run "$LUNETTE run --out-format json early.lua < bad.msgpack"
    assert.equal(1, r.code)
    assert.truthy(r.err:find("^lunette: standard input: byte 12: "), r.err)
    assert.same({ "[0,1000) 1", "[0,1000) 2", "[0,1000) 2" }, panes(r.out))
  end)

  it("finds an input that ends in the middle of a record", function()
    put("cut.msgpack", packed(500) .. packed(700):sub(1, 4))
    local r = run "$LUNETTE run --out-format json count.lua cut.msgpack"
    assert.equal(1, r.code)
    assert.truthy(r.err:find("^lunette: cut%.msgpack: byte 6: "), r.err)
    assert.same({ "[0,1000) 1" }, panes(r.out))
  end)

  it("finds a missing file and a folder before anything runs", function()
    for _, name in ipairs { "gone.jsonl", "folder" } do
      local r = run("mkdir folder; $LUNETTE run count.lua in.jsonl " .. name)
      assert.same({ 1, "" }, { r.code, r.out })
      assert.truthy(r.err:find("lunette: " .. name .. ": ", 1, true), r.err)
    end
  end)

  it("says so when standard input or output is closed", function()
    local r = run "$LUNETTE run count.lua <&-"
    assert.equal(1, r.code)
    assert.truthy(r.err:find("standard input: ", 1, true), r.err)
    r = run "$LUNETTE run count.lua in.jsonl >&-"
    assert.equal(1, r.code)
    assert.truthy(r.err:find("standard output: ", 1, true), r.err)
  end)
end)

describe("output that does not take everything", function()
  local FILL = [[
    seq -f '{"t":%.0f}' 1 30000 > many.jsonl
  ]]

  it("ends quietly when nobody reads on", function()
    local r = run(FILL .. [[
      $LUNETTE run early.lua many.jsonl | head -n 1
      echo "${PIPESTATUS[0]}"]])
    assert.equal("", r.err)
    assert.truthy(r.out:find "^{.-}\n0\n$", r.out)
  end)

  it("waits for a slow reader, and loses nothing", function()
    local r = run(FILL .. [[
      $LUNETTE run early.lua many.jsonl > direct
      $LUNETTE run early.lua many.jsonl | { sleep 0.3; cat; } > slow
      $LUNETTE run early.lua < many.jsonl | dd bs=100 of=small status=none
      cmp direct slow && cmp direct small && wc -l < direct]])
    assert.same({ 0, "" }, { r.code, r.err })
    assert.equal(30031, tonumber(r.out))
  end)

  it("stops with a message when the disk is full", function()
    for _, command in ipairs { "$LUNETTE run early.lua in.jsonl > /dev/full",
      "$LUNETTE run -o /dev/full early.lua in.jsonl",
      "echo x | $LUNETTE run --in-format json --rejects /dev/full early.lua", "$LUNETTE version > /dev/full" } do
      local r = run(command)
      assert.equal(1, r.code, command)
      assert.truthy(r.err:find("No space left on device", 1, true), r.err)
    end
  end)
end)
