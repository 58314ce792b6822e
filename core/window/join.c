/* Puts a record into its windows, one after the other in rising order, and asks the trigger of each. Stops where a
 * predicate must be asked, and goes on with its answer. */
#include "window/state.h"

#include <string.h>

/* The first of the grid's windows that hold t, and how many there are. Most records lie in the hop of the one before,
 * which saves the divisions. */
void ln_join_grid(ln_engine *e, int64_t t) {
    const ln_plan *p = &e->plan;
    ln_joining *j = &e->join;
    int64_t into;
    if (t < j->hop_from_us || t >= j->hop_to_us) {
        j->hop_start_us = ln_grid_floor(t, p->hop_us, p->offset_us);
        j->hop_from_us = ln_time_clamp(j->hop_start_us);
        j->hop_to_us = ln_time_clamp(j->hop_start_us + p->hop_us);
    }
    if (p->hop_us == p->size_us) {
        j->count = 1;
        j->first_us = j->hop_start_us;
        return;
    }
    into = (int64_t)((__int128)t - j->hop_start_us);
    j->count = p->size_us > into ? (uint32_t)((p->size_us - into - 1) / p->hop_us + 1) : 0;
    j->first_us = j->hop_start_us - ((__int128)j->count - 1) * p->hop_us;
}

static int same_bounds(const ln_bounds *a, const ln_bounds *b) {
    return a->start_us == b->start_us && a->end_us == b->end_us;
}

static int bounds_before(const ln_bounds *a, const ln_bounds *b) {
    return a->start_us < b->start_us || (a->start_us == b->start_us && a->end_us < b->end_us);
}

/* The assigner's windows of the row as a set, in rising order. They lie in the frame behind those of earlier rows. */
static void assigner_begin(ln_engine *e) {
    ln_rows *f = &e->rows;
    size_t at = e->join.bounds, end, kept;
    while (at < f->bounds_count && f->bounds[at].row < e->row) at++;
    for (end = at; end < f->bounds_count && f->bounds[end].row == e->row; end++) {
        ln_bounds b = f->bounds[end];
        size_t to = end;
        for (; to > at && bounds_before(&b, &f->bounds[to - 1]); to--) f->bounds[to] = f->bounds[to - 1];
        f->bounds[to] = b;
    }
    kept = at;
    for (size_t i = at; i < end; i++)
        if (i == at || !same_bounds(&f->bounds[i], &f->bounds[kept - 1])) f->bounds[kept++] = f->bounds[i];
    e->join.bounds = at;
    e->join.count = (uint32_t)(kept - at);
}

void ln_join_begin(ln_engine *e, ln_cell_key *key, int64_t time_us, uint64_t arrival, const ln_held *held) {
    ln_joining *j = &e->join;
    j->key = key;
    j->held = held;
    j->time_us = time_us;
    j->arrival = arrival;
    j->back = held ? LN_PHASE_RELEASE : LN_PHASE_JOIN;
    j->next = j->taken = j->late = j->limited = 0;
    j->count = 1;
    if (e->plan.window == LN_WINDOW_GRID) ln_join_grid(e, time_us);
    else if (e->plan.window == LN_WINDOW_ASSIGNER) assigner_begin(e);
}

static void window_of(const ln_engine *e, uint32_t i, int64_t *start_us, int64_t *end_us) {
    const ln_joining *j = &e->join;
    switch (e->plan.window) {
    case LN_WINDOW_GRID: {
        __int128 start;
        if (e->plan.hop_us == e->plan.size_us) {
            *start_us = j->hop_from_us;
            *end_us = j->hop_to_us;
            return;
        }
        start = j->first_us + (__int128)i * e->plan.hop_us;
        *start_us = ln_time_clamp(start);
        *end_us = ln_time_clamp(start + e->plan.size_us);
        return;
    }
    case LN_WINDOW_SESSION:
        *start_us = j->time_us;
        *end_us = ln_time_add(j->time_us, e->plan.gap_us);
        return;
    case LN_WINDOW_ASSIGNER:
        *start_us = e->rows.bounds[j->bounds + i].start_us;
        *end_us = e->rows.bounds[j->bounds + i].end_us;
        return;
    default:
        *start_us = LN_PAST;
        *end_us = LN_FUTURE;
        return;
    }
}

/* The open window of exactly these bounds, made where there is none; NULL as for ln_merge_place. */
static ln_cell *place(ln_engine *e, ln_cell_key *key, int64_t start_us, int64_t end_us, int *refused) {
    uint32_t at;
    ln_cell *c;
    *refused = LN_TAKEN;
    if (ln_engine_expiry(e, end_us) <= e->now_us) {
        *refused = LN_REFUSED_LATE;
        return NULL;
    }
    c = ln_cells_find(&key->open, start_us, end_us, &at);
    if (c) return c;
    if (ln_store_full(e, 0)) {
        *refused = LN_REFUSED_LIMIT;
        return NULL;
    }
    c = ln_store_open(e, key, at, start_us, end_us);
    return c && ln_store_file(e, c) < 0 ? NULL : c;
}

