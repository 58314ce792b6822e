/* Pipelines of every kind of window, trigger and aggregate over the batches of test_engine.h, and a driver for them. */
#ifndef LN_WINDOW_TEST_PIPELINES_H
#define LN_WINDOW_TEST_PIPELINES_H

#include "window/test_engine.h"

#define NAMED(k, c, n, ...) \
    { .kind = (k), .column = (c), .name = (n), .name_len = sizeof(n) - 1, __VA_ARGS__ }
static const double shares[] = {0.5, 0.9};
static const ln_aggregate aggregates[] = {
    NAMED(LN_COLLECT, WORD, "all", .limit = 3),
    NAMED(LN_MAX_BY, WORD, "best", .has_by = 1, .by_column = NUMBER),
    NAMED(LN_HISTOGRAM, NUMBER, "classes", .number = shares, .numbers = 2),
    NAMED(LN_COUNT, -1, "count", .n = 0),
    NAMED(LN_DISTINCT, WORD, "different", .n = 0),
    NAMED(LN_FIRST, WORD, "first", .n = 0),
    NAMED(LN_LAST, WORD, "last", .n = 0),
    NAMED(LN_MAX, NUMBER, "most", .n = 0),
    NAMED(LN_DISTINCT_APPROX, WORD, "near", .n = 10),
    NAMED(LN_DISTINCT, NUMBER, "numbers", .n = 1),
    NAMED(LN_TOP, WORD, "often", .has_by = 1, .by_column = NUMBER, .n = 2, .limit = 2),
    NAMED(LN_QUANTILE, NUMBER, "quantiles", .n = 1, .accuracy = 0.01, .number = shares, .numbers = 2),
    NAMED(LN_RATE, NUMBER, "rate", .per_us = 1),
    NAMED(LN_SUM, NUMBER, "sum", .n = 0),
    NAMED(LN_FOLD, -1, "fold", .n = 0),
};
enum { PLAIN = 14, WITH_FOLD = 15 };

/* Appends a node; its number as a bit. */
static uint64_t node(ln_trigger *t, int kind, int64_t n, uint64_t children) {
    ln_trigger_node *to = &t->node[t->count];
    *to = (ln_trigger_node){.kind = (uint8_t)kind, .n = n, .children = children};
    if (kind == LN_SEQUENCE) to->step_slot = (uint8_t)t->sequences++;
    if (kind == LN_ONCE) t->once |= UINT64_C(1) << t->count;
    return UINT64_C(1) << t->count++;
}

static ln_plan plain_plan(void) {
    ln_plan p = {
        .name = "pipe",
        .name_len = 4,
        .show_name = 1,
        .time_column = T,
        .unit = LN_UNIT_US,
        .clock_column = -1,
        .source_column = -1,
        .mark_column = -1,
        .delay_us = 20,
        .idle_us = -1,
        .max_ahead_us = -1,
        .key_column = {KEY},
        .key_columns = 1,
        .size_us = 10,
        .hop_us = 10,
        .max_us = -1,
        .at_watermark = 1,
        .aggregate = aggregates,
        .aggregates = PLAIN,
        .computed_first = COMPUTED,
        .limits = {.state_bytes = 1 << 30, .distinct_values = 1000},
    };
    node(&p.late, LN_EACH, 0, 0);
    return p;
}

static void tumbling_discarding(ln_plan *p) {
    p->panes = LN_DISCARDING;
    p->lateness_us = 15;
    node(&p->early, LN_AFTER_COUNT, 2, 0);
}

static void hopping_sliced(ln_plan *p) {
    p->size_us = 20;
    p->slice_us = 10;
    p->limits.distinct_values = 3;
}

static void tumbling_sliced(ln_plan *p) {
    p->slice_us = 10;
    p->staged = 1;
}

/* Enough hops for front and back to take turns, and records behind both. */
static void hopping_by_many(ln_plan *p) {
    p->size_us = 40;
    p->hop_us = 4;
    p->slice_us = 4;
    p->limits.distinct_values = 3;
}

