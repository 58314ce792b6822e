/* `lunette run`: a script over its inputs, from the first byte to the last pane. */
#ifndef LN_CLI_RUN_H
#define LN_CLI_RUN_H

#include "cli/options.h"

/* Returns the exit code. */
int ln_cli_run(const ln_cli_options *options);

#endif
