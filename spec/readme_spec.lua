--- The pages: what they print is run and compared, and what they list is complete. A block in the text is
--   lua NAME, json NAME   a file, which some command of the page uses
--   lua                   fields of a pipeline: they must pass `lunette check`
--   console               commands behind `$`, each with all that it prints
--   sh                    commands: those of Lunette are run
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local PAGES = {
  "README.md", "lua/README.md", "examples/README.md", "core/README.md", "lua/aggregates.md", "lua/hosts.md",
  "lua/traces.md",
}

local FRAGMENT = [[
local ln = require "lunette"
local spec = { time = { field = "ts" }, window = ln.tumbling "1m", aggregate = { n = ln.count() } }
for name, value in pairs {
%s} do spec[name] = value end
return ln.pipeline(spec)
]]

local root = io.popen("pwd"):read "*l"

-- What a Lua host of the source tree takes.
local HOST = [[
export LUA_PATH='%s/lua/?.lua;%s/lua/?/init.lua;%s/lua/?.lua;;' LUNETTE_CORE='%s'
]]
local core = os.getenv "LUNETTE_CORE" or root .. "/build/liblunette-core.so"
local build = core:match "^(.*)/"
local folder

local function page_of(path)
  local page = { path = path, text = shell.read(path), blocks = {}, prose = {} }
  local block
  for line in page.text:gmatch "([^\n]*)\n" do
    local info = line:match "^```(.*)$"
    if block and info then
      block = nil
    elseif info then
      block = { kind = info:match "^%S*", name = info:match "^%S+ (%S+)$", lines = {} }
      page.blocks[#page.blocks + 1] = block
    else
      local list = block and block.lines or page.prose
      list[#list + 1] = line
    end
  end
  assert(not block, path .. ": a block is not closed")
  return page
end

local pages = {}
for i, path in ipairs(PAGES) do pages[i] = page_of(path) end

local function text_of(block) return table.concat(block.lines, "\n") .. "\n" end

-- Commands with what they print.
local function steps_of(block)
  local steps = {}
  for _, line in ipairs(block.lines) do
    local command = line:match "^%$ (.*)$"
    if command then
      steps[#steps + 1] = { command = command, out = {} }
    else
      table.insert(steps[#steps].out, line)
    end
  end
  return steps
end

-- A line as it is compared: JSON by its values, whatever the order of its names.
local function canonical(line)
  local ok, value = pcall(json.decode, line)
  if not (ok and json.is_map(value)) then return line end
  return json.encode(value)
end

local function canonical_lines(lines)
  local out = {}
  for i, line in ipairs(lines) do out[i] = canonical(line) end
  return out
end

local function lines_of(text)
  local lines = {}
  for line in text:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

local function run(command)
  -- A plain luajit that loads a sanitized library needs the runtime in front.
  local preload = os.getenv "LD_PRELOAD"
  if preload and preload:find "asan" then
    command = command:gsub("^luajit ", ("LD_PRELOAD='%s' ASAN_OPTIONS=detect_leaks=0 luajit "):format(preload))
  end
  command = command:gsub("scripts/lunette", '"$LUNETTE"'):gsub("build/lunette", '"$LUNETTE"')
  return shell.run(folder, HOST:format(root, root, build, core) .. "{ " .. command .. "\n} 2>&1")
end

local function check_console(block)
  for _, step in ipairs(steps_of(block)) do
    local r = run(step.command)
    assert.equal(0, r.code, step.command .. "\n" .. r.out)
    assert.same(canonical_lines(step.out), canonical_lines(lines_of(r.out)), step.command)
  end
end

local function check_fragment(block)
  shell.write(folder .. "/fragment.lua", FRAGMENT:format(text_of(block)))
  local r = run "scripts/lunette check fragment.lua"
  assert.equal("fragment.lua: ok\n", r.out)
end

local function check_sh(block)
  for _, line in ipairs(block.lines) do
    local command = line:gsub("%s+#.*", "")
    local program = command:match "^%S+"
    if program:find "/" then assert(io.open(root .. "/" .. program)):close() end
    if program:find "/lunette$" then assert.equal(0, run(command).code, command) end
  end
end

local function is_used(page, name)
  for _, block in ipairs(page.blocks) do
    if block.kind == "console" and text_of(block):find(name, 1, true) then return true end
  end
  return false
end

local function has(list, x)
  for _, y in ipairs(list) do
    if x == y then return true end
  end
  return false
end

before_each(function()
  folder = shell.folder()
  os.execute(("ln -s %s/examples %s/examples"):format(root, folder))
end)
after_each(function()
  -- A page's server that a failed command has left behind.
  shell.run(folder, 'test ! -S control || "$LUNETTE" ctl --control unix:control drain')
  shell.remove(folder)
end)

for _, page in ipairs(pages) do
  describe(page.path, function()
    it("prints what its commands print", function()
      local consoles = 0
      for _, block in ipairs(page.blocks) do
        if block.name then shell.write(folder .. "/" .. block.name, text_of(block)) end
      end
      for _, block in ipairs(page.blocks) do
        if block.kind == "console" then
          check_console(block)
          consoles = consoles + 1
        end
      end
      assert.is_true(consoles > 0)
    end)

    it("has blocks that are run or used, and no other", function()
      for _, block in ipairs(page.blocks) do
        if block.name then
          assert.is_true(is_used(page, block.name), block.name)
        elseif block.kind == "lua" then
          check_fragment(block)
        elseif block.kind == "sh" then
          check_sh(block)
        else
          assert.equal("console", block.kind)
        end
      end
    end)

    it("links to what is there", function()
      local base = page.path:match "^(.*/)" or ""
      for target in page.text:gmatch "%]%(([^)#]+)%)" do
        if not target:find "^https?:" then
          local r = shell.run(folder, ("test -e '%s/%s%s'"):format(root, base, target))
          assert.equal(0, r.code, target)
        end
      end
    end)

    it("keeps its lines short, but for what programs print", function()
      for _, line in ipairs(page.prose) do assert.is_true(#line <= 120, line) end
      for _, block in ipairs(page.blocks) do
        for _, line in ipairs(block.kind ~= "console" and block.lines or {}) do assert.is_true(#line <= 120, line) end
      end
    end)

    it("names no word that there is not", function()
      local ln = require "lunette"
      for word in page.text:gmatch "ln%.([%a_]+)" do assert.is_not_nil(rawget(ln, word), "ln." .. word) end
    end)
  end)
end

describe("the pages are complete:", function()
  local readme, reference = pages[1].text, pages[2].text

  local function annotations()
    local text = {}
    for _, name in ipairs { "init", "window", "trigger", "aggregate" } do
      text[#text + 1] = shell.read("lua/lunette/" .. name .. ".lua")
    end
    return table.concat(text, "\n")
  end

  it("every word", function()
    for word in pairs(require "lunette") do
      for i = 1, 2 do
        assert.truthy(pages[i].text:find("ln%." .. word .. "%f[^%w_]"), ("%s: ln.%s"):format(PAGES[i], word))
      end
    end
  end)

  it("every field", function()
    local count = 0
    for field in annotations():gmatch "%-%-%-@field ([%a_]+)" do
      assert.truthy(reference:find("[`{ ]" .. field .. "%f[^%w_]"), field)
      count = count + 1
    end
    assert.is_true(count > 40)
  end)

  it("every limit with its default", function()
    local count = 0
    local class = annotations():match "%-%-%-@class lunette%.Limits\n(.-)\n\n"
    for field, default in class:gmatch "@field ([%a_]+)%? [^\n]- default ([%d,]+)" do
      assert.truthy(readme:find(("| `%s` | %s |"):format(field, default), 1, true), field)
      assert.truthy(reference:find(("| `%s` | [^|]+ | %s |"):format(field, default)), field)
      count = count + 1
    end
    assert.equal(5, count)
  end)

  it("every option", function()
    local listed, known = {}, {}
    for option in readme:gmatch "`(%-%-[%a-]+)" do listed[#listed + 1] = option end
    for option in run("scripts/lunette run --help").out:gmatch "%-%-[%a-]+" do
      known[#known + 1] = option
      assert.is_true(option == "--help" or has(listed, option), option)
    end
    for command in run("scripts/lunette help").out:gmatch "\n  lunette (%l+) " do
      for option in run("scripts/lunette help " .. command).out:gmatch "%-%-[%a-]+" do known[#known + 1] = option end
    end
    for _, option in ipairs(listed) do assert.is_true(has(known, option), option) end
  end)

  it("every reason of a reject", function()
    shell.write(folder .. "/p.lua", FRAGMENT:format "")
    local account = json.decode(run("scripts/lunette run --stats p.lua < /dev/null").out).pipelines[1]
    for reason in pairs(account.rejected) do
      assert.truthy(readme:find("\n| `" .. reason .. "` |", 1, true), reason)
    end
  end)

  it("every room", function()
    local r = shell.run(folder, ("cd %s/core && ls -d */"):format(root))
    for room in r.out:gmatch "(%w+)/" do assert.truthy(readme:find("| `core/" .. room .. "` |", 1, true), room) end
  end)
end)
