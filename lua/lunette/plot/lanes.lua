--- Lanes of a picture: what each of them shows.
local M = {}

local MOST = 8 -- of a picture
local SERIES = 6 -- colours of dots

-- Dots are coloured by source where there are several, else by key where keys share a lane.
local function series_of(scene, together)
  local r = scene.records
  if #scene.sources > 1 then
    return function(i) return math.max(r.source[i], 0) % SERIES end
  elseif together and #scene.keys > 1 then
    return function(i) return math.max(r.key[i], 0) % SERIES end
  end
  return function() return 0 end
end

local function everything(scene)
  return { { holds = function() return true end, shows = function() return true end, labels = true,
    series = series_of(scene, true) } }
end

local function by_key(scene)
  local out, r = {}, scene.records
  for n, text in ipairs(scene.keys) do
    out[n] = { name = text, labels = true, series = series_of(scene),
      holds = function(key) return key == n - 1 end, shows = function(i) return r.key[i] == n - 1 end }
  end
  return out
end

local function by_source(scene)
  local out, r = {}, scene.records
  for n, text in ipairs(scene.sources) do
    out[n] = { name = "source " .. text, source = n - 1, labels = n == 1, series = series_of(scene),
      holds = function() return true end, shows = function(i) return r.source[i] == n - 1 end }
  end
  return out
end

--- The lanes of a scene, from above. Keys that are too many share one.
function M.of(scene, what)
  if what == "source" and #scene.sources > 1 and #scene.sources <= MOST then return by_source(scene) end
  if what == "key" and #scene.keys > 1 and #scene.keys <= MOST then return by_key(scene) end
  return everything(scene)
end

return M
