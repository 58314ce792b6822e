--- What every word of the vocabulary makes: a plain table with `kind` and the arguments, as given. It does nothing and
-- nothing is checked when it is made; `lunette.plan` reads it later. Where it was made, and by which word, stands under
-- a private key, so that it can't meet a field of the script's.
local getinfo, rawget, select, type = debug.getinfo, rawget, select, type

local M = {}

-- The private key, and the origin of a script's own last line while M.run runs it.
local MARK = {}
local script_origin

---@class lunette.Mark
---@field origin string "file:line" of the call
---@field family "pipeline"|"window"|"trigger"|"aggregate"
---@field word string the word that was called
---@field usage string how to call it: "tumbling(size, options)"
---@field given integer how many arguments were given beyond those

---@class lunette.Node
---@field kind string

--- The stand-in for null where nil can't stand: inside of arrays.
M.null = setmetatable({}, {
  __tostring = function() return "null" end,
  __newindex = function() error("ln.null is a constant", 2) end,
  __metatable = false,
})

--- The public functions by name, so that a message can say which one was passed without being called.
---@type table<function, string>
M.names = {}

--- "file:line" of the Lua code nearest above `level`. A call in tail position leaves no trace of its caller; for a
-- script that ends in `return ln.pipeline { ... }` the search then arrives at M.run, which knows that line.
local function origin_above(level)
  while true do
    local info = getinfo(level, "Slf")
    if not info or info.func == M.run then return script_origin or "?:0" end
    if info.what ~= "C" and info.currentline > 0 then
      return (info.source:gsub("^[@=]", "")) .. ":" .. info.currentline
    end
    level = level + 1
  end
end

--- Marks `fields` as made by the word that `usage` begins with, called by the function two levels up.
---@param family string
---@param usage string
---@param fields table
---@param ... any arguments that the word does not take
---@return table fields
function M.make(family, usage, fields, ...)
  local given = 0
  for i = 1, select("#", ...) do
    if select(i, ...) ~= nil then given = i end
  end
  local word = usage:match "^[%w_]+"
  fields.kind = fields.kind or word
  fields[MARK] = { origin = origin_above(4), family = family, word = word, usage = usage, given = given }
  return fields
end

--- The mark of a value that a word made; nil for any other.
---@param value any
---@return lunette.Mark?
function M.mark(value) return type(value) == "table" and rawget(value, MARK) or nil end

--- "file:line" of the script's code that called the caller of this function.
---@return string
function M.caller()
  local origin = origin_above(4)
  return origin
end

--- Runs a script's main function under xpcall. `origin` is the "file:line" of its closing return.
---@param script function
---@param origin string
---@param handler fun(err: any): any
---@return boolean ok
---@return any result or the handler's answer
---@return any second what the script returned beside its result
function M.run(script, origin, handler)
  local outer = script_origin
  script_origin = origin
  local ok, result, second = xpcall(script, handler)
  script_origin = outer
  return ok, result, second
end

return M
