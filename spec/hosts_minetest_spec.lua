--- The example for Minetest, in a server with an empty world, where a mod kills on behalf of players.
local hosts = require "spec.support.hosts"
local json = require "spec.support.json"
local shell = require "spec.support.shell"
local socket = require "socket"

local missing = hosts.missing "minetest"

local CONF = [[
secure.trusted_mods = %s
mg_name = singlenode
bind_address = 127.0.0.1
server_announce = false
dedicated_server_step = 0.02
lunette_scores_gap = 400ms
lunette_scores_size = 1s
]]

local WORLD = [[
gameid = void
backend = dummy
auth_backend = files
player_backend = dummy
mod_storage_backend = files
load_mod_lunette_scores = true
load_mod_killing = true
]]

-- Ann kills seven times in two streaks, with a pause of a second between them, bob three times.
local KILLING = [[
local time, kills = 0, {
  { 0.1, "ann" }, { 0.12, "ann", "sword" }, { 0.14, "bob" }, { 0.16, "ann", "sword" }, { 0.18, "bob" }, { 0.2, "bob" },
  { 1.5, "ann" }, { 1.52, "ann" }, { 1.54, "ann" }, { 1.56, "ann" },
}
lunette_scores.register_on_pane(function(pane) print("PANE " .. minetest.write_json(pane)) end)
minetest.register_globalstep(function(dt)
  time = time + dt
  while kills[1] and kills[1][1] <= time do
    local kill = table.remove(kills, 1)
    lunette_scores.kill(kill[2], "monster", kill[3])
  end
  if time > 3 then minetest.request_shutdown() end
end)
local seen = {}
for _, name in ipairs { "ffi", "lunette", "insecure", "engine" } do seen[name] = rawget(_G, name) and true or false end
print("SEEN " .. minetest.write_json(seen) .. " " .. tostring(pcall(require, "lunette")))


]]

-- The server, whose maps are looked at for as long as it lives.
local RUN = [[
mkdir -p .minetest/games/void world/worldmods
echo "title = void" > .minetest/games/void/game.conf
cp -r "$ROOT/examples/minetest/lunette_scores" world/worldmods/
mkdir world/worldmods/killing
printf 'name = killing\ndepends = lunette_scores\n' > world/worldmods/killing/mod.conf
mv killing.lua world/worldmods/killing/init.lua
mv world.mt world/
export HOME=$PWD
"$PROGRAM" --config "$PWD/minetest.conf" --world "$PWD/world" --port PORT --logfile '' &
while cp /proc/$!/maps maps.new 2> .cp && [ -s maps.new ]; do cat maps.new >> maps; sleep 0.1; done
wait $!
]]

local function free_port()
  local probe = assert(socket.udp())
  assert(probe:setsockname("127.0.0.1", 0))
  local _, port = probe:getsockname()
  probe:close()
  return port
end

describe("in a Minetest server", function()
  local folder
  before_each(function() folder = shell.folder() end)
  after_each(function() shell.remove(folder) end)

  local function run(trusted)
    shell.write(folder .. "/minetest.conf", CONF:format(trusted))
    shell.write(folder .. "/world.mt", WORLD)
    shell.write(folder .. "/killing.lua", KILLING)
    return shell.run(folder, hosts.environment "minetest" .. RUN:gsub("PORT", free_port()))
  end

  it("kills are counted in streaks and highscores, and other mods see no more than the mod shows", function()
    if missing then return pending(missing) end
    local r = run "lunette_scores"
    assert.equal(0, r.code, r.err)
    local seen = 'SEEN {"engine":false,"ffi":false,"insecure":false,"lunette":false} false'
    assert.truthy(r.out:find(seen, 1, true), r.out)
    local streaks, kills, places, swords = {}, {}, {}, 0
    for line in r.out:gmatch "PANE ([^\n]+)" do
      local pane = json.decode(line)
      if pane.pipeline == "streaks" then
        streaks[pane.key] = (streaks[pane.key] or 0) + 1
        kills[pane.key] = (kills[pane.key] or 0) + pane.value.kills
        for _, weapon in ipairs(pane.value.weapons) do
          if weapon.value == "sword" then swords = swords + weapon.count end
        end
      else
        assert.equal(1000, pane["end"] - pane.start)
        for _, place in ipairs(pane.value.best) do places[place.value] = (places[place.value] or 0) + place.count end
      end
    end
    assert.same({ ann = 7, bob = 3 }, kills)
    assert.same(kills, places)
    assert.equal(2, swords)
    assert.is_true(streaks.ann >= 2) -- a slow machine may make more of them
    assert.same({ "libluajit-5", "liblunette-core" }, hosts.libraries(shell.read(folder .. "/maps")))
  end)

  it("the mod says what it needs where it is not trusted", function()
    if missing then return pending(missing) end
    local r = run "another"
    assert.truthy((r.out .. r.err):find("lunette_scores: add it to secure.trusted_mods in minetest.conf", 1, true))
  end)
end)
