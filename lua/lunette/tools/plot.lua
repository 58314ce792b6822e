--- `lunette plot --trace FILE -o PAGE`.
local scenes = require "lunette.plot.scene"
local stories = require "lunette.trace.story"
local usage = require "lunette.tools.usage"

local CHOICES = { lanes = { key = true, source = true, none = true }, up = { clock = true, order = true } }

local function read_args(args)
  local o = { keys = {} }
  for _, arg in ipairs(args) do
    local name, text = arg[1], arg[2]
    if name == "key" then o.keys[#o.keys + 1] = text else o[name] = text end
  end
  if not o.trace then usage.fail "--trace FILE is missing: the trace of a run" end
  if not o.out then usage.fail "-o FILE is missing: name a page (.html) or a picture (.svg)" end
  for name, known in pairs(CHOICES) do
    if o[name] and not known[o[name]] then
      local list = {}
      for choice in pairs(known) do list[#list + 1] = choice end
      table.sort(list)
      usage.fail("--%s %s: write %s", name, o[name], table.concat(list, " or "))
    end
  end
  return o
end

local function maker(path)
  if path:find "%.svg$" then return require("lunette.plot.svg").text end
  if path:find "%.html?$" then return require("lunette.plot.page").text end
  usage.fail("-o %s: its name tells what it is: end it in .html for a page, or .svg for a picture", path)
end

local function write(path, text)
  local file, why = io.open(path, "wb")
  if not file then error(why, 0) end
  local ok, failed = file:write(text)
  local closed, late = file:close()
  if not ok or not closed then error(("%s: %s"):format(path, failed or late), 0) end
end

local function work(args)
  local o = read_args(args)
  local make = maker(o.out)
  local scene = scenes.of(stories.read(o.trace, o), o)
  write(o.out, make(scene, o))
  return 0
end

return function(args) return usage.run("plot", work, args) end
