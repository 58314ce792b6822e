/* One file of a ledger, as LMDB keeps it. */
#ifndef LN_LEDGER_ENV_H
#define LN_LEDGER_ENV_H

#include "ledger/ledger.h"

#include <lmdb.h>

typedef struct ln_ledger_env {
    MDB_env *env; /* NULL: not open */
    MDB_dbi table[LN_LEDGER_TABLES];
    int has_tables;
} ln_ledger_env;

/* Each gives 0 or an error of LMDB or the system. */
int ln_ledger_env_open(ln_ledger_env *e, const char *path, int look);
void ln_ledger_env_close(ln_ledger_env *e);
int ln_ledger_env_apply(ln_ledger_env *e, const ln_batch_writer *batch);
/* *result is what the last visit gave. */
int ln_ledger_env_scan(ln_ledger_env *e, unsigned table, MDB_val from, ln_ledger_visit *visit, void *ctx, int *result);
int ln_ledger_env_size(ln_ledger_env *e, ln_ledger_size *out);

#endif
