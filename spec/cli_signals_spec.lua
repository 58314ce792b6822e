--- The program while it runs: signals, and the line of progress.
local cli = require "spec.support.cli"

local get, run, lines_of, panes = cli.get, cli.run, cli.lines_of, cli.panes

before_each(function() cli.prepare() end)
after_each(cli.clear)

describe("signals", function()
  -- Waits until the loop of $pid turns; from then on it catches signals.
  local LOOPS = "until ls -l /proc/$pid/fd | grep -q eventpoll; do sleep 0.02; done; sleep 0.2;"

  -- Starts a run on the FIFO `f`, feeds it, and waits for the pane of the second record. The third is not whole.
  local START = [[
    mkfifo f
    $LUNETTE run early.lua f > panes 2> words &
    pid=$!
    exec 7> f
    printf '{"t":500}\n{"t":700}\n{"t":' >&7
    until [ "$(wc -l < panes)" = 2 ]; do sleep 0.02; done
  ]]

  it("writes each pane while it waits for more input, and drains on SIGINT and SIGTERM", function()
    for _, signal in ipairs { "INT", "TERM" } do
      local r = run("rm -f f;" .. START .. ("kill -%s $pid; wait $pid"):format(signal))
      assert.equal(0, r.code)
      assert.same({ "[0,1000) 1", "[0,1000) 2", "[0,1000) 2" }, panes(get "panes"))
      assert.truthy(get "words":find "^lunette: f: interrupted: 5 bytes [^\n]*\n$", get "words")
    end
  end)

  it("takes the echo of a signal for what it is", function()
    local r = run(START .. "kill -TERM $pid; kill -TERM $pid; kill -INT $pid; wait $pid")
    assert.equal(0, r.code)
    assert.equal(3, #lines_of(get "panes"))
  end)

  it("stops at once on a second one, even when the output is stuck", function()
    for signal, code in pairs { INT = 130, TERM = 143 } do
      local r = run(([[
        rm -f f; mkfifo f
        seq -f '{"t":%%.0f}' 1 30000 > many.jsonl
        sleep 15 < f & sleeper=$!
        $LUNETTE run early.lua many.jsonl > f &
        pid=$!
        %s
        kill -%s $pid; sleep 0.4
        kill -0 $pid || exit 99
        kill -%s $pid; wait $pid; code=$?
        kill $sleeper
        exit $code]]):format(LOOPS, signal, signal))
      assert.equal(code, r.code)
    end
  end)

  it("drains while it waits for the writer of a FIFO", function()
    local r = run("mkfifo f; $LUNETTE run --clock t count.lua f & pid=$!;" .. LOOPS .. "kill -INT $pid; wait $pid")
    assert.same({ 0, "", "" }, { r.code, r.out, r.err })
  end)
end)

describe("progress", function()
  local SLOW = "{ cat in.jsonl; sleep 0.6; } | "

  it("is one line, redrawn and cleared at the end", function()
    local r = run(SLOW .. "$LUNETTE run --progress count.lua > panes")
    assert.equal(0, r.code)
    assert.truthy(r.err:find "^\r\27%[K[^\n]* records/s  watermark: [^\n]*  open windows: 1  late: 0", r.err)
    assert.truthy(r.err:find "\r\27%[K$")
    assert.falsy(r.err:find "\n")
    assert.same({ "[0,1000) 2", "[1000,2000) 1" }, panes(get "panes"))
  end)

  it("is not shown for a pipe, nor where standard error is no terminal", function()
    local r = run(SLOW .. "$LUNETTE run count.lua")
    assert.equal("", r.err)
  end)
end)
