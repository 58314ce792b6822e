--- A consumer of panes, and what every consumer may rely on. Windows are told apart by key and start, those that
-- neither merge nor grow by their end as well.
local json = require "spec.support.json"
local compare = require "spec.support.model.compare"
local value = require "spec.support.model.value"

local consumer = {}

local function window_id(pane, by_end)
  local parts = { pane.pipeline or "", value.identity(pane.key), json.encode(pane.start) }
  if by_end then parts[4] = json.encode(pane["end"]) end
  return table.concat(parts, " ")
end

-- The windows as a consumer has them in the end: it replaces, and takes back what is withdrawn.
function consumer.replacing(panes, by_end)
  local held = {}
  for _, pane in ipairs(panes) do
    local id = window_id(pane, by_end)
    if pane.retract then held[id] = nil else held[id] = pane end
  end
  return held
end

-- The same in discarding mode: it adds the numbers `n` and `ids`, and moves what is absorbed.
function consumer.adding(panes, by_end)
  local held = {}
  for _, pane in ipairs(panes) do
    local id = window_id(pane, by_end)
    local sum = held[id] or { n = 0, ids = 0 }
    for _, start in ipairs(pane.absorbed or {}) do
      local absorbed = window_id({ pipeline = pane.pipeline, key = pane.key, start = start })
      sum.n, sum.ids = sum.n + held[absorbed].n, sum.ids + held[absorbed].ids
      held[absorbed] = nil
    end
    held[id] = { n = sum.n + pane.value.n, ids = sum.ids + pane.value.ids }
  end
  return held
end

-- nil, or what breaks a promise of section "panes": numbers without holes, nothing after a final pane, withdrawals of
-- what stands, field for field.
function consumer.broken_promise(panes, by_end)
  local next_number, ended, standing = {}, {}, {}
  for i, pane in ipairs(panes) do
    local id = window_id(pane, by_end)
    local function broken(what) return ("pane %d: %s: %s"):format(i, what, json.encode(pane)) end
    if pane.retract then
      local copy = value.copy(pane)
      copy.retract = nil
      if not standing[id] or not compare.same(copy, standing[id]) then return broken "withdraws what does not stand" end
      standing[id] = nil
    else
      if ended[id] then return broken "after a final one" end
      if pane.pane ~= (next_number[id] or 0) then return broken "a hole in the numbers" end
      next_number[id] = pane.pane + 1
      ended[id] = pane.final
      standing[id] = pane
    end
  end
  return nil
end

-- nil, or where the account of a pipeline and its rejects do not hold together.
function consumer.broken_account(account, rejects, lines)
  local sum, counted = account.aggregated + account.filtered, {}
  for _, r in ipairs(rejects) do counted[r.reason] = (counted[r.reason] or 0) + 1 end
  for reason, n in pairs(account.rejected) do
    sum = sum + n
    local seen = counted[reason] or 0
    if n ~= seen then return ("%d rejects counted as %s, %d seen"):format(n, reason, seen) end
  end
  if sum ~= account.read then return ("read %d, accounted for %d"):format(account.read, sum) end
  if account.read ~= lines then return ("read %d of %d lines"):format(account.read, lines) end
  return nil
end

return consumer
