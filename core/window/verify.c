/* Walks every structure of an engine and checks what must hold between two steps. */
#include "window/state.h"

static const char *verify_cell(const ln_engine *e, const ln_cell_key *key, const ln_cell *c) {
    if (c->key != key) return "a window belongs to another key";
    if (c->start_us >= c->end_us) return "a window ends before it starts";
    if (!c->bucket) return "a window waits for nothing";
    if (c->bucket->owner == &e->completing && (c->on_time_done || !e->plan.at_watermark))
        return "a completed window waits for its end";
    if (c->bucket->owner == &e->expiring && e->plan.at_watermark && !c->on_time_done)
        return "a window that is not complete waits to expire";
    if (e->phase == LN_PHASE_NONE && ln_engine_expiry(e, c->end_us) <= e->now_us)
        return "a window is open past its expiry";
    if ((e->folds != 0) != (c->slot != 0)) return "a window's folds have no slot";
    if (!c->nonempty && !e->plan.fill) return "a window holds no record";
    return NULL;
}

typedef struct verify_counts {
    size_t cells, extents, waiting;
} verify_counts;

static const char *verify_waiting(const ln_engine *e) {
    if (!ln_heap_in_order(&e->waiting)) return "the heap of waiting records is out of order";
    for (size_t i = 0; i < e->waiting.count; i++) {
        const ln_held *h = e->waiting.entry[i].item;
        if (h->time_us <= e->now_us) return "a record waits although W has reached it";
    }
    return NULL;
}

static const char *verify_key(const ln_engine *e, const ln_cell_key *key, verify_counts *counts) {
    const char *wrong;
    if (ln_key_idle(e, key) != key->key.resting && key != e->join.key)
        return "a key rests that holds something, or the reverse";
    if (key->key.resting) return NULL;
    for (uint32_t i = 0; i < key->open.count; i++) {
        const ln_cell *c = ln_cells_at(&key->open, i), *before = i ? ln_cells_at(&key->open, i - 1) : NULL;
        if ((wrong = verify_cell(e, key, c))) return wrong;
        if (before && before->start_us > c->start_us) return "windows of a key are out of order";
        if (before && e->extents && before->end_us > c->start_us) return "windows that merge overlap";
    }
    for (uint32_t i = 1; e->extents && i < key->closed.count; i++)
        if (ln_extents_at(&key->closed, i - 1)->end_us > ln_extents_at(&key->closed, i)->end_us)
            return "extents of a key are out of order";
    counts->cells += key->open.count;
    if (e->extents) counts->extents += key->closed.count;
    counts->waiting += key->waiting;
    return NULL;
}

const char *ln_engine_verify(const ln_engine *e) {
    verify_counts counts = {0};
    size_t keys = 0;
    const char *wrong;
    uint64_t rejected = 0;
    for (uint32_t id = 0; (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++) {
        const ln_key *key = ln_keys_at(&e->keys, id);
        keys++;
        if (ln_keys_find(&e->keys, key->hash, ln_key_bytes(key), key->len) != id) return "a key cannot be found";
        if (!e->sliced && (wrong = verify_key(e, (const ln_cell_key *)(const void *)key, &counts))) return wrong;
    }
    if (e->sliced && (wrong = ln_grid_verify(e))) return wrong;
    if (keys != ln_keys_count(&e->keys)) return "the count of keys is wrong";
    if (e->keys.resting > LN_KEYS_REST * ln_keys_live(&e->keys)) return "too many keys rest";
    if (counts.cells != e->cells) return "the count of windows is wrong";
    if (counts.extents != e->graves.count) return "the count of extents is wrong";
    if (counts.waiting != e->waiting.count) return "the count of waiting records is wrong";
    if ((wrong = verify_waiting(e))) return wrong;
    if (e->folds && ln_ids_live(&e->slots) != (e->sliced ? e->grid.rows : e->cells)) return "slots of folds are lost";
    if ((wrong = ln_deadlines_verify(&e->completing))) return wrong;
    if ((wrong = ln_deadlines_verify(&e->expiring))) return wrong;
    if (!ln_heap_in_order(&e->alarms)) return "the heap of alarms is out of order";
    if ((wrong = ln_watermark_verify(&e->watermark))) return wrong;
    for (int i = 0; i < LN_REASONS; i++) rejected += e->stats.rejected[i];
    if (e->stats.read != e->stats.aggregated + e->stats.filtered + rejected)
        return "the account of records does not hold";
    return NULL;
}
