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

ln_cell *ln_store_cell(ln_engine *e, ln_key *key, int64_t start_us, int64_t end_us) {
    ln_cell *c = ln_pool_take(&e->cell_pool);
    if (!c) return NULL;
    c->key = key;
    c->start_us = start_us;
    c->end_us = end_us;
    c->age = ++e->ages;
    c->alarm_us = LN_FUTURE;
    c->on_time_done = end_us <= e->now_us;
    if (e->folds && !(c->slot = ln_ids_take(&e->slots, &e->mem))) {
        ln_pool_give(&e->cell_pool, c);
        return NULL;
    }
    e->cells++;
    return c;
}

ln_cell *ln_store_open(ln_engine *e, ln_key *key, uint32_t at, int64_t start_us, int64_t end_us) {
    ln_cell *c = ln_store_cell(e, key, start_us, end_us);
    if (!c) return NULL;
    if (ln_cells_insert(&key->open, &e->mem, at, (ln_span *)(void *)c) < 0) {
        ln_store_drop(e, c);
        return NULL;
    }
    e->stats.windows_opened++;
    return c;
}

int ln_store_file(ln_engine *e, ln_cell *c) {
    ln_deadlines *d = e->plan.at_watermark && !c->on_time_done ? &e->completing : &e->expiring;
    if (c->bucket && c->bucket->owner == d) return 0; /* where its end has grown it is filed anew when it is due */
    if (c->bucket) ln_deadlines_remove(c);
    return ln_deadlines_add(d, c);
}

void ln_store_drop(ln_engine *e, ln_cell *c) {
    if (c->bucket) ln_deadlines_remove(c);
    if (c->alarm_us != LN_FUTURE) ln_heap_remove(&e->alarms, c->alarm_at);
    for (uint32_t i = 0; i < e->plan.aggregates; i++)
        if (e->ops[i]->clear) e->ops[i]->clear(&e->tally, ln_cell_aggregate(e, c, i));
    for (size_t i = 0; i < c->absorbed_count; i++) ln_kept_free(e, &c->absorbed[i]);
    ln_mem_free(&e->mem, c->absorbed, c->absorbed_cap * sizeof *c->absorbed);
    ln_kept_free(e, &c->last);
    if (c->slot) {
        ln_engine_op(e, LN_OP_CLEAR, c->slot, 0);
        ln_ids_give(&e->slots, &e->mem, c->slot);
    }
    ln_pool_give(&e->cell_pool, c);
    e->cells--;
}

static void leave_if_idle(ln_engine *e, ln_key *key) {
    if (ln_key_idle(key) && key != e->join.key) ln_keys_rest(&e->keys, key);
}

/* The extents of one key, and the graves of all, come in the order of their ends: windows expire in that order. */
static int leave_extent(ln_engine *e, const ln_cell *c) {
    ln_key *key = c->key;
    ln_graves *g = &e->graves;
    if (key->closed_first && key->closed_first + key->closed_count == key->closed_cap) {
        memmove(key->closed, key->closed + key->closed_first, key->closed_count * sizeof *key->closed);
        key->closed_first = 0;
    }
    if (ln_mem_grow(&e->mem, &key->closed, &key->closed_cap, (size_t)key->closed_first + key->closed_count + 1,
                    sizeof *key->closed) < 0)
        return -1;
    if (g->count == g->cap) {
        size_t old = g->cap;
        if (ln_mem_grow(&e->mem, &g->item, &g->cap, g->count + 1, sizeof *g->item) < 0) return -1;
        for (size_t i = 0; i < g->first; i++) g->item[old + i] = g->item[i]; /* unroll: the size has doubled */
    }
    key->closed[key->closed_first + key->closed_count++] = (ln_span){c->start_us, c->end_us};
    g->item[(g->first + g->count++) % g->cap] =
        (ln_grave){key, ln_time_add(ln_engine_expiry(e, c->end_us), e->plan.gap_us)};
    return 0;
}

int ln_store_expire(ln_engine *e, ln_cell *c) {
    ln_key *key = c->key;
    ln_cell *found;
    uint32_t at;
    if (e->extents && leave_extent(e, c) < 0) return ln_engine_fail(e, LN_ENOMEM, "an expired window");
    found = ln_cells_find(&key->open, c->start_us, c->end_us, &at);
    LN_ASSERT(found == c);
    ln_cells_remove(&key->open, &e->mem, at);
    ln_store_drop(e, c);
    leave_if_idle(e, key);
    return 0;
}

void ln_store_bury(ln_engine *e) {
    ln_graves *g = &e->graves;
    while (g->count) {
        ln_grave *grave = &g->item[g->first];
        ln_key *key = grave->key;
        if (e->now_us < grave->given_up_us) break;
        LN_DASSERT(key->closed_count);
        key->closed_first++;
        key->closed_count--;
        g->first = (g->first + 1) % g->cap;
        g->count--;
        leave_if_idle(e, key);
    }
    if (g->count) return;
    g->first = 0;
    ln_mem_shrink(&e->mem, &g->item, &g->cap, 0, sizeof *g->item);
}

static int absorb(ln_engine *e, ln_cell *into, ln_kept *kept) {
    if (ln_mem_grow(&e->mem, &into->absorbed, &into->absorbed_cap, into->absorbed_count + 1, sizeof *kept) < 0)
        return -1;
    into->absorbed[into->absorbed_count++] = *kept;
    *kept = (ln_kept){0};
    return 0;
}

/* What may fail of taking a window's state. */
static int take_over(ln_engine *e, ln_cell *into, ln_cell *from) {
    for (size_t i = 0; i < from->absorbed_count; i++)
        if (absorb(e, into, &from->absorbed[i]) < 0) return -1;
    from->absorbed_count = 0;
    if (from->shown && absorb(e, into, &from->last) < 0) return -1;
    for (uint32_t i = 0; i < e->plan.aggregates; i++)
        if (ln_aggregate_merge(e->ops[i], &e->tally, ln_cell_aggregate(e, into, i), ln_cell_aggregate(e, from, i)) !=
            LN_OK)
            return -1;
    return 0;
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
