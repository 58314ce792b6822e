/* See tool.h. What a tool prints goes to standard output; what it raises is said here. */
#include "cli/tool.h"

#include "cli/words.h"

#include <stdlib.h>
#include <string.h>

/* Generated from the files that a page is made of: what takes much room and only pages need is no part of the
 * library. */
enum { PAGE_TEXTS = 4 };
extern const lunette_param ln_cli_page_texts[PAGE_TEXTS];

static const char *const TOOLS[LN_CLI_COMMANDS] = {
    [LN_CLI_EXPLAIN] = "explain", [LN_CLI_PLOT] = "plot", [LN_CLI_TEST] = "test"};

int ln_cli_tool(enum ln_cli_command command, const ln_cli_options *o) {
    const char *const tool = TOOLS[command];
    lunette *host = lunette_new(NULL);
    lunette_param *args = calloc(o->told_count + PAGE_TEXTS, sizeof *args);
    size_t count = o->told_count;
    int rc = LN_EXIT_OK;
    if (!host || !args) {
        free(args);
        lunette_delete(host);
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    memcpy(args, o->told, count * sizeof *args);
    for (size_t i = 0; command == LN_CLI_PLOT && i < PAGE_TEXTS; i++) args[count++] = ln_cli_page_texts[i];
    if (lunette_tool(host, tool, args, count, o->traceback, &rc) != LUNETTE_OK) {
        ln_cli_say("%s: %s", tool, lunette_error(host));
        rc = LN_EXIT_ERROR;
    }
    free(args);
    lunette_delete(host);
    return rc;
}
