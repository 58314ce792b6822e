/* The texts of one column as numbers, so that a driver makes a value of its own for each text once, and not for each
 * record. A dictionary of short texts, which are hashed and compared as words of 8 bytes: one word where all texts of
 * the column are short enough, else three, so that no branch depends on the length of a text. It is bounded: when it
 * is full it starts anew, and where most texts had been new it stands aside for a while.
 *
 * Invariant: within a batch, and as long as `generation` stays, a number means one text. */
#ifndef LN_INGEST_STRINGS_H
#define LN_INGEST_STRINGS_H

#include "base/mem.h"
#include "lunette.h"

enum {
    LN_STRINGS_NARROW = 1, /* words of a text: its bytes, zeros, and in the last byte its length and 1 */
    LN_STRINGS_WIDE = 3,
    LN_STRINGS_BYTES = 8 * LN_STRINGS_WIDE - 1, /* the longest text that gets a number */
    LN_STRINGS_READ = 8 * LN_STRINGS_WIDE,      /* so many bytes of each text are read */
    LN_STRINGS_MAX = 65536,                     /* numbers of a generation, where not stated */
    LN_STRINGS_REST = 1024                      /* batches for which it stands aside */
};

typedef struct ln_string_table {
    ln_strings shown;
    ln_mem *mem;
    int32_t *id;   /* of each row */
    uint32_t *row; /* of each new number */
    uint32_t rows_max, most;
    uint32_t words; /* of a text */
    int too_narrow; /* a text has come that needs more words */
    uint64_t *slot; /* the words of a text, then its number; the last word 0: an empty slot. Open addressing */
    size_t slots;   /* a power of two, at most half full where memory is not short */
    uint64_t secret[4];
    uint64_t seen; /* texts of this generation */
    uint32_t rest; /* batches */
} ln_string_table;

/* Memory that does not depend on input; 0, or -1 where it is short. */
int ln_strings_init(ln_string_table *t, ln_mem *mem, uint32_t rows_max, uint32_t most, uint64_t seed);
void ln_strings_free(ln_string_table *t);
/* Looks how long texts are, so that the next batch finds as many words as it will need. */
void ln_strings_look(ln_string_table *t, const ln_value *cell, uint32_t rows);
/* Numbers the texts of a column's `rows` cells. LN_STRINGS_READ from the first byte of each must be readable. Where
 * memory is short texts have no number. */
void ln_strings_batch(ln_string_table *t, const ln_value *cell, uint32_t rows);

#endif
