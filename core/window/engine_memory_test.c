/* The whole engine while memory runs out: each pipeline below is run once for every allocation it makes, with that one
 * failing, alone or with all that follow. The engine then says that it has failed, or goes on as if nothing had been;
 * and in the end not a byte is left. */
#include "window/state.h"
#include "window/test_pipelines.h"

/* What a trace tells is part of what a run comes to. */
static int take_event(void *ctx, const ln_pane_shape *shape, const ln_trace_event *event) {
    output *o = ctx;
    (void)shape;
    mix(o, event->kind);
    mix(o, event->record);
    mix(o, (uint64_t)event->start_us);
    mix(o, (uint64_t)event->watermark_us);
    if (event->key) mix_bytes(o, event->key, event->key_len);
    if (event->source) mix_bytes(o, event->source, event->source_len);
    for (uint32_t i = 0; i < event->taken_count; i++) mix(o, (uint64_t)event->taken[i].end_us);
    for (uint32_t i = 0; i < event->refused_count; i++) mix(o, (uint64_t)event->refused[i].over_us);
    return LN_OK;
}

static int feed(ln_engine *e, const ln_plan *p, output *o) {
    int64_t clock_us = 1000;
    for (int b = 0; b < BATCHES; b++, clock_us += 30) {
        if (ln_engine_begin(e, &batches[b], clock_us) != LN_OK) return REFUSED;
        CHECK_INT(ln_engine_judge(e), LN_OK);
        if (fill(e, p, &batches[b]) != DONE || work_off(e, o) != DONE) return REFUSED;
        for (int tick = 1; tick <= 4; tick++)
            if (ln_engine_clock(e, clock_us + 3 * tick) != LN_OK || work_off(e, o) != DONE) return REFUSED;
    }
    return ln_engine_finish(e) != LN_OK || work_off(e, o) != DONE ? REFUSED : DONE;
}

/* An engine that has failed says so to whatever comes. */
static void is_closed(ln_engine *e) {
    ln_stats stats;
    size_t count;
    CHECK(*ln_engine_error(e));
    CHECK_INT(ln_engine_step(e, UINT32_MAX), LN_STEP_FAILED);
    CHECK_INT(ln_engine_begin(e, &batches[0], 5000), LN_ECLOSED);
    CHECK_INT(ln_engine_judge(e), LN_ECLOSED);
    CHECK_INT(ln_engine_clock(e, 5000), LN_ECLOSED);
    CHECK_INT(ln_engine_finish(e), LN_ECLOSED);
    (void)ln_engine_ops(e, &count);
    ln_engine_stats(e, &stats);
}

/* The engine's memory: fails as test_mem does, or once only. */
typedef struct source {
    test_mem t;
    int once;
} source;

static void *source_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
    source *s = ctx;
    void *q = test_mem_resize(&s->t, p, old_bytes, new_bytes);
    if (s->once && s->t.calls == s->t.fail_at) s->t.fail_at = 0;
    return q;
}

/* One run, in which allocation number `fail_at` fails (0: none), alone or with all after it. */
static int run(const pipeline *pipe, uint64_t fail_at, int once, output *o, uint64_t *calls) {
    ln_plan p = plain_plan();
    struct ln_sink sink = {o, take_pane, stage_pane, take_reject, nothing_waits, pipe->traced ? take_event : NULL};
    source s = {.once = once};
    ln_mem mem = *test_mem_init(&s.t, SIZE_MAX / 2);
    ln_engine *e;
    int outcome = REFUSED;
    *o = (output){0};
    pipe->plan(&p);
    s.t.fail_at = fail_at;
    mem.resize = source_resize;
    mem.ctx = &s;
    e = ln_engine_new_with(&p, &sink, &mem);
    if (e) {
        if (!pipe->traced || ln_engine_trace(e) == LN_OK) outcome = feed(e, &p, o);
        if (outcome == DONE) ln_engine_trace_end(e);
        if (outcome == DONE) CHECK_TEXT(ln_engine_verify(e), "");
        else if (e->failed) is_closed(e);
        ln_engine_delete(e);
    }
    CHECK_INT(s.t.held, 0);
    *calls = s.t.calls;
    return outcome;
}

static void runs_without_failing(const pipeline *pipe, output *o, uint64_t *calls) {
    output again;
    CHECK_INT(run(pipe, 0, 0, o, calls), DONE);
    CHECK_INT(run(pipe, 0, 0, &again, calls), DONE);
    CHECK_INT(again.digest, o->digest);
    if (!(CHECK(*calls > 100) & CHECK(o->panes >= pipe->panes) & CHECK(o->withdrawals >= pipe->withdrawals) &
          CHECK(o->merged >= pipe->merged) & CHECK(o->rejects >= pipe->rejects) & CHECK(o->ops >= pipe->ops) &
          CHECK(o->questions >= pipe->questions)))
        fprintf(stderr,
                "  %" PRIu64 " calls, %" PRIu64 " panes, %" PRIu64 " withdrawals, %" PRIu64 " merged, %" PRIu64
                " rejects, %" PRIu64 " operations, %" PRIu64 " questions\n",
                *calls, o->panes, o->withdrawals, o->merged, o->rejects, o->ops, o->questions);
}

static void every_allocation_fails(void) {
    make_batches();
    for (int i = 0; i < PIPELINES; i++) {
        output want, got;
        uint64_t calls, made, refused = 0;
        int failures = test_failures;
        test_name = pipelines[i].name;
        runs_without_failing(&pipelines[i], &want, &calls);
        for (uint64_t n = 1; n <= 2 * calls && test_failures == failures; n++) {
            int outcome = run(&pipelines[i], (n + 1) / 2, n % 2 == 0, &got, &made);
            refused += outcome == REFUSED;
            if (outcome == DONE) CHECK_INT(got.digest, want.digest);
            if (test_failures > failures)
                fprintf(stderr, "  allocation %" PRIu64 " of %" PRIu64 "%s\n", (n + 1) / 2, calls,
                        n % 2 ? " and all after it" : "");
        }
        CHECK(refused > calls);
    }
}

static const test_case cases[] = {
    {"every allocation fails", every_allocation_fails},
};
TEST_MAIN(cases)
