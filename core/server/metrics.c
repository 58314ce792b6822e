/* See metrics.h. The pipelines' part is written where their account is; what the server counts has its names here, and
 * each counter has one, so that none is forgotten. */
#define _GNU_SOURCE
#include "server/metrics.h"

#include "server/answer.h"
#include "server/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* By the counter's name: the metric, and what it is. */
static const struct {
    const char *counter, *metric, *help;
} NAMES[] = {
    {"connections", "lunette_connections", "Connections of sources."},
    {"connections_opened", "lunette_connections_opened_total", "Connections of sources taken."},
    {"connections_refused", "lunette_connections_refused_total", "Connections refused at a limit."},
    {"connections_broken", "lunette_connections_broken_total", "Connections ended since what came could not be read."},
    {"connections_unfinished", "lunette_connections_unfinished_total", "Connections that ended within a record."},
    {"connections_timed_out", "lunette_connections_timed_out_total", "Connections ended for silence or slowness."},
    {"bytes_received", "lunette_received_bytes_total", "Bytes received through sockets."},
    {"datagrams", "lunette_datagrams_total", "Datagrams received."},
    {"datagrams_malformed", "lunette_datagrams_malformed_total", "Datagrams malformed in part or whole."},
    {"datagrams_dropped", "lunette_datagrams_dropped_total", "Datagrams dropped by the system, not read in time."},
    {"forward_messages", "lunette_forward_messages_total", "Messages of Fluent Forward taken."},
    {"forward_acknowledged", "lunette_forward_acknowledged_total", "Chunks of Fluent Forward acknowledged."},
    {"forward_repeated", "lunette_forward_repeated_total", "Chunks of Fluent Forward sent again, which count once."},
    {"forward_heartbeats", "lunette_forward_heartbeats_total", "Heartbeats of Fluent Forward."},
    {"forward_refused_signal", "lunette_forward_refused_signal_total", "Messages refused since they are no logs."},
    {"forward_refused_tag", "lunette_forward_refused_tag_total", "Messages refused for their tag."},
    {"forward_refused_compression", "lunette_forward_refused_compression_total",
     "Messages refused for their compression."},
    {"forward_denied", "lunette_forward_denied_total", "Connections without the right key, user or password."},
    {"bytes_sent", "lunette_sent_bytes_total", "Bytes sent to sinks that are sockets."},
    {"queued_bytes", "lunette_queued_bytes", "Bytes in the queues of all sinks."},
    {"sink_connections", "lunette_sink_connections_total", "Connections made to sinks."},
    {"sink_failures", "lunette_sink_failures_total", "Connections to sinks that failed or broke; each is retried."},
    {"panes_lost", "lunette_panes_lost_total", "Panes taken from the engine and not delivered."},
    {"subscribers", "lunette_subscribers", "Subscribers of sinks that listen."},
    {"subscribers_opened", "lunette_subscribers_opened_total", "Subscribers taken."},
    {"subscribers_cut", "lunette_subscribers_cut_total", "Subscribers cut since they were too slow."},
    {"log_lines_left_out", "lunette_log_lines_left_out_total", "Lines of the log left out."},
};

static void put_head(ln_buf *out, const char *metric, const char *type, const char *help) {
    ln_json_format(out, "# HELP %s %s\n# TYPE %s %s\n", metric, help, metric, type);
}

static void put_number(ln_buf *out, const char *metric, const char *type, const char *help, double x) {
    put_head(out, metric, type, help);
    ln_json_format(out, "%s %.17g\n", metric, x);
}

static int is_total(const char *metric) {
    const char *end = strrchr(metric, '_');
    return end && !strcmp(end, "_total");
}

static void put_counters(ln_server *s, ln_buf *out) {
    const ln_counters *c = ln_server_counters(s);
    const char *name;
    uint64_t value;
    for (size_t i = 0; ln_counters_get(c, i, &name, &value); i++) {
        for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++) {
            const char *metric = NAMES[k].metric;
            if (strcmp(NAMES[k].counter, name) != 0) continue;
            put_head(out, metric, is_total(metric) ? "counter" : "gauge", NAMES[k].help);
            ln_json_format(out, "%s %" PRIu64 "\n", metric, value);
        }
    }
}

static void put_queues(ln_server *s, ln_buf *out) {
    static const char METRIC[] = "lunette_sink_queue_bytes";
    const ln_sink_end *const sinks[] = {s->panes, s->rejects, s->trace};
    static const char *const STREAMS[] = {"panes", "rejects", "trace"};
    put_head(out, METRIC, "gauge", "Bytes that wait in the queue of a sink.");
    for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++)
        if (sinks[i]) ln_json_format(out, "%s{stream=\"%s\"} %zu\n", METRIC, STREAMS[i], ln_sink_pending(sinks[i]));
}

