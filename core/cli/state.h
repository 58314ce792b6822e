/* `lunette state`: what lies in the folder of a run's state, also while the run goes on. */
#ifndef LN_CLI_STATE_H
#define LN_CLI_STATE_H

#include "cli/options.h"

int ln_cli_state(const ln_cli_options *o);

#endif