static void hopping_retracting(ln_plan *p) {
    p->size_us = 20;
    p->panes = LN_RETRACTING;
    p->lateness_us = 5;
    node(&p->early, LN_EVERY, 5, 0);
    p->early.node[0].event_time = 1;
}

static void filled_from_sources(ln_plan *p) {
    p->fill = 3;
    p->closing_always = 1;
    p->source_column = SOURCE;
    p->idle_us = 20;
    p->advance_on_idle = 1;
}

static void sessions(ln_plan *p) {
    p->window = LN_WINDOW_SESSION;
    p->merging = 1;
    p->key_column[0] = SOURCE;
    p->gap_us = 12;
    p->delay_us = 30;
    p->lateness_us = 10;
    node(&p->early, LN_EACH, 0, 0);
}

static void sessions_retracting(ln_plan *p) {
    sessions(p);
    p->panes = LN_RETRACTING;
}

static void sessions_discarding(ln_plan *p) {
    sessions(p);
    p->panes = LN_DISCARDING;
}

static void sessions_bounded(ln_plan *p) {
    sessions(p);
    p->merging = 0;
    p->max_us = 30;
    p->early = (ln_trigger){0};
    node(&p->early, LN_WHEN, 7, 0);
}

static void sessions_bounded_staged(ln_plan *p) {
    sessions(p);
    p->merging = 0;
    p->max_us = 30;
    p->panes = LN_RETRACTING;
    p->aggregates = WITH_FOLD;
    p->staged = 1;
}

/* Any of: a delay and a silence; two records and then each tick of the clock; the first record. */
static void global_by_the_clock(ln_plan *p) {
    ln_trigger *t = &p->early;
    uint64_t all, sequence, once;
    p->window = LN_WINDOW_GLOBAL;
    p->at_watermark = 0;
    all = node(t, LN_AFTER_DELAY, 9, 0);
    all |= node(t, LN_AFTER_IDLE, 4, 0);
    all = node(t, LN_ALL, 0, all);
    sequence = node(t, LN_AFTER_COUNT, 2, 0);
    sequence |= node(t, LN_EVERY, 5, 0);
    sequence = node(t, LN_SEQUENCE, 0, sequence);
    once = node(t, LN_ONCE, 0, node(t, LN_EACH, 0, 0));
    node(t, LN_ANY, 0, all | sequence | once);
}

static void assigned_merging_staged(ln_plan *p) {
    p->window = LN_WINDOW_ASSIGNER;
    p->merging = 1;
    p->key_column[0] = SOURCE;
    p->gap_us = 25;
    p->delay_us = 30;
    p->lateness_us = 10;
    p->aggregates = WITH_FOLD;
    p->staged = 1;
    node(&p->early, LN_EACH, 0, 0);
}

/* Keys of a computed text and a column, in little memory. */
static void assigned_with_limits(ln_plan *p) {
    p->window = LN_WINDOW_ASSIGNER;
    p->key_columns = 2;
    p->key_composite = 1;
    p->key_column[1] = COMPUTED;
    p->computed_columns = 1;
    p->limits.state_bytes = 50000;
    p->time_kind = LN_TIME_COLUMN;
}

typedef struct pipeline {
    const char *name;
    void (*plan)(ln_plan *p);
    /* what a run must come to at least, so that it is known to have been worth it */
    uint64_t panes, withdrawals, merged, rejects, ops, questions;
    int traced;
} pipeline;

