/* Writes the image of an engine. See image.h. */
#include "window/image.h"

#include <stdlib.h>
#include <string.h>

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static void save_trigger(ln_buf *out, const ln_trigger *t) {
    ln_save_uint(out, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        const ln_trigger_node *n = &t->node[i];
        ln_save_uint(out, n->kind);
        ln_save_uint(out, n->step_slot);
        ln_save_word(out, n->children);
    }
}

/* What tells whether the bytes fit a plan. */
static void save_outline(const ln_engine *e, ln_buf *out) {
    const ln_plan *p = &e->plan;
    ln_save_uint(out, (uint64_t)p->window);
    ln_save_uint(out, (uint64_t)p->time_kind);
    ln_save_int(out, p->size_us);
    ln_save_int(out, p->hop_us);
    ln_save_int(out, p->offset_us);
    ln_save_int(out, p->slice_us);
    ln_save_int(out, p->gap_us);
    ln_save_int(out, p->max_us);
    ln_save_uint(out, (uint64_t)p->merging);
    ln_save_uint(out, (uint64_t)p->panes);
    ln_save_uint(out, (uint64_t)p->at_watermark);
    ln_save_uint(out, (uint64_t)e->stateful);
    ln_save_uint(out, (uint64_t)e->rare);
    ln_save_uint(out, p->aggregates);
    for (uint32_t i = 0; i < p->aggregates; i++) {
        ln_save_bytes(out, p->aggregate[i].name, p->aggregate[i].name_len);
        ln_save_uint(out, (uint64_t)p->aggregate[i].kind);
        ln_save_uint(out, e->fold_states[i].size);
    }
    save_trigger(out, &p->early);
    save_trigger(out, &p->late);
}

static void save_account(const ln_engine *e, ln_buf *out) {
    const ln_stats *s = &e->stats;
    ln_save_uint(out, s->read);
    ln_save_uint(out, s->aggregated);
    ln_save_uint(out, s->filtered);
    for (int i = 0; i < LN_REASONS; i++) ln_save_uint(out, s->rejected[i]);
    for (int i = 0; i < 3; i++) ln_save_uint(out, s->panes[i]);
    ln_save_uint(out, s->withdrawals);
    ln_save_uint(out, s->refusals_late);
    ln_save_uint(out, s->distinct_over);
    ln_save_uint(out, s->distinct_refused);
    ln_save_uint(out, s->windows_opened);
    ln_save_uint(out, e->tally.skipped);
}

static void save_source(ln_buf *out, const ln_source *s) {
    ln_save_bytes(out, s->name, s->len);
    ln_save_int(out, s->promise_us);
    ln_save_int(out, s->heard_us);
}

