--- The words for triggers: when does a pane leave? A trigger looks at events and says "now"; it changes no contents,
-- and repeats for as long as the window lives. A tree has at most 64 nodes and 8 sequences.
local make = require("lunette.node").make

---@class lunette.Trigger: lunette.Node

---@class lunette.AtWatermarkOptions
---@field early? lunette.Trigger asked before the watermark reaches the end; default ln.never()
---@field late? lunette.Trigger asked after that; default ln.each()

---@class lunette.EveryOptions
---@field time? "processing"|"event" the clock (default), or the watermark
---@field if_new? boolean leaves a pane out where nothing has come since the last one

---@class lunette.TriggeredWindow
---@field key any
---@field start number? in the pipeline's unit; nil for a global window
---@field stop number?
---@field pane integer the index that the next pane will have
---@field value table<string, any> the aggregates with the record in, worked out when read

local M = {}

--- One pane when the watermark reaches the end of the window; before that as `early` says, after it as `late` says.
-- The default trigger. It can only be the outermost one. Since 0.1.
---@param options? lunette.AtWatermarkOptions
---@return lunette.Trigger
function M.at_watermark(options, ...)
  return (make("trigger", "at_watermark { early = ..., late = ... }", { options = options }, ...))
end

--- At every record. Since 0.1.
---@return lunette.Trigger
function M.each(...) return (make("trigger", "each()", {}, ...)) end

--- Not at all: the closing pane still shows what was collected. Since 0.1.
---@return lunette.Trigger
function M.never(...) return (make("trigger", "never()", {}, ...)) end

--- At a record, when at least `n` have come since the last pane; `n` is a whole number from 1. Since 0.1.
---@param n integer
---@return lunette.Trigger
function M.after_count(n, ...) return (make("trigger", "after_count(n)", { n = n }, ...)) end

--- Whenever the clock passes a multiple of `period`, for every window that holds a record. Since 0.1.
---@param period lunette.Duration above 0
---@param options? lunette.EveryOptions
---@return lunette.Trigger
function M.every(period, options, ...)
  return (make("trigger", "every(period, options)", { period = period, options = options }, ...))
end

--- When the clock moves and `delay` or more has passed since the first record since the last pane. Since 0.1.
---@param delay lunette.Duration
---@return lunette.Trigger
function M.after_delay(delay, ...) return (make("trigger", "after_delay(delay)", { delay = delay }, ...)) end

--- When the clock moves and `delay` or more has passed since the latest record since the last pane. Since 0.1.
---@param delay lunette.Duration
---@return lunette.Trigger
function M.after_idle(delay, ...) return (make("trigger", "after_idle(delay)", { delay = delay }, ...)) end

--- When the function is true for a record just added. An error in it counts as "not now". Since 0.1.
---@param fn fun(window: lunette.TriggeredWindow, record: table): any
---@return lunette.Trigger
function M.when(fn, ...) return (make("trigger", "when(fn)", { fn = fn }, ...)) end

--- When one of the parts is ready. Since 0.1.
---@param list lunette.Trigger[]
---@return lunette.Trigger
function M.any(list, ...) return (make("trigger", "any { trigger, ... }", { list = list }, ...)) end

--- When each part has been ready since the last pane. Since 0.1.
---@param list lunette.Trigger[]
---@return lunette.Trigger
function M.all(list, ...) return (make("trigger", "all { trigger, ... }", { list = list }, ...)) end

--- The first once, then the second once, and so on; the last one repeatedly. Since 0.1.
---@param list lunette.Trigger[]
---@return lunette.Trigger
function M.sequence(list, ...) return (make("trigger", "sequence { trigger, ... }", { list = list }, ...)) end

--- As the given trigger says, but at most once per window. Since 0.1.
---@param trigger lunette.Trigger
---@return lunette.Trigger
function M.once(trigger, ...) return (make("trigger", "once(trigger)", { trigger = trigger }, ...)) end

return M
