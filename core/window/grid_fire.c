/* Fires the windows of a grid, and keeps front and back as grid.h tells. */
#include "window/hop.h"

__int128 ln_grid_start(const ln_engine *e, const ln_slice *s) {
    return s->start_us == LN_TIME_MIN ? (__int128)s->end_us - e->plan.slice_us : s->start_us;
}

int64_t ln_grid_edge(const ln_engine *e, int64_t now_us) {
    const ln_plan *p = &e->plan;
    int64_t hop_us = p->hop_us;
    __int128 edge;
    if (now_us == LN_PAST) return LN_PAST;
    if (now_us >= LN_TIME_MAX) return LN_FUTURE;
    edge =
        ln_grid_floor(now_us, hop_us, ln_floor_mod(ln_floor_mod(p->size_us, hop_us) + p->offset_us, hop_us)) + hop_us;
    return ln_time_clamp(edge);
}

/* ---- the front and the back of a key ---------------------------------------------------------------------------- */

int ln_grid_link(ln_engine *e, ln_slice *s, uint32_t row) {
    ln_hop_row *own = hop_row(s, row);
    ln_hop_key *key = hop_key(e, own->key);
    ln_slice **next = &key->first;
    uint32_t *next_row = &key->first_row;
    if (ln_grid_start(e, s) >= e->grid.folded_us) return 0;
    if (!in_front(e, s)) {
        key->back_rows++;
        return 0;
    }
    while (*next && (*next)->start_us < s->start_us) {
        ln_hop_row *before = hop_row(*next, *next_row);
        next = &before->next;
        next_row = &before->next_row;
    }
    own->next = *next;
    own->next_row = *next_row;
    *next = s;
    *next_row = row;
    return own->next ? ln_states_take(&e->states, &e->tally, run_of(e, s, row), run_of(e, own->next, own->next_row))
                     : 0;
}

int ln_grid_add_behind(ln_engine *e, const ln_slice *s, uint32_t id, uint32_t row) {
    ln_hop_key *key = hop_key(e, id);
    uint64_t skipped = e->tally.skipped;
    int err = 0;
    if (ln_grid_start(e, s) >= e->grid.folded_us) return 0;
    if (!in_front(e, s)) {
        err = ln_states_add(&e->states, &e->tally, key->back, row);
    } else {
        const ln_slice *at = key->first;
        uint32_t at_row = key->first_row;
        while (at && at != s && err == 0) {
            const ln_hop_row *r = hop_row(at, at_row);
            err = ln_states_add(&e->states, &e->tally, run_of(e, at, at_row), row);
            at_row = r->next_row;
            at = r->next;
        }
    }
    e->tally.skipped = skipped; /* a value is counted once, however many states skip it */
    return err;
}

static void empty_back(ln_engine *e, ln_hop_key *key) {
    if (key->back_rows) ln_states_clear(&e->states, &e->tally, key->back);
    key->back_rows = 0;
    key->first = NULL;
}

/* A row of the key is about to go. */
static void let_go(ln_engine *e, ln_key *key) {
    e->grid.rows--;
    if (--key->held) return;
    if (e->grid.hopping) empty_back(e, (ln_hop_key *)(void *)key);
    ln_keys_rest(&e->keys, key);
}

/* ---- the stages of a firing: each 1 when it is done, 0 when it has to pause, -1 when the engine has failed ------ */

static void enter(ln_engine *e, int stage, uint32_t slice) {
    e->grid.stage = stage;
    e->grid.slice = slice;
    e->grid.row = 0;
}

