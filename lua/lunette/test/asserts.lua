--- What specs say of a pipeline under test: assert.panes, assert.rejects and assert.stats, for luassert, which Busted
-- brings. A failure is a text that shows both sides.
local compare = require "lunette.test.compare"
local run = require "lunette.test.run"
local show = require "lunette.test.show"

local M = {}

local function names(text)
  local out = {}
  for name in text:gmatch "%S+" do out[name] = true end
  return out
end

local PANE_FIELDS = names "key start end pane timing final value retract absorbed pipeline approx cut"
local REJECT = { inner = "record", alias = {}, fields = names "reason record pipeline message" }

local MARKS = "(= as expected, ! differs, - did not come, + not expected)"
local REJECTS_MAX = 5 -- told with panes that are not as expected

-- What a person wants to know who sees other panes than expected.
local function tell_around(p, lines)
  local rejects = p.new_rejects
  if #rejects > 0 then
    lines[#lines + 1] = ("Rejected meanwhile: %d"):format(#rejects)
    for i = 1, math.min(#rejects, REJECTS_MAX) do lines[#lines + 1] = "  " .. show.reject(rejects[i]) end
    if #rejects > REJECTS_MAX then lines[#lines + 1] = "  ..." end
  end
  for _, notice in ipairs(p.new_notices) do lines[#lines + 1] = "The script: " .. notice end
  local watermark = p:watermark()
  if watermark == nil then
    lines[#lines + 1] = "There is no watermark yet: no record has brought a time."
  elseif watermark ~= math.huge and #p:stats().name > 0 then
    lines[#lines + 1] = ("The watermark is at %s."):format(show.moment(watermark, p.unit))
  end
end

local function count_text(n, one) return ("%d %s%s"):format(n, one, n == 1 and "" or "s") end

-- What a pane of the run looks like; only where no emit reshapes it are the names of its value known.
local function pane_shape(p)
  local known = {}
  for _, pipeline in ipairs(p.pipelines) do
    if pipeline.emit then known = nil end
    for _, a in ipairs(known and pipeline.aggregates or {}) do known[a.name] = true end
    if not known then break end
  end
  return { inner = "value", alias = { stop = "end" }, fields = PANE_FIELDS, names = known }
end

--- Compares panes, in their order within each key.
---@return boolean agrees
---@return string? difference
function M.compare_panes(p, expected, came)
  local groups, agrees, shape = compare.groups(expected, came), true, pane_shape(p)
  for _, group in ipairs(groups) do
    group.steps, group.agrees = compare.align(shape, group.expected, group.came)
    agrees = agrees and group.agrees
  end
  if agrees then return true end
  local lines = { ("Other panes than expected: %s expected, %s came."):format(count_text(#expected, "pane"),
    tostring(#came)), MARKS }
  for _, line in ipairs(show.groups(groups, "panes", p.unit, shape.names)) do lines[#lines + 1] = line end
  tell_around(p, lines)
  return false, table.concat(lines, "\n")
end

local function compare_rejects(p, expected, came)
  local steps, agrees = compare.align(REJECT, expected, came)
  if agrees then return true end
  local lines = { ("Other rejects than expected: %s expected, %d came."):format(count_text(#expected, "record"),
    #came), MARKS }
  for _, line in ipairs(show.groups({ { steps = steps, agrees = false } }, "rejects", p.unit)) do
    lines[#lines + 1] = line
  end
  return false, table.concat(lines, "\n")
end

-- The counters that are named, those of inner maps by their path.
local function compare_stats(expected, came, path, lines)
  for name, e in pairs(expected) do
    local a = came[name]
    local full = path .. tostring(name)
    if a == nil then
      lines[#lines + 1] = ("  %s: there is no such counter"):format(full)
    elseif type(e) == "table" and type(a) == "table" and not compare.says(e) then
      compare_stats(e, a, full .. ".", lines)
    elseif not compare.equal(e, a) then
      lines[#lines + 1] = ("  %s: expected %s, is %s"):format(full, show.text(e), show.text(a))
    end
  end
end

local function check(p, expected, name, argument)
  if not run.is(p) then error(("assert.%s: the first argument is no pipeline of test.load"):format(name), 0) end
  if type(expected) ~= "table" then
    error(("assert.%s: the second argument is a %s: write %s"):format(name, type(expected), argument), 0)
  end
end

local function list_of(p, expected, name)
  check(p, expected, name, "a list, { { ... }, ... }")
  if next(expected) ~= nil and #expected == 0 then
    error(("assert.%s: the second argument is no list: write { { ... }, ... }"):format(name), 0)
  end
  for i, e in ipairs(expected) do
    if type(e) ~= "table" then error(("assert.%s: number %d is a %s: write a table"):format(name, i, type(e)), 0) end
  end
end

local asserts = {}

function asserts.panes(p, expected)
  list_of(p, expected, "panes")
  return M.compare_panes(p, expected, p:panes())
end

function asserts.rejects(p, expected)
  list_of(p, expected, "rejects")
  return compare_rejects(p, expected, p:rejects())
end

function asserts.stats(p, expected)
  check(p, expected, "stats", "the counters, { read = 3 }")
  local lines, came = {}, p:stats(expected.name)
  compare_stats(expected, came, "", lines)
  if #lines == 0 then return true end
  table.sort(lines)
  table.insert(lines, 1, ("Other counters than expected, of %s:"):format(came.name))
  return false, table.concat(lines, "\n")
end

--- Makes them known to luassert; without it there are none.
function M.register()
  local found, assert = pcall(require, "luassert")
  if not found then return end
  -- In tail position, so that the failure is the spec's.
  function run.methods:expect_no_panes() return assert.panes(self, {}) end
  local say = require "say"
  say:set_namespace "en"
  for name, compared in pairs(asserts) do
    local positive, negative = ("assertion.lunette_%s.positive"):format(name), "assertion.lunette.negative"
    say:set(positive, "%s")
    say:set(negative, "All is as said, and was expected not to be.")
    assert:register("assertion", name, function(state, arguments)
      local agrees, difference = compared(arguments[1], arguments[2])
      if arguments[3] ~= nil then rawset(state, "failure_message", arguments[3]) end
      arguments[1], arguments.nofmt = difference or "", { true, true, true }
      return agrees
    end, positive, negative)
  end
end

return M
