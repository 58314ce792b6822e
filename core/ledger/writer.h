/* A thread that applies batches to a ledger, one at a time, so that nobody else waits for the disk. While a batch is
 * under way, it and the ledger are the thread's; at all other times they are the caller's. */
#ifndef LN_LEDGER_WRITER_H
#define LN_LEDGER_WRITER_H

#include "ledger/ledger.h"

typedef struct ln_ledger_writer ln_ledger_writer;

enum { LN_LEDGER_TOLD = 1000 };

/* `wake` is called from the thread when a batch is done with, whatever came of it. NULL where there can be none. */
ln_ledger_writer *ln_ledger_writer_new(ln_ledger *ledger, void (*wake)(void *ctx), void *ctx);
/* Waits for the batch that is under way. The ledger stays open. */
void ln_ledger_writer_delete(ln_ledger_writer *w);
/* What must be done before a batch is applied, on the thread: 0, or a code below 0 that is then that of the batch,
 * which is not applied. */
typedef int ln_ledger_before(void *ctx);
/* Begins with a batch; none may be under way. `before` may be NULL. */
void ln_ledger_writer_begin(ln_ledger_writer *w, const ln_batch_writer *batch, ln_ledger_before *before, void *ctx);
/* Is a batch under way? Where none is any more, *code tells once what came of it (enum ln_ledger_code, or what `before`
 * gave); LN_LEDGER_TOLD later. */
int ln_ledger_writer_busy(ln_ledger_writer *w, int *code);
/* Waits until none is. */
void ln_ledger_writer_wait(ln_ledger_writer *w);

#endif
