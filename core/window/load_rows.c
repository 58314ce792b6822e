/* Slices out of an image: into an engine that has slices, row by row; or, where the new plan looks at each window, put
 * together to windows that have a cell each. */
#include "window/image.h"

static __int128 read_wide(ln_image *m) {
    uint64_t low = ln_saved_word(&m->in), high = ln_saved_word(&m->in);
    return (__int128)((unsigned __int128)high << 64 | low);
}

/* Bounds and count of rows; 0 where they can't be those of a slice behind `before`. */
static int read_slice_head(ln_image *m, ln_slice *s, const ln_slice *before, uint64_t *rows) {
    s->start_us = ln_saved_int(&m->in);
    s->end_us = ln_saved_int(&m->in);
    s->first_end_us = ln_saved_int(&m->in);
    *rows = ln_saved_uint(&m->in);
    if (m->in.bad || !*rows || *rows > ln_saved_left(&m->in)) return 0;
    if (s->start_us >= s->end_us || (__int128)s->end_us - s->start_us > m->slice_us) return 0;
    return !before || before->start_us < s->start_us;
}

/* The rows of one slice into its column; a run lies at `state_at`. */
static int read_rows(ln_engine *e, ln_image *m, ln_slice *s, uint64_t rows, size_t state_at) {
    for (; rows; rows--) {
        ln_key *key = ln_image_key(e, m);
        uint32_t id, row;
        if (!key) return LN_EINVALID;
        id = ln_keys_find(&e->keys, key->hash, ln_key_bytes(key), key->len);
        if (ln_column_find(&s->column, id) != LN_COLUMN_NONE) return ln_image_bad(m);
        row = ln_column_add(&s->column, id);
        if (row == LN_COLUMN_NONE) return LN_ENOMEM;
        if (e->sliced) {
            e->grid.rows++;
            key->held++;
            ln_keys_wake(&e->keys, key);
        }
        int err = ln_image_run(e, m, ln_column_row(&s->column, row) + state_at, 0);
        if (err) return err;
    }
    return LN_OK;
}

/* ---- into slices ------------------------------------------------------------------------------------------------- */

/* What keys know of the front and the back follows from their rows. */
static int link_keys(ln_engine *e) {
    ln_grid *g = &e->grid;
    for (uint32_t i = g->slices.count; i-- > 0;) {
        ln_slice *s = ln_grid_slice(g, i);
        __int128 start = ln_grid_start(e, s);
        for (uint32_t row = 0; row < s->column.rows && start < g->folded_us; row++) {
            ln_hop_row *own = (ln_hop_row *)(void *)ln_column_row(&s->column, row);
            ln_hop_key *key = (ln_hop_key *)(void *)ln_keys_at(&e->keys, own->key);
            if (start < g->pivot_us) {
                own->next = key->first;
                own->next_row = key->first_row;
                key->first = s;
                key->first_row = row;
                continue;
            }
            key->back_rows++;
            if (ln_states_take(&e->states, &e->tally, key->back, (uint8_t *)own + g->state_at) < 0) return LN_ENOMEM;
        }
    }
    return LN_OK;
}

static int read_slice(ln_engine *e, ln_image *m) {
    ln_grid *g = &e->grid;
    ln_slice *s = ln_grid_new_slice(e), *before = g->slices.count ? ln_grid_slice(g, g->slices.count - 1) : NULL;
    uint64_t rows;
    if (!s) return LN_ENOMEM;
    if (!read_slice_head(m, s, before, &rows)) {
        ln_grid_retire(e, s);
        return ln_image_bad(m);
    }
    if (ln_cells_insert(&g->slices, &e->mem, g->slices.count, (ln_span *)(void *)s) < 0) {
        ln_grid_retire(e, s);
        return LN_ENOMEM;
    }
    return read_rows(e, m, s, rows, g->state_at);
}

static int read_into_slices(ln_engine *e, ln_image *m, uint64_t count) {
    ln_grid *g = &e->grid;
    int err = LN_OK;
    for (; count && !err; count--) err = read_slice(e, m);
    if (!err && g->hopping) err = link_keys(e);
    if (err || !g->slices.count) return err;
    if (g->next_us > ln_grid_start(e, ln_grid_slice(g, 0))) return ln_image_bad(m);
    g->next_end_us = ln_time_clamp(g->next_us + e->plan.size_us);
    return g->next_end_us > e->now_us ? LN_OK : ln_image_bad(m);
}

/* ---- into windows ------------------------------------------------------------------------------------------------ */

/* What is being put together. */
typedef struct making {
    ln_slice *slice;
    size_t slices;
    size_t row_bytes, state_at;
    ln_cell **cell;
    size_t cells, cell_cap;
    __int128 pivot_us;
} making;

static __int128 start_of(const ln_image *m, const ln_slice *s) {
    return s->start_us == LN_TIME_MIN ? (__int128)s->end_us - m->slice_us : s->start_us;
}

