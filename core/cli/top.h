/* `lunette top`: a running server, on a terminal or as a report now and then. */
#ifndef LN_CLI_TOP_H
#define LN_CLI_TOP_H

#include "cli/options.h"

/* Returns the exit code. */
int ln_cli_top(const ln_cli_options *options);

#endif
