--- Clients and servers of others for Fluent Forward: two npm packages and one of Debian's, and our side of the wire.
local server = require "spec.support.server"
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
  CLIENTS='%s'
  wait_for() { for _ in $(seq 100); do [ -s "$1" ] && return; sleep 0.05; done; echo "no $1" >&2; exit 99; }
]]

function M.prepare()
  folder = shell.folder()
  shell.write(folder .. "/key", "secret\n")
  shell.write(folder .. "/users", "bob:word\n\nann:pass\n")
  os.execute(("chmod 600 %s/key %s/users"):format(folder, folder))
end

function M.clear() shell.remove(folder) end

function M.run(text)
  return shell.run(folder, SETTINGS:format(modules, programs) .. text)
end

--- What asks for the key "secret", and for the users bob with the password "word" and ann with "pass".
function M.key() return (" --shared-key-file %s/key"):format(folder) end
function M.users() return (" --users-file %s/users"):format(folder) end

local function secret(name, text)
  shell.write(folder .. "/" .. name, text .. "\n")
  os.execute(("chmod 600 %s/%s"):format(folder, name))
  return name
end

--- Options by which a sink shows a key, or is a user.
function M.sink_key(key) return " --sink-key-file " .. secret("sink_key_" .. key, key) end
function M.sink_user(user) return " --sink-user-file " .. secret("sink_user_" .. user, user) end

--- The program listens with `options` while `client`, in which $PORT stands for its port, runs: what the client's exit
-- code was and what it said in `code` and `client`; the panes as text in `out`, and all that `server.stop` gives.
function M.listen(options, client)
  local s = server.start(SCRIPT, "--flush-on-exit --in forward://127.0.0.1:0" .. options)
  local said = M.run(("PORT=%d\ntimeout 20 %s"):format(s:port "forward", client))
  local r = s:stop()
  r.out = shell.read(s.folder .. "/panes")
  r.exit, r.code, r.client = r.code, said.code, said.out .. said.err
  s:clear()
  return r
end

-- A pane for each of three records, as plain as the receiver's lines.
local SENDER = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" },
  window = ln.tumbling "1s",
  trigger = ln.each(),
  aggregate = { n = ln.count() },
  emit = function(pane) return { k = pane.value.n } end,
}
]]

--- The program sends three panes with `options` to a receiver with `arguments`, for so many seconds at most: the
-- receiver's lines in `out`, the program's exit code and words in `code` and `err`.
function M.send(options, arguments, words, seconds)
  shell.write(folder .. "/sender.lua", SENDER)
  return M.run(([[
    rm -f port
    printf '{"t":1}\n{"t":2}\n{"t":3}\n' > records
    timeout 15 node "$CLIENTS/fluent_server.js" 3 %s > entries 2>&1 &
    server=$!
    wait_for port
    timeout %d "$LUNETTE" run --stats sender.lua records --out "forward://127.0.0.1:$(cat port)?tag=panes%s" %s
    code=$?
    [ $code = 0 ] || kill $server
    wait
    cat entries
    exit $code
  ]]):format(arguments, seconds or 10, words or "", options))
end

return M
