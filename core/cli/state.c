/* See state.h. The script that has saved the state is opened from the texts that lie beside it, and asked what is open,
 * as a server is asked. A run that goes on may save again between two looks: then all is read once more. */
#define _GNU_SOURCE
#include "cli/state.h"

#include "cli/resume.h"
#include "cli/words.h"
#include "durable/layout.h"
#include "durable/revive.h"
#include "server/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 20 };

static const char *told(const ln_cli_options *o, const char *name) {
    for (size_t i = 0; i < o->told_count; i++)
        if (!strcmp(o->told[i].name, name)) return o->told[i].value;
    return NULL;
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static void put_input(const ln_facts *f, ln_buf *out) {
    char name[LN_FACT_NAME];
    int64_t next = ln_facts_number(f, "input.next", 0);
    const ln_fact *at = ln_facts_get(f, "input.at");
    ln_json_format(out, ",\"inputs\":[");
    for (int64_t i = 0;; i++) {
        snprintf(name, sizeof name, "input.%" PRId64, i);
        if (!ln_facts_get(f, name)) break;
        ln_json_format(out, "%s{", i ? "," : "");
        ln_json_member(out, "name", ln_facts_text(f, name));
        if (i == next - 1 && at && *at->bytes != '-') ln_json_format(out, ",\"at\":%s", (const char *)at->bytes);
        if (i < next - (at != NULL)) ln_json_format(out, ",\"over\":true");
        ln_json_format(out, "}");
    }
    ln_json_format(out, "]");
}

static void put_output(const ln_facts *f, ln_buf *out, const char *stream) {
    char name[LN_FACT_NAME];
    snprintf(name, sizeof name, "%s.name", stream);
    if (!*ln_facts_text(f, name) || !strcmp(ln_facts_text(f, name), "null:")) return;
    ln_json_format(out, ",\"%s\":{", stream);
    ln_json_member(out, "name", ln_facts_text(f, name));
    snprintf(name, sizeof name, "%s.at", stream);
    if (ln_facts_number(f, name, -1) >= 0) ln_json_format(out, ",\"at\":%" PRId64, ln_facts_number(f, name, -1));
    ln_json_format(out, "}");
}

static void put_head(const ln_cli_resume *r, ln_buf *out) {
    const ln_facts *f = &r->facts;
    ln_ledger_size size;
    ln_json_format(out, "{");
    ln_json_member(out, "script", ln_facts_text(f, LN_FACT_SCRIPT));
    ln_json_format(out, ",\"begun\":%" PRId64 ",\"checkpoints\":%" PRId64 ",\"saved_at_us\":%" PRId64,
                   ln_facts_number(f, LN_FACT_EPOCH, 0), ln_facts_number(f, LN_FACT_CUT, 0),
                   ln_facts_number(f, LN_FACT_AT, 0));
    ln_json_format(out, ",\"over\":%s", ln_facts_number(f, LN_FACT_OVER, 0) ? "true" : "false");
    put_input(f, out);
    put_output(f, out, "panes");
    put_output(f, out, "rejects");
    if (ln_ledger_size_get(r->ledger, &size) == LN_LEDGER_OK)
        ln_json_format(out, ",\"file_bytes\":%" PRIu64 ",\"used_bytes\":%" PRIu64, size.file_bytes, size.used_bytes);
}

static void print_head(const ln_cli_resume *r) {
    const ln_facts *f = &r->facts;
    time_t at = (time_t)(ln_facts_number(f, LN_FACT_AT, 0) / 1000000);
    ln_ledger_size size;
    struct tm utc;
    char when[64] = "";
    int64_t place = ln_facts_number(f, "input.at", -1), next = ln_facts_number(f, "input.next", 0);
    char name[LN_FACT_NAME];
    if (gmtime_r(&at, &utc)) strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    printf("%s, saved at %s, checkpoint %" PRId64 ", start %" PRId64 "\n", ln_facts_text(f, LN_FACT_SCRIPT), when,
           ln_facts_number(f, LN_FACT_CUT, 0), ln_facts_number(f, LN_FACT_EPOCH, 0));
    snprintf(name, sizeof name, "input.%" PRId64, next - 1);
    if (place >= 0) printf("reads on in %s at byte %" PRId64 "\n", ln_facts_text(f, name), place);
    place = ln_facts_number(f, "panes.at", -1);
    if (place >= 0) printf("writes on in %s at byte %" PRId64 "\n", ln_facts_text(f, "panes.name"), place);
    if (ln_ledger_size_get(r->ledger, &size) == LN_LEDGER_OK)
        printf("%" PRIu64 " bytes, of which %" PRIu64 " are used\n", size.file_bytes, size.used_bytes);
    if (ln_facts_number(f, LN_FACT_OVER, 0)) puts("the run has come to its end: nothing is open");
}

/* ---- the windows ------------------------------------------------------------------------------------------------- */

/* What is open, as JSON; NULL after saying why not. */
static const char *look(const ln_cli_options *o, lunette *host) {
    static const char *const NAMES[] = {"pipeline", "key", "most", "from"};
    lunette_param args[sizeof NAMES / sizeof *NAMES];
    size_t count = 0;
    const char *text;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (told(o, NAMES[i])) args[count++] = (lunette_param){NAMES[i], told(o, NAMES[i])};
    text = lunette_look(host, "windows", args, count);
    if (!text) ln_cli_say("state: %s", lunette_error(host));
    return text;
}

static int print_windows(const ln_cli_options *o, const char *windows) {
    const lunette_param args[] = {{"command", "windows"}, {"answer", windows}};
    lunette *host = lunette_new(NULL);
    int rc = LN_EXIT_OK;
    const char *text = NULL;
    if (host && lunette_tool(host, "ctl", args, 2, o->traceback, &rc) == LUNETTE_OK) text = lunette_tool_text(host);
    if (text) printf("\n%s", text);
    else ln_cli_say("state: %s", host ? lunette_error(host) : "memory is short");
    lunette_delete(host);
    return text ? rc : LN_EXIT_ERROR;
}

static int show(const ln_cli_options *o, const ln_cli_resume *r, lunette *host) {
    const char *windows = host ? look(o, host) : "[]";
    ln_mem mem;
    ln_buf out;
    int rc = LN_EXIT_OK;
    if (!windows) return LN_EXIT_ERROR;
    if (!told(o, "json")) {
        print_head(r);
        return host ? print_windows(o, windows) : LN_EXIT_OK;
    }
    ln_mem_init(&mem);
    ln_buf_init(&out, &mem);
    put_head(r, &out);
    if (out.failed) rc = LN_EXIT_ERROR;
    else
        printf("%.*s,\"pipelines\":%.*s}\n", (int)out.len, (const char *)out.data, (int)strcspn(windows, "\n"),
               windows);
    ln_buf_free(&out);
    return rc;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int has_changed(const ln_cli_resume *r) {
    ln_facts now = {0};
    int changed = ln_facts_read(&now, r->ledger) != LN_LEDGER_OK ||
                  ln_facts_number(&now, LN_FACT_CUT, 0) != ln_facts_number(&r->facts, LN_FACT_CUT, 0);
    ln_facts_free(&now);
    return changed;
}

/* -1: it has been saved again meanwhile. */
static int look_once(const ln_cli_options *o) {
    ln_cli_resume r = {.folder = o->words[0]};
    lunette_options options = LUNETTE_OPTIONS_INIT;
    char problem[LN_LEDGER_PROBLEM];
    lunette *host = NULL;
    int rc = LN_EXIT_OK;
    if (ln_durable_open(r.folder, 1, &r.ledger, &r.facts, problem) != LN_LEDGER_OK) {
        ln_cli_say("state: %s", problem);
        return LN_EXIT_ERROR;
    }
    options.streams = (int)ln_facts_number(&r.facts, LN_FACT_STREAMS, 0);
    if (*ln_facts_text(&r.facts, LN_FACT_CLOCK)) options.clock_field = ln_facts_text(&r.facts, LN_FACT_CLOCK);
    if (ln_cli_resume_has_windows(&r)) {
        host = ln_cli_resume_saved(&r, &options);
        if (!host) rc = has_changed(&r) ? -1 : LN_EXIT_ERROR;
    }
    if (!rc && has_changed(&r)) rc = -1;
    if (!rc) rc = show(o, &r, host);
    lunette_delete(host);
    ln_cli_resume_close(&r);
    return rc;
}

int ln_cli_state(const ln_cli_options *o) {
    int rc = -1;
    for (int i = 0; i < LOOKS && rc < 0; i++) {
        if (i) (void)usleep(20000);
        rc = look_once(o);
    }
    if (rc >= 0) return rc;
    ln_cli_say("state: %s is saved so often that nothing can be read in between: give --checkpoint-interval a longer "
               "time",
               o->words[0]);
    return LN_EXIT_ERROR;
}
