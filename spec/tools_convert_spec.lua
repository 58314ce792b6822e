--- `lunette convert`: nothing is lost between msgpack and JSON but what JSON does not have, CSV is read as RFC 4180
-- says, and what is broken is named by its place.
local cli = require "spec.support.cli"
package.loaded["lunette.core_path"] = os.getenv "LUNETTE_CORE" or "build/liblunette-core.so"
local ffi = require "ffi"
local value = require "lunette.value"

local put, get, run = cli.put, cli.get, cli.run

before_each(function() cli.prepare() end)
after_each(cli.clear)

local function has(text, part) assert.truthy(text:find(part, 1, true), ("%s\nis not in\n%s"):format(part, text)) end

-- The output of a conversion of these bytes.
local function convert(bytes, options)
  put("x", bytes)
  local r = run("$LUNETTE convert " .. (options or "") .. " < x")
  assert.equal(0, r.code, r.err)
  assert.equal("", r.err)
  return r.out
end

-- What is wrong with them, and what was written before.
local function broken(bytes, options)
  put("x", bytes)
  local r = run("$LUNETTE convert " .. (options or "") .. " < x")
  assert.equal(1, r.code)
  return r.err, r.out
end

local random = math.random

local texts = { "", "a", "\"quoted\"", "back\\slash", "new\nline\ttab\1", "Größe", "€", "\240\159\152\128",
  ("x"):rep(40), ("y"):rep(300) }

local function whole()
  local kind = random(4)
  if kind == 1 then return random(0, 200) - 100 end
  if kind == 2 then return ffi.cast("int64_t", random(0, 2 ^ 31)) * -4294967296LL - random(0, 1000) end
  if kind == 3 then return ffi.cast("uint64_t", random(0, 2 ^ 31)) * 8589934592ULL + random(0, 1000) end
  return random(-2 ^ 31, 2 ^ 31)
end

local any

