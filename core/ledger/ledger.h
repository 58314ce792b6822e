/* A ledger: ordered tables on disk, changed in transactions: what a run must not forget. Behind it stands LMDB.
 *
 * The folder holds a file for each generation, of which `current` names one. A new generation is begun where the file
 * has grown much larger than what it holds (since somebody reads an old state of it and has stopped doing so), and
 * where a write was answered with an error after which nobody knows what the disk holds: it then takes a whole new
 * copy, and counts from the moment in which `current` names it.
 *
 * One process writes at a time, others may look on. Not for several threads at once. */
#ifndef LN_LEDGER_LEDGER_H
#define LN_LEDGER_LEDGER_H

#include "ledger/batch.h"

enum { LN_LEDGER_TABLES = 4, LN_LEDGER_PROBLEM = 512 };

enum ln_ledger_code {
    LN_LEDGER_OK = 0,
    LN_LEDGER_RETRY, /* nothing has changed: a full disk, a limit, short memory. The same may work later */
    LN_LEDGER_LOST,  /* what the disk holds of this generation is not known any more: only ln_ledger_renew helps */
    LN_LEDGER_ABSENT /* open: there is no ledger */
};

typedef struct ln_ledger ln_ledger;

typedef struct ln_ledger_size {
    uint64_t file_bytes, used_bytes, generation;
} ln_ledger_size;

/* Opens the ledger of a folder to change it, and makes both where they are not there. `problem` has a text with a
 * remedy where it is not LN_LEDGER_OK. */
int ln_ledger_open(const char *folder, ln_ledger **out, char problem[LN_LEDGER_PROBLEM]);
/* The same to look into it, also while another process changes it. */
int ln_ledger_look(const char *folder, ln_ledger **out, char problem[LN_LEDGER_PROBLEM]);
void ln_ledger_close(ln_ledger *l);

/* Applies the batch and waits until the disk has it. Blocks for as long as the disk takes. */
int ln_ledger_apply(ln_ledger *l, const ln_batch_writer *batch);
/* The next batch begins a new generation, which holds nothing else. Until that succeeds the old one is the current. */
void ln_ledger_renew(ln_ledger *l);
/* What went wrong with the last apply or scan, for a person to read. */
const char *ln_ledger_error(const ln_ledger *l);

/* Hands out the entries of a table from key `from` on, in the order of their keys, as one consistent state: views that
 * live for the call. It stops where `visit` gives other than 0, which it returns; 0 behind the last; -LN_LEDGER_LOST,
 * -LN_LEDGER_RETRY where the file can't be read. */
typedef int ln_ledger_visit(void *ctx, const uint8_t *key, size_t key_bytes, const uint8_t *value, size_t value_bytes);
int ln_ledger_scan(ln_ledger *l, unsigned table, const void *from, size_t from_bytes, ln_ledger_visit *visit,
                   void *ctx);
int ln_ledger_size_get(ln_ledger *l, ln_ledger_size *out);

#endif
