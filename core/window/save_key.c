/* The bytes of a key with all that hangs on it, of an extent, and of the rest of an engine. Numbers of keys stand
 * outside of them. */
#include "window/aggregate/kept.h"
#include "window/saving.h"

/* ---- values ----------------------------------------------------------------------------------------------------- */

static void save_value(const ln_value *v, ln_buf *out) {
    ln_buf_byte(out, v->type <= LN_NULL ? v->type : LN_BOOL);
    if (v->type > LN_NULL) ln_kept_save(v, out);
}

static void save_run(ln_engine *e, const uint8_t *run, ln_buf *out) {
    ln_buf *one = &e->saving->one;
    for (uint32_t i = 0; i < e->states.count; i++) {
        const ln_part *part = &e->states.part[i];
        if (part->kind == LN_FOLD) continue;
        ln_buf_clear(one);
        ln_aggregate_save(part->ops, run + part->at, one);
        if (one->failed) out->failed = 1;
        ln_save_bytes(out, one->data, one->len);
    }
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

static void save_pane(const ln_engine *e, const ln_pane *p, ln_buf *out) {
    ln_save_uint(out, p->index);
    ln_save_int(out, p->start_us);
    ln_save_int(out, p->end_us);
    ln_buf_byte(out, p->timing);
    ln_buf_byte(out, (uint8_t)(p->final | p->approx << 1 | p->cut << 2));
    for (uint32_t i = 0; i < e->plan.aggregates; i++) save_value(&p->value[i], out);
}

static void save_kept(ln_engine *e, const ln_kept *k, ln_buf *out) {
    ln_buf_byte(out, k->pane ? 2 : k->handle ? 1 : 0);
    ln_save_int(out, k->start_us);
    if (k->pane) save_pane(e, k->pane, out);
    if (k->handle) ln_buf_append(&e->saving->handles, &k->handle, sizeof k->handle);
}

static void save_rare(ln_engine *e, const ln_cell *c, const ln_rare *r, ln_buf *out) {
    ln_save_int(out, e->clock_delays ? r->alarm_us : LN_FUTURE);
    ln_save_int(out, e->plan.fill ? r->run : 0);
    if (!c->has_past) return;
    save_kept(e, &r->last, out);
    ln_save_uint(out, r->absorbed_count);
    for (size_t i = 0; i < r->absorbed_count; i++) save_kept(e, &r->absorbed[i], out);
}

static void save_trigger(const ln_trigger_state *s, uint32_t sequences, ln_buf *out) {
    ln_save_uint(out, s->hot);
    ln_save_uint(out, s->done);
    ln_buf_append(out, s->at, sequences);
}

static void save_folds(ln_engine *e, uint32_t slot, ln_buf *out) {
    ln_buf_append(&e->saving->slots, &slot, sizeof slot);
    for (uint32_t i = 0; i < e->plan.aggregates; i++)
        if (e->fold_states[i].size) ln_fold_states_save(&e->fold_states[i], slot, out);
}

static void save_cell(ln_engine *e, ln_cell *c, ln_buf *out) {
    const ln_span place = ln_deadlines_place(c);
    int expiring = c->bucket->owner == &e->expiring;
    ln_buf_byte(out, (uint8_t)(c->on_time_done | c->shown << 1 | c->last_final << 2 | c->nonempty << 3 |
                               c->has_past << 4 | expiring << 5 | c->bucket->in_wheel << 6));
    ln_buf_byte(out, c->over);
    ln_save_int(out, c->start_us);
    ln_save_int(out, c->end_us);
    ln_save_uint(out, c->age);
    ln_save_uint(out, c->filed);
    ln_save_int(out, place.start_us);
    ln_save_int(out, place.end_us);
    ln_save_uint(out, c->index);
    ln_save_uint(out, c->since.count);
    ln_save_int(out, c->since.first_us);
    ln_save_int(out, c->since.last_us);
    if (e->stateful) {
        save_trigger(ln_cell_early(c), e->plan.early.sequences, out);
        save_trigger(ln_cell_late(c), e->plan.late.sequences, out);
    }
    save_run(e, ln_cell_run(e, c), out);
    if (e->folds) save_folds(e, c->slot, out);
    if (e->rare) save_rare(e, c, ln_cell_rare(e, c), out);
}

static void save_held(const ln_engine *e, const ln_held *h, ln_buf *out) {
    uint32_t n = ln_held_values(e);
    ln_save_int(out, h->time_us);
    ln_save_uint(out, h->arrival);
    ln_save_bytes(out, h->value + n, h->record_bytes);
    for (uint32_t i = 0; i < n; i++) save_value(&h->value[i], out);
}

static void save_cells(ln_engine *e, const ln_cell_key *key, ln_buf *out) {
    const ln_held *held;
    ln_save_uint(out, key->open.count);
    for (uint32_t i = 0; i < key->open.count; i++) save_cell(e, ln_cells_at(&key->open, i), out);
    ln_save_uint(out, key->waiting);
    if (!key->waiting) return;
    held = key->held;
    while (held->after) held = held->after; /* they are put before each other when they are loaded */
    for (; held; held = held->before) save_held(e, held, out);
}

/* ---- rows of slices --------------------------------------------------------------------------------------------- */

/* 128 bits as two words, since pivots lie beyond the range of time. */
static void save_wide(__int128 n, ln_buf *out) {
    ln_save_word(out, (uint64_t)n);
    ln_save_word(out, (uint64_t)((unsigned __int128)n >> 64));
}

static void save_row(ln_engine *e, const uint8_t *row, ln_buf *out) {
    const ln_window_row *own = (const void *)row;
    if (e->grid.headed) {
        ln_save_uint(out, own->index);
        ln_buf_byte(out, own->over);
    }
    save_run(e, row + e->grid.state_at, out);
    if (e->folds) save_folds(e, own->slot, out);
}

static void save_rows(ln_engine *e, uint32_t id, ln_buf *out) {
    const ln_key *key = ln_keys_at(&e->keys, id);
    uint32_t left = key->held;
    ln_save_int(out, ln_time_sub(e->clock_us, e->set_us));
    if (e->grid.hopping) {
        const ln_hop_key *hop = (const ln_hop_key *)(const void *)key;
        save_wide(e->grid.next_us, out);
        save_wide(e->grid.pivot_us, out);
        ln_save_uint(out, hop->back_rows);
        if (hop->back_rows) save_run(e, hop->back, out);
    }
    ln_save_uint(out, left);
    for (uint32_t i = 0; i < e->grid.slices.count && left; i++) {
        const ln_slice *s = ln_grid_slice(&e->grid, i);
        uint32_t row = ln_column_find(&s->column, id);
        if (row == LN_COLUMN_NONE) continue;
        left--;
        ln_save_int(out, s->start_us);
        ln_save_int(out, s->end_us);
        ln_save_uint(out, row);
        save_row(e, ln_column_row(&s->column, row), out);
    }
}

void ln_save_key(ln_engine *e, uint32_t id, ln_buf *out) {
    const ln_key *key = ln_keys_at(&e->keys, id);
    ln_save_bytes(out, ln_key_bytes(key), key->len);
    if (e->sliced) save_rows(e, id, out);
    else save_cells(e, (const ln_cell_key *)(const void *)key, out);
}

/* ---- the rest --------------------------------------------------------------------------------------------------- */

void ln_save_extent(ln_engine *e, const ln_grave *grave, ln_buf *out) {
    (void)e;
    ln_save_uint(out, grave->key->id);
    ln_save_int(out, grave->extent.start_us);
    ln_save_int(out, grave->extent.end_us);
}

static void save_source(const ln_source *s, ln_buf *out) {
    ln_save_bytes(out, s->name, s->len);
    ln_save_int(out, s->promise_us);
    ln_save_int(out, s->heard_us);
    ln_buf_byte(out, (uint8_t)s->active);
}

/* Those that are active in the order of their silence, then the others. */
static void save_watermark(const ln_watermark *w, ln_buf *out) {
    ln_save_int(out, w->now_us);
    ln_save_int(out, w->high_us);
    ln_save_int(out, w->heard_us);
    ln_save_int(out, w->apart_us);
    ln_save_uint(out, w->heard);
    ln_save_uint(out, w->count);
    for (const ln_source *s = w->oldest; s; s = s->after) save_source(s, out);
    for (size_t i = 0; i < w->slots; i++)
        if (w->table[i] && !w->table[i]->active) save_source(w->table[i], out);
}

static void save_stats(const ln_engine *e, ln_buf *out) {
    const ln_stats *s = &e->stats;
    const ln_lateness *l = &e->lateness;
    ln_save_uint(out, s->read);
    ln_save_uint(out, s->aggregated);
    ln_save_uint(out, s->filtered);
    for (int i = 0; i < LN_REASONS; i++) ln_save_uint(out, s->rejected[i]);
    for (int i = 0; i < 3; i++) ln_save_uint(out, s->panes[i]);
    ln_save_uint(out, s->withdrawals);
    ln_save_uint(out, s->refusals_late);
    ln_save_uint(out, e->tally.skipped);
    for (size_t i = 0; i < sizeof l->records / sizeof *l->records; i++) ln_save_uint(out, l->records[i]);
    ln_save_uint(out, l->sum_us);
    ln_save_uint(out, s->distinct_over);
    ln_save_uint(out, s->distinct_refused);
    ln_save_uint(out, s->windows_opened);
}

/* Where the numbers of keys that come next are found. */
static void save_vacancies(const ln_engine *e, ln_buf *out) {
    const ln_slab *s = &e->keys.slab;
    ln_buf *one = &e->saving->one;
    size_t count[3] = {0}, n;
    ln_buf_clear(one);
    ln_save_uint(out, e->keys.hand);
    ln_save_uint(out, s->chunks);
    if (!ln_buf_reserve(one, s->chunks * sizeof(uint32_t) + 1)) {
        out->failed = 1;
        return;
    }
    ln_slab_lists(s, (uint32_t *)(void *)one->data, count);
    n = count[0] + count[1] + count[2];
    for (int i = 0; i < 3; i++) ln_save_uint(out, count[i]);
    for (size_t i = 0; i < n; i++) ln_save_uint(out, ((uint32_t *)(void *)one->data)[i]);
}

static void save_deadlines(const ln_deadlines *d, ln_buf *out) {
    ln_buf_byte(out, d->wheel != NULL);
    ln_save_int(out, d->wheel ? d->wheel->first : 0);
    ln_save_uint(out, d->filings);
}

static void save_grid(const ln_engine *e, ln_buf *out) {
    const ln_grid *g = &e->grid;
    save_wide(g->pivot_us, out);
    save_wide(g->folded_us, out);
    save_wide(g->next_us, out);
    ln_save_uint(out, g->slices.count);
    for (uint32_t i = 0; i < g->slices.count; i++) {
        const ln_slice *s = ln_grid_slice(g, i);
        ln_save_int(out, s->start_us);
        ln_save_int(out, s->end_us);
        ln_save_uint(out, s->column.rows);
    }
}

void ln_save_rest(ln_engine *e, ln_buf *out) {
    save_watermark(&e->watermark, out);
    ln_save_int(out, e->now_us);
    ln_save_int(out, e->clock_us);
    ln_save_int(out, e->set_us);
    ln_save_int(out, e->rows.clock_now_us);
    ln_save_uint(out, e->ages);
    ln_save_uint(out, e->arrivals);
    ln_save_uint(out, e->graves.gone);
    ln_save_uint(out, e->graves.count);
    save_stats(e, out);
    save_vacancies(e, out);
    save_deadlines(&e->completing, out);
    save_deadlines(&e->expiring, out);
    if (e->sliced) save_grid(e, out);
}
