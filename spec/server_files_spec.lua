--- Files that a server writes: kept across runs where told, and opened again when they have been moved away.
local server = require "spec.support.server"
local shell = require "spec.support.shell"
local socket = require "socket"

local start, record = server.starter(after_each), server.record
local TCP = "--in tcp://127.0.0.1:0 "

local function lines(s, name)
  local file = io.open(s.folder .. "/" .. name, "rb")
  local text = file and file:read "*a" or ""
  if file then file:close() end
  return select(2, text:gsub("\n", "")), text
end

describe("a file of panes", function()
  it("is replaced, or with --append kept", function()
    for flag, kept in pairs { [""] = "", ["--append "] = "kept\n" } do
      local s = start(server.script(server.EARLY), TCP .. "--out own --rejects bad " .. flag)
      s:port()
      -- What was there is written by a first run of the same command.
      s:stop()
      shell.write(s.folder .. "/own", "kept\n")
      shell.write(s.folder .. "/bad", "kept\n")
      local r = shell.run(s.folder, ([[printf '{"t":1,"k":"a"}\nnonsense\n' |
        "$LUNETTE" run --out own --rejects bad %s p.lua]]):format(flag))
      assert.equal(0, r.code)
      for _, name in ipairs { "own", "bad" } do
        local _, text = lines(s, name)
        assert.equal(kept, text:match "^[^{]*")
        assert.is_true(#text > #kept)
      end
      s:clear()
    end
  end)

  it("is opened again after SIGUSR1, so that rotating loses no pane and cuts none", function()
    local s = start(server.script(server.EARLY), TCP .. "--append --out own --rejects bad")
    local client = s:connect()
    local moved, sent = 0, 0
    for round = 1, 5 do
      for i = 1, 2000 do client:send(record(i % 900, "k" .. i) .. (i % 100 == 0 and "nonsense\n" or "")) end
      sent = sent + 2000
      shell.run(s.folder, ("mv own own.%d; mv bad bad.%d"):format(round, round))
      s:signal "USR1"
      server.wait(function() return shell.run(s.folder, "test -e own -a -e bad").code == 0 end, "the new files")
      moved = round
    end
    client:send(record(1, "last"))
    server.wait(function() return (select(2, lines(s, "own"))):find('"last"', 1, true) end, "the last pane")
    assert.equal(0, s:stop().code)
    local panes, bad, whole = lines(s, "own"), lines(s, "bad"), true
    for round = 1, moved do
      local n, text = lines(s, "own." .. round)
      panes, whole = panes + n, whole and (text == "" or text:find "}\n$" ~= nil)
      bad = bad + lines(s, "bad." .. round)
    end
    assert.is_true(whole)
    assert.same({ sent + 1, 100 }, { panes, bad })
  end)

  it("stays as it is where it can't be opened again", function()
    local s = start(server.script(server.EARLY), TCP .. "--out sub/own", nil)
    -- The folder is not there when the program begins.
    assert.equal(1, s:stop("none").code)
    s:clear()
    s = start(server.script(server.EARLY), TCP .. "--out own")
    local client = s:connect()
    client:send(record(1, "a"))
    server.wait(function() return lines(s, "own") == 1 end, "a pane")
    shell.run(s.folder, "mv own moved; mkdir own")
    s:signal "USR1"
    s:said "own: can't be opened again: Is a directory"
    client:send(record(2, "a"))
    server.wait(function() return lines(s, "moved") == 2 end, "the second pane")
  end)

  it("takes the signal without a file, too", function()
    local s = start(server.script(server.EARLY), TCP)
    local client = s:connect()
    client:send(record(1, "a"))
    s:wait_panes(1)
    s:signal "USR1"
    socket.sleep(0.1)
    client:send(record(2, "a"))
    s:wait_panes(2)
    assert.equal(0, s:stop().code)
  end)
end)
