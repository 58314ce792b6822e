--- The jobs of the bench: one line each. A job is run in turn with its yardstick, which is another job of this list
-- (`against`) or the program made by hand (`by_hand`, the name of the job there).
--   script  a file of pipelines/      set   its parameters
--   input   settings of generate.c, beside the number of records
--   through the kind of socket through which the input is sent, instead of a file: "tcp" or "forward"
--   kept    the state is kept, with a checkpoint so often
--   null    panes go to `null:` instead of /dev/null
--   panes   "differ" where the program made by hand writes others; else their number must be the same
local function job(name, fields)
  fields.name = name
  fields.input = fields.input or {}
  fields.set = fields.set or {}
  return fields
end

local function hopping(size) return { size = size, hop = "5s" } end

-- A window that no record ends: each key has one, and all live at once.
local LONG = { size = "1000d", hop = "1000d" }

local list = {
  job("tumbling 5 s", { script = "grid", by_hand = "tumbling" }),
  job("hopping 60 s / 5 s", { script = "grid", set = hopping "60s", by_hand = "hopping" }),
  job("sessions 5 s", { script = "session", by_hand = "session" }),

  job("scripted: where, key, value", { script = "scripted", by_hand = "tumbling" }),
  job("scripted, key of two fields", { script = "scripted_key", by_hand = "tumbling", panes = "differ" }),
  job("scripted, when at every record", { script = "scripted_when", by_hand = "tumbling" }),
  job("scripted, fold beside them", { script = "scripted_fold", by_hand = "tumbling" }),
  job("scripted, 1 in 10 filtered", { script = "scripted", input = { debug = 10 },
    against = "scripted: where, key, value" }),

  job("JSON lines", { script = "grid", input = { json = 1 }, against = "tumbling 5 s" }),

  job("through TCP", { script = "grid", through = "tcp", against = "tumbling 5 s" }),
  job("through TCP, JSON lines", { script = "grid", through = "tcp", input = { json = 1 }, against = "JSON lines" }),
  job("through Fluent Forward, 1,000 records a chunk", { script = "grid", through = "forward",
    input = { forward = 1000 }, against = "tumbling 5 s" }),
  job("through Fluent Forward, 1 record a chunk", { script = "grid", through = "forward",
    input = { forward = 1 }, against = "tumbling 5 s" }),

  job("tumbling 5 s, a checkpoint each 100 ms", { script = "grid", kept = "100ms", against = "tumbling 5 s" }),
  job("sessions 5 s, a checkpoint each 100 ms", { script = "session", kept = "100ms", against = "sessions 5 s" }),
  job("1,000,000 keys, one long window, a checkpoint each 300 ms", { script = "grid", set = LONG, kept = "300ms",
    input = { keys = 1000000 }, against = "1,000,000 keys, one long window" }),

  job("size / hop 1, null:", { script = "grid", null = true, by_hand = "tumbling" }),
  job("size / hop 12, null:", { script = "grid", set = hopping "60s", null = true, against = "size / hop 1, null:" }),
  job("size / hop 60, null:", { script = "grid", set = hopping "300s", null = true, against = "size / hop 1, null:" }),
  job("size / hop 1, 100 keys, null:", { script = "grid", null = true, input = { keys = 100 }, by_hand = "tumbling" }),
  job("size / hop 3600, 100 keys, null:", { script = "grid", set = hopping "18000s", null = true,
    input = { keys = 100 }, against = "size / hop 1, 100 keys, null:" }),

  job("100 keys", { script = "grid", input = { keys = 100 }, against = "tumbling 5 s" }),
  job("1,000,000 keys", { script = "grid", input = { keys = 1000000 }, against = "tumbling 5 s" }),
  job("10,000 keys, one long window", { script = "grid", set = LONG, against = "tumbling 5 s" }),
  job("1,000,000 keys, one long window", { script = "grid", set = LONG, input = { keys = 1000000 },
    against = "10,000 keys, one long window" }),

  job("in order", { script = "grid", input = { disorder = 0 }, by_hand = "tumbling" }),
  job("1 % out of order", { script = "grid", input = { disorder = 1 }, against = "in order" }),
  job("10 % out of order", { script = "grid", input = { disorder = 10 }, against = "in order" }),
}

-- A row for each aggregate, alone.
list[#list + 1] = job("aggregate count", { script = "aggregate", set = { aggregate = "count" },
  against = "tumbling 5 s" })
for _, name in ipairs {
  "sum", "min", "max", "avg", "variance", "stddev", "first", "last", "distinct", "distinct_approx", "quantile", "top",
  "min_by", "max_by", "collect", "histogram", "rate", "ratio", "fold", "declared_fold",
} do
  list[#list + 1] = job("aggregate " .. name, { script = "aggregate", set = { aggregate = name },
    against = "aggregate count" })
end

-- What the state takes while windows are open.
local live = {
  job("state, 10,000 keys", { script = "grid", set = LONG }),
  job("state, 1,000,000 keys", { script = "grid", set = LONG, input = { keys = 1000000 } }),
}

return { list = list, live = live }