/* The window of a key, opened where it is not; *fresh tells which. NULL where memory is short. */
static ln_cell *window_of(ln_engine *e, making *k, uint32_t id, __int128 from, int64_t size_us, int *fresh) {
    ln_cell_key *key = (ln_cell_key *)(void *)ln_keys_at(&e->keys, id);
    int64_t start_us = ln_time_clamp(from), end_us = ln_time_clamp(from + size_us);
    uint32_t at;
    ln_cell *c = ln_cells_find(&key->open, start_us, end_us, &at);
    *fresh = !c;
    if (c) return c;
    if (ln_mem_grow(&e->rows.mem, &k->cell, &k->cell_cap, k->cells + 1, sizeof *k->cell) < 0) return NULL;
    c = ln_store_cell(e, key, start_us, end_us);
    if (!c) return NULL;
    if (ln_cells_insert(&key->open, &e->mem, at, (ln_span *)(void *)c) < 0) {
        ln_store_drop(e, c);
        return NULL;
    }
    ln_keys_wake(&e->keys, &key->key);
    c->nonempty = 1;
    c->since = (ln_since){.count = 1, .first_us = e->clock_us, .last_us = e->clock_us};
    k->cell[k->cells++] = c;
    return c;
}

/* Of the front the first row of a key in the window has all that came after it there; behind the front each row has
 * what came in it. */
static int take_slice(ln_engine *e, const ln_image *m, making *k, const ln_slice *s, __int128 from) {
    int front = start_of(m, s) < k->pivot_us;
    for (uint32_t row = 0; row < s->column.rows; row++) {
        int fresh;
        ln_cell *c = window_of(e, k, ln_column_key(&s->column, row), from, m->size_us, &fresh);
        if (!c) return LN_ENOMEM;
        if (front && !fresh) continue;
        if (ln_states_take(&e->states, &e->tally, ln_cell_run(e, c), ln_column_row(&s->column, row) + k->state_at) < 0)
            return LN_ENOMEM;
    }
    return LN_OK;
}

static int make_windows(ln_engine *e, const ln_image *m, making *k, __int128 from) {
    __int128 last = k->slices ? start_of(m, &k->slice[k->slices - 1]) : from - 1;
    for (; from <= last; from += m->hop_us) {
        for (size_t i = 0; i < k->slices; i++) {
            __int128 start = start_of(m, &k->slice[i]);
            int err;
            if (start < from || start >= from + m->size_us) continue;
            err = take_slice(e, m, k, &k->slice[i], from);
            if (err) return err;
        }
    }
    return LN_OK;
}

static int read_temporary(ln_engine *e, ln_image *m, making *k, uint64_t count) {
    for (; k->slices < count; k->slices++) {
        ln_slice *s = &k->slice[k->slices];
        uint64_t rows;
        int err;
        ln_column_init(&s->column, &e->rows.mem, k->row_bytes);
        if (!read_slice_head(m, s, k->slices ? s - 1 : NULL, &rows)) return ln_image_bad(m);
        err = read_rows(e, m, s, rows, k->state_at);
        if (!err) continue;
        k->slices++;
        return err;
    }
    return LN_OK;
}

static void free_temporary(ln_engine *e, making *k, uint64_t count) {
    for (size_t i = 0; i < k->slices; i++) {
        ln_column *c = &k->slice[i].column;
        for (uint32_t row = 0; !e->states.plain && row < c->rows; row++)
            ln_states_clear(&e->states, &e->tally, ln_column_row(c, row) + k->state_at);
        ln_column_free(c);
    }
    ln_mem_free(&e->rows.mem, k->slice, (count + 1) * sizeof *k->slice);
    ln_mem_free(&e->rows.mem, k->cell, k->cell_cap * sizeof *k->cell);
}

static int read_into_windows(ln_engine *e, ln_image *m, uint64_t count, __int128 from) {
    making k = {.state_at = 8, .row_bytes = 8 + (e->states.bytes + 7) / 8 * 8, .pivot_us = e->grid.pivot_us};
    int err;
    k.slice = ln_mem_zero(&e->rows.mem, (count + 1) * sizeof *k.slice);
    if (!k.slice) return LN_ENOMEM;
    err = read_temporary(e, m, &k, count);
    if (!err && k.slices && (from > start_of(m, &k.slice[0]) || from + m->size_us <= e->now_us)) err = ln_image_bad(m);
    if (!err) err = make_windows(e, m, &k, from);
    if (!err) err = ln_image_file(e, k.cell, k.cells);
    free_temporary(e, &k, count);
    return err;
}

int ln_image_rows(ln_engine *e, ln_image *m) {
    __int128 next = read_wide(m);
    uint64_t count;
    e->grid.pivot_us = read_wide(m);
    e->grid.folded_us = read_wide(m);
    count = ln_saved_uint(&m->in);
    if (m->in.bad || count > ln_saved_left(&m->in)) return ln_image_bad(m);
    if (m->size_us <= 0 || m->hop_us <= 0 || m->hop_us > m->size_us || m->slice_us > m->size_us) return ln_image_bad(m);
    if (!e->sliced) return read_into_windows(e, m, count, next);
    e->grid.next_us = next;
    return read_into_slices(e, m, count);
}