static int by_name(const void *a, const void *b) {
    const ln_source *x = *(ln_source *const *)a, *y = *(ln_source *const *)b;
    uint32_t len = x->len < y->len ? x->len : y->len;
    int order = len ? memcmp(x->name, y->name, len) : 0;
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

/* Those that are idle, in an order that depends on nothing else. */
static void save_idle(const ln_watermark *w, ln_buf *out, ln_buf *scratch) {
    size_t count;
    ln_buf_clear(scratch);
    for (size_t i = 0; i < w->slots; i++)
        if (w->table[i] && !w->table[i]->active) ln_buf_append(scratch, &w->table[i], sizeof *w->table);
    if (scratch->failed) out->failed = 1;
    count = scratch->len / sizeof *w->table;
    ln_save_uint(out, count);
    if (!count) return;
    qsort(scratch->data, count, sizeof *w->table, by_name);
    for (size_t i = 0; i < count; i++) save_source(out, ((ln_source **)(void *)scratch->data)[i]);
}

/* Active sources in the order of their silence, then the others. */
static void save_watermark(const ln_watermark *w, ln_buf *out, ln_buf *scratch) {
    ln_save_int(out, w->apart_us);
    ln_save_int(out, w->now_us);
    ln_save_int(out, w->high_us);
    ln_save_int(out, w->heard_us);
    ln_save_uint(out, w->heard);
    ln_save_uint(out, w->promises.count);
    for (const ln_source *s = w->oldest; s; s = s->after) save_source(out, s);
    save_idle(w, out, scratch);
}

static void save_clock(const ln_engine *e, ln_buf *out) {
    ln_save_int(out, e->now_us);
    ln_save_int(out, e->clock_us);
    ln_save_int(out, e->set_us);
    ln_save_int(out, e->rows.clock_now_us);
    ln_save_uint(out, e->arrivals);
    ln_save_uint(out, e->ages);
}

static void save_keys(const ln_engine *e, ln_buf *out) {
    uint32_t id = 0;
    ln_save_uint(out, e->keys.hand);
    ln_save_uint(out, ln_keys_count(&e->keys));
    for (; (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++) {
        const ln_key *key = ln_keys_at(&e->keys, id);
        ln_save_uint(out, id);
        ln_save_bytes(out, ln_key_bytes(key), key->len);
    }
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

static void save_run(const ln_engine *e, ln_buf *out, ln_buf *scratch, const uint8_t *run, uint32_t slot) {
    for (uint32_t i = 0; i < e->states.count; i++) {
        const ln_part *part = &e->states.part[i];
        ln_buf_clear(scratch);
        if (slot && e->fold_states[i].size) ln_fold_states_save(&e->fold_states[i], slot, scratch);
        else ln_aggregate_save(part->ops, run + part->at, scratch);
        if (scratch->failed) out->failed = 1;
        ln_save_bytes(out, scratch->data, scratch->len);
    }
}

static void save_trigger_state(ln_buf *out, const ln_trigger_state *s) {
    ln_save_uint(out, s->hot);
    ln_save_uint(out, s->done);
    for (int i = 0; i < LN_TRIGGER_SEQUENCES; i++) ln_save_uint(out, s->at[i]);
}

static void save_value(ln_buf *out, const ln_value *v) {
    ln_buf_byte(out, v->type);
    if (v->type == LN_EXT) ln_buf_byte(out, (uint8_t)v->ext);
    if (v->type >= LN_TEXT) ln_save_bytes(out, v->at, v->len);
    else if (v->type > LN_NULL) ln_save_word(out, v->u);
}

static void save_kept(const ln_engine *e, ln_buf *out, const ln_kept *kept) {
    const ln_pane *p = kept->pane;
    ln_save_int(out, kept->start_us);
    ln_save_uint(out, kept->handle);
    ln_buf_byte(out, p != NULL);
    if (!p) return;
    ln_save_uint(out, p->index);
    ln_save_int(out, p->start_us);
    ln_save_int(out, p->end_us);
    ln_buf_byte(out, p->timing);
    ln_buf_byte(out, (uint8_t)(p->final | p->approx << 1 | p->cut << 2));
    for (uint32_t i = 0; i < e->plan.aggregates; i++) save_value(out, &p->value[i]);
}

static void save_rare(const ln_engine *e, ln_buf *out, const ln_cell *c) {
    const ln_rare *r = ln_cell_rare(e, (ln_cell *)(uintptr_t)c);
    ln_save_int(out, r->run);
    if (!c->has_past) return;
    save_kept(e, out, &r->last);
    ln_save_uint(out, r->absorbed_count);
    for (size_t i = 0; i < r->absorbed_count; i++) save_kept(e, out, &r->absorbed[i]);
}

static void save_cell(const ln_engine *e, ln_buf *out, ln_buf *scratch, uint32_t key, const ln_cell *c) {
    ln_cell *own = (ln_cell *)(uintptr_t)c;
    unsigned flags = (c->on_time_done ? LN_IMAGE_ON_TIME_DONE : 0) | (c->shown ? LN_IMAGE_SHOWN : 0) |
                     (c->last_final ? LN_IMAGE_LAST_FINAL : 0) | (c->nonempty ? LN_IMAGE_NONEMPTY : 0) |
                     (c->has_past ? LN_IMAGE_PAST : 0);
    ln_save_uint(out, key);
    ln_save_int(out, c->start_us);
    ln_save_int(out, c->end_us);
    ln_save_uint(out, c->age);
    ln_buf_byte(out, (uint8_t)flags);
    ln_buf_byte(out, c->over);
    ln_save_uint(out, c->index);
    ln_save_uint(out, c->slot);
    ln_save_uint(out, c->since.count);
    ln_save_int(out, c->since.first_us);
    ln_save_int(out, c->since.last_us);
    if (e->stateful) {
        save_trigger_state(out, ln_cell_early(own));
        save_trigger_state(out, ln_cell_late(own));
    }
    save_run(e, out, scratch, ln_cell_run(e, own), c->slot);
    if (e->rare) save_rare(e, out, c);
}

static void save_cells(const ln_engine *e, ln_buf *out, ln_buf *scratch) {
    ln_save_uint(out, e->cells);
    for (uint32_t id = 0; (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++) {
        const ln_cell_key *key = (const ln_cell_key *)(const void *)ln_keys_at(&e->keys, id);
        for (uint32_t i = 0; i < key->open.count; i++) save_cell(e, out, scratch, id, ln_cells_at(&key->open, i));
    }
}

static uint32_t id_of(const ln_engine *e, const ln_cell_key *key) {
    const ln_key *k = &key->key;
    return ln_keys_find(&e->keys, k->hash, ln_key_bytes(k), k->len);
}

/* The graves in their order: each is the next extent of its key. */
static void save_extents(const ln_engine *e, ln_buf *out) {
    const ln_graves *g = &e->graves;
    ln_save_uint(out, g->count);
    for (size_t i = 0; i < g->count; i++) ln_save_uint(out, id_of(e, g->item[(g->first + i) % g->cap].key));
    for (uint32_t id = 0; (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++) {
        const ln_cell_key *key = (const ln_cell_key *)(const void *)ln_keys_at(&e->keys, id);
        if (key->key.resting || !key->closed.count) continue;
        ln_buf_byte(out, 1);
        ln_save_uint(out, id);
        ln_save_uint(out, key->closed.count);
        for (uint32_t i = 0; i < key->closed.count; i++) {
            ln_save_int(out, ln_extents_at(&key->closed, i)->start_us);
            ln_save_int(out, ln_extents_at(&key->closed, i)->end_us);
        }
    }
    ln_buf_byte(out, 0);
}

static void save_waiting(const ln_engine *e, ln_buf *out) {
    uint32_t values = e->plan.aggregates << (e->by != 0);
    ln_save_uint(out, e->waiting.count);
    ln_buf_byte(out, (uint8_t)e->by);
    for (size_t i = 0; i < e->waiting.count; i++) {
        const ln_held *h = e->waiting.entry[i].item;
        ln_save_uint(out, id_of(e, h->key));
        ln_save_int(out, h->time_us);
        ln_save_uint(out, h->arrival);
        ln_save_bytes(out, h->value + values, h->record_bytes);
        for (uint32_t k = 0; k < values; k++) save_value(out, &h->value[k]);
    }
}

/* ---- slices ------------------------------------------------------------------------------------------------------ */

static void save_wide(ln_buf *out, __int128 t) {
    ln_save_word(out, (uint64_t)t);
    ln_save_word(out, (uint64_t)((unsigned __int128)t >> 64));
}

static void save_slices(const ln_engine *e, ln_buf *out, ln_buf *scratch) {
    const ln_grid *g = &e->grid;
    save_wide(out, g->next_us);
    save_wide(out, g->pivot_us);
    save_wide(out, g->folded_us);
    ln_save_uint(out, g->slices.count);
    for (uint32_t i = 0; i < g->slices.count; i++) {
        const ln_slice *s = ln_grid_slice(g, i);
        ln_save_int(out, s->start_us);
        ln_save_int(out, s->end_us);
        ln_save_int(out, s->first_end_us);
        ln_save_uint(out, s->column.rows);
        for (uint32_t row = 0; row < s->column.rows; row++) {
            ln_save_uint(out, ln_column_key(&s->column, row));
            save_run(e, out, scratch, ln_column_row(&s->column, row) + g->state_at, 0);
        }
    }
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

const uint8_t *ln_engine_save(ln_engine *e, size_t *len) {
    ln_buf *out = &e->image, scratch;
    ln_buf_init(&scratch, &e->rows.mem);
    ln_buf_clear(out);
    ln_save_word(out, LN_IMAGE_MARK);
    ln_save_uint(out, LN_IMAGE_VERSION);
    save_outline(e, out);
    save_clock(e, out);
    save_account(e, out);
    save_watermark(&e->watermark, out, &scratch);
    save_keys(e, out);
    if (e->sliced) {
        save_slices(e, out, &scratch);
    } else {
        save_cells(e, out, &scratch);
        if (e->extents) save_extents(e, out);
        save_waiting(e, out);
    }
    ln_save_word(out, LN_IMAGE_MARK);
    ln_buf_free(&scratch);
    *len = out->len;
    return out->failed ? NULL : out->data;
}
