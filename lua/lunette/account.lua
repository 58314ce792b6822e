--- The account of a pipeline's records: what became of each, and what is open.
local ffi = require "lunette.ffi"

local lib = ffi.lib

local M = {}

local function count(n) return tonumber(n) end

--- The account of pipeline `i` of an application of the driver, as `--stats` prints it.
---@param app table
---@param i integer
---@return table
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
