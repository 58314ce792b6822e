--- The account of pipelines that run in the text format of Prometheus: each metric with its help and type, and then one
-- sample for each pipeline. What grows with the input, such as sources, is shown up to a number.
local account = require "lunette.account"
local ffi = require "lunette.ffi"
local jit_report = require "lunette.jit_report"
local look = require "lunette.look"
local words = require "lunette.trace.words"

local lib, huge = ffi.lib, math.huge
local SOURCES_MOST = 10
local LABEL_MAX = 128 -- bytes of a label

local M = {}

-- ---- the format

local function number(x)
  if x == huge then return "+Inf" elseif x == -huge then return "-Inf" end
  return x % 1 == 0 and math.abs(x) < 2 ^ 53 and ("%.0f"):format(x) or ("%.17g"):format(x)
end

-- The length of the character of UTF-8 that begins at byte i; nil where none does.
local function character(text, i)
  local a, b = text:byte(i, i + 1)
  local len = a < 0x80 and 1 or a >= 0xc2 and a < 0xe0 and 2 or a >= 0xe0 and a < 0xf0 and 3
    or a >= 0xf0 and a < 0xf5 and 4
  if not len or i + len - 1 > #text then return nil end
  for k = i + 1, i + len - 1 do
    local c = text:byte(k)
    if c < 0x80 or c >= 0xc0 then return nil end
  end
  if a == 0xe0 and b < 0xa0 or a == 0xed and b >= 0xa0 or a == 0xf0 and b < 0x90 or a == 0xf4 and b >= 0x90 then
    return nil
  end
  return len
end

