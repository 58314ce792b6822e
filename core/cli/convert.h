/* `lunette convert`: records from one format to another. */
#ifndef LN_CLI_CONVERT_H
#define LN_CLI_CONVERT_H

#include "cli/options.h"

/* Returns the exit code. */
int ln_cli_convert(const ln_cli_options *options);

#endif
