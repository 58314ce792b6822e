--- The example for Tarantool, in a Tarantool: a process that is killed, and one that goes on from what is stored.
local hosts = require "spec.support.hosts"
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local missing = hosts.missing "tarantool"

-- Places a thousand orders from number FIRST on, some out of order, and waits until minutes are complete up to DONE.
local DRIVE = [[
local fiber, json = require "fiber", require "json"
local ok, message = pcall(function()
  dofile(os.getenv "ROOT" .. "/examples/tarantool/app.lua")
  local first, done = tonumber(arg[1]), tonumber(arg[2])
  for i = first, first + 999 do
    place_order(i + i % 3, "u" .. i % 7, i % 10 + 0.5)
    if i % 100 == 0 then fiber.sleep(0) end
  end
  local last
  for _ = 1, 1000 do
    last = box.space.spent.index.start:max()
    if last and last.stop >= done then break end
    fiber.sleep(0.01)
  end
  for _, row in box.space.spent:pairs() do print(json.encode { row.user, row.start, row.orders, row.total }) end
  print("stop " .. tostring(last and last.stop) .. " gc64 " .. tostring(require("ffi").abi "gc64"))
  for line in io.lines "/proc/self/maps" do io.stderr:write(line, "\n") end
end)
if not ok then print(message) end
io.stdout:flush()
require("ffi").C.kill(require("tarantool").pid(), 9)
]]

-- The same sums, of the orders up to the last of them.
local function expected(last, done)
  local sums, out = {}, {}
  for i = 0, last do
    local start = math.floor((i + i % 3) / 60) * 60
    local name = ("%d %d"):format(i % 7, start)
    if start + 60 <= done then
      sums[name] = sums[name] or { "u" .. i % 7, start, 0, 0 }
      sums[name][3], sums[name][4] = sums[name][3] + 1, sums[name][4] + i % 10 + 0.5
    end
  end
  for _, row in pairs(sums) do out[#out + 1] = json.encode(json.array(row)) end
  table.sort(out)
  return out
end

describe("in Tarantool", function()
  local folder
  before_each(function() folder = shell.folder() end)
  after_each(function() shell.remove(folder) end)

  it("minutes are stored, and after a crash none is lost and none counted twice", function()
    if missing then return pending(missing) end
    shell.write(folder .. "/drive.lua", 'require("ffi").cdef "int kill(int, int);"\n' .. DRIVE)
    for _, run in ipairs { { first = 0, done = 960 }, { first = 1000, done = 1980 } } do
      local r = shell.run(folder, hosts.environment "tarantool"
        .. ('"$PROGRAM" drive.lua %d %d'):format(run.first, run.done))
      local rows, said = {}, nil
      for line in r.out:gmatch "[^\n]+" do
        local ok, row = pcall(json.decode, line)
        if ok then rows[#rows + 1] = json.encode(row) else said = line end
      end
      table.sort(rows)
      assert.equal(("stop %d gc64 false"):format(run.done), said)
      assert.same(expected(run.first + 999, run.done), rows)
      -- Its own LuaJIT is part of the program.
      assert.same({ "liblunette-core" }, hosts.libraries(r.err))
    end
  end)
end)
