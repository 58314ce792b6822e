--- The annotations that language servers read: each can be parsed, says what the function takes, and names types that
-- are declared.

local PUBLIC = { "init", "window", "trigger", "aggregate", "engine" }

local BUILT_IN = {}
for name in ("any nil boolean string number integer table function thread userdata T"):gmatch "%S+" do
  BUILT_IN[name] = true
end
BUILT_IN["ffi.cdata*"] = true

-- ---- types

local Reader = {}
Reader.__index = Reader

function Reader:take(pattern)
  local found = self.text:match("^%s*(" .. pattern .. ")", self.at)
  if not found then return nil end
  self.at = self.at + #self.text:match("^%s*" .. pattern, self.at)
  return found
end

function Reader:must(pattern)
  return self:take(pattern) or error(("%s: %q expected at %q"):format(self.text, pattern, self.text:sub(self.at)), 0)
end

-- A list of `item`s until `close`.
function Reader:list(close, item)
  while not self:take(close) do
    item()
    if not self:take "," then return self:must(close) end
  end
end

function Reader:field()
  self:must "[%a_][%w_]*"
  self:take "%?"
  self:must ":"
  self:type()
end

function Reader:function_type()
  self:list("%)", function()
    if self:take "%.%.%." then return self:take ":" and self:type() end
    self:must "[%a_][%w_]*"
    self:take "%?"
    if self:take ":" then self:type() end
  end)
  if not self:take ":" then return end
  repeat
    if not self:take "%.%.%." then self:type() end
  until not self:take ","
end

function Reader:one()
  if self:take '"[^"]*"' or self:take "%-?%d[%w.]*" or self:take "true" or self:take "false" then return end
  if self:take "fun%(" then return self:function_type() end
  if self:take "{" then return self:list("}", function() self:field() end) end
  if self:take "%(" then
    self:type()
    return self:must "%)"
  end
  local name = self:must "[%a_][%w_.]*%*?"
  self.names[name] = true
  if self:take "<" then self:list(">", function() self:type() end) end
end

function Reader:type()
  repeat
    self:one()
    while self:take "%[%]" or self:take "%?" do end -- luacheck: ignore 542
  until not self:take "|"
end

-- Reads a type; the names in it, and what follows it.
local function read_type(text)
  local reader = setmetatable({ text = text, at = 1, names = {} }, Reader)
  reader:type()
  local rest = text:sub(reader.at)
  assert(rest == "" or rest:find "^[%s,]", ("%s: what is %q?"):format(text, rest))
  return reader.names, rest
end

-- ---- sources

local function paths()
  local out = {}
  local pipe = io.popen "find lua/lunette -name '*.lua' | sort"
  for path in pipe:lines() do out[#out + 1] = path end
  pipe:close()
  return out
end

-- Calls back for each annotation of a source: its tag, what follows, and where it stands.
local function each_annotation(path, callback)
  local n = 0
  for line in io.lines(path) do
    n = n + 1
    local tag, rest = line:match "^%s*%-%-%-@(%w+)%s*(.*)$"
    if tag then callback(tag, rest, path .. ":" .. n) end
  end
end

local DECLARES = { class = true, alias = true }
local TYPED = { -- what stands before the type
  param = "^%S+%s+(.*)$", field = "^%S+%s+(.*)$", ["return"] = "^(.*)$", type = "^(.*)$",
}

local declared = {}
for _, path in ipairs(paths()) do
  each_annotation(path, function(tag, rest)
    if DECLARES[tag] then declared[rest:match "^[%w_.]+"] = true end
  end)
end

describe("annotations", function()
  it("are types that can be parsed, of names that are declared", function()
    local seen = 0
    for _, path in ipairs(paths()) do
      each_annotation(path, function(tag, rest, place)
        if not TYPED[tag] then return end
        seen = seen + 1
        if tag == "field" then rest = rest:gsub("^private ", ""):gsub("^protected ", "") end
        local ok, names = pcall(read_type, rest:match(TYPED[tag]) or "")
        assert.is_true(ok, ("%s: %s"):format(place, tostring(names)))
        for name in pairs(names) do
          assert.is_true(BUILT_IN[name] or declared[name] or false, ("%s: no type %s"):format(place, name))
        end
      end)
    end
    assert.is_true(seen > 200)
  end)

  it("have no type that is a mistake", function()
    for _, text in ipairs { "", "table<string", "fun(x", "{ a }", "string||nil", "string[", "(string" } do
      assert.is_false((pcall(read_type, text)), text)
    end
  end)

  for _, name in ipairs(PUBLIC) do
    it(("tell each argument of what is public in %s, and since when it is there"):format(name), function()
      local block, n, functions = {}, 0, 0
      for line in io.lines(("lua/lunette/%s.lua"):format(name)) do
        n = n + 1
        local what, arguments = line:match "^function ([ME]%w*[.:][%w_]+)%((.-)%)"
        if what then
          functions = functions + 1
          local place = ("lua/lunette/%s.lua:%d: %s"):format(name, n, what)
          local text = table.concat(block, "\n")
          assert.truthy(text:find "^%-%-%- %u", place)
          assert.truthy(text:find "Since %d+%.%d+%.", place)
          local told = {}
          for argument in text:gmatch "@param ([%w_.]+)" do told[#told + 1] = argument end
          local takes = {}
          for argument in arguments:gmatch "[^%s,]+" do
            if argument ~= "..." or told[#told] == "..." then takes[#takes + 1] = argument end
          end
          assert.same(takes, told, place)
        end
        if line:find "^%-%-" then block[#block + 1] = line else block = {} end
      end
      assert.is_true(functions > 1)
    end)
  end
end)
