/* Rows of one slice. */
#include "window/column.h"

#include <string.h>

enum { LINE = 64, SLOTS_MIN = 16, FIRST_ROWS = 8 };

void ln_column_init(ln_column *c, ln_mem *mem, size_t row_bytes) {
    *c = (ln_column){.mem = mem, .row_bytes = row_bytes};
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

static void free_index(ln_column *c) {
    ln_mem_free(c->mem, c->index, c->slots * sizeof *c->index);
    c->index = NULL;
    c->slots = 0;
}

void ln_column_free(ln_column *c) {
    free_chunks(c, 0);
    free_index(c);
    ln_mem_free(c->mem, c->chunk, c->chunk_cap * sizeof *c->chunk);
    ln_column_init(c, c->mem, c->row_bytes);
}

size_t ln_column_bytes(const ln_column *c) {
    size_t bytes = c->slots * sizeof *c->index + c->chunk_cap * sizeof *c->chunk;
    for (size_t i = 0; i < c->chunks; i++) bytes += c->chunk[i].block ? bytes_of_chunk(c, i) : 0;
    return bytes;
}

/* Are its rows few enough to be kept for the slice that comes next? */
static int is_kept(const ln_column *c) { return c->chunks * block_bytes(c, LN_COLUMN_CHUNK) <= LN_MEM_KEPT_MAX; }

void ln_column_clear(ln_column *c) {
    size_t used = (c->rows + LN_COLUMN_CHUNK - 1) / LN_COLUMN_CHUNK;
    free_chunks(c, is_kept(c) ? 2 * used + 1 : 1);
    if (c->slots / 8 > c->rows + SLOTS_MIN) free_index(c);
    else if (c->slots) memset(c->index, 0, c->slots * sizeof *c->index);
    c->rows = c->vacant = 0;
}

void ln_column_passed(ln_column *c, uint32_t row) {
    size_t i = row / LN_COLUMN_CHUNK - 1;
    if (i == 0 || is_kept(c)) return;
    ln_mem_free(c->mem, c->chunk[i].block, bytes_of_chunk(c, i));
    c->chunk[i] = (ln_column_chunk){0};
}

static void place(ln_column *c, uint32_t row) {
    uint32_t i = ln_column_home(c, ln_column_key(c, row));
    while (c->index[i]) i = (i + 1) & (c->slots - 1);
    c->index[i] = row + 1;
}

static int widen_to(ln_column *c, uint32_t slots) {
    uint32_t *index = slots ? ln_mem_zero(c->mem, slots * sizeof *index) : NULL;
    if (!index) return -1;
    free_index(c);
    c->index = index;
    c->slots = slots;
    c->shift = __builtin_clz(slots) + 1;
    for (uint32_t row = 0; row < c->rows; row++)
        if (ln_column_key(c, row) != LN_COLUMN_NONE) place(c, row);
    return 0;
}

static int widen(ln_column *c) { return widen_to(c, c->slots ? 2 * c->slots : SLOTS_MIN); }

int ln_column_reserve(ln_column *c, uint32_t rows) {
    uint64_t slots = SLOTS_MIN;
    while (3 * slots < 4 * ((uint64_t)rows + 1)) slots *= 2;
    return slots > c->slots && slots <= UINT32_MAX / 2 ? widen_to(c, (uint32_t)slots) : 0;
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

/* Room for one more row, and for its place in the index; 0 or -1. */
static int reserve(ln_column *c) {
    if (!has_room(c) && make_rows(c) < 0) return -1;
    return 4 * ((uint64_t)c->rows + 1) > 3 * (uint64_t)c->slots ? widen(c) : 0;
}

static uint8_t *begin_row(ln_column *c, uint32_t row, uint32_t key) {
    uint8_t *at = ln_column_row(c, row);
    memset(at, 0, c->row_bytes);
    memcpy(at, &key, sizeof key);
    if (key != LN_COLUMN_NONE) place(c, row);
    return at;
}

uint32_t ln_column_add(ln_column *c, uint32_t key) {
    if (reserve(c) < 0) return LN_COLUMN_NONE;
    (void)begin_row(c, c->rows, key);
    return c->rows++;
}

uint8_t *ln_column_put(ln_column *c, uint32_t row, uint32_t key) {
    while (c->rows <= row) {
        if (reserve(c) < 0) return NULL;
        (void)begin_row(c, c->rows, LN_COLUMN_NONE);
        c->rows++;
        c->vacant++;
    }
    c->vacant--;
    return begin_row(c, row, key);
}