local function table_of(depth)
  local out, n = {}, random(0, 4)
  if random(2) == 1 then
    for i = 1, n do out[i] = any(depth + 1) end
    return value.array(out)
  end
  for _ = 1, n do out[texts[random(#texts)] .. random(9)] = any(depth + 1) end
  return out
end

function any(depth)
  local kind = random(depth < 5 and 7 or 5)
  if kind == 1 then return whole() end
  if kind == 2 then return (random() - 0.5) * 10 ^ random(-300, 300) end
  if kind == 3 then return texts[random(#texts)] end
  if kind == 4 then return random(2) == 1 end
  if kind == 5 then return value.null end
  return table_of(depth)
end

local function records(n)
  local out = {}
  for i = 1, n do
    local map = {}
    for k = 1, random(0, 5) do map["f" .. k] = any(0) end
    out[i] = value.pack(map)
  end
  return table.concat(out)
end

describe("convert", function()
  it("brings msgpack back to the byte from JSON, and JSON from msgpack", function()
    for seed = 1, 20 do
      math.randomseed(seed)
      local packed = records(50)
      local json = convert(packed)
      assert.equal(packed, convert(json, "--to msgpack"), "seed " .. seed)
      assert.equal(json, convert(convert(json, "--to msgpack")), "seed " .. seed)
    end
  end)

  it("keeps the order of fields, kinds of numbers, and integers of 64 bits", function()
    local line = '{"z":1,"a":1.0,"m":-0.0,"big":18446744073709551615,"least":-9223372036854775808,"e":1e+300}\n'
    assert.equal(line, convert(convert(line)))
  end)

  it("does the same however the bytes come", function()
    math.randomseed(7)
    local packed = records(10)
    local json = convert(packed)
    put("p", packed)
    put("j", json)
    assert.equal(json, run("dd bs=1 if=p 2>/dev/null | $LUNETTE convert").out)
    assert.equal(packed, run("dd bs=1 if=j 2>/dev/null | $LUNETTE convert").out)
  end)

  it("chooses the other format, JSON for CSV and on a terminal", function()
    assert.equal("\129\161a\1", convert '{"a":1}\n')
    assert.equal('{"a":1}\n', convert "\129\161a\1")
    assert.equal('{"a":1}\n', convert("a\n1\n", "--from csv"))
    assert.equal("\129\161a\1", convert("a\n1\n", "--from csv --to msgpack"))
    assert.equal("", convert "")
    put("x", '{"a":1}\n')
    assert.equal('{"a":1}\r\n', run('script -qec "$LUNETTE convert x" /dev/null').out)
  end)

  it("reads several files, of different formats, into one output", function()
    put("a.csv", "a\n1\n")
    put("b.jsonl", '{"a":2}\n')
    local r = run "$LUNETTE convert -o out --to json a.csv b.jsonl in.msgpack && cat out"
    assert.equal('{"a":1}\n{"a":2}\n{"t":500}\n{"t":700}\n{"t":1200}\n', r.out)
    assert.equal(0, run("$LUNETTE convert b.jsonl | cmp - <(printf '\\x81\\xa1a\\x02')").code)
  end)

  it("shows what JSON does not have as the pages say", function()
    assert.equal('{"a":"eHk="}\n', convert "\129\161a\196\2xy")
    assert.equal('{"a":{"ext":5,"data":"eA=="}}\n', convert "\129\161a\212\5x")
    assert.equal('{"a":null}\n', convert("\129\161a\203\127\240\0\0\0\0\0\0"))
    assert.equal('{"a":null}\n', convert("\129\161a\203\127\248\0\0\0\0\0\0"))
    assert.equal('{"7":1}\n', convert "\129\7\1")
    assert.equal('{"a":"\239\191\189"}\n', convert "\129\161a\161\255")
  end)

  it("converts values that are no records, too", function()
    assert.equal("[1,2]\n7\n", convert(convert "[1,2]\n7\n"))
  end)

  it("names the place of what is broken, and writes what came before", function()
    local err, out = broken('\n{"a":1}\n  \n{"a":2}\r\nnope\n{"a":3}\n', "--to json")
    has(err, "lunette: convert: standard input: line 5: this line is not JSON")
    assert.equal('{"a":1}\n{"a":2}\n', out)
    err = broken('{"a":1}\n' .. ("\n"):rep(70000) .. '{"a":2}\n' .. (" "):rep(70000) .. "{\n", "--to json")
    has(err, "line 70003: this line is not JSON")
    has(broken('{"a":99999999999999999999}\n'), "line 1: ")
    err, out = broken("\129\161a\1\193")
    has(err, "standard input: byte 4: ")
    assert.equal('{"a":1}\n', out)
    err, out = broken("\129\161a\1\129\161")
    has(err, "byte 4: ")
    assert.equal('{"a":1}\n', out)
    put("bad.jsonl", "{\n")
    has(run("$LUNETTE convert bad.jsonl").err, "lunette: convert: bad.jsonl: line 1: ")
  end)

  it("refuses what makes no sense", function()
    put("x", "")
    local cases = {
      { "--to csv", 2, "--to csv: the formats are msgpack and json" },
      { "--from xml", 2, "the formats are auto, msgpack, json and csv" },
      { "--delimiter ab", 2, "write one character, or tab" },
      { [[--delimiter '"']], 2, "write one character, or tab" },
      { "--form json", 2, "unknown option --form: did you mean --from?" },
      { "x -o x", 2, "it is an input too" },
      { "none", 1, "none: No such file or directory" },
      { "-o none/out x", 1, "none/out: No such file or directory" },
      { ".", 1, "." },
    }
    for _, case in ipairs(cases) do
      local r = run("$LUNETTE convert " .. case[1])
      assert.equal(case[2], r.code, case[1])
      has(r.err, case[3])
    end
    has(run("$LUNETTE convert in.jsonl > /dev/full").err, "No space left on device")
  end)
end)

describe("convert --from csv", function()
  local function csv(text, options) return convert(text, "--from csv " .. (options or "")) end

  it("reads quotes, line ends of both kinds, empty fields, spaces and a byte order mark", function()
    assert.equal('{"a":"x","b":"1,2"}\n', csv 'a,b\nx,"1,2"\n')
    assert.equal('{"a":"say \\"hi\\"","b":"two\\nlines"}\n', csv 'a,b\r\n"say ""hi""","two\nlines"\r\n')
    assert.equal('{"b":""}\n{"a":" x ","b":2}\n', csv 'a,b\n,""\n x ,2')
    assert.equal('{"a":1}\n', csv "\239\187\191a\n\n1\n\n")
    assert.equal('{"a b":1,"ü":2}\n', csv '"a b",ü\n1,2\n')
    assert.equal('{"a":1,"b":"x,y"}\n', csv("a;b\n1;x,y\n", "--delimiter ';'"))
    assert.equal('{"a":1,"b":2}\n', csv("a\tb\n1\t2\n", "--delimiter tab"))
    assert.equal("", csv "a,b\n")
  end)

  it("makes numbers of what JSON calls so, and nothing else", function()
    local is = { "0", "-7", "18446744073709551615", "-9223372036854775808" }
    for _, text in ipairs(is) do assert.equal(('{"a":%s}\n'):format(text), csv(("a\n%s\n"):format(text))) end
    assert.equal('{"a":1.5,"b":-300.0,"c":7}\n', csv 'a,b,c\n1.50,-3E2,"7"\n')
    for _, text in ipairs { "007", "+1", "1.", ".5", "1e", "0x10", "1_000", "-", "-0", "Inf", "NaN", "1e999", " 1",
      "18446744073709551616", "-9223372036854775809", "1 ", "true", "null" } do
      assert.equal(('{"a":"%s"}\n'):format(text), csv(("a\n%s\n"):format(text)), text)
    end
    assert.equal('{"a":"1","b":"2.5"}\n', csv("a,b\n1,2.5\n", "--text"))
  end)

  it("brings back whatever texts were written", function()
    local parts = { "a", ",", '"', "\n", "\r\n", " ", "é", "\t", ";", "''" }
    local function text()
      local out = {}
      for i = 1, random(0, 6) do out[i] = parts[random(#parts)] end
      return table.concat(out)
    end
    for seed = 1, 10 do
      math.randomseed(seed)
      local lines, want = { "a,b,c" }, {}
      for i = 1, 100 do
        local fields, map = {}, {}
        for k, name in ipairs { "a", "b", "c" } do
          map[name] = text()
          local plain = map[name]:find '^[^",\r\n]+$' and random(2) == 1
          fields[k] = plain and map[name] or '"' .. map[name]:gsub('"', '""') .. '"'
        end
        lines[i + 1], want[i] = table.concat(fields, ","), value.json(map)
      end
      local ending = random(2) == 1 and "\n" or "\r\n"
      assert.equal(table.concat(want), csv(table.concat(lines, ending) .. ending, "--text"), "seed " .. seed)
    end
  end)

  it("names the line of what is wrong", function()
    local function wrong(text) return (broken(text, "--from csv")) end
    has(wrong "a,b\n1,2\n3\n", "line 3: 1 field, where the first line names 2")
    has(wrong 'a,b\n"1\n",2\n3,4,5\n', "line 4: 3 fields, where the first line names 2")
    has(wrong 'a,b\n1,x"y\n', "line 2: a quote in the middle of a field")
    has(wrong 'a,b\n1,"x"y\n', "line 2: a quote in the middle of a field, or something behind its closing quote")
    has(wrong 'a,b\n1,"x\ny\n', "line 2: a field in quotes that does not end")
    has(wrong "a,b,a\n", "line 1: fields 1 and 3 are both named a")
    has(wrong "a,,b\n", "line 1: field 2 has no name")
    has(wrong "", "line 1: there is none: the first line names the fields")
    local err, out = broken("a\n1\n2,3\n", "--from csv")
    has(err, "line 3: ")
    assert.equal('{"a":1}\n', out)
  end)

  it("does the same however the bytes come, and is bounded", function()
    local lines = { "id,text,n" }
    for i = 1, 300 do lines[i + 1] = ('%d,"line %d\nof ""two""",%.2f'):format(i, i, i / 7) end
    put("x.csv", table.concat(lines, "\r\n") .. "\r\n")
    local whole_out = run("$LUNETTE convert x.csv").out
    assert.equal(300, #cli.lines_of(whole_out))
    assert.equal(whole_out, run("dd bs=1 if=x.csv 2>/dev/null | $LUNETTE convert --from csv").out)
    run 'printf "a\\n\\"" > long; head -c 70000000 /dev/zero | tr "\\0" x >> long'
    local r = run "$LUNETTE convert --from csv long"
    assert.equal(1, r.code)
    has(r.err, "line 2: a record of more than 67108864 bytes")
    run 'head -c 200000 /dev/zero | tr "\\0" , > wide'
    has(run("$LUNETTE convert --from csv wide").err, "more than 65536 fields")
    assert.truthy(get "wide")
  end)
end)
