/* See run.h. The script is read first, since it may name its sources and its sink; the command line wins. */
#define _GNU_SOURCE
#include "cli/run.h"

#include "cli/check.h"
#include "cli/resume.h"
#include "cli/words.h"
#include "server/server.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct run {
    const ln_cli_options *o;
    lunette *host;
    ln_server *server;
    ln_log log;
    ln_server_options options;
    lunette_options host_options;
    ln_cli_resume resume;
    char **sources; /* where the script names them; owned: a script may give way to another */
    char *sink;     /* likewise */
} run;

static int kind_of(const char *text, int use) {
    lunette_address a;
    (void)lunette_address_parse(&a, text, use);
    return a.kind;
}

/* ---- what must not be written over ----------------------------------------------------------------------------- */

/* True where both are one regular file. */
static int same_file(const char *a, const char *b) {
    struct stat x, y;
    if (kind_of(a, LUNETTE_USE_SINK) != LUNETTE_ADDRESS_PATH || kind_of(b, LUNETTE_USE_SINK) != LUNETTE_ADDRESS_PATH)
        return 0;
    if (stat(a, &x) || stat(b, &y) || !S_ISREG(x.st_mode)) return 0;
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int check_target(const run *r, const char *option, const char *target) {
    for (size_t i = 0; i < r->options.sources_count; i++) {
        if (!same_file(target, r->options.sources[i])) continue;
        ln_cli_say("%s %s: it is an input too, and would be emptied before it is read", option, target);
        return LN_EXIT_USAGE;
    }
    if (same_file(target, r->o->words[0])) {
        ln_cli_say("%s %s: it is the script, which would be overwritten: name another file", option, target);
        return LN_EXIT_USAGE;
    }
    return 0;
}

static int check_own(const char *option, const char *target, const char *other, const char *whose) {
    if (!same_file(target, other) && (strcmp(target, other) != 0 || !strcmp(other, "null:"))) return 0;
    ln_cli_say("%s %s: the %s go there: give the %s own", option, target, whose,
               !strcmp(option, "--trace") ? "trace a file of its" : "rejects a file of their");
    return LN_EXIT_USAGE;
}

static int is_forward(const char *text, int use) { return text && kind_of(text, use) == LUNETTE_ADDRESS_FORWARD; }

static int refuse_key(const char *option, const char *what) {
    ln_cli_say("%s: no %s is forward://, and no other asks for a key: leave the option out, or name such a %s", option,
               what, what);
    return LN_EXIT_USAGE;
}

/* Nobody must take a socket for guarded that is not. */
static int check_keys(const run *r) {
    int source = 0;
    for (size_t i = 0; i < r->options.sources_count; i++)
        source |= is_forward(r->options.sources[i], LUNETTE_USE_SOURCE);
    if (!source && r->o->shared_key_file) return refuse_key("--shared-key-file", "source");
    if (!source && r->o->users_file) return refuse_key("--users-file", "source");
    if (is_forward(r->options.out, LUNETTE_USE_SINK) || is_forward(r->options.rejects, LUNETTE_USE_SINK)) return 0;
    if (r->o->sink_key_file) return refuse_key("--sink-key-file", "sink");
    return r->o->sink_user_file ? refuse_key("--sink-user-file", "sink") : 0;
}

static int check_targets(const run *r) {
    const char *out = r->options.out, *rejects = r->options.rejects, *trace = r->options.trace;
    int rc = check_target(r, "--out", out);
    if (!rc && rejects) rc = check_own("--rejects", rejects, out, "panes");
    if (!rc && rejects) rc = check_target(r, "--rejects", rejects);
    if (!rc && trace) rc = check_own("--trace", trace, out, "panes");
    if (!rc && trace && rejects) rc = check_own("--trace", trace, rejects, "rejects");
    if (!rc && trace) rc = check_target(r, "--trace", trace);
    return rc;
}

/* ---- the script ------------------------------------------------------------------------------------------------ */

/* 1 where a source of the command line is a socket, -1 where none is, 0 where it names no source. */
static int streams_given(const ln_cli_options *o) {
    for (size_t i = 0; i < o->inputs_count; i++)
        if (kind_of(o->inputs[i], LUNETTE_USE_SOURCE) >= LUNETTE_ADDRESS_UNIX) return 1;
    return o->inputs_count ? -1 : 0;
}

static int name_sources(run *r) {
    static const char *const standard[] = {"-"};
    const char *source;
    size_t count = 0;
    r->options.sources = r->o->inputs;
    r->options.sources_count = r->o->inputs_count;
    if (r->o->inputs_count) return 0;
    while (lunette_source_named(r->host, count)) count++;
    r->options.sources = standard;
    r->options.sources_count = 1;
    if (!count) return 0;
    r->sources = calloc(count + 1, sizeof *r->sources);
    if (!r->sources) return -1;
    for (size_t i = 0; i < count; i++) {
        source = lunette_source_named(r->host, i);
        r->sources[i] = source ? strdup(source) : NULL;
        if (!r->sources[i]) return -1;
    }
    r->options.sources = (const char *const *)r->sources;
    r->options.sources_count = count;
    return 0;
}

static int name_sink(run *r) {
    const char *named = lunette_sink_named(r->host);
    r->options.out = r->o->out;
    if (r->o->out) return 0;
    r->options.out = "-";
    if (!named) return 0;
    r->options.out = r->sink = strdup(named);
    return r->sink ? 0 : -1;
}

/* Both streams of the output have one format: JSON for a person, msgpack for Fluent Forward. */
static int choose_format(run *r) {
    const char *forward = is_forward(r->options.out, LUNETTE_USE_SINK) ? r->options.out : NULL,
               *rejects = r->o->rejects;
    int format = r->o->out_format;
    if (!forward && is_forward(rejects, LUNETTE_USE_SINK)) {
        if (format != LN_FORMAT_MSGPACK && strcmp(r->options.out, "null:") != 0) {
            ln_cli_say(
                "--rejects %s: Fluent Forward is msgpack, and panes have the same format: add --out-format msgpack",
                rejects);
            return LN_EXIT_USAGE;
        }
        forward = rejects;
    }
    if (forward && format == LN_FORMAT_JSON) {
        ln_cli_say("--out-format json: %s takes msgpack alone: leave the option out", forward);
        return LN_EXIT_USAGE;
    }
    if (forward) ln_output_format(lunette_output(r->host), LN_FORMAT_MSGPACK);
    else if (!format && !strcmp(r->options.out, "-") && isatty(STDOUT_FILENO))
        ln_output_format(lunette_output(r->host), LN_FORMAT_JSON);
    return 0;
}

static int open_script(run *r) {
    const ln_cli_options *o = r->o;
    int rc;
    r->host_options = (lunette_options){.size = sizeof r->host_options,
                                        .in_format = o->in_format,
                                        .out_format = o->out_format,
                                        .rejects = o->rejects != NULL,
                                        .clock_field = o->clock,
                                        .params = o->params,
                                        .params_count = o->params_count,
                                        .traceback = o->traceback,
                                        .streams = streams_given(o),
                                        .trace_bytes = o->trace ? o->trace_bytes : 0,
                                        .trace_keys = o->trace_keys,
                                        .trace_keys_count = o->trace_keys_count};
    switch (lunette_open(r->host, o->words[0], &r->host_options)) {
    case LUNETTE_OK: break;
    case LUNETTE_PROBLEMS: ln_cli_print_problems(r->host); return LN_EXIT_SCRIPT;
    default: ln_cli_say("%s", lunette_error(r->host)); return LN_EXIT_ERROR;
    }
    if (r->resume.ledger && (rc = ln_cli_resume_host(&r->resume, &r->host, o, &r->host_options))) return rc;
    if (name_sink(r) || name_sources(r)) {
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    if (choose_format(r)) return LN_EXIT_USAGE;
    return 0;
}

/* ---- the run --------------------------------------------------------------------------------------------------- */

static int fail(const ln_problem *problem) {
    ln_cli_say("%s", problem->text);
    return LN_EXIT_ERROR;
}

static void greet(const run *r) {
    for (size_t i = 0; i < r->options.sources_count; i++) {
        if (kind_of(r->options.sources[i], LUNETTE_USE_SOURCE) != LUNETTE_ADDRESS_STANDARD) continue;
        if (isatty(STDIN_FILENO)) ln_cli_say("reading records from the terminal; Ctrl-D ends them");
        return;
    }
}

static void print_jit_report(run *r) {
    const char *text = lunette_jit_report(r->host);
    if (text) fprintf(stderr, "%s\n", text);
    else ln_cli_say("--jit-report: %s", lunette_error(r->host));
}

/* The account of the engine, and where there are sockets that of the server, as one line. */
static void print_stats(run *r, int streams) {
    const char *text = lunette_stats(r->host), *name;
    uint64_t value;
    if (!text) {
        ln_cli_say("--stats: %s", lunette_error(r->host));
        return;
    }
    fprintf(stderr, "%.*s", (int)strlen(text) - 1, text);
    for (size_t i = 0; streams && ln_counters_get(ln_server_counters(r->server), i, &name, &value); i++)
        fprintf(stderr, "%s\"%s\":%" PRIu64, i ? "," : ",\"server\":{", name, value);
    fprintf(stderr, streams ? "}}\n" : "}\n");
}

static void clear_line(void *server) { ln_server_clear_line(server); }

/* A SIGHUP that comes before a server is ready is a reload then, and one that comes while it ends is none; to a run
 * over files it means what it always does. */
static void hold_hang_up(int how) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    (void)sigprocmask(how, &set, NULL);
}

static int run_server(const run *r) {
    int rc, reloads = r->o->watch || ln_server_has_streams(r->server);
    if (!reloads) hold_hang_up(SIG_UNBLOCK);
    rc = ln_server_run(r->server);
    if (reloads) signal(SIGHUP, SIG_IGN);
    return rc;
}

static int open_state(run *r) {
    int rc = ln_cli_resume_check(r->o);
    if (rc || !r->o->state) return rc;
    rc = ln_cli_resume_open(&r->resume, r->o->state);
    r->options.ledger = r->resume.ledger;
    r->options.facts = &r->resume.facts;
    r->options.checkpoint_interval_us = r->o->checkpoint_interval_us;
    return rc;
}

static int serve(run *r) {
    ln_problem problem;
    int rc = open_state(r), closed;
    if (!rc && r->resume.ledger && ln_cli_resume_is_over(&r->resume)) return LN_EXIT_OK;
    if (!rc) rc = open_script(r);
    if (!rc) rc = check_keys(r);
    if (rc) return rc;
    r->server = ln_server_new(r->host, &r->log, &r->options);
    if (!r->server) {
        ln_cli_say("memory is short, or the event loop of this system can't be used");
        return LN_EXIT_ERROR;
    }
    r->log.before = clear_line;
    r->log.ctx = r->server;
    if (ln_server_open_sources(r->server, &problem)) return fail(&problem);
    rc = check_targets(r);
    if (rc) return rc;
    if (ln_server_open_sinks(r->server, &problem)) return fail(&problem);
    greet(r);
    rc = run_server(r);
    ln_server_clear_line(r->server);
    closed = ln_server_close(r->server, &problem);
    if (r->o->jit_report) print_jit_report(r);
    if (r->o->stats) print_stats(r, ln_server_has_streams(r->server));
    return closed ? fail(&problem) : rc;
}

int ln_cli_run(const ln_cli_options *o) {
    run r = {.o = o,
             .host = lunette_new(NULL),
             .log = {.level = o->log_level, .format = o->log_format},
             .options = {.script = o->words[0],
                         .on_change = o->on_change,
                         .watch = o->watch,
                         .rejects = o->rejects,
                         .trace = o->trace,
                         .append = o->append,
                         .control = o->control,
                         .http = o->http,
                         .own_clock = !o->clock,
                         .progress = o->progress,
                         .insecure = o->insecure,
                         .flush_on_exit = o->flush_on_exit,
                         .connections_max = o->connections_max,
                         .connections_per_host = o->connections_per_host,
                         .frame_timeout_us = o->record_timeout_us,
                         .idle_timeout_us = o->idle_timeout_us,
                         .drain_timeout_us = o->drain_timeout_us,
                         .ack_timeout_us = o->ack_timeout_us,
                         .queue_bytes = o->queue_bytes,
                         .message_bytes = o->message_bytes,
                         .receive_bytes = o->receive_bytes,
                         .shared_key_file = o->shared_key_file,
                         .users_file = o->users_file,
                         .sink_key_file = o->sink_key_file,
                         .sink_user_file = o->sink_user_file}};
    ln_problem ignored;
    int rc;
    r.options.host_options = &r.host_options;
    if (!r.host) {
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    signal(SIGPIPE, SIG_IGN);
    if (o->watch || streams_given(o) >= 0) hold_hang_up(SIG_BLOCK);
    rc = serve(&r);
    if (r.server) (void)ln_server_close(r.server, &ignored);
    ln_server_delete(r.server);
    lunette_delete(r.host);
    ln_cli_resume_close(&r.resume);
    for (size_t i = 0; r.sources && r.sources[i]; i++) free(r.sources[i]);
    free(r.sources);
    free(r.sink);
    return rc;
}
