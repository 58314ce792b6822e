--- The page: a scene, the charting library and what draws, in one file of HTML that asks nobody for anything.
local value = require "lunette.value"

local M = {}

local FRAME = [[
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
$css</style>
</head>
<body>
<header>
<h1>$title</h1><div id="facts"></div><div id="note"></div>
<label>lanes <select id="lanes"><option value="none">together</option><option value="key">by key</option>
<option value="source">by source</option></select></label>
<button id="whole" title="or turn the wheel, and drag">whole view</button>
<button id="theme">light / dark</button>
</header>
<main></main>
<aside>
<div><h2>Marks</h2><div id="marks"></div><div id="sources"></div></div>
<div><h2>Keys</h2><input id="search" type="search" placeholder="search" aria-label="search for a key">
<div id="keys"></div>
<div class="row"><button id="only">only these</button><button id="all">all</button></div></div>
<div id="hint">The wheel zooms, dragging moves. A click on a mark shows its key alone, and another one all again.</div>
</aside>
<div id="tip" hidden></div>
<script id="scene" type="application/json">$scene</script>
<script>$library</script>
<script>$panel</script>
<script>$page</script>
</body>
</html>
]]

local function escape(text)
  return (text:gsub("[&<>\"]", { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }))
end

-- Inside of a script nothing may look like its end.
local function data(x) return (value.json(x):gsub("\n$", ""):gsub("<", "\\u003c")) end
local function code(text) return (text:gsub("</script", "<\\/script")) end

--- The page as a text. `assets` holds the texts of the library, which may be "", and of the drawing code.
---@param scene table
---@param assets { library: string, page: string, panel: string, style: string }
---@return string
function M.text(scene, assets)
  if not assets.library or assets.library == "" then
    error("this program was built without a charting library: install node-d3 and build it again, or write an .svg", 0)
  end
  local fields = { title = escape(scene.title), css = assets.style, library = code(assets.library),
    page = code(assets.page), panel = code(assets.panel),
    scene = data { title = scene.title, facts = scene.facts, unit = scene.unit, up = scene.up, lanes = scene.lanes,
      x = scene.x, y = scene.y, keys = scene.keys, sources = scene.sources, records = scene.records,
      windows = scene.windows, panes = scene.panes, watermark = scene.watermark, silences = scene.silences,
      finish = scene.finish, left_out = scene.left_out } }
  return (FRAME:gsub("%$(%l+)", fields))
end

return M
