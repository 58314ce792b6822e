/* Moves W and the clock. A move of W visits every window whose end or expiry it passes, in order of (end, start, age),
 * and then asks the others where a trigger counts event time; a move of the clock asks those that a trigger by the
 * clock may concern. Both can be cut between two windows and go on later: nothing else happens in between. */
#include "window/state.h"

#include <stdlib.h>

/* ---- the windows to be asked ------------------------------------------------------------------------------------ */

static int by_order(const void *a, const void *b) {
    const ln_cell *x = *(ln_cell *const *)a, *y = *(ln_cell *const *)b;
    if (x->end_us != y->end_us) return x->end_us < y->end_us ? -1 : 1;
    if (x->start_us != y->start_us) return x->start_us < y->start_us ? -1 : 1;
    return x->age < y->age ? -1 : x->age > y->age;
}

static int walk_add(ln_engine *e, ln_cell *c) {
    if (ln_mem_grow(&e->mem, &e->walk, &e->walk_cap, e->walk_count + 1, sizeof *e->walk) < 0)
        return ln_engine_fail(e, LN_ENOMEM, "a firing");
    e->walk[e->walk_count++] = c;
    return 0;
}

static void walk_sort(ln_engine *e) {
    if (e->walk_count > 1) qsort(e->walk, e->walk_count, sizeof *e->walk, by_order);
}

/* Which of a key's windows are asked: all, those whose end is ahead of W, or those whose alarm the clock has come
 * to. */
static int is_asked(const ln_engine *e, ln_cell *c) {
    if (e->walk_kind == LN_WALK_AHEAD) return c->end_us > e->now_us;
    return e->walk_kind == LN_WALK_ALL || ln_cell_rare(e, c)->alarm_us <= ln_time_sub(e->to_us, e->set_us);
}

/* The windows of one key that are to be asked, in order. */
static int walk_key(ln_engine *e, const ln_cell_key *key) {
    e->walk_count = e->walk_next = 0;
    for (uint32_t i = 0; i < key->open.count; i++) {
        ln_cell *c = ln_cells_at(&key->open, i);
        if (is_asked(e, c) && walk_add(e, c) < 0) return -1;
    }
    if (e->walk_count) ln_keys_touch(&e->keys, (ln_key *)(uintptr_t)&key->key, key->id);
    for (size_t i = 0; e->walk_kind == LN_WALK_ALARMS && i < e->walk_count; i++) {
        ln_rare *r = ln_cell_rare(e, e->walk[i]);
        ln_heap_remove(&e->alarms, r->alarm_at);
        r->alarm_us = LN_FUTURE;
    }
    walk_sort(e);
    return 0;
}

/* The next key whose windows may have to be asked; NULL where there is none. */
static const ln_cell_key *walk_next_key(ln_engine *e) {
    uint32_t id;
    if (e->walk_kind == LN_WALK_NONE) return NULL;
    if (e->walk_kind == LN_WALK_ALARMS) {
        if (!e->alarms.count || ln_heap_least(&e->alarms) > ln_time_sub(e->to_us, e->set_us)) return NULL;
        return ((const ln_cell *)ln_heap_top(&e->alarms))->key;
    }
    id = ln_keys_next(&e->keys, e->walk_id);
    if (id == LN_KEY_NONE) return NULL;
    e->walk_id = id + 1;
    return (const ln_cell_key *)(const void *)ln_keys_at(&e->keys, id);
}

/* Asks one window after the other, key by key: no more is gathered at once than one key has. */
static int walk_offer(ln_engine *e, int kind) {
    const ln_event event = {.kind = kind, .from_us = e->from_us, .to_us = e->to_us, .set_us = e->set_us};
    const ln_cell_key *key;
    for (;;) {
        while (e->walk_next < e->walk_count) {
            if (e->pause) return 0;
            if (ln_offer(e, e->walk[e->walk_next++], &event) < 0) return -1;
            (void)ln_engine_worked(e);
        }
        if (e->pause) return 0;
        key = walk_next_key(e);
        if (!key) break;
        (void)ln_engine_worked(e);
        if (walk_key(e, key) < 0) return -1;
    }
    e->walk_kind = LN_WALK_NONE;
    return 1;
}

static int crosses(const ln_engine *e, const ln_trigger *t, int event_time) {
    for (uint32_t i = 0; i < t->count; i++) {
        const ln_trigger_node *n = &t->node[i];
        if (n->kind == LN_EVERY && n->event_time == event_time && ln_time_crosses(n->n, e->from_us, e->to_us)) return 1;
    }
    return 0;
}

/* A move from there to there, in which windows of this kind are asked. */
static void walk_begin(ln_engine *e, int64_t from_us, int64_t to_us, int kind) {
    e->from_us = from_us;
    e->to_us = to_us;
    ln_mem_shrink(&e->mem, &e->walk, &e->walk_cap, e->walk_count, sizeof *e->walk);
    e->walk_count = e->walk_next = 0;
    e->walk_kind = kind;
    e->walk_id = 0;
    e->walked = 0;
}

/* ---- the clock -------------------------------------------------------------------------------------------------- */

void ln_advance_clock_begin(ln_engine *e, int64_t to_us) {
    int64_t from_us = e->clock_us;
    walk_begin(e, from_us, to_us, LN_WALK_NONE);
    e->clock_us = to_us;
    if (from_us == LN_PAST || e->sliced) return;
    if (e->clock_every && (crosses(e, &e->plan.early, 0) || crosses(e, &e->plan.late, 0))) e->walk_kind = LN_WALK_ALL;
    else if (e->clock_delays) e->walk_kind = LN_WALK_ALARMS;
}

