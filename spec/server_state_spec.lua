--- Runs whose state is kept: killed at any moment, stopped, changed, and on disks that fail, they give in the end what
-- a run gives that nothing happens to.
local json = require "spec.support.json"
local server = require "spec.support.server"
local shell = require "spec.support.shell"

local RECORDS = 3000

-- Pipelines of all kinds: of each mode of panes, in cells and in slices, with Lua folds and declared ones.
local SCRIPTS = {
  retracting = [[
    local ln = require "lunette"
    return ln.pipeline { time = { field = "t" }, key = "k", window = ln.session(500), panes = "retracting",
      trigger = ln.at_watermark { early = ln.after_count(3), late = ln.each() }, lateness = "2s",
      aggregate = { n = ln.count(), d = ln.distinct "t", s = ln.sum "t" } }
  ]],
  several = [[
    local ln = require "lunette"
    return {
      ln.pipeline { name = "slices", time = { field = "t" }, key = "k", window = ln.hopping("10s", "2s"),
        aggregate = { n = ln.count(), s = ln.sum "t", m = ln.max "t", q = ln.quantile("t", 0.5) } },
      ln.pipeline { name = "fold", time = { field = "t" }, key = "k", window = ln.tumbling "5s", panes = "discarding",
        lateness = "1s", trigger = ln.at_watermark { early = ln.every "1s", late = ln.each() },
        aggregate = { n = ln.count(), f = ln.fold { init = function() return { n = 0 } end,
          add = function(a, r) a.n = a.n + r.t; return a end,
          merge = function(a, b) a.n = a.n + b.n; return a end, result = function(a) return a.n end } } },
      ln.pipeline { name = "declared", time = { field = "t" }, window = ln.tumbling "3s", fill = 1,
        watermark = { source = "k", idle = "5s" },
        aggregate = { n = ln.count(), f = ln.fold { state = { n = "double" }, add = function(a, r) a.n = a.n + r.t end,
          merge = function(a, b) a.n = a.n + b.n end, result = function(a) return a.n end } } },
    }
  ]],
}

local folder
before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

local function put(name, text) shell.write(folder .. "/" .. name, text) end
local function get(name) return shell.read(folder .. "/" .. name) end
local function run(text) return shell.run(folder, text) end

local function records(n, seed)
  math.randomseed(seed or 7)
  local lines = {}
  for i = 1, n do
    lines[i] = ('{"t":%d,"k":"k%d"}\n'):format(i * 10 + math.random(-2000, 2000), math.random(12))
  end
  return table.concat(lines)
end

local RUN = '"$LUNETTE" run p.lua in.jsonl --clock t '
local KEPT = RUN .. "--state st --checkpoint-interval 1ms --out got --rejects gotr "

-- What a run gives that nothing happens to.
local function expect(script, n)
  put("p.lua", script)
  put("in.jsonl", records(n or RECORDS))
  local r = run(RUN .. "--out want --rejects wantr")
  assert.equal(0, r.code, r.err)
end

local function same() assert.is_true(run("cmp want got && cmp wantr gotr").code == 0) end

-- May strace be used here?
local function traces()
  if run("strace -f -o /dev/null true").code ~= 0 then return false end
  return not shell.program:find "asan"
end

