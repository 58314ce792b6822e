/* Loads rows of slices: into the same places of the same slices, or, where the plan that goes on has a cell for each
 * window, put together into these. */
#include "window/loading.h"

__int128 ln_load_wide(ln_saved *s) {
    uint64_t low = ln_saved_word(s), high = ln_saved_word(s);
    return (__int128)((unsigned __int128)high << 64 | low);
}

/* What is saved of a row, but for its states. */
typedef struct row_head {
    ln_span span;
    uint64_t row;
} row_head;

static int read_head(ln_saved *s, int64_t slice_us, row_head *h) {
    h->span.start_us = ln_saved_int(s);
    h->span.end_us = ln_saved_int(s);
    h->row = ln_saved_uint(s);
    if (s->bad || h->span.start_us >= h->span.end_us || h->span.start_us < LN_TIME_MIN || h->span.end_us > LN_TIME_MAX)
        return LN_EINVALID;
    return (__int128)h->span.end_us - h->span.start_us > slice_us ? LN_EINVALID : LN_OK;
}

/* ---- rows again ------------------------------------------------------------------------------------------------- */

static uint8_t *run_of(const ln_engine *e, const ln_slice *s, uint32_t row) {
    return ln_column_row(&s->column, row) + e->grid.state_at;
}

/* The row at its place in its slice, empty. */
static int place_row(ln_engine *e, uint32_t id, const row_head *h, ln_slice **slice) {
    int64_t t_us = h->span.start_us == LN_TIME_MIN ? h->span.end_us - 1 : h->span.start_us;
    uint32_t row = (uint32_t)h->row, found;
    ln_slice *s;
    if (h->row >= e->loading->numbers_max || h->row >= UINT32_MAX / 4)
        return ln_load_refuse(e, "more windows than limits.state_bytes has room for");
    s = *slice = ln_grid_open(e, t_us);
    if (!s) return LN_ENOMEM;
    if (s->start_us != h->span.start_us || s->end_us != h->span.end_us) return LN_EINVALID;
    found = ln_column_find(&s->column, id);
    if (found != LN_COLUMN_NONE) {
        if (found != row || e->loading->exact) return LN_EINVALID;
        ln_states_clear(&e->states, &e->tally, run_of(e, s, row));
        return LN_OK;
    }
    if (row < s->column.rows && ln_column_key(&s->column, row) != LN_COLUMN_NONE) return LN_EINVALID;
    return ln_column_put(&s->column, row, id) ? LN_OK : LN_ENOMEM;
}

/* What a window's row has beside its states: read into *own, which is a row's head or will be a cell's. */
static int read_window(ln_engine *e, ln_saved *s, ln_window_row *own) {
    uint64_t index;
    const uint8_t *over;
    if (!e->loading->from.headed) return LN_OK;
    index = ln_saved_uint(s);
    over = ln_saved_run(s, 1);
    if (s->bad || index > UINT32_MAX) return LN_EINVALID;
    own->index = (uint32_t)index;
    own->over = *over;
    return LN_OK;
}

/* Its folds, behind its states. Without saved ones it begins with none. */
static int load_row_folds(ln_engine *e, ln_saved *s, ln_window_row *own) {
    if (!e->folds) return e->loading->from.folds ? LN_EINVALID : LN_OK;
    if (!own->slot && (own->slot = ln_store_slot(e)) == 0) return LN_ENOMEM;
    return e->loading->from.folds ? ln_load_folds(e, own->slot, s) : LN_OK;
}

static int load_window(ln_engine *e, ln_saved *s, uint8_t *row) {
    ln_window_row *own = (void *)row;
    int err = e->grid.headed ? read_window(e, s, own) : LN_OK;
    if (err == LN_OK) err = ln_load_run(e, s, row + e->grid.state_at);
    return err == LN_OK && e->grid.headed ? load_row_folds(e, s, own) : err;
}

