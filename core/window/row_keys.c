/* The keys of a batch's rows in canonical form, with their hashes: worked out before the first row is judged, so that
 * what the table of keys will read can be fetched while earlier rows are worked on. */
#include "window/state.h"

enum { AHEAD = 32 }; /* rows whose keys are looked up at once */

/* Where a short text has its head before it, as in a record, its canonical form stands right there. NULL for anything
 * else. Before every text there is a byte: part of a record, of the arena, or of what Lua keeps before a string. */
static const uint8_t *in_place(const ln_value *v) {
    if (v->type != LN_TEXT || v->len > 31) return NULL;
    return v->at[-1] == (0xa0 | v->len) ? v->at - 1 : NULL;
}

/* The key's canonical form into the scratch; 0, or -1 for what is no key. */
static int encode(ln_engine *e, uint32_t row, ln_buf *out) {
    const ln_plan *p = &e->plan;
    ln_buf_clear(out);
    if (p->key_columns == 0) {
        ln_buf_byte(out, 0xc0);
        return 0;
    }
    if (!p->key_composite) return ln_key_encode(out, ln_rows_value(&e->rows, p->key_column[0], row));
    ln_key_encode_array_head(out, p->key_columns);
    for (uint32_t i = 0; i < p->key_columns; i++)
        if (ln_key_encode_plain(out, ln_rows_value(&e->rows, p->key_column[i], row)) < 0) return -1;
    return 0;
}

/* Where the engine is traced, records that were turned away are told with their keys too, as far as fields hold
 * them. */
static int has_key_anyhow(const ln_engine *e, uint32_t row) {
    if (!e->tracing || e->rows.row[row] == LN_ROW_MALFORMED) return 0;
    return e->plan.key_columns && (uint32_t)e->plan.key_column[0] < e->plan.computed_first;
}

static int work_out(ln_engine *e, uint32_t row) {
    ln_key_of_row *own = &e->row_key[row];
    ln_buf *scratch = &e->rows.scratch;
    *own = (ln_key_of_row){0};
    if (e->rows.row[row] != LN_ROW_TAKE && e->rows.row[row] != LN_ROW_ERROR_FIELD && !has_key_anyhow(e, row))
        return LN_OK;
    if (e->plan.key_columns == 1 && !e->plan.key_composite) {
        const ln_value *v = ln_rows_value(&e->rows, e->plan.key_column[0], row);
        own->bytes = in_place(v);
        own->len = v->len + 1;
    }
    if (!own->bytes) {
        if (encode(e, row, scratch) < 0) return LN_OK;
        own->bytes = scratch->failed ? NULL : ln_arena_copy(&e->rows.texts, scratch->data, scratch->len);
        own->len = (uint32_t)scratch->len;
        if (!own->bytes) return LN_ENOMEM;
    }
    own->hash = ln_keys_hash(&e->keys, own->bytes, own->len);
    return LN_OK;
}

int ln_row_keys(ln_engine *e) {
    uint32_t rows = e->rows.batch->rows;
    int err = LN_OK;
    if (ln_mem_grow(&e->rows.mem, &e->row_key, &e->row_key_cap, rows, sizeof *e->row_key) < 0) return LN_ENOMEM;
    e->ahead = 0;
    ln_states_enter(&e->states, &e->rows, &e->plan);
    for (uint32_t r = 0; r < rows && err == LN_OK; r++) err = work_out(e, r);
    return err;
}

enum { LINE = 64 };

/* The lines of a key that a record touches, and those of a cell. */
static inline void prefetch_key(const void *key) {
    __builtin_prefetch(key);
    __builtin_prefetch((const char *)key + LINE - 1);
}

static inline void prefetch_cell(const void *cell) {
    for (int i = 0; i < 3; i++) __builtin_prefetch((const char *)cell + i * LINE);
}

/* Looks up the keys of the rows from the present one on, so that the memory of keys, and of the newest window of each,
 * comes side by side. */
static void look_ahead(ln_engine *e) {
    uint32_t end = e->rows.batch->rows - e->row > AHEAD ? e->row + AHEAD : e->rows.batch->rows;
    for (uint32_t r = e->row; r < end; r++) {
        ln_key_of_row *own = &e->row_key[r];
        own->id = own->bytes ? ln_keys_likely(&e->keys, own->hash) : LN_KEY_NONE;
        if (own->id != LN_KEY_NONE) prefetch_key(ln_keys_at(&e->keys, own->id));
    }
    for (uint32_t r = e->row; r < end; r++) {
        ln_key_of_row *own = &e->row_key[r];
        const ln_cell_key *key;
        if (own->bytes) own->id = ln_keys_find_likely(&e->keys, own->id, own->hash, own->bytes, own->len);
        if (own->id == LN_KEY_NONE) continue;
        key = (const ln_cell_key *)(const void *)ln_keys_at(&e->keys, own->id);
        if (key->open.count) prefetch_cell(ln_cells_span(&key->open, key->open.count - 1));
        else __builtin_prefetch((const char *)key + LINE);
    }
    e->ahead = end;
    e->ahead_forgotten = e->keys.forgotten;
}

uint32_t ln_row_key_find(ln_engine *e) {
    const ln_key_of_row *own = &e->row_key[e->row];
    if (e->row >= e->ahead) look_ahead(e);
    if (own->id != LN_KEY_NONE && e->ahead_forgotten == e->keys.forgotten) return own->id;
    if (own->id != LN_KEY_NONE && ln_keys_is(&e->keys, own->id, own->hash, own->bytes, own->len)) return own->id;
    return ln_keys_find(&e->keys, own->hash, own->bytes, own->len);
}
