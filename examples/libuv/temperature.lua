local ln = require "lunette"

-- Datagrams such as {"sensor":"roof","c":21.5}. Their time is that of their arrival.
return ln.pipeline {
  time = "processing",
  key = "sensor",
  window = ln.tumbling "1s",
  aggregate = { n = ln.count(), mean = ln.avg "c", high = ln.max "c" },
}
