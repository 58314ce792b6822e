/* Rows of one slice, each with the number of its key and a state behind it: appended in the order in which keys come,
 * found by key, and passed over from the first to the last when the slice is fired. A column that is done keeps its
 * memory for the slice that comes next. */
#ifndef LN_WINDOW_COLUMN_H
#define LN_WINDOW_COLUMN_H

#include "base/index.h"

enum { LN_COLUMN_CHUNK = 64 }; /* rows */
#define LN_COLUMN_NONE LN_INDEX_NONE

typedef struct ln_column_chunk {
    uint8_t *rows; /* they begin on a cache line of `block`, which is what was allocated */
    void *block;
} ln_column_chunk;

typedef struct ln_column {
    ln_mem *mem;
    size_t row_bytes;
    uint32_t rows;
    ln_index index; /* rows, by their keys */
    ln_column_chunk *chunk;
    size_t chunks, chunk_cap;
    uint32_t first_rows; /* rows that the first chunk holds: it grows until it is as large as the others */
    uint32_t vacant;     /* rows, while some are put in their places */
} ln_column;

void ln_column_init(ln_column *c, ln_mem *mem, size_t row_bytes);
void ln_column_free(ln_column *c);
/* Bytes of memory that it holds. */
size_t ln_column_bytes(const ln_column *c);
/* Takes all rows out, and keeps the memory, or most of it where that has become much too large. */
void ln_column_clear(ln_column *c);

/* The rows before this one, the first of a chunk, will not be looked at again: a large column gives the chunk before it
 * back at once, since all at the end would take long. */
void ln_column_passed(ln_column *c, uint32_t row);

/* A row begins with the number of its key. */
static inline uint8_t *ln_column_row(const ln_column *c, uint32_t row) {
    return c->chunk[row / LN_COLUMN_CHUNK].rows + row % LN_COLUMN_CHUNK * c->row_bytes;
}

static inline uint32_t ln_column_key(const ln_column *c, uint32_t row) {
    return *(const uint32_t *)(const void *)ln_column_row(c, row);
}

/* Fetches, ahead of time, what a search for the key will read first. */
static inline void ln_column_prefetch(const ln_column *c, uint32_t key) {
    ln_index_prefetch(&c->index, ln_index_spread(key));
}

/* LN_COLUMN_NONE where the key has no row. */
static inline uint32_t ln_column_find(const ln_column *c, uint32_t key) {
    uint32_t hash = ln_index_spread(key), row;
    const ln_index_part *p;
    if (!c->index.part) return LN_COLUMN_NONE;
    p = ln_index_of(&c->index, hash);
    for (uint32_t i = ln_index_home(p, hash); (row = p->slot[i]) != 0; i = (i + 1) & p->mask)
        if (ln_column_key(c, row - 1) == key) return row - 1;
    return LN_COLUMN_NONE;
}

/* A row of zeros for a key that has none; LN_COLUMN_NONE where memory is short. */
uint32_t ln_column_add(ln_column *c, uint32_t key);
/* The same at this place, which is vacant, for rows that were saved: those before it that have not come yet are vacant,
 * and are for key LN_COLUMN_NONE. NULL where memory is short. */
uint8_t *ln_column_put(ln_column *c, uint32_t row, uint32_t key);

#endif
