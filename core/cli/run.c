/* See run.h. Nothing is opened for writing before the script has been found right and every input readable, so that a
 * run that can't begin leaves the files of the one before as they are. */
#include "cli/run.h"

#include "cli/address.h"
#include "cli/check.h"
#include "cli/loop.h"
#include "cli/words.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* True where both are one regular file. */
static int same_file(const char *a, const char *b) {
    struct stat x, y;
    if (ln_cli_address_kind(a) != LN_ADDRESS_PATH || ln_cli_address_kind(b) != LN_ADDRESS_PATH) return 0;
    if (stat(a, &x) || stat(b, &y) || !S_ISREG(x.st_mode)) return 0;
    return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int check_target(const char *option, const char *target, const ln_cli_options *o) {
    for (size_t i = 0; i < o->inputs_count; i++) {
        if (!same_file(target, o->inputs[i])) continue;
        ln_cli_say("%s %s: it is an input too, and would be emptied before it is read", option, target);
        return LN_EXIT_USAGE;
    }
    if (same_file(target, o->words[0])) {
        ln_cli_say("%s %s: it is the script, which would be overwritten: name another file", option, target);
        return LN_EXIT_USAGE;
    }
    return 0;
}

static int check_targets(const ln_cli_options *o) {
    int rc = check_target("--out", o->out, o);
    if (rc || !o->rejects) return rc;
    if (same_file(o->rejects, o->out)) {
        ln_cli_say("--rejects %s: the panes go there: give the rejects a file of their own", o->rejects);
        return LN_EXIT_USAGE;
    }
    return check_target("--rejects", o->rejects, o);
}

static int open_script(ln_cli_run_state *r, const ln_cli_options *o) {
    int standard = ln_cli_address_kind(o->out) == LN_ADDRESS_STANDARD;
    lunette_options options = {.size = sizeof options,
                               .in_format = o->in_format,
                               .out_format = o->out_format,
                               .rejects = o->rejects != NULL,
                               .clock_field = o->clock,
                               .params = o->params,
                               .params_count = o->params_count,
                               .traceback = o->traceback};
    if (!options.out_format && standard && isatty(STDOUT_FILENO)) options.out_format = LN_FORMAT_JSON;
    switch (lunette_open(r->host, o->words[0], &options)) {
    case LUNETTE_OK: return 0;
    case LUNETTE_PROBLEMS: ln_cli_print_problems(r->host); return LN_EXIT_SCRIPT;
    default: ln_cli_say("%s", lunette_error(r->host)); return LN_EXIT_ERROR;
    }
}

static int fail(const char *name) {
    ln_cli_say("%s: %s", name, strerror(errno));
    return LN_EXIT_ERROR;
}

static int open_all(ln_cli_run_state *r, const ln_cli_options *o) {
    int rc = 0;
    if (ln_cli_source_init(&r->source, o->inputs, o->inputs_count)) return fail(r->source.name);
    rc = check_targets(o);
    if (!rc) rc = open_script(r, o);
    if (rc) return rc;
    if (ln_cli_sink_open(&r->panes, o->out, LN_STREAM_PANES)) return fail(r->panes.name);
    if (ln_cli_sink_open(&r->rejects, o->rejects ? o->rejects : "null:", LN_STREAM_REJECTS))
        return fail(r->rejects.name);
    return 0;
}

static void greet(const ln_cli_options *o) {
    for (size_t i = 0; i < o->inputs_count; i++) {
        if (ln_cli_address_kind(o->inputs[i]) != LN_ADDRESS_STANDARD) continue;
        if (isatty(STDIN_FILENO)) ln_cli_say("reading records from the terminal; Ctrl-D ends them");
        return;
    }
}

/* A line, or several, of what came of the run; `text` is NULL where the host failed. */
static void print_account(ln_cli_run_state *r, const char *option, const char *text) {
    if (text) fprintf(stderr, "%s\n", text);
    else ln_cli_say("%s: %s", option, lunette_error(r->host));
}

static int run(ln_cli_run_state *r, const ln_cli_options *o) {
    int rc = open_all(r, o);
    if (rc) return rc;
    greet(o);
    if (ln_cli_loop(r, o->progress)) {
        ln_cli_say("the event loop of this system can't be used");
        return LN_EXIT_ERROR;
    }
    ln_cli_progress_clear(&r->progress);
    if (o->jit_report) print_account(r, "--jit-report", lunette_jit_report(r->host));
    if (o->stats) print_account(r, "--stats", lunette_stats(r->host));
    return r->status;
}

int ln_cli_run(const ln_cli_options *options) {
    ln_cli_run_state r = {.host = lunette_new(), .own_clock = !options->clock};
    int rc;
    r.source.fd = r.panes.fd = r.rejects.fd = -1;
    if (!r.host) {
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    signal(SIGPIPE, SIG_IGN);
    rc = run(&r, options);
    ln_cli_source_close(&r.source);
    if (ln_cli_sink_close(&r.panes)) rc = fail(r.panes.name);
    if (ln_cli_sink_close(&r.rejects)) rc = fail(r.rejects.name);
    lunette_delete(r.host);
    return rc;
}
