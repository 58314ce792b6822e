/* See server.h. Nothing is opened for writing before every source has been found good, so that a run that can't begin
 * leaves the files of the one before as they are. */
#define _GNU_SOURCE
#include "server/server.h"

#include "server/positions.h"
#include "server/receive.h"
#include "server/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

ln_server *ln_server_new(lunette *host, ln_log *log, const ln_server_options *options) {
    ln_server *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    *s = (ln_server){.host = host, .log = log, .options = options, .input = {.fd = -1}};
    s->begun_us = ln_clock_steady_us();
    s->loop = ev_loop_new(EVFLAG_AUTO);
    s->piece = malloc(LN_PIECE_BYTES);
    s->files_named = calloc(options->sources_count + 1, sizeof *s->files_named);
    if (s->loop && s->piece && s->files_named) return s;
    ln_server_delete(s);
    return NULL;
}

void ln_server_delete(ln_server *s) {
    if (!s) return;
    if (s->loop) {
        ln_control_close(s->control);
        ln_http_close(s->http);
        ln_connections_delete(s);
        ln_listeners_delete(s);
        if (s->files) ev_io_stop(s->loop, &s->files->readable);
        ev_loop_destroy(s->loop);
    }
    ln_input_close(&s->input);
    ln_receive_delete(s->receive);
    ln_secrets_free(&s->secrets);
    free(s->files);
    free(s->files_named);
    free(s->piece);
    free(s);
}

/* Each connection takes a descriptor: as many as this process may have. */
static void raise_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max) return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* What all forward:// sources share. */
static int prepare_forward(ln_server *s, ln_problem *problem) {
    const ln_server_options *o = s->options;
    ln_forward_config config = {.limits = *ln_reader_limits(lunette_reader(s->host)),
                                .message_bytes = o->message_bytes};
    if (s->receive) return 0;
    if (ln_secrets_read(&s->secrets, o->shared_key_file, o->users_file, problem)) return -1;
    config.shared_key = s->secrets.shared_key;
    config.user = s->secrets.users;
    config.users = s->secrets.users_count;
    s->receive = ln_receive_new(&config, o->receive_bytes);
    return s->receive ? 0 : ln_problem_set(problem, "memory is short");
}

int ln_server_open_sources(ln_server *s, ln_problem *problem) {
    const ln_server_options *o = s->options;
    size_t files = 0;
    lunette_address a;
    for (size_t i = 0; i < o->sources_count; i++) {
        if (lunette_address_parse(&a, o->sources[i], LUNETTE_USE_SOURCE))
            return ln_problem_set(problem, "%s: %s", o->sources[i], a.problem);
        if (a.kind >= LUNETTE_ADDRESS_UNIX) s->streams = 1;
        else s->files_named[files++] = o->sources[i];
    }
    if (ln_input_init(&s->input, s->files_named, files))
        return ln_problem_set(problem, "%s: %s", s->input.name, strerror(errno));
    if (o->facts && ln_positions_resume_input(s, o->facts, problem)) return -1;
    if (s->streams) raise_descriptors();
    for (size_t i = 0; i < o->sources_count; i++) {
        (void)lunette_address_parse(&a, o->sources[i], LUNETTE_USE_SOURCE);
        if (a.kind == LUNETTE_ADDRESS_FORWARD && prepare_forward(s, problem)) return -1;
        if (a.kind >= LUNETTE_ADDRESS_UNIX && ln_listeners_open(s, o->sources[i], &a, problem)) return -1;
    }
    if (files && ln_files_open(s, s->streams)) return ln_problem_set(problem, "memory is short");
    if (o->control) s->control = ln_control_open(s, o->control, problem);
    if (o->control && !s->control) return -1;
    if (o->http) s->http = ln_http_open(s, o->http, problem);
    return o->http && !s->http ? -1 : 0;
}

int ln_server_open_sinks(ln_server *s, ln_problem *problem) {
    const char *rejects = s->options->rejects ? s->options->rejects : "null:";
    const char *trace = s->options->trace ? s->options->trace : "null:";
    s->panes = ln_sink_open(s, s->options->out, LN_STREAM_PANES, problem);
    if (s->panes) s->rejects = ln_sink_open(s, rejects, LN_STREAM_REJECTS, problem);
    if (s->rejects) s->trace = ln_sink_open(s, trace, LN_STREAM_TRACE, problem);
    return s->trace ? 0 : -1;
}

static int close_sink(ln_sink_end **sink, ln_problem *problem) {
    ln_sink_end *end = *sink;
    const char *name = end ? end->name : "";
    *sink = NULL;
    if (!end || !ln_sink_close(end)) return 0;
    return ln_problem_set(problem, "%s: %s", name, strerror(errno));
}

int ln_server_close(ln_server *s, ln_problem *problem) {
    int failed;
    ln_connections_delete(s);
    failed = close_sink(&s->panes, problem);
    failed |= close_sink(&s->rejects, problem);
    return close_sink(&s->trace, problem) || failed ? -1 : 0;
}

int ln_server_has_streams(const ln_server *s) { return s->streams; }

void ln_server_clear_line(ln_server *s) { ln_progress_clear(&s->progress); }

const ln_counters *ln_server_counters(ln_server *s) {
    s->counters.queued_bytes = 0;
    if (s->panes) s->counters.queued_bytes += ln_sink_pending(s->panes);
    if (s->rejects) s->counters.queued_bytes += ln_sink_pending(s->rejects);
    if (s->trace) s->counters.queued_bytes += ln_sink_pending(s->trace);
    s->counters.log_lines_left_out = s->log->left_out;
    return &s->counters;
}
