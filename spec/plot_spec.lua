--- `lunette plot`: a picture that is well-formed, and a page that asks nobody for anything. Where there is a Chromium,
-- the page is opened in it, and used as a person would.
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local root = io.popen("pwd"):read "*l"
local gallery = root .. "/examples/gallery"

local folder
before_each(function() folder = shell.folder() end)
after_each(function() shell.remove(folder) end)

local function chromium()
  local pipe = assert(io.popen "command -v chromium")
  local path = pipe:read "*l"
  pipe:close()
  return path
end

local function trace(name, arguments)
  local script, input = gallery .. "/" .. name .. ".lua", gallery .. "/" .. name .. ".jsonl"
  local r = shell.run(folder, ('"$LUNETTE" run --clock at --trace trace %s %s %s'):format(arguments or "", script,
    input))
  assert.equal(0, r.code, r.err)
end

local function plot(arguments)
  local r = shell.run(folder, '"$LUNETTE" plot --trace trace ' .. arguments)
  assert.same({ 0, "", "" }, { r.code, r.out, r.err })
end

local function has_pages()
  trace "fixed"
  local r = shell.run(folder, '"$LUNETTE" plot --trace trace -o page.html')
  return r.code == 0, r.err
end

local function count(text, part)
  local n, at = 0, 1
  while true do
    at = text:find(part, at, true)
    if not at then return n end
    n, at = n + 1, at + 1
  end
end

describe("plot", function()
  it("draws each record, window and pane once", function()
    trace "fixed"
    plot "-o p.svg"
    local svg = shell.read(folder .. "/p.svg")
    assert.equal(11, count(svg, '<circle class="dot') - 2) -- and two of the legend
    assert.equal(2, count(svg, '<path class="cross"')) -- one of the legend
    assert.equal(3, count(svg, '<rect class="window'))
    assert.equal(12, count(svg, '<line class="pane t') - 3)
    assert.equal(1, count(svg, '<path class="water"'))
  end)

  it("escapes what stands in the data", function()
    shell.write(folder .. "/s.lua", [[local ln = require "lunette" return ln.pipeline { name = "</title><b>&",
      time = { field = "t" }, key = "k", window = ln.tumbling(10), aggregate = { v = ln.last "v" } }]])
    shell.write(folder .. "/in.jsonl", '{"t":1,"k":"<script>","v":"</script><img src=x>"}\n{"t":2,"k":"b"}\n')
    shell.run(folder, '"$LUNETTE" run --trace trace s.lua in.jsonl')
    plot "-o p.svg"
    local svg = shell.read(folder .. "/p.svg")
    assert.equal(0, count(svg, "<script>") + count(svg, "<img") + count(svg, "<b>"))
    if shell.run(folder, '"$LUNETTE" plot --trace trace -o p.html').code ~= 0 then return end
    local html = shell.read(folder .. "/p.html")
    assert.equal(0, count(html, "<img") + count(html, "</title><b>"))
  end)

  it("narrows to keys, and has lanes by key or source", function()
    trace("idle", "--set idle=1h")
    plot "-o one.svg"
    plot "-o two.svg --lanes source"
    assert.equal(1, count(shell.read(folder .. "/one.svg"), '<rect class="lane"'))
    assert.equal(2, count(shell.read(folder .. "/two.svg"), '<rect class="lane"'))
    local r = shell.run(folder, '"$LUNETTE" plot --trace trace -o p.svg --key nobody')
    assert.same({ 1, "lunette: plot: --key nobody: the trace has no record with this key\n" }, { r.code, r.err })
  end)

  it("says what is wrong with its command line", function()
    trace "fixed"
    for arguments, words in pairs {
      ["-o p.png"] = "end it in .html for a page, or .svg for a picture",
      [""] = "-o FILE is missing",
      ["-o p.svg --up sideways"] = "--up sideways: write clock or order",
      ["-o p.svg --lanes all"] = "--lanes all: write key or none or source",
    } do
      local r = shell.run(folder, '"$LUNETTE" plot --trace trace ' .. arguments)
      assert.same({ 2, "" }, { r.code, r.out })
      assert.truthy(r.err:find(words, 1, true), r.err)
    end
    local r = shell.run(folder, '"$LUNETTE" plot --trace trace -o no/folder.svg')
    assert.same({ 1, "lunette: plot: no/folder.svg: No such file or directory\n" }, { r.code, r.err })
  end)

  it("draws what has no clock, no watermark and no record", function()
    shell.write(folder .. "/s.lua", [[local ln = require "lunette" return ln.pipeline { time = { field = "t" },
      watermark = { mark = function() end }, window = ln.global(), aggregate = { n = ln.count() } }]])
    for _, input in ipairs { "", '{"t":1}\n', "x\n" } do
      shell.write(folder .. "/in.jsonl", input)
      shell.run(folder, '"$LUNETTE" run --clock at --trace trace s.lua in.jsonl')
      plot "-o p.svg"
      assert.truthy(shell.read(folder .. "/p.svg"):find "^<svg.*</svg>\n$")
    end
  end)
end)

