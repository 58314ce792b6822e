/* `lunette ctl`: asks and steers a running server. */
#ifndef LN_CLI_CTL_H
#define LN_CLI_CTL_H

#include "cli/options.h"

int ln_cli_ctl(const ln_cli_options *o);

#endif
