/* Looks into an engine without touching it: the open windows of a key, the keys, the sources. */
#include "window/state.h"

/* ---- windows ---------------------------------------------------------------------------------------------------- */

static uint64_t cells_of(const ln_cell_key *key, ln_open_window *out, uint64_t most) {
    for (uint32_t i = 0; i < key->open.count && i < most; i++) {
        const ln_cell *c = ln_cells_at(&key->open, i);
        out[i] = (ln_open_window){.start_us = c->start_us,
                                  .end_us = c->end_us,
                                  .records = c->since.count,
                                  .first_us = c->since.first_us,
                                  .last_us = c->since.last_us,
                                  .panes = c->index,
                                  .completed = c->on_time_done,
                                  .counted = 1};
    }
    return key->open.count;
}

/* The grid's windows that end after W and hold a slice in which the key has a row, each once. */
static uint64_t slices_of(const ln_engine *e, uint32_t id, ln_open_window *out, uint64_t most) {
    const ln_plan *p = &e->plan;
    uint64_t count = 0;
    __int128 next_us = LN_GRID_PAST;
    for (uint32_t i = 0; i < e->grid.slices.count; i++) {
        const ln_slice *s = ln_grid_slice(&e->grid, i);
        __int128 slice_us, start_us;
        if (ln_column_find(&s->column, id) == LN_COLUMN_NONE) continue;
        slice_us = ln_grid_start(e, s);
        start_us = ln_grid_floor(ln_time_clamp(slice_us), p->hop_us, p->offset_us);
        while (start_us + p->size_us > slice_us && start_us > LN_PAST - (__int128)p->size_us) start_us -= p->hop_us;
        for (start_us += p->hop_us; start_us <= slice_us; start_us += p->hop_us) {
            if (start_us < next_us || start_us + p->size_us <= e->now_us) continue;
            if (count < most)
                out[count] = (ln_open_window){.start_us = ln_time_clamp(start_us),
                                              .end_us = ln_time_clamp(start_us + p->size_us)};
            count++;
            next_us = start_us + p->hop_us;
        }
    }
    return count;
}

uint64_t ln_engine_windows_of(ln_engine *e, const uint8_t *key, size_t len, ln_open_window *out, uint64_t most) {
    uint32_t id = ln_keys_find(&e->keys, ln_keys_hash(&e->keys, key, len), key, len);
    if (id == LN_KEY_NONE) return 0;
    if (e->sliced) return slices_of(e, id, out, most);
    return cells_of((const ln_cell_key *)(const void *)ln_keys_at(&e->keys, id), out, most);
}

const uint8_t *ln_engine_key_next(const ln_engine *e, uint32_t *at, size_t *len) {
    for (;;) {
        uint32_t id = ln_keys_next(&e->keys, *at);
        const ln_key *key;
        if (id == LN_KEY_NONE) return NULL;
        *at = id + 1;
        key = ln_keys_at(&e->keys, id);
        if (key->resting) continue;
        *len = key->len;
        return ln_key_bytes(key);
    }
}

/* ---- sources ---------------------------------------------------------------------------------------------------- */

static int stands_before(const ln_open_source *a, const ln_open_source *b) {
    return a->idle != b->idle ? a->idle < b->idle : a->promise_us < b->promise_us;
}

uint64_t ln_engine_sources(const ln_engine *e, ln_open_source *out, uint64_t most) {
    const ln_watermark *w = &e->watermark;
    const ln_source *holder = ln_watermark_holder(w);
    uint64_t count = 0;
    for (size_t i = 0; i < w->slots && most; i++) {
        const ln_source *s = w->table[i];
        ln_open_source one;
        uint64_t at;
        if (!s) continue;
        one = (ln_open_source){.name = s->name,
                               .len = s->len,
                               .idle = !s->active,
                               .holds = s == holder,
                               .promise_us = s->promise_us,
                               .heard_us = s->heard_us};
        if (count == most && !stands_before(&one, &out[most - 1])) continue;
        if (count < most) count++;
        for (at = count - 1; at && stands_before(&one, &out[at - 1]); at--) out[at] = out[at - 1];
        out[at] = one;
    }
    return w->count;
}

const ln_lateness *ln_engine_lateness(const ln_engine *e) { return &e->lateness; }

int64_t ln_engine_clock_us(const ln_engine *e) { return e->clock_us; }
