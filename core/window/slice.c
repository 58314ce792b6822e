/* Windows on a grid that share slices: a record is added once, whatever size / hop is, and a window's aggregates are
 * put together from its slices when it completes. A key has its slices in order, and one cell, the cursor, which
 * stands for the first of its windows that is not complete: it waits for W like any window, makes the pane, and moves
 * on to the next window that holds a slice. */
#include "base/assert.h"
#include "window/state.h"

#include <string.h>

static ln_slice *slice_at(const ln_key *key, uint32_t i) { return (ln_slice *)(void *)ln_cells_span(&key->open, i); }

static void drop_slice(ln_engine *e, ln_key *key, uint32_t i) {
    ln_slice *s = slice_at(key, i);
    for (uint32_t a = 0; a < e->plan.aggregates; a++)
        if (e->ops[a]->clear) e->ops[a]->clear(&e->tally, s->state + ln_engine_offset(e, a));
    ln_cells_remove(&key->open, &e->mem, i);
    ln_pool_give(&e->slice_pool, s);
}

/* Bounds are cut to the range of time. Before they were cut they lay on the grid: a start that was cut is found from
 * its end, since nothing is as long as the range. */
static __int128 whole_start(int64_t start_us, int64_t end_us, int64_t width_us) {
    return start_us == LN_TIME_MIN ? (__int128)end_us - width_us : start_us;
}

static __int128 slice_start(const ln_engine *e, const ln_slice *s) {
    return whole_start(s->start_us, s->end_us, e->plan.slice_us);
}

static __int128 cursor_start(const ln_engine *e, const ln_cell *cursor) {
    return whole_start(cursor->start_us, cursor->end_us, e->plan.size_us);
}

/* How many of the record's windows W has completed: they refuse it. */
static uint32_t windows_past(const ln_engine *e) {
    const ln_joining *j = &e->join;
    __int128 first_end = j->first_us + e->plan.size_us, past;
    if (e->now_us >= LN_TIME_MAX) return j->count; /* every end is cut to that, at the latest */
    if (e->now_us < first_end) return 0;
    past = ((__int128)e->now_us - first_end) / e->plan.hop_us + 1;
    return past < j->count ? (uint32_t)past : j->count;
}

/* The cursor on the window that starts there. */
static int point(ln_engine *e, ln_cell *cursor, __int128 start) {
    cursor->start_us = ln_time_clamp(start);
    cursor->end_us = ln_time_clamp(start + e->plan.size_us);
    cursor->index = 0;
    cursor->shown = cursor->last_final = cursor->over = 0;
    cursor->on_time_done = 0;
    if (cursor->bucket) ln_deadlines_remove(cursor);
    return ln_store_file(e, cursor);
}

/* The key's cursor, made where there is none, no later than the window that starts there. */
static int seek(ln_engine *e, ln_key *key, __int128 start) {
    if (!key->cursor) {
        key->cursor = ln_store_cell(e, key, 0, 0);
        if (!key->cursor) return -1;
        return point(e, key->cursor, start);
    }
    return start < cursor_start(e, key->cursor) ? point(e, key->cursor, start) : 0;
}

/* Does some window hold both slices, of which a starts first? The last one that starts no later than a reaches
 * furthest. */
static int share_window(const ln_engine *e, __int128 a, __int128 b) {
    __int128 into = (a - e->plan.offset_us) % e->plan.hop_us;
    if (into < 0) into += e->plan.hop_us;
    return b + e->plan.slice_us <= a - into + e->plan.size_us;
}

/* Past limits.state_bytes a window that stands open still takes its records: a new slice of it is no new window. */
static int refuses(ln_engine *e, const ln_key *key, uint32_t at, __int128 start) {
    if (!ln_store_full(e, 0)) return 0;
    if (at > 0 && share_window(e, slice_start(e, slice_at(key, at - 1)), start)) return 0;
    return at == key->open.count || !share_window(e, start, slice_start(e, slice_at(key, at)));
}

