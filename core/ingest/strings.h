/* The texts of one column as numbers, so that a driver makes a value of its own for each text once, and not for each
 * record. A dictionary of short texts, compared and hashed as three masked words: no branch depends on their length.
 * It is bounded: when it is full it starts anew, and where most texts had been new it stands aside for a while.
 *
 * Invariant: within a batch, and as long as `generation` stays, a number means one text. */
#ifndef LN_INGEST_STRINGS_H
#define LN_INGEST_STRINGS_H

#include "base/mem.h"
#include "lunette.h"

enum {
    LN_STRINGS_BYTES = 23,  /* the longest text that gets a number */
    LN_STRINGS_READ = 24,   /* so many bytes of each text are read */
    LN_STRINGS_MAX = 65536, /* numbers of a generation, where not stated */
    LN_STRINGS_REST = 1024  /* batches for which it stands aside */
};

/* One text: its bytes, zeros, and in the last byte its length and 1. */
typedef struct ln_string {
    uint64_t word[LN_STRINGS_READ / 8]; /* the last one 0: an empty slot */
    int64_t id;
} ln_string;

typedef struct ln_string_table {
    ln_strings shown;
    ln_mem *mem;
    int32_t *id;   /* of each row */
    uint32_t *row; /* of each new number */
    uint32_t rows_max, most;
    ln_string *slot; /* open addressing, a power of two, at most half full where memory is not short */
    size_t slots;
    uint64_t secret[4];
    uint64_t seen; /* texts of this generation */
    uint32_t rest; /* batches */
} ln_string_table;

/* Memory that does not depend on input; 0, or -1 where it is short. */
int ln_strings_init(ln_string_table *t, ln_mem *mem, uint32_t rows_max, uint32_t most, uint64_t seed);
void ln_strings_free(ln_string_table *t);
/* Numbers the texts of a column's `rows` cells. LN_STRINGS_READ from the first byte of each must be readable. Where
 * memory is short texts have no number. */
void ln_strings_batch(ln_string_table *t, const ln_value *cell, uint32_t rows);

#endif
