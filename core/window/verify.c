/* Walks every structure of an engine and checks what must hold between two steps. */
#include "window/state.h"

static const char *verify_cell(const ln_engine *e, const ln_key *key, const ln_cell *c) {
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

/* The slices of a key and its cursor, which stands on a window that holds the first of them or one after it. */
static const char *verify_slices(const ln_engine *e, const ln_key *key) {
    const ln_cell *cursor = key->cursor;
    if (!cursor || !cursor->bucket) return "slices without a cursor that waits";
    if (e->phase == LN_PHASE_NONE && cursor->end_us <= e->now_us) return "a cursor stands past its end";
    for (uint32_t i = 0; i < key->open.count; i++) {
        const ln_span *s = ln_cells_span(&key->open, i);
        if ((__int128)s->end_us - s->start_us > e->plan.slice_us) return "a slice is wider than slices are";
        if (i && ln_cells_span(&key->open, i - 1)->start_us >= s->start_us) return "slices are out of order";
        if (s->start_us < cursor->start_us) return "a slice is left behind its last window";
    }
    return ln_cells_span(&key->open, 0)->start_us < cursor->end_us ? NULL : "a cursor stands on an empty window";
}

static const char *verify_key(const ln_engine *e, const ln_key *key, verify_counts *counts) {
    const char *wrong;
    if (ln_key_idle(key) != key->resting && key != e->join.key)
        return "a key rests that holds something, or the reverse";
    if (key->resting) return NULL;
    if (e->sliced) {
        counts->cells++;
        return verify_slices(e, key);
    }
    for (uint32_t i = 0; i < key->open.count; i++) {
        const ln_cell *c = ln_cells_at(&key->open, i), *before = i ? ln_cells_at(&key->open, i - 1) : NULL;
        if ((wrong = verify_cell(e, key, c))) return wrong;
        if (before && before->start_us > c->start_us) return "windows of a key are out of order";
        if (before && e->extents && before->end_us > c->start_us) return "windows that merge overlap";
    }
    for (uint32_t i = 1; i < key->closed_count; i++)
        if (key->closed[key->closed_first + i - 1].end_us > key->closed[key->closed_first + i].end_us)
            return "extents of a key are out of order";
    counts->cells += key->open.count;
    counts->extents += key->closed_count;
    counts->waiting += key->waiting;
    return NULL;
}

const char *ln_engine_verify(const ln_engine *e) {
    verify_counts counts = {0};
    size_t keys = 0;
    const char *wrong;
    uint64_t rejected = 0;
    for (size_t k = 0; k < e->keys.slots; k++) {
        const ln_key *key = e->keys.slot[k].key;
        if (!key) continue;
        keys++;
        if (ln_keys_find(&e->keys, key->hash, key->bytes, key->len) != key) return "a key cannot be found";
        if ((wrong = verify_key(e, key, &counts))) return wrong;
    }
    if (keys != e->keys.count) return "the count of keys is wrong";
    if (e->keys.resting > ln_keys_live(&e->keys)) return "more keys rest than live";
    if (counts.cells != e->cells) return "the count of windows is wrong";
    if (counts.extents != e->graves.count) return "the count of extents is wrong";
    if (counts.waiting != e->waiting.count) return "the count of waiting records is wrong";
    if ((wrong = verify_waiting(e))) return wrong;
    if (e->folds && ln_ids_live(&e->slots) != e->cells) return "slots of folds are lost";
    if ((wrong = ln_deadlines_verify(&e->completing))) return wrong;
    if ((wrong = ln_deadlines_verify(&e->expiring))) return wrong;
    if (!ln_heap_in_order(&e->alarms)) return "the heap of alarms is out of order";
    if ((wrong = ln_watermark_verify(&e->watermark))) return wrong;
    for (int i = 0; i < LN_REASONS; i++) rejected += e->stats.rejected[i];
    if (e->stats.read != e->stats.aggregated + e->stats.filtered + rejected)
        return "the account of records does not hold";
    return NULL;
}