-- A scrape with a label that is no UTF-8 is refused as a whole, and the page travels as a text that a zero ends.
local function as_utf8(text)
  text = text:gsub("%z", "\239\191\189")
  if not text:find "[\128-\255]" then return text end
  local out, i = {}, 1
  while i <= #text do
    local len = character(text, i)
    out[#out + 1] = len and text:sub(i, i + len - 1) or "\239\191\189"
    i = i + (len or 1)
  end
  return table.concat(out)
end

-- Cut between characters.
local function label_text(text)
  text = as_utf8(text)
  if #text > LABEL_MAX then
    local cut = LABEL_MAX
    while cut > 0 and text:byte(cut + 1) >= 0x80 and text:byte(cut + 1) < 0xc0 do cut = cut - 1 end
    text = text:sub(1, cut) .. "..."
  end
  return (text:gsub("\\", "\\\\"):gsub("\n", "\\n"):gsub('"', '\\"'))
end

-- `labels` is a list of name, text, name, text.
local function labels_of(labels)
  local out = {}
  for i = 1, #labels, 2 do out[#out + 1] = ('%s="%s"'):format(labels[i], label_text(labels[i + 1])) end
  return #out > 0 and "{" .. table.concat(out, ",") .. "}" or ""
end

local Page = {}
Page.__index = Page

-- A metric's samples stand together: they are collected by its name, in the order in which names came.
function Page:family(name, kind, help)
  local family = self.by_name[name]
  if not family then
    family = { ("# HELP %s %s"):format(name, help), ("# TYPE %s %s"):format(name, kind) }
    self.by_name[name], self[#self + 1] = family, family
  end
  return family
end

function Page:sample(name, kind, help, labels, x)
  local family = self:family(name, kind, help)
  family[#family + 1] = ("%s%s %s"):format(name, labels_of(labels), number(x))
end

function Page:counter(name, help, labels, x) self:sample(name, "counter", help, labels, x) end
function Page:gauge(name, help, labels, x) self:sample(name, "gauge", help, labels, x) end

function Page:text()
  local out = {}
  for i, family in ipairs(self) do out[i] = table.concat(family, "\n") end
  return table.concat(out, "\n") .. "\n"
end

-- ---- a pipeline

local REASONS = { "malformed", "no_time", "future", "late", "no_window", "bad_key", "script_error", "limit" }

local function put_account(page, a)
  local of = { "pipeline", a.name }
  local function by(name, text) return { "pipeline", a.name, name, text } end
  page:counter("lunette_records_read_total", "Records read.", of, a.read)
  page:counter("lunette_records_aggregated_total", "Records that count in a window.", of, a.aggregated)
  page:counter("lunette_records_filtered_total", "Records that the pipeline's where left out.", of, a.filtered)
  for _, reason in ipairs(REASONS) do
    page:counter("lunette_records_rejected_total", "Records rejected, by reason.", by("reason", reason),
      a.rejected[reason])
  end
  for _, timing in ipairs { "early", "on_time", "late" } do
    page:counter("lunette_panes_total", "Panes, by timing; before emit.", by("timing", timing), a.panes[timing])
  end
  page:counter("lunette_panes_withdrawn_total", "Panes withdrawn.", of, a.panes.withdrawn)
  page:counter("lunette_late_refusals_total", "Windows, already gone, that refused a record which another one took.",
    of, a.late_refusals)
  page:counter("lunette_values_skipped_total", "Values that an aggregate could not take.", of, a.values_skipped)
  page:counter("lunette_distinct_over_total", "Exact distincts of windows that went past their limit.", of,
    a.distinct_over)
  page:counter("lunette_distinct_refused_total", "Distincts of windows that are null since they went past their limit.",
    of, a.distinct_refused)
  page:counter("lunette_windows_opened_total", "Windows opened; of those with slices, windows shown.", of,
    a.windows_opened)
  page:gauge("lunette_windows_open", "Windows that are open.", of, a.windows_open)
  page:gauge("lunette_keys", "Keys with anything open.", of, a.keys)
  page:gauge("lunette_state_bytes", "Memory that counts for limits.state_bytes.", of, a.state_bytes)
end

-- Class i of a histogram ends at 10^i of the first bound.
local function put_lateness(page, name, lateness, ticks)
  local unit = ticks and "ticks" or "seconds"
  local metric = "lunette_record_lateness_" .. unit
  local family = page:family(metric, "histogram", "How far rejected late records were behind the watermark.")
  local function put(suffix, labels, x)
    family[#family + 1] = ("%s%s%s %s"):format(metric, suffix, labels_of(labels), number(x))
  end
  local total, classes = 0, 10
  for i = 0, classes - 1 do
    total = total + tonumber(lateness.records[i])
    local bound = i == classes - 1 and "+Inf" or ticks and ("%.0f"):format(10 ^ i) or ("%.15g"):format(10 ^ i / 1000)
    put("_bucket", { "pipeline", name, "le", bound }, total)
  end
  put("_sum", { "pipeline", name }, tonumber(lateness.sum_us) / (ticks and 1 or 1e6))
  put("_count", { "pipeline", name }, total)
end

-- Times and lengths are in seconds, or in ticks.
local function put_progress(page, p)
  local ticks = p.unit == "tick"
  local of = { "pipeline", p.name }
  local function scaled(x) return ticks and x or words.us(x, p.unit) / 1e6 end
  local stamp = ticks and "_ticks" or "_timestamp_seconds"
  if p.watermark then
    page:gauge("lunette_watermark" .. stamp, "How far event time has come.", of, scaled(p.watermark))
    if p.clock and not ticks then
      page:gauge("lunette_watermark_lag_seconds", "How far the watermark is behind the clock.", of,
        scaled(p.clock - p.watermark))
    end
  end
  page:gauge("lunette_sources", "Sources that the watermark knows.", of, p.sources_known)
  for _, s in ipairs(p.sources) do
    local labels = { "pipeline", p.name, "source", s.name }
    if s.promise and not s.idle then
      page:gauge("lunette_source_promise" .. stamp, "What sources have promised; of those that are furthest behind.",
        labels, scaled(s.promise))
    end
    if s.holds then
      page:gauge("lunette_source_holds_watermark", "The source that the watermark waits for.", labels, 1)
    end
  end
end

--- Everything about the pipelines of an application of the driver.
---@return string
function M.text(app)
  local page = setmetatable({ by_name = {} }, Page)
  for i, part in ipairs(app.parts) do
    put_account(page, account.of(app, i))
    put_lateness(page, part.name, lib.ln_engine_lateness(part.engine), part.unit == "tick")
    put_progress(page, look.progress(app, i, SOURCES_MOST))
  end
  page:counter("lunette_script_errors_total", "Errors of functions of the script.", {}, app.script_errors)
  local aborted = jit_report.counts()
  page:counter("lunette_traces_aborted_total", "Attempts to compile that LuaJIT gave up.", {}, aborted)
  return page:text()
end

return M
