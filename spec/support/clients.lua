--- Clients and servers of others for Fluent Forward: two npm packages and one of Debian's, and our side of the wire.
local shell = require "spec.support.shell"

local M = {}

-- Windows of a minute by the sender's time, and a key of the sender's tag.
local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "$time" },
  key = "$tag",
  window = ln.tumbling "1m",
  aggregate = { n = ln.count(), first = ln.first "$time", sum = ln.sum "n" },
}
]]

local folder

local function absolute(path)
  if path:sub(1, 1) == "/" then return path end
  local pipe = assert(io.popen "pwd")
  local here = pipe:read "*l"
  pipe:close()
  return here .. "/" .. path
end

local build = absolute((os.getenv "LUNETTE_CORE" or "build/"):match "^(.*)/")
local programs = absolute "spec/support/clients"
-- Beside the build, and quick the second time: what has been installed carries the list that it was made from.
local modules = build .. "/clients"

--- Installs the npm packages by their list; true, or false and why they can't be had.
function M.install()
  local scratch = shell.folder()
  local r = shell.run(scratch, ([[
    cd '%s' && mkdir -p '%s'
    cmp -s package-lock.json '%s/installed.json' && exit 0
    cp package.json package-lock.json '%s' && cd '%s' &&
      npm ci --ignore-scripts --no-audit --no-fund --silent && cp package-lock.json installed.json
  ]]):format(programs, modules, modules, modules, modules))
  shell.remove(scratch)
  return r.code == 0, "npm ci: " .. r.out .. r.err
end

local SETTINGS = [[
  export NODE_PATH='%s/node_modules'
  PEER='%s/tests/forward_peer'
  CLIENTS='%s'
  wait_for() { for _ in $(seq 100); do [ -s "$1" ] && return; sleep 0.05; done; echo "no $1" >&2; exit 99; }
]]

function M.prepare()
  folder = shell.folder()
  shell.write(folder .. "/tags.lua", SCRIPT)
end

function M.clear() shell.remove(folder) end

function M.run(text)
  return shell.run(folder, SETTINGS:format(modules, build, programs) .. text)
end

--- Our side listens with `settings` while `client`, in which $PORT stands for its port, runs: the panes of the records
-- on standard output; what the client says in `client`, what our side says in `peer`.
function M.listen(settings, client)
  local r = M.run(([[
    rm -f peer
    ($PEER listen 1 %s 2> peer | $LUNETTE run --in-format msgpack --out-format json tags.lua > panes) &
    wait_for peer
    PORT=$(head -n 1 peer)
    %s > client 2>&1; code=$?
    wait
    cat panes
    exit $code
  ]]):format(settings, client))
  r.client = shell.read(folder .. "/client")
  r.peer = shell.read(folder .. "/peer")
  return r
end

--- Our side sends three panes with `settings` to a server with `arguments`: the server's lines on standard output.
function M.send(settings, arguments)
  return M.run(([[
    rm -f port
    printf '\201\241k\001\201\241k\002\201\241k\003' > panes
    timeout 10 node "$CLIENTS/fluent_server.js" 3 %s > entries &
    server=$!
    wait_for port
    $PEER send "$(cat port)" tag=panes %s < panes; code=$?
    [ $code = 0 ] || kill $server
    wait
    cat entries
    exit $code
  ]]):format(arguments, settings))
end

return M
