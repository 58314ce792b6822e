--- Fluent Forward with clients and servers of others: @fluent-org/logger and fluent-logger of npm, Debian's
-- python3-fluent-logger. Records go on into a pipeline by their time and tag.
local clients = require "spec.support.clients"

-- Five records of tag app.x from 1700000001 s on, in the minute that begins at 1699999980 s.
local PANE = '{"key":"app.x","start":1699999980000,"end":1700000040000,"pane":0,"timing":"on_time","final":true,'
  .. '"value":{"first":{"ext":-1,"data":"%s"},"n":5,"sum":15}}\n'
local FIVE_NS = PANE:format "AAAAFGVT8QE="

local installed, trouble = clients.install()
if not installed then -- no registry of npm can be reached: not passed, and said so
  pending("clients and servers of others: " .. trouble)
  return
end

before_each(clients.prepare)
after_each(clients.clear)

local function acknowledges(options, client, messages)
  local r = clients.listen(options, client)
  assert.same({ 0, FIVE_NS, "acknowledged\n", 0 }, { r.code, r.out, r.client, r.exit })
  assert.same({ messages, messages, 0, 0 }, { r.server.forward_messages, r.server.forward_acknowledged,
    r.server.forward_repeated, r.server.forward_denied })
end

local function denies(options, client, why)
  local r = clients.listen(options, client)
  assert.same({ 1, "" }, { r.code, r.out })
  assert.truthy(r.words:find(why, 1, true), r.words)
  assert.equal(0, r.pipeline.read)
  assert.truthy(r.server.forward_denied >= 1)
end

for _, name in ipairs { "fluent_org", "fluent_logger" } do
  local run = ("node $CLIENTS/%s.js $PORT "):format(name)

  describe(name .. " as a client", function()
    it("is understood in every mode, and told what has arrived", function()
      acknowledges("", run .. "Message", 5)
      acknowledges("", run .. "PackedForward", 1)
      acknowledges("", run .. "CompressedPackedForward", 1)
      if name == "fluent_org" then acknowledges("", run .. "Forward", 1) end
    end)

    it("is let in with the shared key, and with a user and his password", function()
      acknowledges(clients.key(), run .. "PackedForward secret", 1)
      acknowledges(clients.key() .. clients.users(), run .. "PackedForward secret ann pass", 1)
      acknowledges(clients.users(), run .. "Message '' ann pass", 5)
    end)

    it("is not let in with another key or password", function()
      denies(clients.key(), run .. "Message Secret", "byte 0: shared key mismatch")
      denies(clients.key() .. clients.users(), run .. "Message secret ann word", "byte 0: username/password mismatch")
      denies(clients.users(), run .. "Message '' ann word", "byte 0: username/password mismatch")
    end)

    it("is not let in without a handshake where one is asked for", function()
      for _, options in ipairs { clients.key(), clients.users() } do
        local r = clients.listen(options, run .. "Message")
        assert.equal("", r.out)
        assert.truthy(r.words:find("a PING must come first", 1, true), r.words)
      end
    end)
  end)
end

describe("python3-fluent-logger as a client", function()
  it("is understood, in seconds and in nanoseconds", function()
    local run = "/usr/bin/python3 $CLIENTS/fluent_sender.py $PORT "
    local seconds, precise = clients.listen("", run), clients.listen("", run .. "precise")
    assert.same({ 0, PANE:format "AAAAAGVT8QE=", "" }, { seconds.code, seconds.out, seconds.client })
    assert.same({ 0, PANE:format "dzWUAGVT8QE=", "" }, { precise.code, precise.out, precise.client })
  end)
end)

describe("@fluent-org/logger as a server", function()
  local ENTRIES = '["panes",{"k":1}]\n["panes",{"k":2}]\n["panes",{"k":3}]\n'

  local function takes(options, arguments, words)
    local r = clients.send(options, arguments, words)
    assert.same({ 0, ENTRIES }, { r.code, r.out }, r.err)
  end

  it("takes our chunks, plain and compressed, and acknowledges them", function()
    takes("", "")
    takes("", "", "&gzip")
  end)

  it("lets us in with the shared key, and with a user and his password", function()
    takes(clients.sink_key "secret", "secret")
    takes(clients.sink_key "secret" .. clients.sink_user "ann:pass", "secret ann pass")
  end)

  it("is told apart from one that does not let us in, and tried again", function()
    for options, arguments in pairs {
      [clients.sink_key "wrong"] = "secret",
      [clients.sink_key "secret" .. clients.sink_user "ann:word"] = "secret ann pass",
    } do
      local r = clients.send(options .. " --drain-timeout 100ms", arguments, nil, 2)
      assert.truthy(r.err:find("3 panes were not acknowledged, and may be lost", 1, true), r.err)
      assert.same({ 124, "" }, { r.code, r.out })
      local refusals = select(2, r.err:gsub("the peer refuses the shared key, the user or the password; trying", ""))
      assert.truthy(refusals >= 3, r.err)
    end
  end)
end)
