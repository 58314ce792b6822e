--- The words for aggregates: what is kept of the records of a window. A field is a name, a path of names with dots, or
-- a function of the record. Null and missing values are skipped, and so are values that an aggregate can't take, which
-- are counted. An error in a field's function rejects the record as `script_error`.
local make = require("lunette.node").make

---@alias lunette.Field string|fun(record: table): any

---@class lunette.Aggregate: lunette.Node

---@class lunette.DistinctOptions
---@field approx? boolean a sketch of fixed size, exact while there are few
---@field precision? integer of the sketch: 10 to 16 bits; default 12
---@field past_limit? "approx"|"error" past `limits.distinct_values`: an estimate (the default), or null

---@class lunette.QuantileOptions
---@field accuracy? number the relative error, 0.001 to 0.5; default 0.01

---@class lunette.TopOptions
---@field by? lunette.Field what to add up, instead of 1 for each record
---@field capacity? integer different values up to which it is exact; default 16 for each of `k`, at least 1024

---@class lunette.CollectOptions
---@field limit? integer the most values; default 1000

---@class lunette.HistogramOptions
---@field bounds number[] rising

---@class lunette.RateOptions
---@field per? lunette.Duration default one second; in ticks one tick

---@class lunette.Fold
---@field state? table<string, string> the fields of the accumulator with their types: it is a struct then
---@field init? fun(acc?: any): any the accumulator of an empty window; of a struct, which is zero else, optional
---@field add fun(acc: any, record: table): any the accumulator with the record in; a struct it changes
---@field merge? fun(a: any, b: any): any needed where windows merge
---@field result? fun(acc: any): any what a pane shows; default the accumulator itself

local M = {}

--- How many records; with a field, how many that have it and not as null. Since 0.1.
---@param field? lunette.Field
---@return lunette.Aggregate
function M.count(field, ...) return (make("aggregate", "count(field)", { field = field }, ...)) end

--- The sum: 0 for none. Integers are summed exactly, sums of doubles are compensated. Since 0.1.
---@param field lunette.Field
---@return lunette.Aggregate
function M.sum(field, ...) return (make("aggregate", "sum(field)", { field = field }, ...)) end

--- The least number: null for none. Since 0.1.
---@param field lunette.Field
---@return lunette.Aggregate
function M.min(field, ...) return (make("aggregate", "min(field)", { field = field }, ...)) end

--- The greatest number: null for none. Since 0.1.
---@param field lunette.Field
---@return lunette.Aggregate
function M.max(field, ...) return (make("aggregate", "max(field)", { field = field }, ...)) end

--- The mean: null for none. Since 0.1.
---@param field lunette.Field
---@return lunette.Aggregate
function M.avg(field, ...) return (make("aggregate", "avg(field)", { field = field }, ...)) end

--- The sample variance: null below two values. Since 0.1.
---@param field lunette.Field
---@return lunette.Aggregate
function M.variance(field, ...) return (make("aggregate", "variance(field)", { field = field }, ...)) end

--- The sample standard deviation: null below two values. Since 0.1.
---@param field lunette.Field
---@return lunette.Aggregate
function M.stddev(field, ...) return (make("aggregate", "stddev(field)", { field = field }, ...)) end

--- The first value in event time; among equal times the first to arrive. Since 0.1.
---@param field lunette.Field
---@return lunette.Aggregate
function M.first(field, ...) return (make("aggregate", "first(field)", { field = field }, ...)) end

--- The last value in event time; among equal times the last to arrive. Since 0.1.
---@param field lunette.Field
---@return lunette.Aggregate
function M.last(field, ...) return (make("aggregate", "last(field)", { field = field }, ...)) end

--- How many different values, exactly up to `limits.distinct_values`; or from a sketch of them. Since 0.1.
---@param field lunette.Field
---@param options? lunette.DistinctOptions
---@return lunette.Aggregate
function M.distinct(field, options, ...)
  return (make("aggregate", "distinct(field, options)", { field = field, options = options }, ...))
end

--- A fold in Lua. An error in `add` skips the record for this fold; in `merge` or `result` the value is null.
-- A window that merges needs `merge`. Since 0.1.
---@param spec lunette.Fold
---@return lunette.Aggregate
function M.fold(spec, ...)
  return (make("aggregate", "fold { init = ..., add = ..., merge = ..., result = ... }", { spec = spec }, ...))
end

--- The number below which the share `q` of the numbers lies, from 0 to 1, within a relative error; or an array of these
-- for an array of shares. Null for none. Since 0.1.
---@param field lunette.Field
---@param q number|number[]
---@param options? lunette.QuantileOptions
---@return lunette.Aggregate
function M.quantile(field, q, options, ...)
  return (make("aggregate", "quantile(field, q, options)", { field = field, q = q, options = options }, ...))
end

--- The `k` most frequent values, or those with the greatest sums of another field, as an array of
-- `{ value, count, error }`: the true count is at most `count` and at least `count - error`. Since 0.1.
---@param field lunette.Field
---@param k integer
---@param options? lunette.TopOptions
---@return lunette.Aggregate
function M.top(field, k, options, ...)
  return (make("aggregate", "top(field, k, options)", { field = field, k = k, options = options }, ...))
end

--- The field of the record whose `by` is least; among equals that of the earliest. Null for none. Since 0.1.
---@param field lunette.Field
---@param by lunette.Field
---@return lunette.Aggregate
function M.min_by(field, by, ...) return (make("aggregate", "min_by(field, by)", { field = field, by = by }, ...)) end

--- The field of the record whose `by` is greatest; among equals that of the earliest. Null for none. Since 0.1.
---@param field lunette.Field
---@param by lunette.Field
---@return lunette.Aggregate
function M.max_by(field, by, ...) return (make("aggregate", "max_by(field, by)", { field = field, by = by }, ...)) end

--- The values themselves, in event time, at most `limit`: the first ones. A pane that leaves some out says `cut`.
-- Since 0.1.
---@param field lunette.Field
---@param options? lunette.CollectOptions
---@return lunette.Aggregate
function M.collect(field, options, ...)
  return (make("aggregate", "collect(field, options)", { field = field, options = options }, ...))
end

--- How many numbers lie below the first of the bounds, from each up to the next, and from the last one on. Since 0.1.
---@param field lunette.Field
---@param options lunette.HistogramOptions
---@return lunette.Aggregate
function M.histogram(field, options, ...)
  return (make("aggregate", "histogram(field, options)", { field = field, options = options }, ...))
end

--- The sum of a field, or without one the number of records, per span of time over the window's length. Since 0.1.
---@param field? lunette.Field
---@param options? lunette.RateOptions
---@return lunette.Aggregate
function M.rate(field, options, ...)
  return (make("aggregate", "rate(field, options)", { field = field, options = options }, ...))
end

--- The share of the records for which the function is true. Null for none. Since 0.1.
---@param fn fun(record: table): any
---@return lunette.Aggregate
function M.ratio(fn, ...) return (make("aggregate", "ratio(fn)", { fn = fn }, ...)) end

return M
