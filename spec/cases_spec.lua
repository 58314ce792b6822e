--- Golden cases, spec/cases/*.case, each run on the naive model and on the program: two readers of one text.
-- A case is a title line and sections. `--- pipeline` is the script, `--- in` JSON lines, `--- clock` the field that
-- the clock is read from. `--- out` holds one line a pane, in the order within its key:
--   KEY [START,END) TIMING #PANE [final] [retract] [absorbed STARTS] [@PIPELINE] VALUE
-- and what an emit has made into something else as plain JSON. `--- rejects`: REASON [@PIPELINE] RECORD, one a line.
-- `--- account`: the account of all records as JSON. `--- model`: the model is not asked, with the reason.
local json = require "spec.support.json"
local model = require "spec.support.model"
local run = require "spec.support.run"

local function read(path)
  local case, section = { path = path }, nil
  for line in io.lines(path) do
    local name, rest = line:match "^%-%-%- (%w+) ?(.*)$"
    if name then
      section = { rest ~= "" and rest or nil }
      case[name] = section
    elseif section then
      section[#section + 1] = line
    else
      case.title = case.title or line
    end
  end
  return case
end

local function bare(value)
  local out = {}
  for k, v in pairs(value) do
    if v ~= json.null then out[k] = v end
  end
  return out
end

local function pane_line(p)
  if p.timing == nil then return json.encode(p), "" end
  local key, start, stop = json.encode(p.key), json.encode(p.start), json.encode(p["end"])
  local parts = { ("%s [%s,%s) %s #%s"):format(key, start, stop, p.timing, json.encode(p.pane)) }
  if p.final then parts[#parts + 1] = "final" end
  if p.retract then parts[#parts + 1] = "retract" end
  if p.absorbed then parts[#parts + 1] = "absorbed " .. json.encode(p.absorbed) end
  if p.pipeline then parts[#parts + 1] = "@" .. p.pipeline end
  parts[#parts + 1] = json.encode(bare(p.value))
  return table.concat(parts, " "), key .. tostring(p.pipeline)
end

-- Lines in the order within their key, keys in order of their text: what is equal for equal panes.
local function in_order(lines)
  local keys, groups = {}, {}
  for _, l in ipairs(lines) do
    if not groups[l.key] then keys[#keys + 1] = l.key end
    groups[l.key] = groups[l.key] or {}
    table.insert(groups[l.key], l.text)
  end
  table.sort(keys)
  local out = {}
  for _, key in ipairs(keys) do out[#out + 1] = table.concat(groups[key], "\n") end
  return table.concat(out, "\n")
end

local function wanted_panes(case)
  local lines = {}
  for _, text in ipairs(case.out) do
    local key = text:match "^(.-) %[[^ ]*%) " or ""
    if text:find "%S" then
      lines[#lines + 1] = { text = text, key = text:sub(1, 1) == "{" and "" or key .. tostring(text:match " @(%S+) ") }
    end
  end
  return in_order(lines)
end

local function panes_text(panes)
  local lines = {}
  for i, pane in ipairs(panes) do
    local text, key = pane_line(pane)
    lines[i] = { text = text, key = key }
  end
  return in_order(lines)
end

-- Rejects of one pipeline are in order; of several, each pipeline's own are.
local function rejects_text(rejects)
  local lines = {}
  for i, r in ipairs(rejects) do
    local name = r.pipeline and " @" .. r.pipeline or ""
    lines[i] = { text = r.reason .. name .. " " .. json.encode(r.record), key = name }
  end
  return in_order(lines)
end

local function wanted_rejects(case)
  local out = {}
  for _, line in ipairs(case.rejects or {}) do
    local reason, rest = line:match "^(%S+) (.*)$"
    local name, record = rest:match "^@(%S+) (.*)$"
    out[#out + 1] = { reason = reason, pipeline = name, record = json.decode(record or rest) }
  end
  return rejects_text(out)
end

local function same_account(case, account)
  local want = json.decode(case.account[1])
  for reason, n in pairs(account.rejected) do
    if n > 0 then assert.equal(want.rejected[reason], n, reason) end
  end
  for reason, n in pairs(want.rejected) do assert.equal(n, account.rejected[reason], reason) end
  for _, name in ipairs { "read", "aggregated", "filtered" } do assert.equal(want[name], account[name], name) end
end

local paths = {}
do
  local pipe = assert(io.popen "ls spec/cases/*.case")
  for path in pipe:lines() do paths[#paths + 1] = path end
  pipe:close()
end

describe("a golden case", function()
  teardown(run.clean)
  it("was found", function() assert.is_true(#paths > 50) end)

  for _, path in ipairs(paths) do
    local case = read(path)
    local name = path:match "([^/]+)%.case$" .. ": " .. case.title
    local script, input = table.concat(case.pipeline, "\n") .. "\n", table.concat(case["in"], "\n") .. "\n"

    if not case.model then
      it("on the model: " .. name, function()
        local panes, rejects, accounts = model.run(run.load(script), input, case.clock and case.clock[1])
        assert.equal(wanted_panes(case), panes_text(panes))
        assert.equal(wanted_rejects(case), rejects_text(rejects))
        if case.account then same_account(case, accounts[1]) end
      end)
    end

    it("on the program: " .. name, function()
      local got = run.program_on(script, input, { clock = case.clock and case.clock[1] })
      assert.equal(0, got.code, got.errors)
      assert.equal(wanted_panes(case), panes_text(got.panes))
      assert.equal(wanted_rejects(case), rejects_text(got.rejects))
      if case.account then same_account(case, got.accounts[1]) end
    end)
  end
end)
