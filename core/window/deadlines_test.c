/* Windows that wait for W: random filings, growing ends, removals and moves of W against a sort of all that wait. */
#include "window/deadlines.h"

#include "base/test.h"
#include "base/test_random.h"

enum { CELLS = 400, STEPS = 6000 };

static ln_mem slab_mem;
static ln_slab slab;
static ln_cell *cells[CELLS];
static uint64_t ages;

static ln_cell *make_cell(void) {
    uint32_t id = ln_slab_take(&slab);
    ln_cell *c;
    if (id == LN_SLAB_NONE) abort();
    c = ln_slab_at(&slab, id);
    c->id = id;
    return c;
}

static void make_cells(void) {
    ln_mem_init(&slab_mem);
    ln_slab_init(&slab, &slab_mem, sizeof(ln_cell));
    for (int i = 0; i < CELLS; i++) cells[i] = make_cell();
}

static void free_cells(void) { ln_slab_free(&slab); }

static int waits(const ln_cell *c) { return c->bucket != NULL; }

static int comes_before(const ln_cell *a, const ln_cell *b) {
    if (a->end_us != b->end_us) return a->end_us < b->end_us;
    return a->start_us < b->start_us; /* which of two alike comes first is nobody's business: no key has both */
}

/* Readies the wheel, in pieces, and gives what is due. */
static ln_cell *due(ln_deadlines *d, int64_t upto_us, int *failed) {
    uint32_t work;
    int done;
    do {
        work = 2;
        done = ln_deadlines_turn(d, upto_us, &work);
        CHECK(done != 0 || work == 0);
    } while (done == 0);
    *failed |= done < 0;
    for (;;) {
        ln_cell *c = ln_deadlines_due(d, upto_us, failed);
        if (c || *failed || !ln_deadlines_turns(d, upto_us)) return c;
        work = UINT32_MAX;
        *failed |= ln_deadlines_turn(d, upto_us, &work) < 0;
    }
}

/* Of all that wait for an end up to there, the first. */
static ln_cell *first_due(int64_t upto_us) {
    ln_cell *best = NULL;
    for (int i = 0; i < CELLS; i++) {
        ln_cell *c = cells[i];
        if (waits(c) && c->end_us <= upto_us && (!best || comes_before(c, best))) best = c;
    }
    return best;
}

static int64_t least_end(void) {
    int64_t least = INT64_MAX;
    for (int i = 0; i < CELLS; i++)
        if (waits(cells[i]) && cells[i]->end_us < least) least = cells[i]->end_us;
    return least;
}

static int is_sound(const ln_deadlines *d) {
    const char *wrong = ln_deadlines_verify(d);
    return CHECK_TEXT(wrong, "") && CHECK(ln_deadlines_next(d) <= least_end());
}

/* On a grid a window's end tells its start, and windows come in the order of their ages; otherwise neither holds. */
static void file(ln_deadlines *d, test_random *r, ln_cell *c, int64_t now_us, int64_t spread) {
    c->end_us = now_us - 4 + test_random_between(r, 0, spread) / 5 * 5; /* some are due at once */
    c->start_us = c->end_us - (d->mixed_starts ? test_random_between(r, 1, 20) : 20);
    c->age = ++ages;
    CHECK_INT(ln_deadlines_add(d, c), 0);
    CHECK(waits(c) && c->bucket->owner == d);
}

/* W moves there: all that are due come in order, or some of them, when the move is cut. */
static int pass(ln_deadlines *d, test_random *r, int64_t upto_us) {
    int failed = 0, ok = 1;
    for (;;) {
        ln_cell *c = due(d, upto_us, &failed);
        const ln_cell *best;
        if (test_random_below(r, 16) == 0) return ok;
        best = first_due(upto_us);
        ok = CHECK(c == best || (c && best && !comes_before(best, c)));
        if (!c || !ok) break;
        ok = CHECK(due(d, upto_us, &failed) == c); /* it stays filed */
        ln_deadlines_remove(c);
        if (test_random_below(r, 8) == 0) file(d, r, c, upto_us + 5, 50); /* waits once more */
    }
    CHECK(!failed);
    CHECK(ln_deadlines_next(d) > upto_us);
    return ok;
}

static void run(uint64_t seed, int mixed, int wheel, int64_t spread) {
    test_random r = {seed};
    test_mem t;
    ln_deadlines d;
    int64_t now_us = -1000;
    int ok = 1;
    make_cells();
    ln_deadlines_init(&d, test_mem_init(&t, SIZE_MAX / 2), &t.mem, &slab, mixed, wheel ? spread : 0);
    ages = 0;
    for (int i = 0; i < STEPS && ok; i++) {
        ln_cell *c = cells[test_random_below(&r, CELLS)];
        if (!waits(c)) file(&d, &r, c, now_us, spread);
        else if (test_random_below(&r, 3) == 0) ln_deadlines_remove(c);
        else if (mixed && test_random_below(&r, 2)) c->end_us += test_random_below(&r, 30); /* grows where it is */
        if (i % 7 == 0) ok = is_sound(&d);
        if (test_random_below(&r, 40)) continue;
        now_us += test_random_between(&r, 0, spread / 3);
        ok &= pass(&d, &r, now_us);
    }
    for (int i = 0; i < 3; i++) ok &= pass(&d, &r, now_us + i * spread);
    for (int i = 0; i < CELLS; i++)
        if (waits(cells[i])) ln_deadlines_remove(cells[i]);
    is_sound(&d);
    ln_deadlines_free(&d);
    free_cells();
    CHECK_INT(t.held, 0);
    CHECK_INT(t.mem.used, 0);
    if (!ok) fprintf(stderr, "  seed %" PRIu64 "\n", seed);
}