static const pipeline pipelines[] = {
    {"tumbling, discarding", tumbling_discarding, 25, 0, 0, 8, 0, 0, 0},
    {"tumbling, sliced", tumbling_sliced, 0, 0, 0, 8, 25, 0, 0},
    {"hopping, sliced", hopping_sliced, 40, 0, 0, 8, 0, 0, 0},
    {"hopping, by many slices", hopping_by_many, 200, 0, 0, 8, 0, 0, 0},
    {"hopping, retracting", hopping_retracting, 200, 70, 0, 8, 0, 0, 0},
    {"filled, from sources", filled_from_sources, 40, 0, 0, 8, 0, 0, 0},
    {"sessions, retracting", sessions_retracting, 70, 25, 0, 6, 0, 0, 0},
    {"sessions, discarding", sessions_discarding, 40, 0, 4, 6, 0, 0, 0},
    {"sessions, bounded", sessions_bounded, 30, 0, 0, 6, 0, 25, 0},
    {"sessions, bounded, staged", sessions_bounded_staged, 0, 20, 0, 6, 120, 0, 0},
    {"global, by the clock", global_by_the_clock, 25, 0, 0, 8, 0, 0, 0},
    {"assigned, merging, staged", assigned_merging_staged, 0, 4, 1, 6, 120, 0, 0},
    {"assigned, with limits", assigned_with_limits, 30, 0, 0, 12, 0, 0, 0},
    {"hopping, retracting, traced", hopping_retracting, 200, 70, 0, 8, 0, 0, 1},
    {"filled, from sources, traced", filled_from_sources, 40, 0, 0, 8, 0, 0, 1},
    {"sessions, retracting, traced", sessions_retracting, 70, 25, 0, 6, 0, 0, 1},
    {"sessions, bounded, traced", sessions_bounded, 30, 0, 0, 6, 0, 25, 1},
};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines };

/* ---- a driver ---- */

enum outcome { DONE = 0, REFUSED };

static inline void run_ops(ln_engine *e, output *o) {
    size_t count, len;
    const ln_op *op = ln_engine_ops(e, &count);
    const uint8_t *staged = ln_engine_staged(e, &len);
    mix_bytes(o, staged, len);
    for (size_t i = 0; i < count; i++) {
        mix(o, ((uint64_t)op[i].kind << 60) ^ ((uint64_t)op[i].a << 32) ^ (uint32_t)op[i].b);
        o->withdrawals += op[i].kind == LN_OP_WITHDRAW;
        o->merged += op[i].kind == LN_OP_MERGE;
        if (op[i].kind == LN_OP_ADD && op[i].b >= LN_ROW_HELD) {
            const uint8_t *held = ln_engine_held(e, (uint32_t)op[i].b, &len);
            mix_bytes(o, held, len);
        }
    }
    o->ops += count;
}

static inline void answer(ln_engine *e, output *o) {
    ln_question *q = ln_engine_question(e);
    size_t len;
    int64_t start = ln_engine_question_bound(e, 0)->i;
    CHECK(ln_engine_question_key(e, &len) && len > 0);
    CHECK(ln_engine_question_value(e, 0)->type != LN_MISSING);
    CHECK_INT(ln_engine_question_value(e, UINT32_MAX)->type, LN_MISSING);
    for (uint32_t i = 0; i < q->count; i++) q->answer[i] = (uint8_t)((start + q->row + q->when[i]) & 1);
    o->questions++;
}

/* Steps until the engine has done what it was told to. */
static inline int work_off(ln_engine *e, output *o) {
    for (;;) {
        int step = ln_engine_step(e, UINT32_MAX);
        if (step == LN_STEP_FAILED) return REFUSED;
        run_ops(e, o);
        if (step == LN_STEP_DONE) return DONE;
        if (step == LN_STEP_ASK) answer(e, o);
    }
}

/* What the driver adds to a batch: texts of computed columns, and windows. */
static inline int fill(ln_engine *e, const ln_plan *p, const ln_batch *b) {
    for (uint32_t row = 0; row < ROWS; row++) {
        double t = (double)b->column[T][row].i;
        if (ln_engine_frame(e)->row[row] != LN_ROW_TAKE) continue;
        if (p->computed_columns && ln_engine_text(e, COMPUTED, row, LN_TEXT, "text", 1 + row % 4) != LN_OK)
            return REFUSED;
        if (row % 9 == 0 && ln_engine_message(e, row, "a message", 9) != LN_OK) return REFUSED;
        if (p->window != LN_WINDOW_ASSIGNER) continue;
        if (ln_engine_window(e, row, t - 6, t + 5 + row % 7) != LN_OK) return REFUSED;
        if (!p->merging && ln_engine_window(e, row, t - 9, t + 9) != LN_OK) return REFUSED;
    }
    return DONE;
}

#endif
