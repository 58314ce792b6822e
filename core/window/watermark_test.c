/* The watermark: random sources, silences, marks and ends against a list from which W is worked out anew each time. */
#include "window/watermark.h"

#include "base/instant.h"
#include "base/test.h"
#include "base/test_random.h"

enum { SOURCES = 60, STEPS = 4000 };

typedef struct model {
    ln_plan plan;
    struct {
        int heard, active;
        int64_t promise_us, heard_us;
    } source[SOURCES];
    uint32_t ever;             /* sources heard, those that are gone included */
    int64_t high_us, heard_us; /* of all of them */
    int64_t apart_us;          /* of the clock: no silence */
    int64_t now_us;
} model;

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static void hear(model *m, int i, int64_t t_us, int64_t mark_us, int64_t clock_us) {
    int64_t promise_us = m->plan.delay_us == INT64_MAX ? LN_PAST : ln_time_sub(t_us, m->plan.delay_us);
    promise_us = later(promise_us, mark_us);
    clock_us -= m->apart_us;
    m->ever += !m->source[i].heard;
    m->source[i].promise_us = m->source[i].heard ? later(m->source[i].promise_us, promise_us) : promise_us;
    m->source[i].heard = m->source[i].active = 1;
    m->source[i].heard_us = clock_us;
    m->high_us = later(m->high_us, m->source[i].promise_us);
    m->heard_us = later(m->heard_us, clock_us);
}

static int64_t work_out(model *m, int64_t clock_us) {
    int64_t least_us = LN_FUTURE, to_us = LN_PAST;
    uint32_t active = 0;
    clock_us -= m->apart_us;
    for (int i = 0; i < SOURCES; i++) {
        if (!m->source[i].heard) continue;
        if (m->plan.idle_us >= 0 && clock_us - m->source[i].heard_us >= m->plan.idle_us) m->source[i].active = 0;
        if (!m->source[i].active) continue;
        active++;
        if (m->source[i].promise_us < least_us) least_us = m->source[i].promise_us;
    }
    if (active) to_us = least_us;
    else if (m->ever && m->plan.advance_on_idle && m->high_us != LN_PAST)
        to_us = ln_time_add(m->high_us, clock_us - m->heard_us);
    if (m->ever >= m->plan.sources_min) m->now_us = later(m->now_us, to_us);
    return m->now_us;
}

static ln_source *source_of(ln_watermark *w, int i) {
    char name[8];
    uint32_t len = i ? (uint32_t)snprintf(name, sizeof name, "%d", i * 37) : 0;
    ln_source *s = ln_watermark_find(w, (const uint8_t *)name, len);
    return s ? s : ln_watermark_add(w, (const uint8_t *)name, len);
}

/* What came of it all: moves of W and sources that went idle, so that a run in which nothing happens is seen. */
typedef struct tally {
    int moves, idle, alone, gone;
} tally;

/* Now and then one goes, and comes back under the same name; or nobody listens for a while. */
static void disturb(ln_watermark *w, model *m, test_random *r, int64_t *clock_us, tally *seen) {
    int i = (int)test_random_below(r, SOURCES);
    if (test_random_below(r, 12) == 0 && m->source[i].heard) {
        ln_watermark_remove(w, source_of(w, i));
        m->source[i].heard = m->source[i].active = 0;
        seen->gone++;
    }
    if (test_random_below(r, 50) == 0) {
        ln_watermark_unheard(w, 700);
        m->apart_us += 700;
        *clock_us += 700;
    }
}

static int step(ln_watermark *w, model *m, test_random *r, int64_t *clock_us, tally *seen) {
    int64_t was_us = m->now_us, got_us, want_us, t_us, mark_us = LN_PAST;
    uint32_t names = *clock_us < 0 || *clock_us % 5000 < 2500 ? SOURCES : 3;
    int i = (int)test_random_below(r, names), active = 0;
    disturb(w, m, r, clock_us, seen);
    *clock_us += test_random_below(r, 4) ? test_random_below(r, 8) : test_random_below(r, 60) / 50 * 400;
    if (test_random_below(r, 5) == 0) {
        got_us = ln_watermark_clock(w, *clock_us);
    } else {
        t_us = *clock_us / 2 + test_random_between(r, -300, 300);
        if (test_random_below(r, 5) == 0) mark_us = t_us + test_random_between(r, -500, 50);
        got_us = ln_watermark_record(w, source_of(w, i), t_us, mark_us, *clock_us);
        hear(m, i, t_us, mark_us, *clock_us);
    }
    want_us = work_out(m, *clock_us);
    for (int k = 0; k < SOURCES; k++) active += m->source[k].active;
    seen->moves += want_us > was_us;
    seen->idle += (size_t)active < w->count;
    seen->alone += active == 0;
    return CHECK_INT(got_us, want_us) & CHECK_TEXT(ln_watermark_verify(w), "") & CHECK_INT(w->promises.count, active);
}

