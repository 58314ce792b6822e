/* Puts records into their slices: a run of rows at a time, of which none makes a window complete. */
#include "window/state.h"

/* ---- slices ----------------------------------------------------------------------------------------------------- */

static inline int holds(const ln_slice *s, int64_t t_us) { return s && s->start_us <= t_us && t_us < s->end_us; }

/* Where the slice that a time lies in begins, not cut to the range of time. */
static __int128 slice_start(const ln_engine *e, int64_t t_us) {
    return ln_grid_floor(t_us, e->plan.slice_us, e->plan.offset_us % e->plan.slice_us);
}

/* The slice that a time lies in; NULL where nothing has come there. *at is where it is or belongs. */
static ln_slice *find_slice(ln_engine *e, int64_t t_us, uint32_t *at) {
    __int128 start = slice_start(e, t_us);
    return ln_cells_find(&e->grid.slices, ln_time_clamp(start), ln_time_clamp(start + e->plan.slice_us), at);
}

/* One of the slices used last that this time lies in, or NULL. */
static inline ln_slice *recent_slice(ln_grid *g, int64_t t_us) {
    if (holds(g->recent, t_us)) return g->recent;
    if (holds(g->before, t_us)) return g->before;
    return NULL;
}

static void used(ln_grid *g, ln_slice *s) {
    if (g->recent == s) return;
    g->before = g->recent;
    g->recent = s;
}

static ln_slice *new_slice(ln_engine *e) {
    ln_grid *g = &e->grid;
    ln_slice *s;
    for (int i = 0; i < 2; i++) {
        s = g->spare[i];
        if (!s) continue;
        g->spare[i] = NULL;
        e->mem.used += sizeof *s + ln_column_bytes(&s->column);
        return s;
    }
    s = ln_mem_zero(&e->mem, sizeof *s);
    if (s) ln_column_init(&s->column, &e->mem, g->row_bytes);
    return s;
}

void ln_grid_retire(ln_engine *e, ln_slice *s) {
    ln_grid *g = &e->grid;
    if (g->recent == s) g->recent = NULL;
    if (g->before == s) g->before = NULL;
    ln_column_clear(&s->column);
    for (int i = 0; i < 2; i++) {
        size_t bytes = sizeof *s + ln_column_bytes(&s->column);
        if (g->spare[i] || bytes > LN_MEM_KEPT_MAX) continue;
        g->spare[i] = s;
        e->mem.used -= bytes;
        return;
    }
    ln_column_free(&s->column);
    ln_mem_free(&e->mem, s, sizeof *s);
}

static ln_slice *open_slice(ln_engine *e, int64_t t_us, uint32_t at) {
    __int128 start = slice_start(e, t_us);
    ln_slice *s = new_slice(e);
    if (!s) return NULL;
    s->start_us = ln_time_clamp(start);
    s->end_us = ln_time_clamp(start + e->plan.slice_us);
    s->first_end_us = ln_time_clamp(e->join.first_us + e->plan.size_us);
    if (ln_cells_insert(&e->grid.slices, &e->mem, at, (ln_span *)(void *)s) == 0) return s;
    ln_grid_retire(e, s);
    return NULL;
}

ln_slice *ln_grid_open(ln_engine *e, int64_t t_us) {
    uint32_t at;
    ln_slice *s = find_slice(e, t_us, &at);
    if (s) return s;
    ln_join_grid(e, t_us);
    return open_slice(e, t_us, at);
}

/* ---- one record ------------------------------------------------------------------------------------------------- */

/* How many of the record's windows W has completed: they refuse it. */
static uint32_t windows_past(const ln_engine *e) {
    const ln_joining *j = &e->join;
    __int128 first_end = j->first_us + e->plan.size_us, past;
    if (e->now_us >= LN_TIME_MAX) return j->count; /* every end is cut to that, at the latest */
    if (e->now_us < first_end) return 0;
    past = ((__int128)e->now_us - first_end) / e->plan.hop_us + 1;
    return past < j->count ? (uint32_t)past : j->count;
}

/* Is a window open that holds both the slice of the record and another one that the key has rows in? */
static int shares_window(const ln_engine *e, uint32_t key, int64_t t_us) {
    const ln_plan *p = &e->plan;
    const ln_grid *g = &e->grid;
    __int128 start = slice_start(e, t_us);
    for (uint32_t i = 0; i < g->slices.count; i++) {
        const ln_slice *s = ln_grid_slice(g, i);
        __int128 other = ln_grid_start(e, s), a = other < start ? other : start, b = other < start ? start : other;
        __int128 into = (a - p->offset_us) % p->hop_us;
        if (into < 0) into += p->hop_us;
        if (b + p->slice_us <= a - into + p->size_us && ln_column_find(&s->column, key) != LN_COLUMN_NONE) return 1;
    }
    return 0;
}

