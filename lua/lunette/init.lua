--- `local ln = require "lunette"`: the public words. A pipeline script returns `ln.pipeline { ... }`, or a list of
-- them. Every word only makes a plain table; whatever is wrong is reported, all at once, when the script is checked.
local aggregate = require "lunette.aggregate"
local node = require "lunette.node"
local params = require "lunette.plan.params"
local suggest = require "lunette.plan.suggest"
local trigger = require "lunette.trigger"
local window = require "lunette.window"

---@class lunette.Time
---@field field? string|fun(record: table): any the field that holds the time
---@field fn? fun(record: table): any the time of a record, instead of a field
---@field unit? "s"|"ms"|"us"|"ns"|"tick"|"rfc3339" default "ms"

---@class lunette.Watermark
---@field delay? lunette.Duration how far records may come out of order; default 0, or unbounded with `mark`
---@field source? string the field that tells sources apart
---@field sources? integer how many sources must be heard before the watermark starts; default 1
---@field idle? lunette.Duration a source silent for that long no longer holds the watermark
---@field on_idle? "hold"|"advance" what the watermark does when all are idle; default "hold"
---@field max_ahead? lunette.Duration a record further ahead of the clock is rejected as `future`
---@field mark? fun(record: table): number? a promise that nothing before that time still comes

---@class lunette.Limits
---@field record_bytes? integer one record, encoded; default 4,194,304
---@field nesting? integer maps and arrays within each other; default 32
---@field elements? integer values in one record; default 65,536
---@field state_bytes? integer windows, keys and aggregates; default 1,073,741,824
---@field distinct_values? integer values held by one exact distinct of one window; default 1,000,000

---@class lunette.Pane
---@field key any
---@field start number? in the pipeline's unit; nil for a global window
---@field end number?
---@field pane integer
---@field timing "early"|"on_time"|"late"
---@field final boolean
---@field value table<string, any>
---@field retract? true
---@field absorbed? number[]

---@class lunette.PipelineSpec
---@field name? string default "pipeline"; several pipelines have different names
---@field time "processing"|lunette.Time|fun(record: table): any
---@field watermark? lunette.Watermark
---@field where? fun(record: table): any records for which it is false or nil are filtered
---@field key? string|string[]|fun(record: table): any at most 16 fields
---@field window lunette.Window
---@field trigger? lunette.Trigger default ln.at_watermark()
---@field lateness? lunette.Duration how long a window is kept past its end; default 0
---@field panes? "accumulating"|"discarding"|"retracting" default "accumulating"
---@field closing? "always" a last pane leaves in any case
---@field fill? integer so many empty windows may follow each other; tumbling and hopping, under at_watermark
---@field aggregate table<string, lunette.Aggregate>
---@field emit? fun(pane: lunette.Pane): lunette.Pane? reshapes a pane, or drops it by returning nil
---@field limits? lunette.Limits
---@field source? string|string[] where records come from; of several pipelines, written beside them in the list
---@field sink? string where panes go; likewise

---@class lunette.Pipeline: lunette.Node

---@class lunette
local M = {}

--- A pipeline: which records, which windows, what is kept, when it leaves. Durations are texts with units or numbers in
-- the unit of `time`. The table is copied: a script may change it and use it for the next pipeline. Since 0.1.
---@param spec lunette.PipelineSpec
---@return lunette.Pipeline
function M.pipeline(spec, ...)
  if type(spec) == "table" and not node.mark(spec) and spec ~= node.null then
    local copy = {}
    for name, value in next, spec do copy[name] = value end
    spec = copy
  end
  return (node.make("pipeline", "pipeline { ... }", { spec = spec }, ...))
end

--- The value of `--set name=value`, or the default. The default's type decides: a number or boolean is read from the
-- text, and a text that is none is a problem of the script. Without a default the result is a text or nil.
-- Raises when it is called after the script has loaded. Since 0.1.
---@generic T: string|number|boolean|nil
---@param name string
---@param default? T
---@return T
function M.param(name, default)
  local origin = node.caller()
  return params.get(origin, name, default)
end

--- A record as a plain table. The record that a function is given is a view of the present one, valid during the call
-- and without `pairs`; what must outlive it, or be walked through, is copied. So are the window of a predicate and its
-- values. Raises for anything else. Since 0.1.
---@param view table
---@return table
function M.copy(view)
  return require("lunette.record").copy(view) -- not before it is called: the words themselves need no engine
end

--- Runs a pipeline inside of this Lua state: see lunette.engine. Returns an engine; or nil, what is wrong, and the same
-- as a list. Since 0.1.
---@param pipeline string|lunette.Script|lunette.Pipeline|lunette.Pipeline[]
---@param options? lunette.Options
---@return lunette.Engine?
---@return string?
---@return string[]?
function M.open(pipeline, options)
  return require("lunette.engine").open(pipeline, options) -- which needs the library
end

--- Null, where nil can't stand: inside of arrays, such as a composite key. Since 0.1.
M.null = node.null

M.tumbling = window.tumbling
M.hopping = window.hopping
M.sliding = window.sliding
M.session = window.session
M.global = window.global
M.assigner = window.assigner

M.at_watermark = trigger.at_watermark
M.each = trigger.each
M.never = trigger.never
M.after_count = trigger.after_count
M.every = trigger.every
M.after_delay = trigger.after_delay
M.after_idle = trigger.after_idle
M.when = trigger.when
M.any = trigger.any
M.all = trigger.all
M.sequence = trigger.sequence
M.once = trigger.once

M.count = aggregate.count
M.sum = aggregate.sum
M.min = aggregate.min
M.max = aggregate.max
M.avg = aggregate.avg
M.variance = aggregate.variance
M.stddev = aggregate.stddev
M.first = aggregate.first
M.last = aggregate.last
M.distinct = aggregate.distinct
M.fold = aggregate.fold
M.quantile = aggregate.quantile
M.top = aggregate.top
M.min_by = aggregate.min_by
M.max_by = aggregate.max_by
M.collect = aggregate.collect
M.histogram = aggregate.histogram
M.rate = aggregate.rate
M.ratio = aggregate.ratio

local words = {}
for name, word in pairs(M) do
  words[#words + 1] = name
  if type(word) == "function" then node.names[word] = name end
end
table.sort(words)

-- A word that does not exist is a problem like any other: while a script loads, something stands in for what the word
-- would have made, and the script goes on.
return setmetatable(M, {
  __index = function(_, name)
    local how = suggest.how(name, words, "see the reference of words")
    local text = ("ln.%s: no such word: %s"):format(tostring(name), how)
    if not params.note(node.caller() .. ": " .. text) then error(text, 2) end
    return function(...) return (node.make("unknown", tostring(name), {}, ...)) end
  end,
})
