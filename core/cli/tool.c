/* See tool.h. What a tool prints goes to standard output; what it raises is said here. */
#include "cli/tool.h"

#include "cli/words.h"

#include <string.h>

static const char *const TOOLS[LN_CLI_COMMANDS] = {[LN_CLI_EXPLAIN] = "explain", [LN_CLI_PLOT] = "plot"};

int ln_cli_tool(enum ln_cli_command command, const ln_cli_options *o) {
    const char *const tool = TOOLS[command];
    lunette *host = lunette_new();
    int rc = LN_EXIT_OK;
    if (!host) {
        ln_cli_say("memory is short");
        return LN_EXIT_ERROR;
    }
    if (lunette_tool(host, tool, o->told, o->told_count, o->traceback, &rc) != LUNETTE_OK) {
        ln_cli_say("%s: %s", tool, lunette_error(host));
        rc = LN_EXIT_ERROR;
    }
    lunette_delete(host);
    return rc;
}
