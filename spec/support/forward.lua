--- Messages of Fluent Forward, byte by byte, for specs that send what no client would.
local M = {}

local function be(n, bytes)
  local text = ""
  for _ = 1, bytes do
    text = string.char(n % 256) .. text
    n = math.floor(n / 256)
  end
  return text
end

function M.text(s)
  if #s < 32 then return string.char(160 + #s) .. s end
  if #s < 256 then return "\217" .. string.char(#s) .. s end
  if #s < 65536 then return "\218" .. be(#s, 2) .. s end
  return "\219" .. be(#s, 4) .. s
end

function M.bytes(s) return "\198" .. be(#s, 4) .. s end
function M.uint(n) return "\206" .. be(n, 4) end
function M.array(...) return string.char(144 + select("#", ...)) .. table.concat { ... } end

--- A map of names and packed values, in turn.
function M.map(...)
  local list = { ... }
  for i = 1, #list, 2 do list[i] = M.text(list[i]) end
  return string.char(128 + #list / 2) .. table.concat(list)
end

--- An event time.
function M.time(s, ns) return "\215\0" .. be(s, 4) .. be(ns or 0, 4) end

--- Messages: `option` holds names and packed values, in turn.
function M.message(tag, s, record, ...)
  local parts = { M.text(tag), M.time(s), record or "\128" }
  if select("#", ...) > 0 then parts[4] = M.map(...) end
  return M.array(unpack(parts))
end

function M.packed(tag, entries, ...) return M.array(M.text(tag), M.bytes(entries), M.map(...)) end
function M.chunk(id) return "chunk", M.text(id) end
function M.ack(id) return M.map("ack", M.text(id)) end

return M