/* Links the key's row to the one before it, in the front. */
static void link_row(ln_hop_key *key, ln_hop_row *own, ln_slice *s, uint32_t row, ln_hop_row **last) {
    own->next = NULL;
    if (*last) {
        (*last)->next = s;
        (*last)->next_row = row;
    } else {
        key->first = s;
        key->first_row = row;
    }
    *last = own;
}

static int load_row(ln_engine *e, uint32_t id, ln_saved *s, __int128 pivot, ln_hop_row **last) {
    row_head h;
    ln_slice *slice = NULL;
    int err = read_head(s, e->plan.slice_us, &h);
    if (err == LN_OK) err = place_row(e, id, &h, &slice);
    if (err != LN_OK || !slice) return err != LN_OK ? err : LN_EINVALID;
    e->grid.rows++;
    ln_keys_at(&e->keys, id)->held++;
    if (e->grid.hopping) {
        ln_hop_row *own = (void *)ln_column_row(&slice->column, (uint32_t)h.row);
        if (*last && (*last)->next) return LN_EINVALID;
        own->next = NULL;
        if (ln_grid_start(e, slice) < pivot)
            link_row((ln_hop_key *)(void *)ln_keys_at(&e->keys, id), own, slice, (uint32_t)h.row, last);
    }
    return load_window(e, s, ln_column_row(&slice->column, (uint32_t)h.row));
}

int ln_load_rows(ln_engine *e, uint32_t id, ln_saved *s) {
    ln_hop_row *last = NULL;
    __int128 next = 0, pivot = 0;
    uint64_t rows, back_rows = 0;
    int err = LN_OK;
    (void)ln_saved_int(s);
    if (e->grid.hopping) {
        next = ln_load_wide(s);
        pivot = ln_load_wide(s);
        back_rows = ln_saved_uint(s);
        (void)next;
    }
    if (back_rows > UINT32_MAX) return LN_EINVALID;
    if (back_rows) {
        ln_hop_key *key = (ln_hop_key *)(void *)ln_keys_at(&e->keys, id);
        key->back_rows = (uint32_t)back_rows;
        err = ln_load_run(e, s, key->back);
    }
    rows = ln_saved_uint(s);
    for (uint64_t i = 0; i < rows && err == LN_OK && !s->bad; i++) err = load_row(e, id, s, pivot, &last);
    return err;
}

void ln_load_drop_rows(ln_engine *e, uint32_t id) {
    ln_key *key = ln_keys_at(&e->keys, id);
    e->grid.rows -= key->held;
    key->held = 0;
    if (e->grid.hopping) {
        ln_hop_key *hop = (ln_hop_key *)(void *)key;
        if (hop->back_rows) ln_states_clear(&e->states, &e->tally, hop->back);
        hop->back_rows = 0;
        hop->first = NULL;
    }
}

/* ---- rows as cells ---------------------------------------------------------------------------------------------- */

/* The rows of a key, in order, with their runs of states one after the other. */
typedef struct row_set {
    row_head *head;
    ln_window_row *own;
    uint8_t *run;
    size_t bytes; /* of a run */
    uint64_t count, cap;
    int64_t slice_us;
} row_set;

static __int128 start_of(const row_set *r, uint64_t i) {
    const ln_span *x = &r->head[i].span;
    return x->start_us == LN_TIME_MIN ? (__int128)x->end_us - r->slice_us : x->start_us;
}

