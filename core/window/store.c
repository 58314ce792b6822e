/* Opens and closes windows: cells, their place among the key's windows, the key itself, the extents that expired
 * windows leave behind. */
#include "base/assert.h"
#include "window/state.h"

#include <string.h>

int ln_store_full(ln_engine *e, size_t more) {
    if (e->mem.used + e->cell_bytes + more <= e->plan.limits.state_bytes) return 0;
    ln_keys_trim(&e->keys);
    return e->mem.used + e->cell_bytes + more > e->plan.limits.state_bytes;
}

uint32_t ln_store_slot(ln_engine *e) {
    uint32_t slot = ln_ids_take(&e->slots, &e->mem);
    for (uint32_t i = 0; slot && i < e->plan.aggregates; i++) {
        if (ln_fold_states_ensure(&e->fold_states[i], &e->mem, slot) == 0) continue;
        ln_ids_give(&e->slots, &e->mem, slot);
        return 0;
    }
    return slot;
}

void ln_store_give_slot(ln_engine *e, uint32_t slot) {
    ln_engine_op(e, LN_OP_CLEAR, slot, 0);
    ln_ids_give(&e->slots, &e->mem, slot);
}

ln_cell *ln_store_cell(ln_engine *e, ln_cell_key *key, int64_t start_us, int64_t end_us) {
    uint32_t id = ln_slab_take(&e->cell_slab);
    ln_cell *c;
    if (id == LN_SLAB_NONE) return NULL;
    c = ln_slab_at(&e->cell_slab, id);
    c->id = id;
    c->key = key;
    c->start_us = start_us;
    c->end_us = end_us;
    c->age = ++e->ages;
    if (e->clock_delays) ln_cell_rare(e, c)->alarm_us = LN_FUTURE;
    c->on_time_done = end_us <= e->now_us;
    if (e->folds && (c->slot = ln_store_slot(e)) == 0) {
        ln_slab_give(&e->cell_slab, c->id);
        return NULL;
    }
    e->cells++;
    return c;
}

ln_cell *ln_store_open(ln_engine *e, ln_cell_key *key, uint32_t at, int64_t start_us, int64_t end_us) {
    ln_cell *c = ln_store_cell(e, key, start_us, end_us);
    if (!c) return NULL;
    if (ln_cells_insert(&key->open, &e->mem, at, (ln_span *)(void *)c) < 0) {
        ln_store_drop(e, c);
        return NULL;
    }
    e->stats.windows_opened++;
    if (e->tracing) ln_trace_of_window(e, LN_TRACE_OPENED, c);
    return c;
}

int ln_store_file(ln_engine *e, ln_cell *c) {
    ln_deadlines *d = e->plan.at_watermark && !c->on_time_done ? &e->completing : &e->expiring;
    if (c->bucket && c->bucket->owner == d) return 0; /* where its end has grown it is filed anew when it is due */
    if (c->bucket) ln_deadlines_remove(c);
    return ln_deadlines_add(d, c);
}

static void drop_past(ln_engine *e, ln_rare *p) {
    for (size_t i = 0; i < p->absorbed_count; i++) ln_kept_free(e, &p->absorbed[i]);
    ln_mem_free(&e->mem, p->absorbed, p->absorbed_cap * sizeof *p->absorbed);
    ln_kept_free(e, &p->last);
}

void ln_store_drop(ln_engine *e, ln_cell *c) {
    if (c->bucket) ln_deadlines_remove(c);
    if (e->clock_delays && ln_cell_rare(e, c)->alarm_us != LN_FUTURE)
        ln_heap_remove(&e->alarms, ln_cell_rare(e, c)->alarm_at);
    if (!e->states.plain) ln_states_clear(&e->states, &e->tally, ln_cell_run(e, c));
    if (c->has_past) drop_past(e, ln_cell_rare(e, c));
    if (c->slot) ln_store_give_slot(e, c->slot);
    ln_slab_give(&e->cell_slab, c->id);
    if (--e->cells) return;
    ln_deadlines_trim(&e->completing);
    ln_deadlines_trim(&e->expiring);
}

void ln_store_rest(ln_engine *e, ln_cell_key *key) {
    if (!ln_key_idle(e, key) || key->key.resting) return;
    ln_cells_free(&key->open, &e->mem);
    if (e->extents) ln_extents_free(&key->closed, &e->mem);
    ln_keys_rest(&e->keys, &key->key);
}

