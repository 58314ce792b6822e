--- Another pipeline in the place of the one that runs, while it runs: the state is carried over in pieces, between
-- which records go their way. Whatever is in the way, the old pipeline goes on.
local driver = require "lunette.driver"
local reload = require "lunette.reload"

local M = {}

local Change = {}
Change.__index = Change

local function pipelines_of(app)
  local out = {}
  for i, part in ipairs(app.parts) do out[i] = part.pipeline end
  return out
end

--- Begins to change what runs.
-- @param app that runs
-- @param pipelines that are to take its place
-- @return a change; or nil and a list of what is in the way
function M.begin(app, pipelines)
  local before, after = reload.describe(pipelines_of(app)), reload.describe(pipelines)
  local problems = reload.compare(before, after)
  if #problems > 0 then return nil, problems end
  local shape, options = reload.shape(app), {}
  for name, x in pairs(app.options) do options[name] = x end
  options.output, options.celled, options.kept = app.output, shape.celled, shape.kept
  local ok, fresh = pcall(driver.open, pipelines, options)
  if not ok then return nil, { tostring(fresh) } end
  local made, under_way = pcall(reload.begin, app, fresh)
  if not made then
    fresh:close()
    return nil, { tostring(under_way) }
  end
  under_way.forgets = reload.forgotten(before, after)
  for _, note in ipairs(reload.notes(before, after)) do fresh.news[#fresh.news + 1] = note end
  return setmetatable({ reload = under_way, fresh = fresh, pipelines = pipelines }, Change)
end

--- Carries over for about so long. True when the other pipeline has taken over; nil and a message where it can't be.
function Change:step(budget_us)
  local ok, done = pcall(self.reload.step, self.reload, budget_us)
  if ok then return done end
  self:cancel()
  return nil, tostring(done)
end

--- Gives it up.
function Change:cancel() self.reload:cancel() end

return M
