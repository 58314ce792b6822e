--- What `lunette.open` is given: pipelines as a path, a script's text or tables, and options.
local loader = require "lunette.loader"
local node = require "lunette.node"
local plan = require "lunette.plan"

---@class lunette.Script a pipeline script as a text
---@field text string
---@field name? string what messages call it, and whose folder is where its modules lie; default "script"

---@class lunette.Options
---@field format? "msgpack"|"json" of the panes and rejects as bytes; default "msgpack", which `panes` needs
---@field rejects? boolean rejected records are kept for `rejects` and `take_rejects`
---@field params? table<string, string|number|boolean> what `ln.param` of a script returns
---@field clock_field? string the field of a record that is the processing clock, instead of what `step` is told
---@field input_bytes? integer the most that waits to be read; default 16,777,216
---@field seed? number of the hashes of keys; default one that nobody can know

local M = {}

local OPTIONS = {
  format = "string", rejects = "boolean", params = "table", clock_field = "string", input_bytes = "number",
  seed = "number",
}

--- The options of `lunette.open`; raises where one is none.
---@param options lunette.Options?
---@return lunette.Options
function M.check_options(options)
  if options == nil then return {} end
  if type(options) ~= "table" then error("lunette.open: the options are no table", 3) end
  for name, x in pairs(options) do
    local kind = OPTIONS[name]
    if not kind then error(("lunette.open: there is no option %s"):format(tostring(name)), 3) end
    if type(x) ~= kind then error(("lunette.open: the option %s is no %s"):format(name, kind), 3) end
  end
  if options.format and options.format ~= "msgpack" and options.format ~= "json" then
    error('lunette.open: the option format is neither "msgpack" nor "json"', 3)
  end
  if options.input_bytes and not (options.input_bytes >= 1 and options.input_bytes <= 2 ^ 31) then
    error("lunette.open: the option input_bytes is not between 1 and 2^31", 3)
  end
  return options
end

-- The pipelines of a path, a script's text, or what ln.pipeline has made.
local function read(from, set, origin)
  local params = {}
  for name, x in pairs(set or {}) do params[name] = tostring(x) end
  local how = { params = params, guest = true }
  if type(from) == "string" then return loader.load(from, how) end
  if type(from) == "table" and not node.mark(from) and from.text ~= nil then
    if type(from.text) ~= "string" or from.name ~= nil and type(from.name) ~= "string" then
      error("lunette.open: a script is { text = a text, name = a text }", 4)
    end
    return loader.load_text(from.text, from.name or "script", how)
  end
  if type(from) ~= "table" then
    error("lunette.open takes a path, { text = a script }, or what lunette.pipeline makes", 4)
  end
  return plan.check(from, origin)
end

-- Here all input is one source, unless a field tells sources apart.
local function check_sources(pipelines)
  local problems = {}
  for _, p in ipairs(pipelines) do
    if p.watermark.sources > 1 and not p.watermark.source then
      problems[#problems + 1] = ("%s: watermark.sources: without source all input is one source: add source = "
        .. '"the field that tells them apart"'):format(p.origin)
    end
  end
  return #problems > 0 and problems or nil
end

--- The limits that records of all these pipelines stay within.
function M.limits(pipelines)
  local limits = { record_bytes = 0, nesting = 0, elements = 0 }
  for _, p in ipairs(pipelines) do
    for name, most in pairs(limits) do limits[name] = math.max(most, p.limits[name]) end
  end
  return limits
end

--- What `lunette.open` returns where it opens nothing.
---@param problems string[]
---@return nil
---@return string
---@return string[]
function M.refused(problems)
  for i, problem in ipairs(problems) do problems[i] = problem:gsub("^%-%-set ", "options.params: ") end
  return nil, table.concat(problems, "\n"), problems
end

--- Loads and checks what `lunette.open` was given.
---@param from string|lunette.Script|lunette.Pipeline|lunette.Pipeline[]
---@param params table<string, string|number|boolean>?
---@param origin string "file:line" of the host's call
---@return table[]? pipelines as lunette.plan puts them
---@return string? message
---@return string[]? problems
function M.load(from, params, origin)
  local pipelines, problems = read(from, params, origin)
  problems = problems or check_sources(pipelines)
  if problems then return M.refused(problems) end
  return pipelines
end

return M
