--- The account of a pipeline's records: what became of each, and what is open.
local ffi = require "lunette.ffi"

local lib = ffi.lib

local M = {}

local function count(n) return tonumber(n) end

---@class lunette.Account
---@field name string
---@field read integer records; they are aggregated, filtered or rejected
---@field aggregated integer
---@field filtered integer
---@field rejected table<string, integer> by reason
---@field panes { early: integer, on_time: integer, late: integer, withdrawn: integer }
---@field late_refusals integer windows that refused a record which another window took
---@field values_skipped integer values that an aggregate could not take
---@field distinct_over integer windows whose exact distinct became an estimate
---@field distinct_refused integer the same, and null instead
---@field windows_open integer
---@field windows_opened integer
---@field keys integer
---@field state_bytes integer

--- The account of pipeline `i` of an application of the driver, as `--stats` prints it.
---@param app table
---@param i integer
---@return lunette.Account
function M.of(app, i)
  local s = app:stats_of(i)
  local rejected = {}
  for reason = 0, lib.LN_REASONS - 1 do
    rejected[ffi.string(lib.ln_reason_name(reason))] = count(s.rejected[reason])
  end
  return {
    name = app.parts[i].name,
    read = count(s.read), aggregated = count(s.aggregated), filtered = count(s.filtered), rejected = rejected,
    panes = { early = count(s.panes[0]), on_time = count(s.panes[1]), late = count(s.panes[2]),
      withdrawn = count(s.withdrawals) },
    late_refusals = count(s.refusals_late), values_skipped = count(s.values_skipped),
    distinct_over = count(s.distinct_over), distinct_refused = count(s.distinct_refused),
    windows_open = count(s.windows), windows_opened = count(s.windows_opened), keys = count(s.keys),
    state_bytes = count(s.state_bytes),
  }
end

return M