int ln_advance_clock(ln_engine *e) { return walk_offer(e, LN_EVENT_CLOCK); }

/* ---- W ---------------------------------------------------------------------------------------------------------- */

void ln_advance_begin(ln_engine *e, int64_t to_us) {
    walk_begin(e, e->now_us, to_us, LN_WALK_NONE);
    e->now_us = to_us;
}

/* Of two cells the one that comes first; either may be NULL. */
static ln_cell *first_of(ln_cell *a, ln_cell *b) {
    if (!a || !b) return a ? a : b;
    return by_order(&a, &b) <= 0 ? a : b;
}

/* Opens the empty window that follows a completed one on the grid, while fewer than `fill` came in a row. */
static int follow(ln_engine *e, ln_cell_key *key, int64_t start_us, int64_t run) {
    int64_t next_us = ln_time_add(start_us, e->plan.hop_us), end_us = ln_time_add(next_us, e->plan.size_us);
    uint32_t at;
    ln_cell *c;
    if (run > e->plan.fill || end_us == LN_TIME_MAX || ln_store_full(e, 0)) return 0;
    if (ln_cells_find(&key->open, next_us, end_us, &at)) return 0;
    c = ln_store_open(e, key, at, next_us, end_us);
    if (!c) return -1;
    ln_cell_rare(e, c)->run = run;
    c->on_time_done = 0;
    return ln_store_file(e, c);
}

static int expire(ln_engine *e, ln_cell *c) {
    int rest = c->since.count > 0;
    if (rest || (e->plan.closing_always && !(c->shown && c->last_final)))
        if (ln_fire(e, c, e->plan.lateness_us == 0 && !e->caught_up ? LN_ON_TIME : LN_LATE) < 0) return -1;
    return ln_store_expire(e, c);
}

/* What the move does to one window that it completes, or expires, or both. */
static int pass(ln_engine *e, ln_cell *c) {
    ln_cell_key *key = c->key;
    int64_t start_us = c->start_us, run = 0;
    int completed, fills;
    ln_keys_touch(&e->keys, &key->key, key->id);
    completed = c->bucket->owner == &e->completing;
    fills = completed && e->plan.fill && e->to_us < LN_FUTURE && !e->caught_up;
    if (completed) {
        c->on_time_done = 1;
        if (e->tracing) ln_trace_of_window(e, LN_TRACE_COMPLETED, c);
        if (!e->caught_up && ln_fire(e, c, LN_ON_TIME) < 0) return -1;
    }
    if (fills) run = c->nonempty ? 1 : ln_cell_rare(e, c)->run + 1;
    e->join.key = fills ? key : NULL; /* held, until its next window stands open */
    if (ln_engine_expiry(e, c->end_us) <= e->to_us) {
        if (expire(e, c) < 0) return -1;
    } else if (ln_store_file(e, c) < 0) {
        return -1;
    }
    if (!fills) return 0;
    e->join.key = NULL;
    if (follow(e, key, start_us, run) < 0) return -1;
    ln_store_rest(e, key);
    return 0;
}

/* Readies the wheels for what is due: as ln_deadlines_turn. */
static int turn_wheels(ln_engine *e, int64_t expired_us) {
    uint32_t had = e->work_max > e->work ? e->work_max - e->work : 0, left = had;
    int done = ln_deadlines_turn(&e->completing, e->to_us, &left);
    if (done == 1) done = ln_deadlines_turn(&e->expiring, expired_us, &left);
    e->work += had - left;
    if (done == 0) e->pause = 1;
    return done;
}

static int pass_due(ln_engine *e) {
    int64_t expired_us = ln_time_sub(e->to_us, e->plan.lateness_us);
    while (ln_deadlines_next(&e->completing) <= e->to_us || ln_deadlines_next(&e->expiring) <= expired_us) {
        const ln_cell *behind;
        int failed = 0, done;
        ln_cell *c;
        if (e->pause) return 0;
        done = turn_wheels(e, expired_us);
        if (done == 0) return 0;
        c = first_of(ln_deadlines_due(&e->completing, e->to_us, &failed),
                     ln_deadlines_due(&e->expiring, expired_us, &failed));
        if (failed || done < 0) return ln_engine_fail(e, LN_ENOMEM, "a firing");
        if (!c) {
            if (ln_deadlines_turns(&e->completing, e->to_us) || ln_deadlines_turns(&e->expiring, expired_us)) continue;
            break;
        }
        behind = ln_deadlines_behind(c->bucket->owner, c);
        if (behind) __builtin_prefetch(behind);
        (void)ln_engine_worked(e);
        if (pass(e, c) < 0) return e->failed ? -1 : ln_engine_fail(e, LN_ENOMEM, "a firing");
    }
    return 1;
}

int ln_advance(ln_engine *e) {
    if (e->sliced) return ln_grid_advance(e);
    if (!e->walked) {
        int done = pass_due(e);
        if (done == 1 && e->graves.count) done = ln_store_bury(e);
        if (done != 1) return done;
        e->walked = 1;
        if (e->event_every && crosses(e, &e->plan.early, 1)) e->walk_kind = LN_WALK_AHEAD;
    }
    return walk_offer(e, LN_EVENT_WATERMARK);
}
