--- The gallery: each picture of examples/gallery is what its script and its input give, byte for byte, and shows what
-- it is there to show.
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local root = io.popen("pwd"):read "*l"
local PICTURES = {
  { "fixed", "fixed" },
  { "accumulating", "modes", "--set panes=accumulating" },
  { "discarding", "modes", "--set panes=discarding" },
  { "retracting", "modes", "--set panes=retracting" },
  { "sessions", "sessions" },
  { "held", "idle", "--set idle=1h", "--lanes source" },
  { "idle", "idle", "", "--lanes source" },
}

local folder
before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

local function path(name) return root .. "/examples/gallery/" .. name end

local function draw(picture)
  local name, script, set, lanes = picture[1], picture[2], picture[3] or "", picture[4] or ""
  return shell.run(folder, ([["$LUNETTE" run --clock at --trace trace %s %s %s 2>words &&
    "$LUNETTE" plot --trace trace -o %s.svg %s]]):format(set, path(script .. ".lua"), path(script .. ".jsonl"), name,
    lanes))
end

local function panes(name)
  for _, picture in ipairs(PICTURES) do
    if picture[1] == name then
      local r = draw(picture)
      assert.same({ 0, "" }, { r.code, r.err })
      local out = {}
      for line in r.out:gmatch "[^\n]+" do out[#out + 1] = json.decode(line) end
      return out
    end
  end
end

-- The values of one window, with its timings, those withdrawn with a minus.
local function shown(name, start, field)
  local out = {}
  for _, p in ipairs(panes(name)) do
    if p.start == start then
      out[#out + 1] = ("%s%s %g"):format(p.retract and "-" or "", p.timing, p.value[field])
    end
  end
  return out
end

describe("the gallery's picture", function()
  for _, picture in ipairs(PICTURES) do
    it(picture[1] .. " is drawn anew byte for byte", function()
      local r = draw(picture)
      assert.same({ 0, "" }, { r.code, r.err })
      assert.equal(shell.read(path(picture[1] .. ".svg")), shell.read(folder .. "/" .. picture[1] .. ".svg"))
    end)
  end

  it("is what its own specs say, as a user runs them", function()
    local r = shell.run(folder, ('"$LUNETTE" test %s'):format(root .. "/examples/gallery"))
    assert.equal(0, r.code, r.out .. r.err)
    assert.truthy(r.out:find "10 successes / 0 failures / 0 errors", r.out)
  end)

  it("fixed has early, on-time and late panes, and a record that was too late", function()
    assert.same({ "early 5", "early 12", "early 15", "early 19", "on_time 19", "late 28" }, shown("fixed", 0, "sum"))
    assert.truthy(shell.read(folder .. "/words"):find("late 1", 1, true))
  end)

  it("accumulating replaces, discarding adds, retracting takes back", function()
    assert.same({ "early 12", "early 19", "on_time 22", "late 31" }, shown("accumulating", 0, "sum"))
    assert.same({ "early 12", "early 7", "on_time 3", "late 9" }, shown("discarding", 0, "sum"))
    assert.same({ "early 12", "-early 12", "early 19", "-early 19", "on_time 22", "-on_time 22", "late 31" },
      shown("retracting", 0, "sum"))
  end)

  it("sessions merges two, and withdraws one", function()
    assert.same({ "early 2", "-early 2" }, shown("sessions", 54, "n"))
    assert.same({ "early 2", "early 6", "on_time 7" }, shown("sessions", 6, "n"))
  end)

  it("held completes one window before the end, and idle three", function()
    local function before_the_end(name)
      local n = 0
      panes(name)
      for line in io.lines(folder .. "/trace") do
        local event = json.decode(line)
        if event.event == "pane" and event.record then n = n + 1 end
      end
      return n
    end
    assert.equal(1, before_the_end "held")
    assert.equal(3, before_the_end "idle")
  end)
end)
