/* Facts of a run by name: small things that are written anew with each checkpoint. Values are bytes; numbers are
 * written as decimal texts. */
#ifndef LN_DURABLE_FACTS_H
#define LN_DURABLE_FACTS_H

#include "ledger/ledger.h"

enum { LN_FACT_NAME = 48 };

typedef struct ln_fact {
    char name[LN_FACT_NAME];
    uint8_t *bytes; /* with a zero byte behind them */
    size_t len;
} ln_fact;

typedef struct ln_facts {
    ln_fact *item;
    size_t count, cap;
    int failed; /* memory was short: something is missing */
} ln_facts;

void ln_facts_free(ln_facts *f);
/* One of that name is replaced. */
void ln_facts_put(ln_facts *f, const char *name, const void *bytes, size_t len);
void ln_facts_put_text(ln_facts *f, const char *name, const char *text);
void ln_facts_put_number(ln_facts *f, const char *name, int64_t number);
/* NULL where there is none. The view lives until the facts change. */
const ln_fact *ln_facts_get(const ln_facts *f, const char *name);
/* "" where there is none. */
const char *ln_facts_text(const ln_facts *f, const char *name);
int64_t ln_facts_number(const ln_facts *f, const char *name, int64_t otherwise);
/* Names that begin with this are forgotten. */
void ln_facts_drop(ln_facts *f, const char *begins);

/* All that a ledger holds: LN_LEDGER_OK or the code of the failure. */
int ln_facts_read(ln_facts *f, ln_ledger *ledger);
/* All of them in the place of those that the ledger holds. */
void ln_facts_write(const ln_facts *f, ln_batch_writer *batch);

#endif