/* The row by which the driver knows the present record. */
static uint32_t row_of(const ln_engine *e) { return e->join.held ? LN_ROW_HELD | e->join.held->id : e->row; }

static int add(ln_engine *e, ln_cell *c) {
    const ln_held *held = e->join.held;
    uint64_t skipped = e->tally.skipped;
    uint8_t *run = ln_cell_run(e, c);
    int err;
    e->tally.time_us = e->join.time_us;
    e->tally.arrival = e->join.arrival;
    err = held ? ln_states_add_values(&e->states, &e->tally, run, held->value)
               : ln_states_add(&e->states, &e->tally, run, e->row);
    if (err < 0) return -1;
    if (e->join.taken) e->tally.skipped = skipped; /* a value is counted once, however many windows skip it */
    if (e->folds) ln_engine_op(e, LN_OP_ADD, c->slot, row_of(e));
    ln_since_add(&c->since, ln_time_sub(e->clock_us, e->set_us));
    c->nonempty = 1;
    return 0;
}

void ln_join_ask(ln_engine *e, uint32_t row, ln_window w, uint64_t whens) {
    ln_question *q = &e->question;
    e->asked = w;
    q->row = (int32_t)row;
    q->slot = (int32_t)w.slot;
    q->pane = w.index;
    q->ops = e->ops_taken ? 0 : (uint32_t)e->op_count;
    q->count = (uint32_t)__builtin_popcountll(whens);
    e->join.whens = whens;
    e->phase = LN_PHASE_ANSWER;
}

void ln_join_name(ln_question *q, const ln_trigger *trigger, uint64_t whens) {
    q->count = 0;
    for (uint64_t rest = whens; rest; rest &= rest - 1)
        q->when[q->count++] = (uint8_t)trigger->node[__builtin_ctzll(rest)].n;
}

static void ask(ln_engine *e, ln_cell *c, uint64_t whens) {
    ln_join_name(&e->question, ln_offer_trigger(e, c), whens);
    e->join.asked = c;
    ln_join_ask(e, row_of(e),
                (ln_window){.key = &c->key->key,
                            .start_us = c->start_us,
                            .end_us = c->end_us,
                            .run = ln_cell_run(e, c),
                            .over = &c->over,
                            .slot = c->slot,
                            .index = c->index},
                whens);
}

int ln_join_answered(ln_engine *e) {
    ln_event event = {.kind = LN_EVENT_RECORD};
    ln_cell *asked = e->join.asked;
    uint32_t i = 0;
    int err = 0;
    for (uint64_t rest = e->join.whens; rest; rest &= rest - 1, i++)
        if (e->question.answer[i]) event.answers |= rest & (~rest + 1);
    e->question.count = 0;
    e->phase = e->join.back;
    e->join.asked = NULL;
    if (asked) err = ln_offer(e, asked, &event);
    else if (event.answers) err = ln_grid_show_early(e);
    e->asked.key = NULL;
    return err;
}

int ln_join_next(ln_engine *e) {
    static const ln_event plain = {.kind = LN_EVENT_RECORD};
    ln_joining *j = &e->join;
    while (j->next < j->count) {
        int64_t start_us, end_us;
        int refused;
        uint64_t whens;
        ln_cell *c;
        if (e->pause) return 0;
        window_of(e, j->next++, &start_us, &end_us);
        c = e->plan.merging       ? ln_merge_place(e, j->key, start_us, end_us, &refused)
            : e->plan.max_us >= 0 ? ln_merge_extend(e, j->key, j->time_us, &refused)
                                  : place(e, j->key, start_us, end_us, &refused);
        if (refused) {
            if (e->tracing && refused == LN_REFUSED_LATE) ln_trace_refused(e, j->key, start_us, end_us);
            j->late += refused == LN_REFUSED_LATE;
            j->limited += refused == LN_REFUSED_LIMIT;
            continue;
        }
        if (!c || add(e, c) < 0) return ln_engine_fail(e, LN_ENOMEM, "a window");
        j->taken++;
        if (e->tracing) ln_trace_taken(e, c);
        if (e->quiet_early && c->end_us > e->now_us) continue; /* nobody asks before its end */
        whens = ln_offer_whens(e, c);
        if (whens) {
            ask(e, c, whens);
            return 0;
        }
        if (ln_offer(e, c, &plain) < 0) return -1;
    }
    return 1;
}
