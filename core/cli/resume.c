/* See resume.h. A script that has changed takes over what it can, by the rules of a reload. Where it has changed too
 * much and --on-change drain is given, the old one is opened once more, from the texts that were saved with its state,
 * and reloaded. */
#define _GNU_SOURCE
#include "cli/resume.h"

#include "cli/check.h"
#include "cli/words.h"
#include "durable/layout.h"
#include "durable/revive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_US = 100000, PARAMS_MAX = 1000 };

int ln_cli_resume_check(const ln_cli_options *o) {
    const char *option = o->trace ? "--trace" : o->flush_on_exit ? "--flush-on-exit" : NULL;
    if (!o->state || !option) return 0;
    ln_cli_say("%s: a run with --state is gone on with later, and %s", option,
               o->trace ? "a trace tells of one that is not: leave one of them out"
                        : "completing its windows would end it: leave one of them out");
    return LN_EXIT_USAGE;
}

int ln_cli_resume_open(ln_cli_resume *r, const char *folder) {
    char problem[LN_LEDGER_PROBLEM];
    r->folder = folder;
    if (ln_durable_open(folder, 0, &r->ledger, &r->facts, problem) == LN_LEDGER_OK) return 0;
    ln_cli_say("--state %s", problem);
    return LN_EXIT_ERROR;
}

int ln_cli_resume_is_over(const ln_cli_resume *r) {
    if (!ln_facts_number(&r->facts, LN_FACT_OVER, 0)) return 0;
    ln_cli_say("--state %s: this run has come to its end, and nothing is left to be done: to run anew, name another "
               "folder or remove this one",
               r->folder);
    return 1;
}

void ln_cli_resume_close(ln_cli_resume *r) {
    ln_ledger_close(r->ledger);
    r->ledger = NULL;
    ln_facts_free(&r->facts);
}

/* ---- what a script may not change -------------------------------------------------------------------------------- */

static int fail(const ln_cli_resume *r, const char *why) {
    ln_cli_say("--state %s: %s", r->folder, why);
    return LN_EXIT_ERROR;
}

static int check_clock(const ln_cli_resume *r, const ln_cli_options *o) {
    const char *was = ln_facts_text(&r->facts, LN_FACT_CLOCK), *is = o->clock ? o->clock : "";
    if (!ln_facts_get(&r->facts, LN_FACT_CUT) || !strcmp(was, is)) return 0;
    ln_cli_say("--clock: was %s%s when the state was saved, and is %s%s now: timers can't go by two clocks",
               *was ? "the field " : "the wall clock", was, *is ? "the field " : "the wall clock", is);
    return LN_EXIT_USAGE;
}

static int refuse(const ln_cli_resume *r, lunette *host) {
    ln_cli_print_problems(host);
    ln_cli_say("--state %s: was saved by another script: mend the script, add --on-change drain to let the old windows "
               "run out, or name another folder to begin anew",
               r->folder);
    return LN_EXIT_SCRIPT;
}

/* ---- one host ---------------------------------------------------------------------------------------------------- */

/* LUNETTE_OK, LUNETTE_PROBLEMS, or LUNETTE_FAILED after saying why. */
static int restore(const ln_cli_resume *r, lunette *host) {
    uint64_t entries;
    int code = ln_revive(r->ledger, host, &entries);
    if (!code && entries) code = lunette_restore_end(host);
    if (code == LUNETTE_OK || code == LUNETTE_DRAIN) return LUNETTE_OK;
    if (code == LUNETTE_PROBLEMS) return code;
    if (code < 0) (void)fail(r, ln_ledger_error(r->ledger));
    else
        ln_cli_say("--state %s: the state can't be read: %s; to begin anew, move the folder away", r->folder,
                   lunette_error(host));
    return LUNETTE_FAILED;
}

/* ---- draining what was before ------------------------------------------------------------------------------------ */

static lunette_param *read_params(const ln_facts *f, size_t *count) {
    lunette_param *params = calloc(PARAMS_MAX, sizeof *params);
    char name[LN_FACT_NAME];
    for (*count = 0; params && *count < PARAMS_MAX; ++*count) {
        const ln_fact *fact;
        snprintf(name, sizeof name, LN_FACT_PARAM, *count);
        fact = ln_facts_get(f, name);
        if (!fact) break;
        params[*count] = (lunette_param){(const char *)fact->bytes,
                                         (const char *)fact->bytes + strlen((const char *)fact->bytes) + 1};
    }
    return params;
}