static int is_same(ln_watermark *w, const model *m) {
    int ok = 1;
    for (int i = 0; i < SOURCES && ok; i++) {
        const ln_source *s;
        if (!m->source[i].heard) continue;
        s = source_of(w, i);
        ok = CHECK(s && s->active == m->source[i].active) && CHECK_INT(s->promise_us, m->source[i].promise_us) &&
             CHECK_INT(s->heard_us, m->source[i].heard_us);
    }
    return ok;
}

static tally run(uint64_t seed, const ln_plan *plan) {
    static model m;
    test_random r = {seed};
    test_mem t;
    ln_watermark w;
    int64_t clock_us = -3000;
    tally seen = {0};
    int ok = 1;
    m = (model){.plan = *plan, .now_us = LN_PAST, .high_us = LN_PAST, .heard_us = LN_PAST};
    ln_watermark_init(&w, plan, test_mem_init(&t, SIZE_MAX / 2));
    for (int i = 0; i < STEPS && ok; i++) {
        ok = step(&w, &m, &r, &clock_us, &seen);
        if (i % 64 == 0) ok &= is_same(&w, &m);
    }
    ln_watermark_free(&w);
    CHECK_INT(t.held, 0);
    CHECK_INT(t.mem.used, 0);
    if (!ok) fprintf(stderr, "  seed %" PRIu64 "\n", seed);
    return seen;
}

static void random_steps(void) {
    for (uint64_t i = 0; i < 24; i++) {
        ln_plan plan = {
            .delay_us = i % 4 == 3 ? INT64_MAX : (int64_t)(i % 4) * 100,
            .idle_us = i % 3 == 0 ? -1 : (int64_t)(i % 3) * 150,
            .advance_on_idle = i % 2 == 1,
            .sources_min = i % 5 == 4   ? 20
                           : i % 5 == 3 ? SOURCES
                                        : 0,
            .hash_seed = i,
        };
        tally seen = run(i, &plan);
        if (plan.idle_us < 0) CHECK_INT(seen.idle, 0);
        else CHECK(seen.idle > 100 && seen.alone > 10);
        /* Where none is idle and only marks promise, W waits for a mark from each. */
        CHECK(seen.gone > 100);
        CHECK(seen.moves > 5 || (plan.idle_us < 0 && plan.delay_us == INT64_MAX));
    }
}

/* A single source, no idleness, no clock at all. */
static void one_source(void) {
    const ln_plan plan = {.delay_us = 10, .idle_us = -1};
    ln_mem mem;
    ln_watermark w;
    ln_source *s;
    ln_mem_init(&mem);
    ln_watermark_init(&w, &plan, &mem);
    CHECK_INT(ln_watermark_clock(&w, LN_PAST), LN_PAST);
    CHECK(!ln_watermark_find(&w, NULL, 0));
    s = ln_watermark_add(&w, NULL, 0);
    CHECK(ln_watermark_find(&w, NULL, 0) == s);
    CHECK_INT(ln_watermark_record(&w, s, 5, LN_PAST, LN_PAST), -5);
    CHECK_INT(ln_watermark_record(&w, s, 3, LN_PAST, LN_PAST), -5);
    CHECK_INT(ln_watermark_record(&w, s, 3, 8, LN_PAST), 8);
    CHECK_INT(ln_watermark_record(&w, s, 17, LN_PAST, LN_PAST), 8);
    CHECK_INT(ln_watermark_record(&w, s, 19, LN_PAST, LN_PAST), 9);
    CHECK_INT(ln_watermark_record(&w, s, LN_TIME_MIN, LN_PAST, LN_PAST), 9);
    CHECK_INT(ln_watermark_record(&w, s, LN_TIME_MAX, LN_PAST, LN_PAST), LN_TIME_MAX - 10);
    CHECK_INT(ln_watermark_clock(&w, 1000), LN_TIME_MAX - 10);
    ln_watermark_free(&w);
    CHECK_INT(mem.used, 0);
}

/* A source for which there is no memory is not there, and the others are as they were. */
static void memory_runs_out(void) {
    const ln_plan plan = {.idle_us = -1};
    test_mem t;
    ln_watermark w;
    uint64_t refused = 0;
    ln_watermark_init(&w, &plan, test_mem_init(&t, SIZE_MAX / 2));
    for (int i = 0; i < SOURCES; i++) {
        ln_source *s = NULL;
        for (uint64_t n = 1; !s; n++) {
            size_t had = w.count;
            t.fail_at = t.calls + n;
            s = source_of(&w, i);
            t.fail_at = 0;
            if (s) break;
            refused++;
            CHECK_INT(w.count, had);
            CHECK_TEXT(ln_watermark_verify(&w), "");
        }
        t.fail_at = 1; /* a source that is there needs none */
        CHECK_INT(ln_watermark_record(&w, s, 100 - i, LN_PAST, i), 100);
        t.fail_at = 0;
    }
    CHECK(refused >= SOURCES);
    CHECK_INT(w.count, SOURCES);
    ln_watermark_free(&w);
    CHECK_INT(t.held, 0);
}

static const test_case cases[] = {
    {"random steps", random_steps},
    {"one source", one_source},
    {"memory runs out", memory_runs_out},
};
TEST_MAIN(cases)
