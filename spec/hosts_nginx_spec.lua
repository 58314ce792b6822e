--- The example for nginx, in an nginx with its Lua module and two workers.
local hosts = require "spec.support.hosts"
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local http = require "socket.http"
local socket = require "socket"

local missing = hosts.missing "nginx"

local CONF = [[
%s
worker_processes 2;
daemon off;
pid nginx.pid;
error_log error.log notice;
load_module %s/usr/lib/nginx/modules/ndk_http_module.so;
load_module %s/usr/lib/nginx/modules/ngx_http_lua_module.so;
env LUNETTE_CORE;
events { }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  lua_package_path "%s/examples/nginx/?.lua;%s/usr/share/lua/5.1/?.lua;%s";
  include lunette.conf;
}
]]

local function free_port()
  local probe = assert(socket.bind("127.0.0.1", 0))
  local _, port = probe:getsockname()
  probe:close()
  return port
end

describe("in nginx", function()
  local folder, port, pid

  local function get(path) return (assert(http.request(("http://127.0.0.1:%s%s"):format(port, path)))) end
  local function read(name) return shell.run(folder, "cat " .. name .. " 2>&1").out end

  local sent = 0
  local function request(key)
    sent = sent + 1
    return get("/?key=" .. key)
  end

  -- The sums that /counts shows, by key and of all.
  local function counts()
    local sums, all = {}, 0
    for start, key, n in get("/counts"):gmatch "(%d+) (%S+) (%d+)\n" do
      assert.equal(0, tonumber(start) % 2)
      sums[key], all = (sums[key] or 0) + tonumber(n), all + tonumber(n)
    end
    return sums, all
  end

  before_each(function()
    if missing then return end
    folder, port = shell.folder(), free_port()
    local base = hosts.root .. "/build/hosts/nginx"
    local path = hosts.environment("nginx"):match "LUA_PATH='(.-)'"
    local user = shell.run(folder, "id -un").out:gsub("\n", "")
    user = user == "root" and "user root;" or ""
    shell.write(folder .. "/nginx.conf", CONF:format(user, base, base, hosts.root, base, path))
    local conf = shell.read(hosts.root .. "/examples/nginx/lunette.conf"):gsub("8080", "127.0.0.1:" .. port)
    conf = conf:gsub('counts = "lunette_counts"', '%0, size = "2s"')
    shell.write(folder .. "/lunette.conf", conf)
    shell.write(folder .. "/start", hosts.environment "nginx" .. [[
      timeout 60 "$PROGRAM" -p . -c nginx.conf -e error.log > out 2>&1 < /dev/null &
    ]])
    os.execute(("cd %s && env -u LD_PRELOAD bash start"):format(folder))
    server.wait(function() return http.request(("http://127.0.0.1:%s/counts"):format(port)) end, "nginx")
    sent = 0
    pid = tonumber(read "nginx.pid")
  end)

  after_each(function()
    if pid then os.execute(("kill -QUIT %d 2> /dev/null"):format(pid)) end
    if pid then server.wait(function() return not io.open(("/proc/%d/status"):format(pid)) end, "the end of nginx") end
    if folder then shell.remove(folder) end
    folder, pid = nil, nil
  end)

  it("requests are counted by key and window in each worker, and no worker has two LuaJITs", function()
    if missing then return pending(missing) end
    for i = 1, 60 do request(i % 3 == 0 and "ann" or "bob") end
    server.wait(function()
      request "later" -- moves the watermark
      local sums = counts()
      return sums.ann and sums.bob and sums.ann + sums.bob >= 60
    end, "the counts", 30)
    local sums = counts()
    assert.same({ 20, 40 }, { sums.ann, sums.bob })

    local workers = shell.run(folder, ("cat /proc/%d/task/%d/children"):format(pid, pid)).out
    local seen = 0
    for worker in workers:gmatch "%d+" do
      seen = seen + 1
      local maps = shell.read(("/proc/%s/maps"):format(worker))
      assert.same({ "libluajit-5", "liblunette-core" }, hosts.libraries(maps))
    end
    assert.equal(2, seen)

    -- New workers take over; the old ones complete their windows, and nothing is lost or counted twice.
    os.execute(("kill -HUP %d"):format(pid))
    server.wait(function()
      local _, all = counts()
      return all >= sent
    end, "the counts of the old workers", 30)
    local _, all = counts()
    assert.equal(sent, all)
    assert.is_nil(read("error.log"):find "%[error%]", read "error.log")
  end)
end)