/* Where it is past limits.state_bytes a window that stands open still takes its records. */
static int is_refused(ln_engine *e, uint32_t key, int64_t t_us) {
    if (!ln_store_full(e, 0)) return 0;
    return !e->grid.hopping || !shares_window(e, key, t_us);
}

/* A row for the key in the slice; NULL where memory is short. */
static uint8_t *open_row(ln_engine *e, uint32_t id, ln_slice *s) {
    ln_grid *g = &e->grid;
    ln_key *key = ln_keys_at(&e->keys, id);
    uint32_t slot = 0, row;
    if (e->folds && (slot = ln_store_slot(e)) == 0) return NULL;
    row = ln_column_add(&s->column, id);
    if (row == LN_COLUMN_NONE) return NULL;
    if (slot) ((ln_window_row *)(void *)ln_column_row(&s->column, row))->slot = slot;
    g->rows++;
    key->held++;
    ln_keys_wake(&e->keys, key);
    if (!g->hopping) e->stats.windows_opened++;
    else if (ln_grid_link(e, s, row) < 0) return NULL;
    return ln_column_row(&s->column, row);
}

/* The first of the record's windows that is open is the next to complete, if it comes before the present one. */
static void seek(ln_engine *e, __int128 start) {
    ln_grid *g = &e->grid;
    if (g->next_end_us != INT64_MAX && start >= g->next_us) return;
    g->next_us = start;
    g->next_end_us = ln_time_clamp(start + e->plan.size_us);
}

/* The record has come into that row, which has a head. */
static void took(ln_engine *e, const ln_slice *s, ln_window_row *own, uint8_t *run, uint32_t row) {
    if (e->folds) ln_engine_op(e, LN_OP_ADD, own->slot, row);
    if (!e->early_whens) return;
    e->grid.asked = own;
    ln_join_ask(e, row, ln_grid_window(e, s, own, run), e->early_whens);
}

/* The record comes into a row that is there. 0, or -1 where memory is short. */
static inline int take(ln_engine *e, const ln_slice *s, uint8_t *to, uint32_t row) {
    uint8_t *run = to + e->grid.state_at;
    if (ln_states_add(&e->states, &e->tally, run, row) < 0) return -1;
    if (e->grid.headed) took(e, s, (ln_window_row *)(void *)to, run, row);
    return 0;
}

/* The whole way of a record: its windows, its key, its slice, its row, each made where there is none. LN_TAKEN, why
 * not, or -1. */
static int join(ln_engine *e, uint32_t row) {
    const ln_key_of_row *own = &e->row_key[row];
    uint32_t id = ln_keys_find(&e->keys, own->hash, own->bytes, own->len), at, found = LN_COLUMN_NONE;
    int64_t t_us = e->rows.time_us[row];
    uint8_t *to;
    ln_slice *s;
    if (id == LN_KEY_NONE && ln_store_full(e, own->len)) return LN_REFUSED_LIMIT;
    ln_join_grid(e, t_us);
    e->join.late = windows_past(e);
    if (e->join.late == e->join.count) return LN_REFUSED_LATE;
    s = find_slice(e, t_us, &at);
    if (s && id != LN_KEY_NONE) found = ln_column_find(&s->column, id);
    if (found == LN_COLUMN_NONE) {
        if (is_refused(e, id, t_us)) return LN_REFUSED_LIMIT;
        /* Asking that may have made keys that rest go. */
        id = ln_keys_find(&e->keys, own->hash, own->bytes, own->len);
        if (id == LN_KEY_NONE) id = ln_keys_add(&e->keys, own->hash, own->bytes, own->len);
        if (!s && id != LN_KEY_NONE) s = open_slice(e, t_us, at);
    }
    if (!s || id == LN_KEY_NONE) return -1;
    used(&e->grid, s);
    ln_grid_touch(e, id);
    to = found == LN_COLUMN_NONE ? open_row(e, id, s) : ln_column_row(&s->column, found);
    if (!to || take(e, s, to, row) < 0) return -1;
    if (e->grid.hopping && ln_grid_add_behind(e, s, id, row) < 0) return -1;
    seek(e, e->join.first_us + (__int128)e->join.late * e->plan.hop_us);
    return LN_TAKEN;
}

int ln_grid_join(ln_engine *e) {
    int refused;
    e->tally.time_us = e->rows.time_us[e->row];
    e->tally.arrival = ++e->arrivals;
    refused = join(e, e->row);
    return refused < 0 ? ln_engine_fail(e, LN_ENOMEM, "a slice") : refused;
}

