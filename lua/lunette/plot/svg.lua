--- The picture: a scene as SVG, which needs nothing beside it, and is light or dark as its reader is.
local axis = require "lunette.plot.axis"
local lanes = require "lunette.plot.lanes"

local WIDTH, LEFT, RIGHT, TOP, BOTTOM = 960, 64, 24, 84, 92
local LANE_GAP = 30

local M = {}

local STYLE = [[
:root { color-scheme: light dark; }
svg { --back: #ffffff; --lane: #f7f9fb; --ink: #1f2733; --dim: #667382; --rule: #e3e8ee; --window: #3f7fd0;
  --early: #8456d8; --on_time: #1f66c4; --late: #c26a00; --water: #189a62; --bad: #d4263c; --s0: #334155; --s1: #0f8fa8;
  --s2: #b0489c; --s3: #7a8b1e; --s4: #c2583a; --s5: #5a6ad0; }
@media (prefers-color-scheme: dark) { svg { --back: #0f141a; --lane: #161c24; --ink: #e4e9f0; --dim: #93a1b1;
  --rule: #27303b; --window: #5b9bee; --early: #b394ff; --on_time: #6fb0ff; --late: #ffb454; --water: #3ddc97;
  --bad: #ff6b7d; --s0: #c3cede; --s1: #4fd0e4; --s2: #ee8fd8; --s3: #c5d65a; --s4: #ff9d7f; --s5: #9aa7ff; } }
text { font: 12px system-ui, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; fill: var(--dim); }
.title { font-size: 18px; font-weight: 650; fill: var(--ink); }
.lane { fill: var(--lane); }
.name { font-weight: 600; fill: var(--ink); }
.rule { stroke: var(--rule); stroke-width: 1; }
.axis { text-anchor: middle; }
.up { text-anchor: end; }
.ideal { stroke: var(--dim); stroke-width: 1; stroke-dasharray: 1 5; stroke-linecap: round; }
.window { fill: var(--window); fill-opacity: .09; stroke: var(--window); stroke-opacity: .55; stroke-width: 1; }
.merged { stroke-dasharray: 3 3; fill-opacity: .03; stroke-opacity: .4; }
.water { fill: none; stroke: var(--water); stroke-width: 2.25; stroke-linejoin: round; }
.pane { stroke-width: 2.5; stroke-linecap: round; }
.t0 { stroke: var(--early); } .t1 { stroke: var(--on_time); } .t2 { stroke: var(--late); }
.value { font-size: 13px; font-weight: 650; text-anchor: middle; paint-order: stroke; stroke: var(--lane);
  stroke-width: 4px; stroke-linejoin: round; }
.v0 { fill: var(--early); } .v1 { fill: var(--on_time); } .v2 { fill: var(--late); }
.back { font-weight: 500; fill-opacity: .8; }
.end { stroke: var(--dim); stroke-width: 1; stroke-dasharray: 4 4; }
.dot { stroke: var(--lane); stroke-width: 1; }
.f1 { stroke: var(--late); stroke-width: 2.5; }
.f2 { fill: none !important; stroke: var(--dim); stroke-width: 1.25; }
.f5 { fill-opacity: .35; }
.cross { stroke: var(--bad); stroke-width: 2.25; stroke-linecap: round; }
]]

local ESCAPES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;" }

local function escape(text)
  return (text:gsub("[%c]", " "):gsub("[&<>\"]", ESCAPES))
end

local Drawing = {}
Drawing.__index = Drawing

function Drawing:put(format, ...) self[#self + 1] = select("#", ...) > 0 and format:format(...) or format end

function Drawing:text(class, x, y, text, more)
  self:put('<text class="%s" x="%.1f" y="%.1f"%s>%s</text>', class, x, y, more or "", escape(text))
end

-- ---- one lane

local function scales(scene, top, height)
  local x, y = scene.x, scene.y
  local width = WIDTH - LEFT - RIGHT
  return function(time)
    if time == nil or time == math.huge then time = x[2] elseif time == -math.huge then time = x[1] end
    return LEFT + (math.min(math.max(time, x[1]), x[2]) - x[1]) / (x[2] - x[1]) * width
  end, function(up) return top + height - (up - y[1]) / (y[2] - y[1]) * height end
end

local function number(x, other)
  return type(x) == "number" and x or other
end

local function draw_frame(out, scene, lane)
  local across, up = lane.across, lane.up
  out:put('<rect class="lane" x="%d" y="%.1f" width="%d" height="%.1f" rx="6"/>', LEFT, lane.top, WIDTH - LEFT - RIGHT,
    lane.height)
  for _, tick in ipairs(axis.ticks(scene.x[1], scene.x[2], 9, scene.unit)) do
    local x = across(tick[1])
    out:put('<line class="rule" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>', x, lane.top, x, lane.top + lane.height)
    if lane.last then out:text("axis", x, lane.top + lane.height + 18, tick[2]) end
  end
  local unit = scene.up == "clock" and scene.unit or "tick"
  for _, tick in ipairs(axis.ticks(scene.y[1], scene.y[2], lane.height / 44, unit)) do
    local y = up(tick[1])
    out:put('<line class="rule" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>', LEFT, y, WIDTH - RIGHT, y)
    out:text("up", LEFT - 8, y + 4, tick[2])
  end
end

-- Where the two times are alike: event time can't be ahead of it for long.
local function draw_ideal(out, scene, lane)
  local from, to = math.max(scene.x[1], scene.y[1]), math.min(scene.x[2], scene.y[2])
  if scene.up ~= "clock" or to - from < (scene.x[2] - scene.x[1]) / 4 then return end
  out:put('<line class="ideal" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>', lane.across(from), lane.up(from),
    lane.across(to), lane.up(to))
end

local function draw_windows(out, scene, lane)
  for _, w in ipairs(scene.windows) do
    if lane.holds(w[5]) then
      local left, right = lane.across(number(w[1], -math.huge)), lane.across(number(w[2], math.huge))
      local top, bottom = lane.up(w[4]), lane.up(w[3])
      out:put('<rect class="window%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4"/>',
        w[7] == 2 and " merged" or "", left + 1, top, math.max(right - left - 2, 1), math.max(bottom - top, 2))
    end
  end
end

local function draw_watermark(out, scene, lane)
  local steps, path = scene.watermark, {}
  if #steps == 0 then return end
  path[1] = ("M%.1f %.1fV%.1f"):format(lane.across(scene.x[1]), lane.up(scene.y[1]), lane.up(steps[1][1]))
  for i, step in ipairs(steps) do
    if i > 1 then path[#path + 1] = ("V%.1f"):format(lane.up(step[1])) end
    path[#path + 1] = ("H%.1f"):format(lane.across(step[2]))
  end
  path[#path + 1] = ("V%.1f"):format(lane.up(scene.finish or scene.y[2]))
  if scene.finish then path[#path + 1] = ("H%.1f"):format(lane.across(scene.x[2])) end
  out:put('<path class="water" d="%s"/>', table.concat(path))
end

-- The end of the input, and sources that no longer hold the watermark.
local function draw_silences(out, scene, lane)
  local function say(up, text)
    local y = lane.up(up)
    out:put('<line class="end" x1="%d" y1="%.1f" x2="%d" y2="%.1f"/>', LEFT, y, WIDTH - RIGHT, y)
    out:text("start", LEFT + 8, y - 5, text)
  end
  if scene.finish then say(scene.finish, "end of the input") end
  for _, s in ipairs(scene.silences) do
    if lane.source == nil or lane.source == s[2] then
      say(s[1], ("source %s is %s"):format(scene.sources[s[2] + 1] or "", s[3]))
    end
  end
end

-- Panes of one window that leave together share a line of text.
local function draw_labels(out, panes, lane)
  local i = 1
  while i <= #panes do
    local first, spans = panes[i], {}
    local y = lane.up(first[3])
    while panes[i] and panes[i][1] == first[1] and panes[i][2] == first[2] and math.abs(lane.up(panes[i][3]) - y) < 9 do
      local p = panes[i]
      spans[#spans + 1] = ('<tspan class="v%d%s">%s%s</tspan>'):format(p[6], p[8] == 1 and " back" or "",
        p[8] == 1 and "\226\136\146" or "", escape(p[9]))
      i = i + 1
    end
    local middle = (lane.across(number(first[1], -math.huge)) + lane.across(number(first[2], math.huge))) / 2
    out:put('<text class="value" x="%.1f" y="%.1f">%s</text>', middle, y - 5, table.concat(spans, "  "))
  end
end

local function draw_panes(out, scene, lane)
  local mine = {}
  for at, p in ipairs(scene.panes) do
    if lane.holds(p[4]) then
      mine[#mine + 1] = p
      p.at = at
      local left, right = lane.across(number(p[1], -math.huge)), lane.across(number(p[2], math.huge))
      out:put('<line class="pane t%d" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"><title>%s</title></line>', p[6], left + 3,
        lane.up(p[3]), math.max(right - 3, left + 4), lane.up(p[3]), escape(p[10]))
    end
  end
  table.sort(mine, function(a, b)
    local x, y = number(a[1], -math.huge), number(b[1], -math.huge)
    if x ~= y then return x < y end
    x, y = number(a[2], math.huge), number(b[2], math.huge)
    if x ~= y then return x < y end
    return a.at < b.at
  end)
  if lane.labels then return function() draw_labels(out, mine, lane) end end
  return function() end
end

local function draw_records(out, scene, lane)
  local r = scene.records
  for i = 1, #r.n do
    if lane.shows(i) then
      local fate = r.fate[i]
      local x, y = LEFT + 7, lane.up(r.up[i]) -- where there is no time: at the edge
      if type(r.time[i]) == "number" then x = lane.across(r.time[i]) end
      if fate == 3 or fate == 4 then
        out:put('<path class="cross" d="M%.1f %.1fl8 8m0 -8l-8 8"/>', x - 4, y - 4)
      else
        out:put('<circle class="dot f%d" cx="%.1f" cy="%.1f" r="%s" style="fill:var(--s%d)"/>', fate, x, y,
          fate == 1 and "4.5" or "4", lane.series(i))
      end
    end
  end
end

local function draw_lane(out, scene, lane)
  lane.across, lane.up = scales(scene, lane.top, lane.height)
  draw_frame(out, scene, lane)
  draw_ideal(out, scene, lane)
  draw_windows(out, scene, lane)
  draw_silences(out, scene, lane)
  draw_watermark(out, scene, lane)
  local labels = draw_panes(out, scene, lane)
  draw_records(out, scene, lane)
  labels()
  if lane.name then out:text("name", LEFT + 10, lane.top - 8, lane.name) end
end

-- ---- around them

local function has_fate(scene, a, b)
  for _, fate in ipairs(scene.records.fate) do
    if fate == a or fate == b then return true end
  end
end

local function has_timing(scene, timing)
  for _, p in ipairs(scene.panes) do
    if p[6] == timing then return true end
  end
end

-- One entry, at x; where the next begins.
local function entry(out, x, y, mark, text)
  if x > LEFT and x + 26 + 6.6 * #text > WIDTH - RIGHT then x, out.row = LEFT, out.row + 22 end
  y = y + out.row
  out:put('<g transform="translate(%.1f %.1f)">%s</g>', x, y, mark)
  out:text("legend", x + 26, y + 4, text)
  return x + 26 + 6.6 * #text + 22
end

local LINE = '<line class="%s" x1="0" x2="20" y1="0" y2="0"/>'

local function draw_legend(out, scene, y)
  local x = LEFT
  out.row = 0
  local dot = '<circle class="dot f%d" cx="10" cy="0" r="4" style="fill:var(--s0)"/>'
  if #scene.sources > 1 then
    for i, source in ipairs(scene.sources) do
      if i <= 6 then
        x = entry(out, x, y, ('<circle class="dot" cx="10" cy="0" r="4" style="fill:var(--s%d)"/>'):format(i - 1),
          "source " .. source)
      end
    end
  else
    x = entry(out, x, y, dot:format(0), "record")
  end
  if has_fate(scene, 1) then x = entry(out, x, y, dot:format(1), "behind the watermark") end
  if has_fate(scene, 2) then x = entry(out, x, y, dot:format(2), "filtered") end
  if has_fate(scene, 5) then x = entry(out, x, y, dot:format(5), "waiting") end
  if has_fate(scene, 3, 4) then x = entry(out, x, y, '<path class="cross" d="M6 -4l8 8m0 -8l-8 8"/>', "rejected") end
  if #scene.watermark > 0 then x = entry(out, x, y, LINE:format "water", "watermark") end
  for i, name in ipairs { "early pane", "on-time pane", "late pane" } do
    if has_timing(scene, i - 1) then x = entry(out, x, y, LINE:format("pane t" .. i - 1), name) end
  end
end

-- What the pipeline is, in a line or two.
local function draw_facts(out, facts)
  local row, y = "", 50
  for _, fact in ipairs(facts) do
    if row ~= "" and 6.3 * (#row + #fact) > WIDTH - LEFT - RIGHT then
      out:text("facts", LEFT, y, row)
      row, y = "", y + 16
    end
    row = row == "" and fact or row .. "  \194\183  " .. fact
  end
  out:text("facts", LEFT, y, row)
end

--- The scene as the text of an SVG file.
function M.text(scene)
  local all = lanes.of(scene, scene.lanes or "key")
  local height = #all == 1 and 380 or math.max(150, math.floor(620 / #all))
  local total = TOP + #all * (height + LANE_GAP) - LANE_GAP + BOTTOM
  local out = setmetatable({}, Drawing)
  out:put('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">',
    WIDTH, total, WIDTH, total)
  out:put("<title>%s</title>", escape(scene.title))
  out:put("<style>%s</style>", STYLE)
  out:put('<rect width="%d" height="%d" style="fill:var(--back)"/>', WIDTH, total)
  out:text("title", LEFT, 30, scene.title)
  draw_facts(out, scene.facts)
  for i, lane in ipairs(all) do
    lane.top, lane.height, lane.last = TOP + (i - 1) * (height + LANE_GAP), height, i == #all
    if lane.name then lane.top = lane.top + 12 lane.height = height - 12 end
    draw_lane(out, scene, lane)
  end
  local foot = total - BOTTOM + 44
  out:text("axis", (LEFT + WIDTH - RIGHT) / 2, foot, "event time" .. axis.unit(scene.x[1], scene.unit))
  out:text("axis", 0, 0, scene.up == "clock" and "processing time" .. axis.unit(scene.y[1], scene.unit)
      or "order of arrival",
    (' transform="translate(16 %.1f) rotate(-90)"'):format((TOP + total - BOTTOM) / 2))
  draw_legend(out, scene, foot + 26)
  out:put "</svg>"
  return table.concat(out, "\n") .. "\n"
end

return M
