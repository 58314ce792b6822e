/* A round of a checkpoint on its way into the ledger: entries as the host writes them, sorted into changes. */
#ifndef LN_DURABLE_ROUND_H
#define LN_DURABLE_ROUND_H

#include "ledger/batch.h"

typedef struct ln_round {
    ln_mem mem;
    ln_batch_writer batch;
    int begun;        /* something has been written: the cut has been made */
    int whole;        /* it takes the place of all that was there */
    int broken;       /* what came is not what a host writes */
    uint64_t entries; /* plans apart */
} ln_round;

void ln_round_init(ln_round *r);
void ln_round_free(ln_round *r);
/* Nothing is in it; large memory is given back. */
void ln_round_clear(ln_round *r);
/* For lunette_checkpoint; `ctx` is the round. Each call has whole entries. Gives up where memory is short. */
int ln_round_write(void *ctx, const void *bytes, size_t len);

#endif