static void random_steps(void) {
    static const int64_t spreads[] = {4, 30, 300, 100000};
    for (uint64_t i = 0; i < 16; i++) run(i, i % 2 == 1, i % 4 > 1, spreads[i / 4]);
}

/* Ends at both ends of the range, and one that all share. */
static void extreme_ends_with(int wheel) {
    static const int64_t ends[] = {INT64_MAX, INT64_MIN + 1, INT64_MAX - 1, 0, INT64_MAX};
    ln_mem mem;
    ln_deadlines d;
    int failed = 0;
    make_cells();
    ln_mem_init(&mem);
    ln_deadlines_init(&d, &mem, &mem, &slab, 1, wheel);
    CHECK_INT(ln_deadlines_next(&d), INT64_MAX);
    CHECK(!due(&d, INT64_MAX, &failed));
    for (int i = 0; i < 5; i++) {
        cells[i]->end_us = ends[i];
        cells[i]->start_us = -i;
        CHECK_INT(ln_deadlines_add(&d, cells[i]), 0);
    }
    CHECK_INT(ln_deadlines_next(&d), INT64_MIN + 1);
    for (int i = 0; i < 5; i++) {
        static const int order[] = {1, 3, 2, 4, 0};
        ln_cell *c = due(&d, INT64_MAX, &failed);
        if (CHECK(c == cells[order[i]])) ln_deadlines_remove(c);
    }
    CHECK(!due(&d, INT64_MAX, &failed));
    ln_deadlines_free(&d);
    CHECK_INT(mem.used, 0);
    free_cells();
}

static void extreme_ends(void) {
    extreme_ends_with(0);
    extreme_ends_with(1);
}

static void memory_runs_out(void) {
    test_mem t;
    ln_deadlines d;
    uint64_t refused = 0;
    int failed = 0;
    make_cells();
    ln_deadlines_init(&d, test_mem_init(&t, SIZE_MAX / 2), &t.mem, &slab, 1, 0);
    for (int i = 0; i < CELLS; i++) {
        cells[i]->end_us = 1 + i * 7 % CELLS;
        for (uint64_t n = 1; n <= 4 && !waits(cells[i]); n++) {
            t.fail_at = t.calls + n;
            if (ln_deadlines_add(&d, cells[i]) < 0) refused++;
        }
        t.fail_at = 0;
        CHECK(waits(cells[i]));
        is_sound(&d);
    }
    CHECK(refused >= CELLS);
    /* An end that has grown is filed anew when it is due, and for that there may be no memory. */
    cells[0]->end_us = 1000;
    t.fail_at = 1;
    CHECK(!due(&d, 1, &failed));
    CHECK(failed);
    t.fail_at = 0;
    ln_deadlines_free(&d);
    CHECK_INT(t.held, 0);
    free_cells();
}

/* Many ends at once, and few again: the memory for them comes and goes. */
static void memory_follows(void) {
    enum { MANY = 4000 };
    test_mem t;
    ln_deadlines d;
    size_t most;
    int failed = 0;
    ln_cell *many[MANY];
    make_cells();
    for (int i = 0; i < MANY; i++) many[i] = make_cell();
    ln_deadlines_init(&d, test_mem_init(&t, SIZE_MAX / 2), &t.mem, &slab, 0, 0);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MANY; i++) {
            many[i]->end_us = i * 7919 % MANY;
            CHECK_INT(ln_deadlines_add(&d, many[i]), 0);
        }
        most = t.held;
        for (int i = 0; i < MANY; i++) {
            ln_cell *c = due(&d, i, &failed);
            if (!CHECK(c && c->end_us == i)) break;
            ln_deadlines_remove(c);
            if (i % 100 == 0) CHECK_TEXT(ln_deadlines_verify(&d), "");
        }
        CHECK(!due(&d, MANY, &failed));
        ln_deadlines_trim(&d);
        CHECK(t.mem.used < most / 10); /* what a pool keeps does not count */
    }
    ln_deadlines_free(&d);
    CHECK_INT(t.held, 0);
    free_cells();
}

static void disorder_is_seen(void) {
    ln_mem mem;
    ln_deadlines d;
    make_cells();
    ln_mem_init(&mem);
    ln_deadlines_init(&d, &mem, &mem, &slab, 1, 0);
    for (int i = 0; i < 3; i++) {
        cells[i]->end_us = 5;
        CHECK_INT(ln_deadlines_add(&d, cells[i]), 0);
    }
    CHECK_TEXT(ln_deadlines_verify(&d), "");
    cells[1]->end_us = 4;
    CHECK_TEXT(ln_deadlines_verify(&d), "a window waits past its end");
    cells[1]->end_us = 5;
    d.link[cells[1]->id].before = LN_SLAB_NONE;
    CHECK_TEXT(ln_deadlines_verify(&d), "a bucket's list is torn");
    ln_deadlines_free(&d);
    free_cells();
}

static const test_case cases[] = {
    {"random steps", random_steps},     {"extreme ends", extreme_ends},         {"memory runs out", memory_runs_out},
    {"memory follows", memory_follows}, {"disorder is seen", disorder_is_seen},
};
TEST_MAIN(cases)