describe("a run with --state", function()
  for name, script in pairs(SCRIPTS) do
    it("goes on after a kill at any time: " .. name, function()
      expect(script, 60000)
      local r = run [[
        for round in 1 2 3; do
          rm -rf st got gotr
          for try in $(seq 200); do
            printf -v s 0.%03d $((RANDOM % 90 + 10 + try * 4)) # longer and longer, where starting takes long
            timeout -s KILL $s "$LUNETTE" run p.lua in.jsonl --clock t --state st \
              --checkpoint-interval 1ms --out got --rejects gotr && break
            [ $? = 137 ] || exit 1
          done
          cmp want got && cmp wantr gotr || exit 1
        done
      ]]
      assert.equal(0, r.code, r.err)
    end)

    it("goes on after a kill at any system call: " .. name, function()
      if not traces() then return pending "strace can't be used" end
      expect(script, 300)
      local r = run(([[
        strace -f -o calls %s || exit 1
        all=$(wc -l < calls) kills=0
        for call in write pwrite64 pwritev fdatasync ftruncate openat rename lseek read; do
          for when in 1 2 3 5 8 13 21; do
            rm -rf st got gotr
            strace -f -o /dev/null -e inject=$call:signal=KILL:when=$when %s 2> words
            [ $? = 0 ] || kills=$((kills + 1))
            %s || exit 2
            cmp want got && cmp wantr gotr || { echo "$call $when" >&2; exit 3; }
          done
        done
        echo $kills
      ]]):format(KEPT, KEPT, KEPT))
      assert.equal(0, r.code, r.err)
      assert.is_true(tonumber(r.out) > 20)
    end)
  end

  it("goes on after a signal, with its windows still open", function()
    expect(SCRIPTS.retracting, 200000)
    local r = run([[
      for try in $(seq 100); do
        printf -v s 0.%03d $((50 + try * 8))
        timeout -s TERM $s ]] .. KEPT .. [[ && grep -q . got && "$LUNETTE" run p.lua in.jsonl --clock t --state st \
          --out got --rejects gotr 2>&1 | grep -q "come to its end" && exit 0
        c=$?; [ $c = 0 ] || [ $c = 1 ] || [ $c = 124 ] || exit 3
      done
      exit 4
    ]])
    assert.equal(0, r.code, r.err)
    same()
  end)

  it("says when it is over, and touches nothing", function()
    expect(SCRIPTS.retracting)
    assert.equal(0, run(KEPT).code)
    put("got", "another")
    local r = run(KEPT)
    assert.equal(0, r.code)
    assert.truthy(r.err:find("--state st: this run has come to its end", 1, true))
    assert.equal("another", get "got")
  end)

  -- Stopped in the middle: the input has no more than half of the records yet.
  local function stop_in_the_middle(script, flags)
    put("p.lua", script)
    put("half", records(2000))
    put("in.jsonl", get "half" .. records(100, 8))
    local r = run([[
      (cat half; until [ -e st/current ]; do sleep 0.01; done; sleep 0.3; kill -TERM $(cat pid); sleep 0.1) |
        (echo $BASHPID > pid;
        exec "$LUNETTE" run p.lua --clock t --state st --checkpoint-interval 10ms --out got ]] .. (flags or "") .. ")")
    assert.equal(0, r.code, r.err)
  end

  it("refuses what has changed too much, and leaves the files as they are", function()
    stop_in_the_middle(SCRIPTS.retracting)
    local got = get "got"
    put("p.lua", (SCRIPTS.retracting:gsub("session%(500%)", "session(600)")))
    local again = '"$LUNETTE" run p.lua --clock t --state st --out got '
    local r = run(again .. "< half")
    assert.equal(78, r.code)
    assert.truthy(r.err:find("window: was session with a gap of 500ms and is", 1, true), r.err)
    assert.truthy(r.err:find("was saved by another script", 1, true))
    assert.equal(got, get "got")
    -- What may change does: the trigger.
    put("p.lua", (SCRIPTS.retracting:gsub("after_count%(3%)", "after_count(2)")))
    r = run(again .. "< /dev/null")
    assert.equal(0, r.code, r.err)
    assert.is_true(#get "got" > #got)
  end)

  it("lets old windows run out where it is told to drain", function()
    stop_in_the_middle(SCRIPTS.retracting)
    local before = #get "got"
    put("p.lua", (SCRIPTS.retracting:gsub("session%(500%)", "session(600)")))
    put("more", records(3000):gsub('"t":', '"t":9'))
    local r = run '"$LUNETTE" run p.lua --clock t --state st --out got --on-change drain < more'
    assert.equal(0, r.code, r.err)
    assert.is_true(#get "got" > before)
  end)

  it("shows what is open, while it runs and after", function()
    stop_in_the_middle(SCRIPTS.retracting)
    local r = run '"$LUNETTE" state st --most 2'
    assert.equal(0, r.code, r.err)
    for _, text in ipairs { "p.lua, saved at 20", "writes on in got at byte ", "open windows", "more: " } do
      assert.truthy(r.out:find(text, 1, true), r.out)
    end
    local told = json.decode(run('"$LUNETTE" state st --json --key k1').out)
    assert.equal("got", told.panes.name)
    assert.equal(#get "got", told.panes.at)
    assert.is_false(told.over)
    assert.equal("k1", told.pipelines[1].windows[1].key)
    assert.is_true(told.pipelines[1].windows_open > 1)
    r = run '"$LUNETTE" state none'
    assert.equal(1, r.code)
    assert.truthy(r.err:find("none: can't be opened", 1, true))
    r = run [[
      (cat half; sleep 2) | (exec "$LUNETTE" run p.lua --clock t --state live --checkpoint-interval 20ms --out one) &
      for i in $(seq 100); do "$LUNETTE" state live 2> words | grep "open windows" && break; sleep 0.01; done; wait
      "$LUNETTE" state live]]
    assert.truthy(r.out:find("[1-9]%d* open windows"), r.out .. r.err)
    assert.truthy(r.out:find("has come to its end: nothing is open", 1, true))
  end)

  it("keeps late what was late", function()
    put("p.lua", server.script())
    put("in", '{"t":1000,"k":"a"}\n{"t":90000,"k":"a"}\n')
    local started = '"$LUNETTE" run p.lua --state st --checkpoint-interval 10ms --out got --rejects gotr --stats '
    local r = run([[
      (cat in; until [ -e st/current ]; do sleep 0.01; done; sleep 0.3; kill -TERM $(cat pid); sleep 0.1) |
        (echo $BASHPID > pid; exec ]] .. started .. ")")
    assert.equal(0, r.code, r.err)
    assert.equal("", get "gotr")
    r = run("echo '{\"t\":2000,\"k\":\"a\"}' | " .. started)
    assert.equal(0, r.code, r.err)
    assert.truthy(get("gotr"):find('"late"', 1, true))
    assert.truthy(r.err:find('"read":3', 1, true), r.err)
  end)

  it("refuses another input, a cut output, a clock, and a folder that is no state", function()
    stop_in_the_middle(SCRIPTS.retracting)
    local again = '"$LUNETTE" run p.lua --state st --out got '
    local function refuses(text, code, command)
      local r = run(command)
      assert.equal(code, r.code, r.err)
      assert.truthy(r.err:find(text, 1, true), r.err)
    end
    refuses("timers can't go by two clocks", 2, again)
    refuses("was - when the state was saved", 1, again .. "--clock t in.jsonl")
    refuses("leave one of them out", 2, again .. "--clock t --trace x")
    refuses("leave one of them out", 2, again .. "--clock t --flush-on-exit")
    put("got", "")
    refuses("now: put the file back", 1, again .. "--clock t")
    assert.equal("", get "got")
    run "mkdir no; echo seven > no/current"
    refuses("is damaged", 1, '"$LUNETTE" run p.lua --state no < half')
    run "mkdir taken"
    refuses("in use by another process", 1, [[
      (sleep 2 | exec "$LUNETTE" run p.lua --state taken --out one) &
      for i in $(seq 500); do [ -e taken/1.mdb ] && break; sleep 0.01; done
      "$LUNETTE" run p.lua --state taken --out two < half]])
  end)

  it("refuses a file that is not the one that was read", function()
    put("p.lua", (SCRIPTS.retracting:gsub("key = \"k\"", [[key = function(r) -- a slow one
      local sum = 0
      for i = 1, 100000 do sum = sum + i * r.t end
      return sum > 0 and r.k or "none"
    end]])))
    put("in.jsonl", records(200000))
    local r = run([[
      (exec ]] .. KEPT .. [[) & pid=$!
      until "$LUNETTE" state st 2> /dev/null | grep -q "reads on in in.jsonl at byte [1-9]"; do sleep 0.01; done
      kill -KILL $pid; wait $pid]])
    assert.equal(137, r.code)
    put("in.jsonl", records(200000, 9))
    r = run(KEPT)
    assert.equal(1, r.code)
    assert.truthy(r.err:find("does not begin with the", 1, true), r.err)
  end)

  it("ends where the disk never works again, and goes on from the checkpoint before", function()
    if not traces() then return pending "strace can't be used" end
    expect(SCRIPTS.retracting, 20000)
    local r = run("strace -f -o /dev/null -e inject=fallocate:error=ENOSPC:when=3+ " .. KEPT)
    assert.equal(1, r.code, r.err)
    assert.truthy(r.err:find("No space left on device; the run goes on in memory", 1, true), r.err)
    assert.truthy(r.err:find("the last checkpoint was not made", 1, true), r.err)
    assert.equal(0, run(KEPT).code)
    same()
  end)

  it("goes on in memory while the disk fails, and saves again when it can", function()
    if not traces() then return pending "strace can't be used" end
    expect(SCRIPTS.retracting, 20000)
    for _, failure in ipairs { "fallocate:error=ENOSPC:when=2..4", "fdatasync:error=EIO:when=8..9",
      "pwrite64:error=EIO:when=4..6", "pwrite64:error=ENOSPC:when=4..6" } do
      run "rm -rf st got gotr"
      local r = run("strace -f -o /dev/null -e inject=" .. failure .. " " .. KEPT)
      if r.code ~= 0 then r = run(KEPT) end -- it could not be known what a file of panes holds
      assert.equal(0, r.code, failure .. ": " .. r.err)
      same()
    end
  end)
end)
