--- Predicates of triggers: the engine stops and asks, these answer. What a predicate sees of its window is worked out
-- only when it reads it.
local ffi = require "lunette.ffi"
local value = require "lunette.value"

local lib = ffi.lib
local M = {}

--- A function that answers the engine's present question.
-- @param context { engine, record, move, unit }
-- @param folds the pipeline's folds, for `w.value`; their operations have been worked off before a question is asked
-- @param failed heard with (place, message) of each error
function M.answerer(context, whens, folds, failed)
  local engine = context.engine
  local question = lib.ln_engine_question(engine)
  local len = ffi.new "size_t[1]"
  local asking = false
  local pane -- of the window asked about, once it has been read

  local function preview()
    if pane then return pane end
    local bytes = lib.ln_engine_question_pane(engine, len)
    pane = value.read(bytes, bytes + len[0])
    folds:results(pane.value, question.slot)
    return pane
  end

  local read = {
    pane = function() return question.pane end,
    key = function() return preview().key end,
    start = function() return preview().start end,
    stop = function() return preview()["end"] end,
    value = function() return preview().value end,
  }
  local window = setmetatable({}, {
    __index = function(_, name)
      local reader = read[name]
      if not asking then error("a window lives only during the call: keep what you read of it", 2) end
      return reader and reader()
    end,
    __newindex = function() error("a window can't be changed", 2) end,
    __metatable = "a window of Lunette",
  })

  return function()
    pane, asking = nil, true
    context.move(question.row, engine)
    for i = 0, question.count - 1 do
      local ok, yes = pcall(whens[question.when[i]], window, context.record)
      if not ok then failed("when", yes) end
      question.answer[i] = ok and yes and 1 or 0
    end
    asking = false
  end
end

return M
