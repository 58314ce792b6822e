/* A run that goes on from its state: the ledger of `--state`, and what it holds into a host. */
#ifndef LN_CLI_RESUME_H
#define LN_CLI_RESUME_H

#include "cli/options.h"
#include "durable/facts.h"

typedef struct ln_cli_resume {
    const char *folder;
    ln_ledger *ledger; /* NULL: there is none */
    ln_facts facts;
} ln_cli_resume;

/* Options that do not go together with --state: 0, or an exit code after saying so. */
int ln_cli_resume_check(const ln_cli_options *o);
/* Opens the folder: 0, or an exit code after saying why not. */
int ln_cli_resume_open(ln_cli_resume *r, const char *folder);
/* Has the run in it come to its end? Then says so. */
int ln_cli_resume_is_over(const ln_cli_resume *r);
/* Puts the state into *host, which has the script open with these options and may be replaced by another: 0, or an exit
 * code after saying why not. */
int ln_cli_resume_host(ln_cli_resume *r, lunette **host, const ln_cli_options *o, const lunette_options *options);
/* Does it hold any state beside places? */
int ln_cli_resume_has_windows(const ln_cli_resume *r);
/* A host with the script that has saved the state, from the texts beside it, and with that state; `options` are those
 * of a script, its params apart. NULL after saying why not. */
lunette *ln_cli_resume_saved(const ln_cli_resume *r, const lunette_options *options);
void ln_cli_resume_close(ln_cli_resume *r);

#endif
