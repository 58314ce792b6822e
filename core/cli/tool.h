/* Commands that are tools in Lua: `lunette explain`, `lunette plot`, `lunette test`. */
#ifndef LN_CLI_TOOL_H
#define LN_CLI_TOOL_H

#include "cli/options.h"

/* Returns the exit code. */
int ln_cli_tool(enum ln_cli_command command, const ln_cli_options *options);

#endif