/* The host of the script that has saved the state; NULL after saying why. */
static lunette *open_old(const ln_cli_resume *r, const lunette_options *options) {
    lunette_options old = *options;
    ln_kept_texts texts = {0};
    lunette *host = NULL;
    size_t count;
    lunette_param *params = read_params(&r->facts, &count);
    int code = params && ln_kept_texts_read(&texts, r->ledger) == LN_LEDGER_OK ? LUNETTE_OK : LUNETTE_FAILED;
    if (!code) host = lunette_new(NULL);
    old.params = params;
    old.params_count = count;
    old.texts = texts.text;
    old.texts_count = texts.count;
    if (host) code = lunette_open(host, ln_facts_text(&r->facts, LN_FACT_SCRIPT), &old);
    if (host && code) (void)fail(r, "the script that was saved with the state can't be opened any more");
    if (!host) (void)fail(r, "memory is short");
    if (code) lunette_delete(host);
    ln_kept_texts_free(&texts);
    free(params);
    return code ? NULL : host;
}

static int reload(const ln_cli_resume *r, lunette *host, const char *script, const lunette_options *options) {
    int code = lunette_reload_begin(host, script, options, LUNETTE_CHANGE_DRAIN);
    while (code == LUNETTE_OK) {
        code = lunette_reload_step(host, 0, STEP_US);
        if (code == LUNETTE_OK) return 0;
        if (code == LUNETTE_DRAIN) code = LUNETTE_OK;
    }
    if (code == LUNETTE_PROBLEMS) return refuse(r, host);
    return fail(r, lunette_error(host));
}

static int any(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes) {
    (void)ctx, (void)key, (void)key_bytes, (void)value, (void)value_bytes;
    return 1;
}

int ln_cli_resume_has_windows(const ln_cli_resume *r) {
    return ln_ledger_scan(r->ledger, LN_DURABLE_ENTRIES, NULL, 0, any, NULL) == 1;
}

lunette *ln_cli_resume_saved(const ln_cli_resume *r, const lunette_options *options) {
    lunette *host = open_old(r, options);
    if (!host || restore(r, host) == LUNETTE_OK) return host;
    lunette_delete(host);
    return NULL;
}

static int drain(const ln_cli_resume *r, lunette **host, const ln_cli_options *o, const lunette_options *options) {
    lunette *old = ln_cli_resume_saved(r, options);
    int rc = old ? reload(r, old, o->words[0], options) : LN_EXIT_ERROR;
    if (rc) {
        lunette_delete(old);
        return rc;
    }
    lunette_delete(*host);
    *host = old;
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void note_param(ln_facts *f, size_t i, const lunette_param *p) {
    size_t name_bytes = strlen(p->name) + 1, value_bytes = strlen(p->value);
    char fact[LN_FACT_NAME], *both = malloc(name_bytes + value_bytes);
    if (!both) {
        f->failed = 1;
        return;
    }
    memcpy(both, p->name, name_bytes);
    memcpy(both + name_bytes, p->value, value_bytes);
    snprintf(fact, sizeof fact, LN_FACT_PARAM, i);
    ln_facts_put(f, fact, both, name_bytes + value_bytes);
    free(both);
}

/* What the next one that goes on from here must know. */
static void note_script(ln_cli_resume *r, const ln_cli_options *o, const lunette_options *options) {
    ln_facts_put_text(&r->facts, LN_FACT_SCRIPT, o->words[0]);
    ln_facts_put_text(&r->facts, LN_FACT_CLOCK, o->clock ? o->clock : "");
    ln_facts_put_number(&r->facts, LN_FACT_STREAMS, options->streams);
    ln_facts_drop(&r->facts, "param.");
    for (size_t i = 0; i < o->params_count && i < PARAMS_MAX; i++) note_param(&r->facts, i, &o->params[i]);
}

int ln_cli_resume_host(ln_cli_resume *r, lunette **host, const ln_cli_options *o, const lunette_options *options) {
    int format = (int)ln_facts_number(&r->facts, LN_FACT_OUT_FORMAT, 0), rc = check_clock(r, o);
    if (rc) return rc;
    switch (restore(r, *host)) {
    case LUNETTE_OK: break;
    case LUNETTE_PROBLEMS:
        rc = o->on_change == LUNETTE_CHANGE_DRAIN ? drain(r, host, o, options) : refuse(r, *host);
        if (rc) return rc;
        break;
    default: return LN_EXIT_ERROR;
    }
    if (format && !options->out_format) ln_output_format(lunette_output(*host), format);
    note_script(r, o, options);
    return 0;
}
