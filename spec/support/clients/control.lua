--- A server's control socket as `lunette top` knows it, with an answer that moves on by the same amount each second.
-- luajit control.lua PATH
local socket = require "socket"
local unix = require "socket.unix"

local listener = assert(unix.stream())
assert(listener:bind(arg[1]))
assert(listener:listen(5))

local STATS = [[{"pipelines":[{"name":"spend","read":%d,"aggregated":1,"filtered":0,"rejected":{"late":7,"no_time":3},]]
  .. [["panes":{"early":1,"on_time":%d,"late":3,"withdrawn":0},"late_refusals":1,"windows_open":23456,]]
  .. [["windows_opened":3,"keys":10000,"state_bytes":34567890}],"server":{"connections":12,"subscribers":2,]]
  .. [["bytes_received":%d,"queued_bytes":1024,"panes_lost":0}}]]
local WINDOWS = [[{"name":"spend","unit":"s","watermark":1796100000,"clock":1796100075,"keys":10000,]]
  .. [["windows_open":23456,"sources_known":3,"sources":[{"source":"a","promise":1796100000,"heard":1796100005,]]
  .. [["holds":true},{"source":"b","promise":1796100060,"heard":1796100074.8},{"source":7,"promise":1796090000,]]
  .. [["heard":1796090001,"idle":true}],"windows":[]}]]
local ANSWERS = {
  ['{"command":"status"}'] = function()
    local t = math.floor(socket.gettime() * 10) / 10
    local n = math.floor((t - 1.7e9) * 10)
    return STATS:format(1000 * n, 10 * n, 102400 * n)
  end,
  ['{"command":"windows","most":0}'] = function() return "[" .. WINDOWS .. "]" end,
}

while true do
  local client = listener:accept()
  while true do
    local request = client:receive "*l"
    if not request then break end
    client:send((ANSWERS[request] or function() return "what?" end)() .. "\n")
  end
  client:close()
end