-- The page with a script behind it, whose answer is the text of an element of its own.
local function use(page, script)
  local html = shell.read(folder .. "/" .. page)
  shell.write(folder .. "/used.html", html:gsub("</body>", function()
    return "<script>addEventListener('load', () => setTimeout(() => {\n" .. script ..
      "\n}, 300));</script></body>"
  end))
  local r = shell.run(folder, ([[chromium --headless --no-sandbox --disable-gpu --window-size=1200,800 \
    --user-data-dir=user --virtual-time-budget=4000 --dump-dom file://%s/used.html 2>/dev/null]]):format(folder))
  local answer = r.out:match '<output id="answer">(.-)</output>'
  return answer and json.decode((answer:gsub("&lt;", "<"):gsub("&gt;", ">"):gsub("&amp;", "&")))
end

local ANSWER = [[
  const answer = (x) => {
    const out = document.createElement("output");
    out.id = "answer";
    out.textContent = JSON.stringify(x);
    document.body.append(out);
  };
  const view = window.lunette, lane = () => view.lanes()[0];
  const move = (time, up) => {
    const box = lane().canvas.getBoundingClientRect();
    lane().canvas.dispatchEvent(new MouseEvent("mousemove", { bubbles: true,
      clientX: box.left + view.across(lane(), time), clientY: box.top + view.up(lane(), up) }));
    return document.getElementById("tip");
  };
]]

describe("a page", function()
  it("needs nothing from elsewhere", function()
    local ok = has_pages()
    if not ok then return pending "this build has no charting library" end
    local html = shell.read(folder .. "/page.html")
    for _, part in ipairs { "<link", "<img", "<script src", "@import", "url(", "fetch(", "XMLHttpRequest(" } do
      -- The library can fetch, where a page asks it to; ours does not.
      local own = html:gsub("<script>// https://d3js.org.-</script>", "")
      assert.equal(0, count(own, part), part)
    end
  end)

  local function opened(it_says, run_it)
    it(it_says, function()
      if not chromium() then return pending "there is no chromium" end
      if not has_pages() then return pending "this build has no charting library" end
      run_it()
    end)
  end

  opened("tells of the record, pane and window under the mouse", function()
    local got = use("page.html", ANSWER .. [[
      answer({ record: move(35, 96).textContent, pane: move(5, 83).textContent, window: move(30, 110).textContent,
        late: move(21, 158).textContent, nothing: move(150, 20).hidden });
    ]])
    assert.truthy(got.record:find("record 7", 1, true), got.record)
    assert.truthy(got.record:find("taken, behind the watermark", 1, true), got.record)
    assert.truthy(got.pane:find('on-time pane 4', 1, true), got.pane)
    assert.truthy(got.pane:find('{"sum":19}', 1, true), got.pane)
    assert.truthy(got.window:find("window [0, 60)", 1, true), got.window)
    assert.truthy(got.late:find("late by 1m50s: a lateness above 1m11s would have taken it", 1, true), got.late)
    assert.is_true(got.nothing)
  end)

  opened("zooms by the wheel, and shows the whole again", function()
    local got = use("page.html", ANSWER .. [[
      const before = view.across(lane(), 60) - view.across(lane(), 0);
      lane().canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -400, clientX: 400, clientY: 400, bubbles: true,
        cancelable: true }));
      const zoomed = view.across(lane(), 60) - view.across(lane(), 0);
      document.getElementById("whole").click();
      answer({ before, zoomed, after: view.across(lane(), 60) - view.across(lane(), 0) });
    ]])
    assert.is_true(got.zoomed > 1.5 * got.before)
    assert.equal(got.before, got.after)
  end)

  opened("is narrowed to keys and has lanes for them", function()
    shell.write(folder .. "/s.lua", [[local ln = require "lunette" return ln.pipeline { time = { field = "t" },
      key = "k", window = ln.tumbling(10), aggregate = { n = ln.count() } }]])
    shell.write(folder .. "/in.jsonl", '{"t":1,"k":"ann"}\n{"t":2,"k":"bob"}\n{"t":3,"k":"cid"}\n{"t":4,"k":"cid"}\n')
    shell.run(folder, '"$LUNETTE" run --trace trace s.lua in.jsonl && "$LUNETTE" plot --trace trace -o page.html')
    local got = use("page.html", ANSWER .. [[
      const names = () => view.lanes().map((l) => `${l.name}:${l.own.length}`);
      const all = names();
      document.querySelectorAll("#keys input")[1].click();
      const two = names();
      const search = document.getElementById("search");
      search.value = "CI";
      search.dispatchEvent(new Event("input"));
      const found = document.querySelectorAll("#keys label").length;
      document.getElementById("only").click();
      const one = names();
      document.getElementById("all").click();
      const select = document.getElementById("lanes");
      select.value = "none";
      select.dispatchEvent(new Event("change"));
      answer({ all, two, found, one, together: names() });
    ]])
    assert.same({ all = { '"ann":1', '"bob":1', '"cid":2' }, two = { '"bob":1', '"cid":2' }, found = 1,
      one = { '"cid":2' }, together = { ":4" } }, got)
  end)

  opened("turns from light to dark", function()
    local got = use("page.html", ANSWER .. [[
      const colour = () => getComputedStyle(document.body).backgroundColor;
      const first = colour();
      document.getElementById("theme").click();
      const second = colour();
      document.getElementById("theme").click();
      answer([first, second, colour()]);
    ]])
    assert.same({ "rgb(255, 255, 255)", "rgb(15, 20, 26)", "rgb(255, 255, 255)" }, got)
  end)
end)
