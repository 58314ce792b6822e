--- What this version does not do yet, each with what to use until then. A key names a construct as a script writes it:
-- a word ("ln.top"), a word with one of its options ("ln.distinct with approx"), a field ("watermark.idle"), or a field
-- with a value ('panes = "retracting"').
local VERSION = "0.1"

local constructs = {
  ["ln.quantile"] = "use ln.min, ln.avg and ln.max, or an ln.fold",
  ["ln.top"] = "use the field as the key with ln.count, or an ln.fold",
  ["ln.min_by"] = "use an ln.fold that keeps the record with the least value",
  ["ln.max_by"] = "use an ln.fold that keeps the record with the greatest value",
  ["ln.collect"] = "use an ln.fold that keeps a list",
  ["ln.histogram"] = "use an ln.fold that counts by bound",
  ["ln.rate"] = "use ln.sum, and divide by the length of the window in emit",
  ["ln.ratio"] = "use ln.avg of a function that returns 1 or 0",
  ["ln.distinct with approx"] = "leave approx out: the exact count holds up to limits.distinct_values values",
}

local M = {}

--- Reports `construct` at `scope` where this version lacks it; tells whether it did.
---@param scope lunette.Scope
---@param construct string
---@return boolean
function M.report(scope, construct)
  local instead = constructs[construct]
  if instead then scope:problem(("%s is not in Lunette %s yet"):format(construct, VERSION), instead) end
  return instead ~= nil
end

return M
