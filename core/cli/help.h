/* The texts of --help. */
#ifndef LN_CLI_HELP_H
#define LN_CLI_HELP_H

#include "cli/options.h"

#include <stdio.h>

/* What the command does; LN_CLI_COMMANDS stands for the program as a whole. */
void ln_cli_help(FILE *to, enum ln_cli_command command);

#endif