static int unlink_keys(ln_engine *e) {
    ln_grid *g = &e->grid;
    for (uint32_t id = g->row; (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++) {
        ln_grid_touch(e, id);
        empty_back(e, hop_key(e, id));
        g->row = id + 1;
        if (ln_engine_worked(e)) return 0;
    }
    return 1;
}

/* The slices of the window, from the last to the first: each row takes the key's next one, and comes before it. */
static int flip(ln_engine *e) {
    ln_grid *g = &e->grid;
    for (;; g->slice--, g->row = 0) {
        ln_slice *s = ln_grid_slice(g, g->slice);
        while (g->row < s->column.rows) {
            uint32_t row = g->row++;
            ln_hop_row *own = hop_row(s, row);
            ln_hop_key *key = hop_key(e, own->key);
            fetch_key(e, s, row + 2 * AHEAD);
            fetch_next(e, s, row + AHEAD);
            ln_grid_touch(e, own->key);
            own->next = key->first;
            own->next_row = key->first_row;
            key->first = s;
            key->first_row = row;
            if (own->next &&
                ln_states_take(&e->states, &e->tally, run_of(e, s, row), run_of(e, own->next, own->next_row)) < 0)
                return ln_engine_fail(e, LN_ENOMEM, "a firing");
            if (ln_engine_worked(e)) return 0;
        }
        if (g->slice == 0) return 1;
    }
}

/* How many slices begin before this. */
static uint32_t slices_before(const ln_engine *e, __int128 end) {
    return ln_cells_search(&e->grid.slices, ln_time_clamp(end), LN_PAST);
}

static int fold(ln_engine *e) {
    ln_grid *g = &e->grid;
    uint32_t stop = slices_before(e, g->next_us + e->plan.size_us);
    for (; g->slice < stop; g->slice++, g->row = 0) {
        const ln_slice *s = ln_grid_slice(g, g->slice);
        while (g->row < s->column.rows) {
            uint32_t row = g->row++;
            ln_hop_key *key = hop_key(e, hop_row(s, row)->key);
            fetch_key(e, s, row + AHEAD);
            ln_grid_touch(e, hop_row(s, row)->key);
            key->back_rows++;
            if (ln_states_take(&e->states, &e->tally, key->back, run_of(e, s, row)) < 0)
                return ln_engine_fail(e, LN_ENOMEM, "a firing");
            if (ln_engine_worked(e)) return 0;
        }
    }
    return 1;
}

/* A pane of the window that is being fired. */
static int show(ln_engine *e, const ln_key *key, const uint8_t *run, const uint8_t *more) {
    const ln_grid *g = &e->grid;
    return ln_fire_run(e, key, ln_time_clamp(g->next_us), g->next_end_us, run, more);
}

/* The key's front and back, put together in the run that is there for it. */
static int show_both(ln_engine *e, const ln_hop_key *key) {
    uint8_t *both = e->grid.combined;
    int err = ln_states_take(&e->states, &e->tally, both, run_of(e, key->first, key->first_row));
    if (err == 0) err = ln_states_take(&e->states, &e->tally, both, key->back);
    err = err < 0 ? ln_engine_fail(e, LN_ENOMEM, "a firing") : show(e, &key->key, both, NULL);
    ln_states_clear(&e->states, &e->tally, both);
    return err;
}

static int show_key(ln_engine *e, const ln_hop_key *key) {
    const uint8_t *front = key->first ? run_of(e, key->first, key->first_row) : NULL;
    const uint8_t *back = key->back_rows ? key->back : NULL;
    if (!front && !back) return 0;
    e->stats.windows_opened++;
    if (!front) return show(e, &key->key, back, NULL);
    return !back || e->states.simple ? show(e, &key->key, front, back) : show_both(e, key);
}

static int pass_keys(ln_engine *e) {
    ln_grid *g = &e->grid;
    for (uint32_t id = g->row; (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++) {
        g->row = id + 1;
        fetch_front(e, id + AHEAD_OF_KEYS);
        ln_grid_touch(e, id); /* what is saved of it tells which windows are still to come */
        if (show_key(e, hop_key(e, id)) < 0) return -1;
        if (ln_engine_worked(e)) return 0;
    }
    return 1;
}

int ln_grid_show_early(ln_engine *e) {
    ln_window_row *own = e->grid.asked;
    if (ln_fire_window(e, &e->asked, LN_EARLY) < 0) return -1;
    own->index++;
    if (e->plan.panes != LN_DISCARDING) return 0;
    ln_states_clear(&e->states, &e->tally, (uint8_t *)own + e->grid.state_at);
    if (own->slot) ln_engine_op(e, LN_OP_CLEAR, own->slot, 0);
    return 0;
}

/* The last pane of a row with a head. */
static int show_last(ln_engine *e, const ln_slice *s, uint8_t *run) {
    ln_window_row *own = (void *)(run - e->grid.state_at);
    ln_window w = ln_grid_window(e, s, own, run);
    if (ln_fire_window(e, &w, LN_ON_TIME) < 0) return -1;
    if (own->slot) ln_store_give_slot(e, own->slot);
    return 0;
}

/* Where windows do not overlap: a slice is a window, and its rows go as they are shown. */
static int pass_rows(ln_engine *e) {
    ln_grid *g = &e->grid;
    ln_slice *s = ln_grid_slice(g, 0);
    while (g->row < s->column.rows) {
        uint8_t *run = run_of(e, s, g->row);
        ln_key *key = ln_keys_at(&e->keys, ln_column_key(&s->column, g->row));
        ln_grid_touch(e, ln_column_key(&s->column, g->row));
        if ((g->headed ? show_last(e, s, run) : show(e, key, run, NULL)) < 0) return -1;
        if (!e->states.plain) ln_states_clear(&e->states, &e->tally, run);
        let_go(e, key);
        if (++g->row % LN_COLUMN_CHUNK == 0) ln_column_passed(&s->column, g->row);
        if (ln_engine_worked(e)) return 0;
    }
    return 1;
}

static void drop_first(ln_engine *e) {
    ln_slice *s = ln_grid_slice(&e->grid, 0);
    ln_cells_remove(&e->grid.slices, &e->mem, 0);
    ln_grid_retire(e, s);
}

/* The slices that no window after the present one holds. */
static int drop(ln_engine *e) {
    ln_grid *g = &e->grid;
    while (g->slices.count && ln_grid_start(e, ln_grid_slice(g, 0)) < g->next_us + e->plan.hop_us) {
        ln_slice *s = ln_grid_slice(g, 0);
        while (g->row < s->column.rows) {
            uint32_t row = g->row++;
            const ln_hop_row *own = hop_row(s, row);
            ln_hop_key *key = hop_key(e, own->key);
            fetch_key(e, s, row + AHEAD);
            ln_grid_touch(e, own->key);
            if (key->first == s) {
                key->first = own->next;
                key->first_row = own->next_row;
            }
            if (!e->states.plain) ln_states_clear(&e->states, &e->tally, run_of(e, s, row));
            let_go(e, &key->key);
            if (g->row % LN_COLUMN_CHUNK == 0) ln_column_passed(&s->column, g->row);
            if (ln_engine_worked(e)) return 0;
        }
        drop_first(e);
        g->row = 0;
    }
    return 1;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

void ln_grid_point(ln_engine *e, __int128 from) {
    const ln_plan *p = &e->plan;
    ln_grid *g = &e->grid;
    __int128 first;
    g->stage = LN_GRID_BEGIN;
    g->next_end_us = INT64_MAX;
    if (!g->slices.count) return;
    first = ln_grid_start(e, ln_grid_slice(g, 0));
    if (from + p->size_us <= first) from += ((first - p->size_us - from) / p->hop_us + 1) * p->hop_us;
    g->next_us = from;
    g->next_end_us = ln_time_clamp(from + p->size_us);
}

/* Which of the two ways the window takes: the front must reach back to its start. */
static void begin(ln_engine *e) {
    ln_grid *g = &e->grid;
    if (!g->hopping) enter(e, LN_GRID_PASS, 0);
    else if (g->next_us >= g->pivot_us) enter(e, LN_GRID_UNLINK, 0);
    else enter(e, LN_GRID_FOLD, slices_before(e, g->folded_us));
}

/* The stage is done: the next one. */
static void follow(ln_engine *e) {
    ln_grid *g = &e->grid;
    __int128 end = g->next_us + e->plan.size_us;
    switch (g->stage) {
    case LN_GRID_BEGIN: begin(e); return;
    case LN_GRID_UNLINK: enter(e, LN_GRID_FLIP, slices_before(e, end) - 1); return;
    case LN_GRID_FLIP: g->pivot_us = end; /* fall through */
    case LN_GRID_FOLD:
        g->folded_us = end;
        enter(e, LN_GRID_PASS, 0);
        return;
    case LN_GRID_PASS:
        if (g->hopping) {
            enter(e, LN_GRID_DROP, 0);
            return;
        }
        drop_first(e);
        break;
    default: break;
    }
    ln_grid_point(e, g->next_us + e->plan.hop_us);
}

static int work(ln_engine *e) {
    switch (e->grid.stage) {
    case LN_GRID_UNLINK: return unlink_keys(e);
    case LN_GRID_FLIP: return flip(e);
    case LN_GRID_FOLD: return fold(e);
    case LN_GRID_PASS: return e->grid.hopping ? pass_keys(e) : pass_rows(e);
    case LN_GRID_DROP: return drop(e);
    default: return 1;
    }
}

int ln_grid_advance(ln_engine *e) {
    while (e->grid.slices.count && e->grid.next_end_us <= e->to_us) {
        int done;
        if (e->pause) return 0;
        done = work(e);
        if (done != 1) return done;
        follow(e);
    }
    return 1;
}

int ln_grid_dispose(ln_engine *e, uint32_t rows) {
    ln_grid *g = &e->grid;
    if (g->stage != LN_GRID_PASS || g->hopping) enter(e, g->hopping ? LN_GRID_DROP : LN_GRID_PASS, 0);
    while (g->slices.count) {
        ln_slice *s = ln_grid_slice(g, 0);
        for (; g->row < s->column.rows; rows--) {
            if (!rows) return 0;
            if (!e->states.plain) ln_states_clear(&e->states, &e->tally, run_of(e, s, g->row));
            if (++g->row % LN_COLUMN_CHUNK == 0) ln_column_passed(&s->column, g->row);
        }
        drop_first(e);
        g->row = 0;
    }
    return 1;
}

void ln_grid_free(ln_engine *e) {
    ln_grid *g = &e->grid;
    int under_way = g->stage == LN_GRID_DROP || (g->stage == LN_GRID_PASS && !g->hopping);
    uint32_t row = under_way ? g->row : 0; /* the rows before it are done with, and their memory may be gone */
    for (; g->slices.count; row = 0) {
        const ln_slice *s = ln_grid_slice(g, 0);
        for (; !e->states.plain && row < s->column.rows; row++)
            ln_states_clear(&e->states, &e->tally, run_of(e, s, row));
        drop_first(e);
    }
    for (uint32_t id = 0; g->hopping && (id = ln_keys_next(&e->keys, id)) != LN_KEY_NONE; id++)
        empty_back(e, hop_key(e, id));
    for (int i = 0; i < 2; i++) {
        if (!g->spare[i]) continue;
        e->mem.used += sizeof *g->spare[i] + ln_column_bytes(&g->spare[i]->column);
        ln_column_free(&g->spare[i]->column);
        ln_mem_free(&e->mem, g->spare[i], sizeof *g->spare[i]);
    }
    ln_cells_free(&g->slices, &e->mem);
    ln_mem_free(&e->mem, g->combined, e->states.bytes + 8);
}