/* The slice of the record, made where there is none; NULL where memory is short, or with *refused. */
static ln_slice *find(ln_engine *e, ln_key *key, int64_t t_us, int *refused) {
    int64_t width_us = e->plan.slice_us;
    __int128 start = ln_grid_floor(t_us, width_us, e->plan.offset_us % width_us);
    int64_t start_us = ln_time_clamp(start), end_us = ln_time_clamp(start + width_us);
    uint32_t at;
    ln_slice *s = ln_cells_find(&key->open, start_us, end_us, &at);
    if (s) return s;
    if (refuses(e, key, at, start)) {
        *refused = LN_REFUSED_LIMIT;
        return NULL;
    }
    s = ln_pool_take(&e->slice_pool);
    if (!s) return NULL;
    s->start_us = start_us;
    s->end_us = end_us;
    if (ln_cells_insert(&key->open, &e->mem, at, (ln_span *)(void *)s) == 0) return s;
    ln_pool_give(&e->slice_pool, s);
    return NULL;
}

int ln_slice_join(ln_engine *e) {
    ln_joining *j = &e->join;
    int refused = LN_TAKEN;
    ln_slice *s;
    j->late = windows_past(e);
    if (j->late == j->count) return 1;
    s = find(e, j->key, j->time_us, &refused);
    if (refused) {
        j->limited = 1;
        return 1;
    }
    if (!s || ln_join_add(e, s->state) < 0 || seek(e, j->key, j->first_us + (__int128)j->late * e->plan.hop_us) < 0)
        return ln_engine_fail(e, LN_ENOMEM, "a slice");
    j->taken = 1;
    return 1;
}

static int take(ln_engine *e, ln_cell *cursor, const ln_slice *s) {
    for (uint32_t a = 0; a < e->plan.aggregates; a++)
        if (e->ops[a]->take(&e->tally, ln_cell_aggregate(e, cursor, a), s->state + ln_engine_offset(e, a)) != LN_OK)
            return -1;
    return 0;
}

/* Puts the slices of the cursor's window together in its cell. Those before it have been dropped. */
static int combine(ln_engine *e, ln_cell *cursor) {
    const ln_key *key = cursor->key;
    __int128 end = cursor_start(e, cursor) + e->plan.size_us;
    for (uint32_t i = 0; i < key->open.count && slice_start(e, slice_at(key, i)) < end; i++)
        if (take(e, cursor, slice_at(key, i)) < 0) return -1;
    return 0;
}

/* The start of the first window from `next` on that holds a slice. */
static __int128 next_start(const ln_engine *e, const ln_key *key, __int128 next) {
    const ln_plan *p = &e->plan;
    __int128 first = slice_start(e, slice_at(key, 0));
    if (next + p->size_us > first) return next;
    return next + ((first - p->size_us - next) / p->hop_us + 1) * p->hop_us;
}

int ln_slice_pass(ln_engine *e, ln_cell *cursor) {
    ln_key *key = cursor->key;
    __int128 next = cursor_start(e, cursor) + e->plan.hop_us;
    if (combine(e, cursor) < 0) return ln_engine_fail(e, LN_ENOMEM, "a firing");
    e->stats.windows_opened++;
    if (ln_fire(e, cursor, LN_ON_TIME) < 0) return -1;
    ln_fire_empty(e, cursor);
    while (key->open.count && slice_start(e, slice_at(key, 0)) < next) drop_slice(e, key, 0);
    if (key->open.count)
        return point(e, cursor, next_start(e, key, next)) < 0 ? ln_engine_fail(e, LN_ENOMEM, "a firing") : 0;
    key->cursor = NULL;
    ln_store_drop(e, cursor);
    ln_keys_rest(&e->keys, key);
    return 0;
}

void ln_slice_free(ln_engine *e, ln_key *key) {
    while (key->open.count) drop_slice(e, key, key->open.count - 1);
    if (key->cursor) ln_store_drop(e, key->cursor);
    key->cursor = NULL;
}
