--- The words for windows: which windows does a record belong to? Each is half-open, [start, end).
-- A duration is a text with units ("250ms", "1h30m", "7d") or a number in the pipeline's unit; in ticks a number only.
local make = require("lunette.node").make

---@alias lunette.Duration string|number

---@class lunette.Window: lunette.Node

---@class lunette.GridOptions
---@field offset? lunette.Duration shifts the grid; may be negative or larger than the step: its remainder matters

---@class lunette.SessionOptions
---@field max? lunette.Duration the longest session; at least the gap

---@class lunette.AssignerOptions
---@field merge? boolean overlapping windows of a key become one, as sessions do
---@field longest? lunette.Duration the longest window that the function returns; stated with `merge` only

local M = {}

--- Windows of one size, side by side: a record belongs to one.
-- A size that is not above 0 is a problem that the check of the script reports. Since 0.1.
---@param size lunette.Duration
---@param options? lunette.GridOptions
---@return lunette.Window
function M.tumbling(size, options, ...)
  return (make("window", "tumbling(size, options)", { size = size, options = options }, ...))
end

--- Windows of one size that start every `hop`: a record belongs to size / hop of them. A hop larger than the size
-- leaves gaps, and records in a gap are rejected as `no_window`. A size or hop that is not above 0, or more than
-- 100,000 windows a record, is a problem. Since 0.1.
---@param size lunette.Duration
---@param hop lunette.Duration
---@param options? lunette.GridOptions
---@return lunette.Window
function M.hopping(size, hop, options, ...)
  return (make("window", "hopping(size, hop, options)", { size = size, hop = hop, options = options }, ...))
end

--- Another name of `hopping`. Since 0.1.
---@param size lunette.Duration
---@param hop lunette.Duration
---@param options? lunette.GridOptions
---@return lunette.Window
function M.sliding(size, hop, options, ...)
  local fields = { kind = "hopping", size = size, hop = hop, options = options }
  return (make("window", "sliding(size, hop, options)", fields, ...))
end

--- Runs of records of one key whose neighbouring times are less than `gap` apart.
-- A gap that is not above 0, or a `max` below the gap, is a problem. Since 0.1.
---@param gap lunette.Duration
---@param options? lunette.SessionOptions
---@return lunette.Window
function M.session(gap, options, ...)
  return (make("window", "session(gap, options)", { gap = gap, options = options }, ...))
end

--- One window per key, without bounds: the running value. Since 0.1.
---@return lunette.Window
function M.global(...) return (make("window", "global()", {}, ...)) end

--- The windows that `fn(t, record)` returns as pairs start, stop, in the pipeline's unit.
-- An error in `fn`, or a pair with start >= stop, rejects the record as `script_error`. Since 0.1.
---@param fn fun(t: number, record: table): number?, number?, ...
---@param options? lunette.AssignerOptions
---@return lunette.Window
function M.assigner(fn, options, ...)
  return (make("window", "assigner(fn, options)", { fn = fn, options = options }, ...))
end

return M