static int read_rows(ln_engine *e, ln_saved *s, row_set *r) {
    uint64_t rows = ln_saved_uint(s);
    if (s->bad || rows > ln_saved_left(s)) return LN_EINVALID; /* each takes a byte at least */
    r->cap = rows;
    r->head = ln_mem_zero(&e->rows.mem, (size_t)(rows + 1) * sizeof *r->head);
    r->own = ln_mem_zero(&e->rows.mem, (size_t)(rows + 1) * sizeof *r->own);
    r->run = ln_mem_zero(&e->rows.mem, (size_t)(rows + 1) * r->bytes + 8);
    if (!r->head || !r->own || !r->run) return LN_ENOMEM;
    while (r->count < rows) {
        ln_window_row *own = &r->own[r->count];
        int err = read_head(s, r->slice_us, &r->head[r->count]);
        if (err == LN_OK) err = read_window(e, s, own);
        if (err == LN_OK) err = ln_load_run(e, s, r->run + r->count * r->bytes);
        if (err == LN_OK && e->loading->from.folds) err = load_row_folds(e, s, own);
        r->count++; /* what has been loaded of it is cleared with the others */
        if (err != LN_OK) return err;
        if (r->count > 1 && start_of(r, r->count - 1) <= start_of(r, r->count - 2)) return LN_EINVALID;
    }
    return LN_OK;
}

static void free_rows(ln_engine *e, row_set *r) {
    for (uint64_t i = 0; i < r->count; i++) ln_states_clear(&e->states, &e->tally, r->run + i * r->bytes);
    ln_mem_free(&e->rows.mem, r->head, (size_t)(r->cap + 1) * sizeof *r->head);
    ln_mem_free(&e->rows.mem, r->own, (size_t)(r->cap + 1) * sizeof *r->own);
    ln_mem_free(&e->rows.mem, r->run, (size_t)(r->cap + 1) * r->bytes + 8);
}

/* What a row with a head, which is a whole window, has beside its states. */
static void take_head(ln_engine *e, ln_cell *c, const ln_window_row *own) {
    c->index = own->index;
    c->over = own->over;
    c->shown = own->index > 0;
    if (!own->slot) return;
    ln_ids_give(&e->slots, &e->mem, c->slot);
    c->slot = own->slot;
}

/* The window that begins there, from its rows: the first one of the front holds what came in the later ones, too. */
static int make_cell(ln_engine *e, ln_cell_key *key, const row_set *r, uint64_t first, __int128 start, __int128 pivot,
                     int64_t clock_us) {
    const ln_span span = {ln_time_clamp(start), ln_time_clamp(start + e->plan.size_us)};
    int err, front = 0;
    ln_cell *c = ln_load_cell(e, key, span, ++e->ages, &err);
    if (!c) return err;
    c->nonempty = 1;
    c->on_time_done = 0;
    c->since = (ln_since){1, clock_us, clock_us};
    take_head(e, c, &r->own[first]);
    for (uint64_t i = first; i < r->count && start_of(r, i) < start + e->plan.size_us; i++) {
        if (start_of(r, i) < pivot && front++) continue;
        if (ln_states_take(&e->states, &e->tally, ln_cell_run(e, c), r->run + i * r->bytes) < 0) return LN_ENOMEM;
    }
    if (e->folds && !e->loading->from.folds) ln_buf_append(&e->loading->slots, &c->slot, sizeof c->slot);
    if (e->clock_delays && ln_load_alarm(e, c, LN_TIME_MIN) < 0) return LN_ENOMEM;
    return ln_store_file(e, c) < 0 ? LN_ENOMEM : LN_OK;
}

/* Every window from `next` on that holds a row. */
static int make_cells(ln_engine *e, ln_cell_key *key, const row_set *r, __int128 next, __int128 pivot,
                      int64_t clock_us) {
    const ln_plan *p = &e->plan;
    uint64_t first = 0;
    int err = LN_OK;
    if (!r->count) return LN_OK;
    if (next + p->size_us <= start_of(r, 0)) next += ((start_of(r, 0) - p->size_us - next) / p->hop_us + 1) * p->hop_us;
    for (__int128 start = next; err == LN_OK; start += p->hop_us) {
        while (first < r->count && start_of(r, first) < start) first++;
        if (first == r->count) break;
        if (start_of(r, first) >= start + p->size_us) continue;
        err = make_cell(e, key, r, first, start, pivot, clock_us);
    }
    return err;
}

