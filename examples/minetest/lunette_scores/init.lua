--- Kills: streaks of each player, which end when nothing has been killed for a while, and highscores of fixed windows.
-- Needs to be in secure.trusted_mods, for the FFI. Other mods see the table `lunette_scores` at the end, and nothing of
-- Lunette or of the insecure environment.
local insecure = minetest.request_insecure_environment()
assert(insecure, "lunette_scores: add it to secure.trusted_mods in minetest.conf")

-- Mods have a `require` and a `load` that refuse most things: Lunette's modules get those of the insecure environment.
local loaders = insecure.package.loaders
table.insert(loaders, 2, function(name)
  if name ~= "lunette" and not name:find "^lunette%." then return nil end
  local path, message = insecure.package.searchpath(name, insecure.package.path)
  return path and setfenv(assert(insecure.loadfile(path)), insecure) or message
end)
local lunette = insecure.require "lunette"

local STEP_US = 1000 -- for the engine, in each step of the server
local SHOWN = 10 -- players in a highscore

local function setting(name, default) return minetest.settings:get("lunette_scores_" .. name) or default end

local engine = assert(lunette.open {
  lunette.pipeline {
    name      = "streaks",
    time      = "processing",
    key       = "killer",
    window    = lunette.session(setting("gap", "30s")),
    aggregate = { kills = lunette.count(), weapons = lunette.top("weapon", 3) },
  },
  lunette.pipeline {
    name      = "highscores",
    time      = "processing",
    window    = lunette.tumbling(setting("size", "15m")),
    aggregate = { best = lunette.top("killer", SHOWN), kills = lunette.count() },
  },
})

-- The server's clock counts from no particular moment; windows are to lie on quarters of an hour.
local offset_us = os.time() * 1e6 - minetest.get_us_time()
local function now_us() return offset_us + minetest.get_us_time() end

local listeners = {}

local function collect()
  for pane in engine:panes() do
    for _, listener in ipairs(listeners) do listener(pane) end
  end
  for _, notice in ipairs(engine:notices()) do minetest.log("warning", "lunette_scores: " .. notice) end
end

minetest.register_globalstep(function()
  local status, message = engine:step(now_us(), STEP_US)
  if not status then error("lunette_scores: " .. message) end
  collect()
end)

minetest.register_on_shutdown(function()
  while engine:finish(now_us()) ~= "idle" do collect() end
  collect()
  engine:close()
end)

--- For other mods.
lunette_scores = {}

--- Somebody has killed somebody, or something.
function lunette_scores.kill(killer, victim, weapon)
  local ok, message = engine:add { killer = killer, victim = victim, weapon = weapon or "fists" }
  if not ok then minetest.log("error", "lunette_scores: a kill is not counted: " .. message) end
end

--- Calls `listener` with each pane: `pipeline` is "streaks" or "highscores"; see README.md.
function lunette_scores.register_on_pane(listener) listeners[#listeners + 1] = listener end

minetest.register_on_dieplayer(function(player, reason)
  local killer = reason.type == "punch" and reason.object
  if not killer or not killer:is_player() then return end
  lunette_scores.kill(killer:get_player_name(), player:get_player_name(), killer:get_wielded_item():get_name())
end)

lunette_scores.register_on_pane(function(pane)
  local value = pane.value
  if pane.pipeline == "streaks" and value.kills >= 3 then
    minetest.chat_send_all(("%s killed %d in a row"):format(pane.key, value.kills))
  elseif pane.pipeline == "highscores" then
    local lines = {}
    for i, place in ipairs(value.best) do lines[i] = ("%d. %s: %d"):format(i, place.value, place.count) end
    minetest.chat_send_all("Highscores: " .. table.concat(lines, ", "))
  end
end)
