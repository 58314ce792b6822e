/* Out of a ledger again: the texts of the script that ran, and the state of its pipelines into a host. */
#ifndef LN_DURABLE_REVIVE_H
#define LN_DURABLE_REVIVE_H

#include "durable/facts.h"
#include "lunette.h"

/* The script first, then the modules beside it; owned. */
typedef struct ln_kept_texts {
    lunette_text *text;
    size_t count;
} ln_kept_texts;

/* Opens the ledger of a folder, to change it or only to look into it, and reads its facts, of which there are none in a
 * new one. LN_LEDGER_OK, or a code with a problem, also where this version does not know its format. */
int ln_durable_open(const char *folder, int look, ln_ledger **ledger, ln_facts *facts, char problem[LN_LEDGER_PROBLEM]);

/* For the round that holds plans. */
void ln_kept_texts_write(ln_batch_writer *batch, const lunette_text *text, size_t count);
/* LN_LEDGER_OK, or a code. */
int ln_kept_texts_read(ln_kept_texts *t, ln_ledger *ledger);
void ln_kept_texts_free(ln_kept_texts *t);

/* Gives all entries to a host that has a script open: LUNETTE_OK, LUNETTE_FAILED (lunette_error tells why), or
 * -LN_LEDGER_LOST, -LN_LEDGER_RETRY (ln_ledger_error does). *entries: how many there were; where there is none, nothing
 * has been saved, and the host is as it was. lunette_restore_end is the caller's. */
int ln_revive(ln_ledger *ledger, lunette *host, uint64_t *entries);

#endif