/* A start of a window of the grid, or, where it is not one, an error. */
static int is_start(const ln_plan *p, __int128 start) {
    const __int128 far = (__int128)1 << 70;
    return start > -far && start < far && (start - p->offset_us) % p->hop_us == 0;
}

int ln_load_rows_as_cells(ln_engine *e, ln_cell_key *key, ln_saved *s) {
    const ln_saved_plan *from = &e->loading->from;
    row_set r = {.bytes = ((size_t)e->states.bytes + 7) / 8 * 8, .slice_us = from->slice_us};
    int64_t clock_us = ln_saved_int(s);
    __int128 next = 0, pivot = LN_GRID_PAST;
    uint64_t back_rows = 0;
    int err = LN_OK;
    uint8_t *back = NULL;
    if (from->hopping) {
        next = ln_load_wide(s);
        pivot = ln_load_wide(s);
        back_rows = ln_saved_uint(s);
    }
    if (back_rows) { /* what it holds stands in its rows, too */
        back = ln_mem_zero(&e->rows.mem, r.bytes + 8);
        if (!back) return LN_ENOMEM;
        err = ln_load_run(e, s, back);
        ln_states_clear(&e->states, &e->tally, back);
        ln_mem_free(&e->rows.mem, back, r.bytes + 8);
    }
    if (err == LN_OK) err = read_rows(e, s, &r);
    if (err == LN_OK && !from->hopping && r.count) next = start_of(&r, 0);
    if (err == LN_OK && r.count && !is_start(&e->plan, next)) err = LN_EINVALID;
    if (err == LN_OK) err = make_cells(e, key, &r, next, pivot, clock_us);
    free_rows(e, &r);
    return err;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void drop_slice(ln_engine *e, uint32_t at) {
    ln_slice *s = ln_grid_slice(&e->grid, at);
    for (uint32_t row = 0; !e->states.plain && row < s->column.rows; row++)
        ln_states_clear(&e->states, &e->tally, run_of(e, s, row));
    for (uint32_t row = 0; e->folds && row < s->column.rows; row++) {
        const ln_window_row *own = (const void *)ln_column_row(&s->column, row);
        if (own->slot) ln_ids_give(&e->slots, &e->mem, own->slot);
    }
    ln_cells_remove(&e->grid.slices, &e->mem, at);
    ln_grid_retire(e, s);
}

/* Both lists are in order. */
static int match_slices(ln_engine *e) {
    const ln_loading *l = e->loading;
    ln_grid *g = &e->grid;
    uint64_t rows = 0;
    for (uint32_t i = 0; i < l->slice_count; i++) {
        const ln_span *want = &l->slice[2 * i], *count = want + 1;
        while (i < g->slices.count && ln_grid_slice(g, i)->start_us < want->start_us) drop_slice(e, i);
        if (i >= g->slices.count || ln_grid_slice(g, i)->start_us != want->start_us) return LN_EINVALID;
        if (ln_grid_slice(g, i)->column.rows != (uint64_t)count->start_us || ln_grid_slice(g, i)->column.vacant)
            return LN_EINVALID;
        rows += (uint64_t)count->start_us;
    }
    while (g->slices.count > l->slice_count) drop_slice(e, g->slices.count - 1);
    return rows == g->rows ? LN_OK : LN_EINVALID;
}

int ln_load_grid_end(ln_engine *e) {
    const ln_loading *l = e->loading;
    ln_grid *g = &e->grid;
    __int128 first;
    int err = match_slices(e);
    if (err != LN_OK) return err;
    g->pivot_us = l->pivot_us;
    g->folded_us = l->folded_us;
    g->edge_us = LN_PAST;
    if (!g->slices.count) return LN_OK;
    first = ln_grid_start(e, ln_grid_slice(g, 0));
    if (!is_start(&e->plan, l->next_us) || l->next_us > first) return LN_EINVALID;
    ln_grid_point(e, l->next_us);
    return LN_OK;
}