static void put_histogram(ln_buf *out, const char *metric, const char *help, const ln_histogram *h) {
    uint64_t total = 0;
    put_head(out, metric, "histogram", help);
    for (int i = 0; i < LN_HISTOGRAM_CLASSES - 1; i++) {
        total += h->count[i];
        ln_json_format(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", metric, (double)ln_histogram_bound_us(i) / 1e6,
                       total);
    }
    total += h->count[LN_HISTOGRAM_CLASSES - 1];
    ln_json_format(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.17g\n%s_count %" PRIu64 "\n", metric, total,
                   metric, (double)h->sum_us / 1e6, metric, total);
}

/* By the names that every exporter uses. */
static void put_process(const ln_server *s, ln_buf *out) {
    double started_s = (double)(ln_clock_wall_us() - (ln_clock_steady_us() - s->begun_us)) / 1e6;
    struct timespec cpu;
    char text[128], *resident;
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu))
        put_number(out, "process_cpu_seconds_total", "counter", "CPU time of the process.",
                   (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    put_number(out, "process_start_time_seconds", "gauge", "When the process began.", started_s);
    if (!statm) return;
    if (fgets(text, sizeof text, statm) && (resident = strchr(text, ' ')))
        put_number(out, "process_resident_memory_bytes", "gauge", "Memory of the process.",
                   (double)strtoull(resident, NULL, 10) * (double)sysconf(_SC_PAGESIZE));
    fclose(statm);
}

static void put_reloads(const ln_server *s, ln_buf *out) {
    static const char METRIC[] = "lunette_reloads_total";
    ln_reload_told told;
    ln_reload_tell(s, &told);
    put_head(out, METRIC, "counter", "Reloads of the script, by how they ended.");
    ln_json_format(out, "%s{result=\"done\"} %" PRIu64 "\n%s{result=\"failed\"} %" PRIu64 "\n", METRIC, told.done,
                   METRIC, told.failed);
    put_number(out, "lunette_reload_under_way", "gauge", "Whether a script is about to take over.", told.under_way);
    put_number(out, "lunette_reload_failed", "gauge", "Whether the last reload failed: /status tells why.",
               *told.problem != 0);
    put_number(out, "lunette_reload_hold_seconds", "gauge", "The longest time for which a reload has held records up.",
               told.longest_hold_s);
}

static void put_checkpoints(const ln_server *s, ln_buf *out) {
    static const char METRIC[] = "lunette_checkpoints_total";
    ln_checkpoint_told told;
    if (!s->checkpoint) return;
    ln_checkpoint_tell(s->checkpoint, &told);
    put_head(out, METRIC, "counter", "Checkpoints of the state, by how they ended.");
    ln_json_format(out, "%s{result=\"done\"} %" PRIu64 "\n%s{result=\"failed\"} %" PRIu64 "\n", METRIC, told.done,
                   METRIC, told.failed);
    put_number(out, "lunette_checkpoint_failed", "gauge", "Whether the last checkpoint failed: /status tells why.",
               *told.problem != 0);
    put_number(out, "lunette_checkpoint_holds_input", "gauge", "Whether no input is taken until one succeeds.",
               told.held);
    put_number(out, "lunette_checkpoint_age_seconds", "gauge", "How old the state on the disk is.",
               (double)told.age_us / 1e6);
    put_number(out, "lunette_checkpoint_seconds", "gauge", "From the cut of the last checkpoint until the disk had it.",
               (double)told.took_us / 1e6);
    put_number(out, "lunette_checkpoint_pause_seconds", "gauge",
               "The longest time for which a checkpoint has held records up.", (double)told.longest_pause_us / 1e6);
    put_number(out, "lunette_checkpoint_bytes", "gauge", "Bytes of the last checkpoint.", (double)told.bytes);
    put_number(out, "lunette_checkpoint_bytes_total", "counter", "Bytes of all checkpoints.", (double)told.all_bytes);
}

int ln_metrics_write(ln_server *s, ln_buf *out) {
    const char *text = lunette_look(s->host, "metrics", NULL, 0);
    if (!text) return -1;
    ln_buf_append(out, text, strlen(text));
    put_counters(s, out);
    put_queues(s, out);
    put_reloads(s, out);
    put_checkpoints(s, out);
    put_histogram(out, "lunette_batch_duration_seconds", "Time in which a piece of input was worked on at a stretch.",
                  &s->batches);
    put_number(out, "lunette_ready", "gauge", "Whether records are taken.", ln_answer_unready(s) ? 0 : 1);
    put_head(out, "lunette_build_info", "gauge", "The version, as a label.");
    ln_json_format(out, "lunette_build_info{version=\"%s\"} 1\n", ln_version());
    put_process(s, out);
    return out->failed ? -1 : 0;
}
