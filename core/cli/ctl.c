/* See ctl.h. The request is made of the command line as it is; the server says what is wrong with it. A program gets
 * the server's answer, a person what the tool of that name makes of it. */
#define _GNU_SOURCE
#include "cli/ctl.h"

#include "cli/ask.h"
#include "cli/words.h"
#include "server/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RELOAD_MS = 60000 }; /* how long a reload may take until it is told */

static const char *told(const ln_cli_options *o, const char *name) {
    for (size_t i = 0; i < o->told_count; i++)
        if (!strcmp(o->told[i].name, name)) return o->told[i].value;
    return NULL;
}

/* Which command `lunette ctl` knows: a misspelt one is told before anybody is asked. */
static int check_command(const char *word) {
    static const char *const KNOWN[] = {"status", "windows", "connections", "why", "reload", "rollback", "drain"};
    const size_t count = sizeof KNOWN / sizeof *KNOWN;
    const char *near = ln_cli_nearest(word, KNOWN, count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(word, KNOWN[i])) return 0;
    if (near) ln_cli_say("ctl: unknown command %s: did you mean %s?", word, near);
    else ln_cli_say("ctl: unknown command %s", word);
    ln_cli_say("see `lunette ctl --help`");
    return LN_EXIT_USAGE;
}

static int make_request(const ln_cli_options *o, ln_buf *request) {
    static const char *const FIELDS[] = {"pipeline", "key", "window", "most", "from"};
    ln_json_format(request, "{");
    ln_json_member(request, "command", o->words[0]);
    for (size_t i = 0; i < sizeof FIELDS / sizeof *FIELDS; i++)
        if (told(o, FIELDS[i])) ln_json_member(request, FIELDS[i], told(o, FIELDS[i]));
    ln_json_format(request, "}\n");
    ln_buf_byte(request, '\0');
    return request->failed ? -1 : 0;
}

/* For a person; -1 where the tool can't. The tool gives 1 where the server refused. */
static int show(const ln_cli_options *o, const char *answer) {
    const lunette_param args[] = {{"command", o->words[0]}, {"answer", answer}};
    lunette *host = lunette_new(NULL);
    int rc = LN_EXIT_OK;
    const char *text = NULL;
    if (!host) {
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    if (lunette_tool(host, "ctl", args, 2, o->traceback, &rc) == LUNETTE_OK) text = lunette_tool_text(host);
    if (text && !rc) fputs(text, stdout);
    else fprintf(stderr, "lunette: ctl: %s\n", text ? text : lunette_error(host));
    lunette_delete(host);
    return text ? rc : LN_EXIT_ERROR;
}

static int refused(const char *answer) { return !strncmp(answer, "{\"error\":", 9); }

static int ask(const ln_cli_options *o, const char *address, const char *request) {
    ln_ask a;
    ln_ask_line answer = {0};
    int rc = LN_EXIT_OK;
    ln_ask_init(&a, address);
    if (!strcmp(o->words[0], "reload") || !strcmp(o->words[0], "rollback")) a.patience_ms = RELOAD_MS;
    if (ln_ask_line_of(&a, request, &answer)) {
        ln_cli_say("ctl: %s", a.problem);
        free(answer.text);
        return LN_EXIT_ERROR;
    }
    if (!told(o, "json") && (told(o, "text") || isatty(STDOUT_FILENO) || refused(answer.text))) {
        rc = show(o, answer.text);
    } else {
        puts(answer.text);
        if (refused(answer.text)) rc = LN_EXIT_ERROR;
    }
    fflush(stdout);
    if (!rc && !strcmp(o->words[0], "drain")) ln_ask_wait_for_end(&a);
    ln_ask_close(&a);
    free(answer.text);
    return rc;
}

int ln_cli_ctl(const ln_cli_options *o) {
    const char *address = told(o, "control");
    ln_mem mem;
    ln_buf request;
    int rc = check_command(o->words[0]);
    if (rc) return rc;
    if (!address) address = getenv("LUNETTE_CONTROL");
    if (!address || !*address) {
        ln_cli_say("ctl: which server? write --control unix:PATH, as it was given to `lunette run`, or set "
                   "LUNETTE_CONTROL");
        return LN_EXIT_USAGE;
    }
    ln_mem_init(&mem);
    ln_buf_init(&request, &mem);
    if (make_request(o, &request)) {
        ln_cli_say("memory is short");
        rc = LN_EXIT_ERROR;
    } else {
        rc = ask(o, address, (const char *)request.data);
    }
    ln_buf_free(&request);
    return rc;
}
