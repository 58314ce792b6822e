/* `lunette check`: scripts loaded and checked, not run. */
#ifndef LN_CLI_CHECK_H
#define LN_CLI_CHECK_H

#include "cli/options.h"

/* Returns the exit code. */
int ln_cli_check(const ln_cli_options *options);

/* Prints the problems of the last check or open. They stand alone on their lines, without the program's name in front,
 * as compilers write them: editors find the place. */
void ln_cli_print_problems(lunette *host);

#endif
