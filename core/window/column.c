/* Rows of one slice. */
#include "window/column.h"

#include <string.h>

enum { LINE = 64, FIRST_ROWS = 8 };

static const uint32_t *key_of(const void *column, uint32_t row) { return (const void *)ln_column_row(column, row); }

void ln_column_init(ln_column *c, ln_mem *mem, size_t row_bytes) {
    *c = (ln_column){.mem = mem, .row_bytes = row_bytes};
    ln_index_init(&c->index, mem, key_of, c, 0);
}

static size_t block_bytes(const ln_column *c, uint32_t rows) { return rows * c->row_bytes + LINE; }

static size_t bytes_of_chunk(const ln_column *c, size_t i) {
    return block_bytes(c, i == 0 ? c->first_rows : LN_COLUMN_CHUNK);
}

static void free_chunks(ln_column *c, size_t from) {
    for (size_t i = from; i < c->chunks; i++)
        if (c->chunk[i].block) ln_mem_free(c->mem, c->chunk[i].block, bytes_of_chunk(c, i));
    if (from < c->chunks) c->chunks = from;
}

void ln_column_free(ln_column *c) {
    free_chunks(c, 0);
    ln_index_free(&c->index);
    ln_mem_free(c->mem, c->chunk, c->chunk_cap * sizeof *c->chunk);
    ln_column_init(c, c->mem, c->row_bytes);
}

size_t ln_column_bytes(const ln_column *c) {
    size_t bytes = c->index.bytes + c->chunk_cap * sizeof *c->chunk;
    for (size_t i = 0; i < c->chunks; i++) bytes += c->chunk[i].block ? bytes_of_chunk(c, i) : 0;
    return bytes;
}

/* Are its rows few enough to be kept for the slice that comes next? */
static int is_kept(const ln_column *c) { return c->chunks * block_bytes(c, LN_COLUMN_CHUNK) <= LN_MEM_KEPT_MAX; }

void ln_column_clear(ln_column *c) {
    size_t used = (c->rows + LN_COLUMN_CHUNK - 1) / LN_COLUMN_CHUNK;
    free_chunks(c, is_kept(c) ? 2 * used + 1 : 1);
    if (c->index.bytes > LN_MEM_KEPT_MAX || c->index.bytes / 64 > c->rows + FIRST_ROWS) ln_index_free(&c->index);
    else ln_index_clear(&c->index);
    c->rows = c->vacant = 0;
}

void ln_column_passed(ln_column *c, uint32_t row) {
    size_t i = row / LN_COLUMN_CHUNK - 1;
    if (i == 0 || is_kept(c)) return;
    ln_mem_free(c->mem, c->chunk[i].block, bytes_of_chunk(c, i));
    c->chunk[i] = (ln_column_chunk){0};
}

/* Another chunk, or at the beginning a larger first one. */
static int make_rows(ln_column *c) {
    uint32_t rows = LN_COLUMN_CHUNK;
    size_t to = c->chunks;
    uint8_t *block, *chunk;
    if (c->chunks <= 1 && c->first_rows < LN_COLUMN_CHUNK) {
        rows = c->first_rows ? 2 * c->first_rows : FIRST_ROWS;
        to = 0;
    } else if (c->rows >= UINT32_MAX / 4) {
        return -1;
    }
    if (ln_mem_grow(c->mem, &c->chunk, &c->chunk_cap, to + 1, sizeof *c->chunk) < 0) return -1;
    block = ln_mem_new(c->mem, block_bytes(c, rows));
    if (!block) return -1;
    chunk = block + (LINE - (uintptr_t)block % LINE) % LINE;
    if (to == 0 && c->chunks) {
        memcpy(chunk, c->chunk[0].rows, c->rows * c->row_bytes);
        free_chunks(c, 0);
    }
    c->chunk[to] = (ln_column_chunk){chunk, block};
    c->chunks = to + 1;
    if (to == 0) c->first_rows = rows;
    return 0;
}

static int has_room(const ln_column *c) {
    if (c->rows / LN_COLUMN_CHUNK >= c->chunks) return 0;
    return c->rows >= LN_COLUMN_CHUNK || c->rows < c->first_rows;
}

/* Room for one more row; 0 or -1. */
static int reserve(ln_column *c) { return has_room(c) ? 0 : make_rows(c); }

/* NULL where memory is short. */
static uint8_t *begin_row(ln_column *c, uint32_t row, uint32_t key) {
    uint8_t *at = ln_column_row(c, row);
    __builtin_prefetch(at + 8 * c->row_bytes, 1); /* where rows come next, which may have been used long ago */
    memset(at, 0, c->row_bytes);
    memcpy(at, &key, sizeof key);
    return key == LN_COLUMN_NONE || ln_index_add(&c->index, ln_index_spread(key), row) == 0 ? at : NULL;
}

uint32_t ln_column_add(ln_column *c, uint32_t key) {
    if (reserve(c) < 0 || !begin_row(c, c->rows, key)) return LN_COLUMN_NONE;
    return c->rows++;
}

uint8_t *ln_column_put(ln_column *c, uint32_t row, uint32_t key) {
    while (c->rows <= row) {
        if (reserve(c) < 0) return NULL;
        (void)begin_row(c, c->rows, LN_COLUMN_NONE);
        c->rows++;
        c->vacant++;
    }
    if (!begin_row(c, row, key)) {
        (void)begin_row(c, row, LN_COLUMN_NONE);
        return NULL;
    }
    c->vacant--;
    return ln_column_row(c, row);
}