/* ---- runs of records -------------------------------------------------------------------------------------------- */

/* The end of the rows from the present one on that have nothing to them but to join: W stays before the edge, up to
 * which no window can complete, unless it is the last of them that moves it on. */
static uint32_t run_end(ln_engine *e) {
    const ln_rows *f = &e->rows;
    ln_grid *g = &e->grid;
    uint32_t end = f->batch->rows < e->until ? f->batch->rows : e->until, row = e->row;
    if (end - row > LN_GRID_RUN) end = row + LN_GRID_RUN;
    if (g->edge_us <= e->now_us) g->edge_us = ln_grid_edge(e, e->now_us);
    for (; row < end; row++) {
        if (f->row[row] != LN_ROW_TAKE || f->judged_us[row] >= g->edge_us || !e->row_key[row].bytes) break;
        if (f->after_us[row] >= g->edge_us) return row + 1;
    }
    return row;
}

static void look_up(ln_engine *e, ln_grid_run *u) {
    const ln_key_of_row *own = &e->row_key[u->first];
    const int64_t *time_us = &e->rows.time_us[u->first];
    uint32_t count = u->end - u->first;
    u->forgotten = e->keys.forgotten;
    for (uint32_t i = 0; i < count; i++) {
        u->id[i] = ln_keys_likely(&e->keys, own[i].hash);
        if (u->id[i] != LN_KEY_NONE) __builtin_prefetch(ln_keys_at(&e->keys, u->id[i]));
    }
    for (uint32_t i = 0; i < count; i++) {
        u->id[i] = ln_keys_find_likely(&e->keys, u->id[i], own[i].hash, own[i].bytes, own[i].len);
        u->slice[i] = recent_slice(&e->grid, time_us[i]);
        if (u->slice[i]) ln_column_prefetch(&u->slice[i]->column, u->id[i]);
    }
}

/* The row of the i-th record of the run in a slice that is there, and of which no window is complete; made where there
 * is room for it. NULL sends the record the whole way. */
static inline uint8_t *row_for(ln_engine *e, const ln_grid_run *u, uint32_t i) {
    const ln_key_of_row *own = &e->row_key[u->first + i];
    ln_slice *s = u->slice[i];
    uint32_t id = u->id[i], row = LN_COLUMN_NONE;
    if (!s || e->now_us >= s->first_end_us || u->forgotten != e->keys.forgotten) return NULL;
    if (id == LN_KEY_NONE)
        id = ln_keys_find(&e->keys, own->hash, own->bytes, own->len); /* the run may have brought it */
    if (id != LN_KEY_NONE) row = ln_column_find(&s->column, id);
    if (row != LN_COLUMN_NONE) {
        ln_grid_touch(e, id);
        return ln_column_row(&s->column, row);
    }
    if (ln_store_full(e, own->len) || u->forgotten != e->keys.forgotten) return NULL;
    if (id == LN_KEY_NONE) id = ln_keys_add(&e->keys, own->hash, own->bytes, own->len);
    if (id == LN_KEY_NONE) return NULL;
    ln_grid_touch(e, id);
    return open_row(e, id, s);
}

static int join_run(ln_engine *e, ln_grid_run *u) {
    uint32_t taken = 0;
    while (u->next < u->end && !e->pause && e->phase == LN_PHASE_ROW) {
        uint32_t i = u->next++ - u->first;
        uint8_t *to = row_for(e, u, i);
        e->row = u->first + i;
        if (!to) {
            if (ln_engine_settle(e, ln_grid_join(e)) < 0) return -1;
            continue;
        }
        e->tally.time_us = e->rows.time_us[e->row];
        e->tally.arrival = ++e->arrivals;
        if (take(e, u->slice[i], to, e->row) < 0) return ln_engine_fail(e, LN_ENOMEM, "a slice");
        taken++;
    }
    e->stats.read += taken;
    e->stats.aggregated += taken;
    e->clock_us = e->rows.clock_us[e->row];
    return 0;
}

int ln_grid_go(ln_engine *e) {
    ln_grid_run *u = &e->grid.run;
    int over;
    if (e->pause) return LN_RUN_STOPPED;
    if (u->next == u->end) {
        u->first = u->next = e->row;
        u->end = run_end(e);
        if (u->next == u->end) return LN_RUN_NONE;
        look_up(e, u);
    }
    if (join_run(e, u) < 0) return -1;
    over = u->next == u->end;
    if (e->phase == LN_PHASE_ANSWER) e->join.back = over ? LN_PHASE_AFTER : LN_PHASE_ROW;
    else if (over) return LN_RUN_OVER;
    if (!over) e->row++;
    return LN_RUN_STOPPED;
}