static void leave_if_idle(ln_engine *e, ln_cell_key *key) {
    if (key != e->join.key) ln_store_rest(e, key);
}

/* The extents of one key, and the graves of all, come in the order of their ends: windows expire in that order. */
int ln_store_extent(ln_engine *e, ln_cell_key *key, ln_span extent) {
    ln_graves *g = &e->graves;
    if (g->count == g->cap) {
        size_t old = g->cap;
        if (ln_mem_grow(&e->mem, &g->item, &g->cap, g->count + 1, sizeof *g->item) < 0) return -1;
        for (size_t i = 0; i < g->first; i++) g->item[old + i] = g->item[i]; /* unroll: the size has doubled */
    }
    if (ln_extents_add(&key->closed, &e->mem, extent) < 0) return -1;
    g->item[(g->first + g->count++) % g->cap] =
        (ln_grave){key, ln_time_add(ln_engine_expiry(e, extent.end_us), e->plan.gap_us), extent};
    return 0;
}

int ln_store_expire(ln_engine *e, ln_cell *c) {
    ln_cell_key *key = c->key;
    ln_cell *found;
    uint32_t at;
    if (e->tracing) ln_trace_of_window(e, LN_TRACE_EXPIRED, c);
    if (e->extents && ln_store_extent(e, key, (ln_span){c->start_us, c->end_us}) < 0)
        return ln_engine_fail(e, LN_ENOMEM, "an expired window");
    found = ln_cells_find(&key->open, c->start_us, c->end_us, &at);
    LN_ASSERT(found == c);
    ln_cells_remove(&key->open, &e->mem, at);
    ln_store_drop(e, c);
    leave_if_idle(e, key);
    return 0;
}

int ln_store_bury(ln_engine *e) {
    ln_graves *g = &e->graves;
    while (g->count) {
        ln_grave *grave = &g->item[g->first];
        ln_cell_key *key = grave->key;
        if (e->now_us < grave->given_up_us) break;
        if (e->pause) return 0;
        LN_DASSERT(key->closed.count);
        if (e->saving) ln_save_grave_before(e, grave);
        ln_extents_take_first(&key->closed);
        g->first = (g->first + 1) % g->cap;
        g->count--;
        g->gone++;
        leave_if_idle(e, key);
        (void)ln_engine_worked(e);
    }
    if (g->count) return 1;
    g->first = 0;
    ln_mem_shrink(&e->mem, &g->item, &g->cap, 0, sizeof *g->item);
    return 1;
}

int ln_rare_absorb(ln_rare *into, ln_mem *mem, ln_kept *kept) {
    size_t cap = into->absorbed_cap;
    if (cap > INT32_MAX || ln_mem_grow(mem, &into->absorbed, &cap, (size_t)into->absorbed_count + 1, sizeof *kept) < 0)
        return -1;
    into->absorbed_cap = (uint32_t)cap;
    into->absorbed[into->absorbed_count++] = *kept;
    *kept = (ln_kept){0};
    return 0;
}

/* What the absorbed window has shown, and what that had absorbed. */
static int take_past(ln_engine *e, ln_cell *into, ln_cell *from) {
    ln_rare *a = ln_cell_rare(e, into), *b = ln_cell_rare(e, from);
    into->has_past = 1;
    for (size_t i = 0; i < b->absorbed_count; i++)
        if (ln_rare_absorb(a, &e->mem, &b->absorbed[i]) < 0) return -1;
    b->absorbed_count = 0;
    return from->shown ? ln_rare_absorb(a, &e->mem, &b->last) : 0;
}

/* What may fail of taking a window's state. */
static int take_over(ln_engine *e, ln_cell *into, ln_cell *from) {
    if (from->has_past && take_past(e, into, from) < 0) return -1;
    return ln_states_merge(&e->states, &e->tally, ln_cell_run(e, into), ln_cell_run(e, from));
}

int ln_store_merge(ln_engine *e, ln_cell *into, ln_cell *from) {
    int err = take_over(e, into, from);
    if (into->slot) ln_engine_op(e, LN_OP_MERGE, into->slot, from->slot);
    if (e->stateful) {
        ln_trigger_merge(&e->plan.early, ln_cell_early(into), ln_cell_early(from));
        ln_trigger_merge(&e->plan.late, ln_cell_late(into), ln_cell_late(from));
    }
    ln_since_merge(&into->since, &from->since);
    into->nonempty |= from->nonempty;
    ln_store_drop(e, from);
    return err;
}
