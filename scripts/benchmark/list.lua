--- Prints the names of the jobs.
package.path = "scripts/benchmark/?.lua;" .. package.path
local jobs = require "jobs"

for _, list in ipairs { jobs.list, jobs.live } do
  for _, job in ipairs(list) do print(job.name) end
end
