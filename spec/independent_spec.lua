--- Aggregates against programs that are not ours: HyperLogLog and percentiles of Perl's libraries, and counts of sort
-- and uniq. Both sides see the same records; each may be wrong by its own error.
local json = require "spec.support.json"
local shell = require "spec.support.shell"

local RECORDS = 40000
local SHARES = { 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999 }

local PERL = [[
use strict; use warnings;
use Algorithm::HyperLogLog; use Statistics::Descriptive;
my $users = Algorithm::HyperLogLog->new(16);
my $times = Statistics::Descriptive::Full->new;
while (<>) {
  my ($user, $ms) = /"user":"(\w+)","ms":([\d.]+)/ or die "what is this: $_";
  $users->add($user); $times->add_data($ms);
}
print $users->estimate, "\n";
print scalar $times->percentile(100 * $_), "\n" for qw(%s);
]]

local SCRIPT = [[
local ln = require "lunette"
return ln.pipeline {
  time = { field = "t" }, window = ln.tumbling "1h",
  aggregate = {
    users = ln.distinct("user", { approx = true, precision = 14 }), times = ln.quantile("ms", { %s }),
    often = ln.top("user", 20, { capacity = 2048 }),
  },
}
]]

-- Users with the frequencies of a language's words, and times around 20 with a tail.
local function records()
  local state, lines = 7, {}
  local function uniform()
    state = state * 16807 % 2147483647
    return state / 2147483647
  end
  for i = 1, RECORDS do
    local user = math.floor(math.exp(uniform() * math.log(30000)))
    local ms = 20 * math.exp(uniform() + uniform() + uniform() - 1.5) / (1.001 - uniform()) ^ 0.3
    lines[i] = ('{"t":%d,"user":"u%d","ms":%.3f}'):format(i, user, ms)
  end
  return table.concat(lines, "\n") .. "\n"
end

describe("aggregates agree with independent programs:", function()
  local folder, shown, perl

  setup(function()
    folder = shell.folder()
    shell.write(folder .. "/records.jsonl", records())
    shell.write(folder .. "/p.lua", SCRIPT:format(table.concat(SHARES, ", ")))
    shell.write(folder .. "/p.pl", PERL:format(table.concat(SHARES, " ")))
    local r = shell.run(folder, '"$LUNETTE" run p.lua records.jsonl')
    assert(r.code == 0, r.err)
    shown = json.decode(r.out).value
    r = shell.run(folder, "perl p.pl records.jsonl")
    if r.code == 0 then
      perl = {}
      for number in r.out:gmatch "[^\n]+" do perl[#perl + 1] = tonumber(number) end
    end
  end)
  teardown(function() shell.remove(folder) end)

  it("distinct with HyperLogLog", function()
    if not perl then return pending "libalgorithm-hyperloglog-perl or libstatistics-descriptive-perl is missing" end
    -- Five standard errors of either: 0.61 % and 0.41 %.
    assert.is_true(math.abs(shown.users / perl[1] - 1) < 5 * (0.0061 + 0.0041), shown.users .. " and " .. perl[1])
  end)

  it("quantile with percentiles", function()
    if not perl then return pending "libalgorithm-hyperloglog-perl or libstatistics-descriptive-perl is missing" end
    for i, q in ipairs(SHARES) do
      -- One percent, and the distance to the next number, which may be what another rule for ranks picks.
      local error = math.abs(shown.times[i] / perl[i + 1] - 1)
      assert.is_true(error < 0.01 + 0.002, ("share %g: %g and %g"):format(q, shown.times[i], perl[i + 1]))
    end
  end)

  it("top with sort and uniq", function()
    local r = shell.run(folder, [[grep -o '"user":"u[0-9]*"' records.jsonl | sort | uniq -c]])
    local count = {}
    for n, user in r.out:gmatch '(%d+) "user":"(%w+)"' do count[user] = tonumber(n) end
    local listed, least = {}, math.huge
    for _, item in ipairs(shown.often) do
      local real = count[item.value]
      assert.is_true(item.count - item.error <= real and real <= item.count, item.value)
      assert.is_true(item.error <= 2 * RECORDS / 2048)
      listed[item.value], least = true, item.count
    end
    assert.equal(20, #shown.often)
    for user, n in pairs(count) do assert.is_true(listed[user] or n <= least, user) end
  end)
end)
