--- What LuaJIT could not compile: it tries a loop, a function or an exit of a trace when it is hot, a few times, and
-- then leaves it to the interpreter for good. Each such attempt is one entry here; those that came to nothing are
-- reported with the place and the reason. An attempt that failed first and succeeded later is none of them.
local util = require "jit.util"

-- The texts of LuaJIT's errors and the names of its functions. A host may have come without this file.
local has_vmdef, vmdef = pcall(require, "jit.vmdef")

local M = {}

local LINES_MAX = 100 -- of a report
local OWN_MAX = 5 -- places of Lunette's own code that are named

-- Failures that are no fault of the code: the part inside is compiled by itself, or what called it is. "blacklisted"
-- tells of a place that has an entry already.
local STRUCTURAL = {
  ["leaving loop in root trace"] = true, ["inner loop in root trace"] = true, ["NYI: return to lower frame"] = true,
  ["retry recording"] = true, ["blacklisted"] = true, ["down-recursion, restarting"] = true,
}

-- LuaJIT gives an exit up after so many failures, and a root later. A failure of another kind than "not yet
-- implemented" may be chance, and be outlived by a trace that has this code inside.
local TRIES = 4

-- What a bytecode that can't be compiled is in a script.
local BYTECODES = {
  FNEW = "a function is made here: make it once, outside",
  UCLO = "a function made here keeps a local: make it once, outside",
  VARG = "`...` of unknown length",
}

-- ---- places

local function place_of(source, line) return ("%s:%d"):format(source:gsub("^[@=]", ""), line) end

-- Where code stands: a text, and "script", "loop" (one that Lunette generates for a script) or "own".
local function where(func, pc)
  local info = util.funcinfo(func, pc)
  if not info.source then return "a C function", "own" end
  local kind = info.source:find "^=lunette/rows %(" and "loop" or info.source:find "^=lunette/" and "own" or "script"
  return place_of(info.source, info.currentline or info.linedefined), kind
end

-- The name of a function of LuaJIT's libraries, or nil where it is not in C.
local function c_name(func)
  local info = util.funcinfo(func)
  if info.source then return nil end
  local name = has_vmdef and info.ffid and vmdef.ffnames[info.ffid]
  return name and name ~= "C" and name or "a C function"
end

-- Who called the C function at which a trace ended: the first Lua function above this module's own.
local function caller()
  local level = 5
  while true do
    local info = debug.getinfo(level, "Sl")
    if not info then return "an unknown place", "own" end
    if info.currentline > 0 then
      local own = info.source:find "^=lunette/"
      return place_of(info.source, info.currentline), own and "own" or "script"
    end
    level = level + 1
  end
end

local function reason_of(code, about)
  local text = has_vmdef and vmdef.traceerr[code]
  if not text then return ("error %s of LuaJIT's compiler"):format(tostring(code)) end
  if type(about) == "function" then about = c_name(about) or where(about) end
  if text:find("bytecode %d", 1, true) and type(about) == "number" then
    local name = vmdef.bcnames:sub(about * 6 + 1, about * 6 + 6):gsub(" ", "")
    return ("NYI: bytecode %s%s"):format(name, BYTECODES[name] and " (" .. BYTECODES[name] .. ")" or "")
  end
  return (text:gsub("%%[ds]", tostring(about)))
end

-- ---- attempts

-- Attempts by what was tried: a root by its place, an exit by the numbers of its trace and itself. Those of `exits`
-- end when LuaJIT drops all traces, since the numbers begin anew.
local roots, exits = {}, {}
local dropped = {} -- what failed in exits of such a time: text -> kind
local ends = {} -- calls of C functions at which traces end: text -> kind
local recording -- the attempt under way
local aborted, compiled = 0, 0

local function find(list, id, func, pc)
  local attempt = list[id]
  if not attempt then
    attempt = { failures = {}, tries = 0, compiled = false }
    attempt.place, attempt.kind = where(func, pc)
    list[id] = attempt
  end
  return attempt
end

local on = {}

function on.start(_, func, pc, parent, exit)
  if parent and exit >= 0 then
    recording = find(exits, parent .. ":" .. exit, func, pc)
  else
    recording = find(roots, where(func, pc) .. ":" .. pc, func, pc)
  end
end

function on.stop(trace, func)
  if util.traceinfo(trace).linktype == "interpreter" then return end
  compiled = compiled + 1
  if recording then recording.compiled = true end
  local name = c_name(func)
  if name then
    local place, kind = caller()
    ends[("%s: %s can't be compiled: the trace ends there"):format(place, name)] = kind
  end
end

-- A failure is told at the place in the script; or, in code of Lunette's, at the place in the script where the attempt
-- began, or at the loop.
function on.abort(_, func, pc, code, about)
  aborted = aborted + 1
  local reason = reason_of(code, about)
  if not recording or STRUCTURAL[reason] then return end
  local place, kind = where(func, pc)
  if kind ~= "script" and recording.kind ~= "own" then
    reason = reason .. ", in " .. place
    place, kind = recording.place, recording.kind
  end
  recording.failures[place .. ": " .. reason] = kind
  recording.tries = recording.tries + 1
end

local function add_failures(list, to)
  for _, attempt in pairs(list) do
    for text, kind in pairs(attempt.compiled and {} or attempt.failures) do
      if attempt.tries >= TRIES or text:find(": NYI: ", 1, true) then to[text] = kind end
    end
  end
end

function on.flush()
  add_failures(exits, dropped)
  exits = {}
end

-- LuaJIT writes to stderr where this fails, which it does when memory is short: then an entry is missing.
jit.attach(function(what, ...)
  if on[what] then pcall(on[what], ...) end
end, "trace")

-- ---- what came of it

local function sorted(texts, wanted)
  local list = {}
  for text, kind in pairs(texts) do
    if (kind ~= "own") == wanted then list[#list + 1] = text end
  end
  table.sort(list, function(a, b)
    local file_a, line_a = a:match "^(.-):(%d+):"
    local file_b, line_b = b:match "^(.-):(%d+):"
    if file_a ~= file_b or not file_a then return a < b end
    if line_a ~= line_b then return tonumber(line_a) < tonumber(line_b) end
    return a < b
  end)
  return list
end

local function all()
  local texts = {}
  for text, kind in pairs(dropped) do texts[text] = kind end
  for text, kind in pairs(ends) do texts[text] = kind end
  add_failures(roots, texts)
  add_failures(exits, texts)
  return texts
end

--- How many attempts LuaJIT gave up, and how many places of the script, its loops included, are not compiled.
function M.counts() return aborted, #sorted(all(), true) end

--- A text of several lines.
function M.text()
  if not jit.status() then return "jit: the compiler is off: everything was interpreted" end
  local texts = all()
  local script, own = sorted(texts, true), sorted(texts, false)
  local lines = { ("jit: %d traces; of the script, all that became hot was compiled"):format(compiled) }
  if #script > 0 then
    lines[1] = ("jit: %d traces; of the script, not compiled:"):format(compiled)
    for i = 1, math.min(#script, LINES_MAX) do lines[#lines + 1] = script[i] end
    if #script > LINES_MAX then lines[#lines + 1] = ("and %d more"):format(#script - LINES_MAX) end
  end
  if #own > 0 then
    local named = table.concat(own, "; ", 1, math.min(#own, OWN_MAX))
    lines[#lines + 1] = ("jit: of Lunette's own code besides: %s%s"):format(named, #own > OWN_MAX and "; ..." or "")
  end
  return table.concat(lines, "\n")
end

return M
