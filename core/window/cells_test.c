/* Windows of a key in order: random insertions, removals and searches against a plain sorted array. */
#include "window/cells.h"

#include "base/test.h"
#include "base/test_random.h"

enum { SPANS = 2000 };

typedef struct model {
    ln_span *item[SPANS];
    uint32_t count;
} model;

static ln_span spans[SPANS];
static uint8_t inside[SPANS];

static int before(const ln_span *a, const ln_span *b) {
    return a->start_us < b->start_us || (a->start_us == b->start_us && a->end_us < b->end_us);
}

/* How many are before this one, counted one by one. */
static uint32_t rank_of(const model *m, const ln_span *s) {
    uint32_t n = 0;
    while (n < m->count && before(m->item[n], s)) n++;
    return n;
}

static int is_same(const ln_cells *c, const model *m) {
    int ok = CHECK_INT(c->count, m->count);
    for (uint32_t i = 0; ok && i < m->count; i++) ok = CHECK(ln_cells_span(c, i) == m->item[i]);
    return ok;
}

static void add(ln_cells *c, ln_mem *mem, model *m, ln_span *s) {
    uint32_t rank = rank_of(m, s), at = 99;
    CHECK(!ln_cells_find(c, s->start_us, s->end_us, &at));
    CHECK_INT(at, rank);
    CHECK_INT(ln_cells_search(c, s->start_us, s->end_us), rank);
    CHECK_INT(ln_cells_insert(c, mem, at, s), 0);
    memmove(m->item + rank + 1, m->item + rank, (m->count - rank) * sizeof *m->item);
    m->item[rank] = s;
    m->count++;
    CHECK(ln_cells_find(c, s->start_us, s->end_us, &at) == s);
    CHECK_INT(at, rank);
    inside[s - spans] = 1;
}

static void take(ln_cells *c, ln_mem *mem, model *m, uint32_t at) {
    inside[m->item[at] - spans] = 0;
    ln_cells_remove(c, mem, at);
    m->count--;
    memmove(m->item + at, m->item + at + 1, (m->count - at) * sizeof *m->item);
    /* Memory follows the number of windows down as well. */
    CHECK(c->cap <= 16 || c->count >= c->cap / 8);
}

static void search_beside(const ln_cells *c, const model *m, const ln_span *s) {
    for (int64_t d = -1; d <= 1; d++) {
        ln_span probe = {s->start_us, s->end_us + d};
        uint32_t at, rank = rank_of(m, &probe);
        int there =
            rank < m->count && m->item[rank]->start_us == probe.start_us && m->item[rank]->end_us == probe.end_us;
        CHECK_INT(ln_cells_search(c, probe.start_us, probe.end_us), rank);
        CHECK(ln_cells_find(c, probe.start_us, probe.end_us, &at) == (there ? m->item[rank] : NULL));
        CHECK_INT(at, rank);
    }
    CHECK_INT(ln_cells_search(c, INT64_MIN, INT64_MIN), 0);
    CHECK_INT(ln_cells_search(c, INT64_MAX, INT64_MAX), m->count);
}

/* Grows to `most` windows and shrinks again, in a mood: what is added is anything (0), mostly the newest (1) or the
 * oldest (2), and what is removed likewise. */
static void run(uint64_t seed, uint32_t most, uint32_t adds, uint32_t removes) {
    static model m;
    test_random r = {seed};
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    ln_cells c = {0};
    uint32_t next = SPANS / 2, first = SPANS / 2;
    int growing = 1;
    m.count = 0;
    memset(inside, 0, sizeof inside);
    for (int i = 0; i < 6000; i++) {
        uint32_t pick = test_random_below(&r, SPANS);
        if (adds == 1 && test_random_below(&r, 10)) pick = next++ % SPANS;
        if (adds == 2 && test_random_below(&r, 10)) pick = first-- % SPANS;
        if (test_random_below(&r, 4) == (growing ? 0u : 1u) && m.count) {
            uint32_t at = test_random_below(&r, m.count);
            if (removes == 1 && test_random_below(&r, 10)) at = m.count - 1;
            if (removes == 2 && test_random_below(&r, 10)) at = 0;
            take(&c, mem, &m, at);
        } else if (growing && !inside[pick]) {
            add(&c, mem, &m, &spans[pick]);
        }
        if (m.count == most || m.count == 0) growing = m.count == 0;
        search_beside(&c, &m, &spans[pick]);
        if (i % 8 == 0 && !is_same(&c, &m)) return;
    }
    is_same(&c, &m);
    while (m.count) take(&c, mem, &m, test_random_below(&r, m.count));
    CHECK_INT(t.held, 0);
    CHECK_INT(mem->used, 0);
}

static void make_spans(void) {
    for (int i = 0; i < SPANS; i++) spans[i] = (ln_span){10 * (i / 3) - 3000, 10 * (i / 3) - 3000 + 5 * (i % 3 + 1)};
}

static void random_steps(void) {
    static const uint32_t sizes[] = {2, 3, 9, 70, 600};
    make_spans();
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t mood = 0; mood < 9; mood++) run(i * 9 + mood, sizes[i], mood / 3, mood % 3);
}

/* The windows of a long run on a grid: the newest comes, the oldest goes, and memory stays what it was. It is seldom
 * that no room is left behind the newest, since then all others must move. */
static void a_long_queue(void) {
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    ln_cells c = {0};
    int full = 0;
    make_spans();
    for (uint32_t i = 0; i < 100000; i++) {
        CHECK_INT(ln_cells_insert(&c, mem, c.count, &spans[i % SPANS]), 0);
        full += c.head + c.count == c.cap;
        if (c.count > 100) ln_cells_remove(&c, mem, 0);
        if (i >= 100 && i % 97 == 0)
            for (uint32_t k = 0; k < 100; k++) CHECK(ln_cells_span(&c, k) == &spans[(i - 99 + k) % SPANS]);
    }
    CHECK(c.cap <= 256);
    CHECK(full < 100000 / 25);
    ln_cells_free(&c, mem);
    CHECK_INT(t.held, 0);
}

/* A window that finds no room leaves the others as they are. */
static void memory_runs_out(void) {
    static model m;
    test_random r = {7};
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    ln_cells c = {0};
    uint32_t refused = 0;
    make_spans();
    m.count = 0;
    memset(inside, 0, sizeof inside);
    for (int i = 0; i < 300; i++) {
        ln_span *s = &spans[test_random_below(&r, SPANS)];
        if (inside[s - spans]) continue;
        t.fail_at = t.calls + 1;
        if (ln_cells_insert(&c, mem, rank_of(&m, s), s) < 0) {
            refused++;
            t.fail_at = 0;
            is_same(&c, &m);
            add(&c, mem, &m, s);
        } else {
            ln_cells_remove(&c, mem, rank_of(&m, s));
            is_same(&c, &m);
            t.fail_at = 0;
            add(&c, mem, &m, s);
        }
    }
    CHECK(refused >= 5);
    t.fail_at = t.calls + 1; /* nothing is needed to become fewer */
    while (m.count) {
        uint32_t at = test_random_below(&r, m.count);
        ln_cells_remove(&c, mem, at);
        m.count--;
        memmove(m.item + at, m.item + at + 1, (m.count - at) * sizeof *m.item);
        is_same(&c, &m);
    }
    CHECK_INT(t.held, 0);
}

static const test_case cases[] = {
    {"random steps", random_steps},
    {"a long queue", a_long_queue},
    {"memory runs out", memory_runs_out},
};
TEST_MAIN(cases)
