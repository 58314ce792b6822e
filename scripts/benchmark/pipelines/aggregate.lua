-- One aggregate of `value`, by its name. Those with parameters have names of their own.
local ln = require "lunette"

local name = ln.param("aggregate", "sum")
local with_parameters = {
  distinct_approx = function(field) return ln.distinct(field, { approx = true }) end,
  quantile = function(field) return ln.quantile(field, { 0.5, 0.99 }) end,
  top = function(field) return ln.top(field, 10) end,
  min_by = function(field) return ln.min_by("region", field) end,
  max_by = function(field) return ln.max_by("region", field) end,
  histogram = function(field) return ln.histogram(field, { bounds = { 1, 10, 100 } }) end,
  ratio = function(field) return ln.ratio(function(r) return r[field] > 50 end) end,
  fold = function(field)
    return ln.fold { init = function() return { n = 0 } end, add = function(a, r) a.n = a.n + r[field] return a end,
      result = function(a) return a.n end }
  end,
  declared_fold = function(field)
    return ln.fold { state = { n = "double" }, add = function(a, r) a.n = a.n + r[field] end,
      result = function(a) return a.n end }
  end,
}
local aggregate = with_parameters[name] or ln[name]

return ln.pipeline {
  time      = { field = "ts", unit = "ms" },
  watermark = { delay = "2s" },
  key       = "user",
  window    = ln.tumbling "5s",
  aggregate = { a = aggregate "value" },
}
