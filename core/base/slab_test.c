/* Entries under small numbers: random takes and gives against a plain list of who is there. */
#include "base/slab.h"

#include "base/test.h"
#include "base/test_random.h"

enum { MANY = 1000, STEPS = 30000, BYTES = 24 };

static uint32_t there[MANY];
static size_t count;

static void write_entry(const ln_slab *s, uint32_t id) { memset(ln_slab_at(s, id), (int)(id % 251 + 1), BYTES); }

static int is_whole(const ln_slab *s, uint32_t id) {
    const uint8_t *p = ln_slab_at(s, id);
    for (int i = 0; i < BYTES; i++)
        if (p[i] != id % 251 + 1) return 0;
    return 1;
}

static int take(ln_slab *s) {
    static const uint8_t zeros[BYTES];
    uint32_t id = ln_slab_take(s);
    if (id == LN_SLAB_NONE) return 0;
    CHECK(memcmp(ln_slab_at(s, id), zeros, BYTES) == 0);
    write_entry(s, id);
    there[count++] = id;
    return 1;
}

static void give(ln_slab *s, size_t i) {
    ln_slab_give(s, there[i]);
    CHECK(!ln_slab_holds(s, there[i]));
    there[i] = there[--count];
}

/* Walking finds each that is there, once, in rising order. */
static int is_same(const ln_slab *s) {
    size_t walked = 0;
    int ok = CHECK_INT(s->live, count);
    uint32_t before = 0;
    for (size_t i = 0; i < count && ok; i++) ok = CHECK(ln_slab_holds(s, there[i])) && CHECK(is_whole(s, there[i]));
    for (uint32_t id = 0; (id = ln_slab_next(s, id)) != LN_SLAB_NONE; before = id++, walked++)
        ok = ok && CHECK(walked == 0 || id > before) && CHECK(ln_slab_holds(s, id));
    return ok && CHECK_INT(walked, count);
}

static void random_steps(void) {
    for (uint64_t seed = 0; seed < 4; seed++) {
        test_random r = {seed};
        test_mem t;
        ln_slab s;
        ln_slab_init(&s, test_mem_init(&t, SIZE_MAX / 2), BYTES);
        count = 0;
        for (int i = 0; i < STEPS; i++) {
            int more = test_random_below(&r, 8) < (i / 3000 % 2 ? 2u : 6u); /* tides */
            if (more && count < MANY) CHECK(take(&s));
            else if (count) give(&s, test_random_below(&r, (uint32_t)count));
            if (i % 64 == 0 && !is_same(&s)) break;
        }
        while (count) give(&s, count - 1);
        is_same(&s);
        CHECK(t.mem.used < 64 * 1024); /* spare chunks do not count, the list of chunks does */
        ln_slab_free(&s);
        CHECK_INT(t.held, 0);
        CHECK_INT(t.mem.used, 0);
    }
}

/* The lowest vacant number of a chunk that is in use comes before those of an empty one. */
static void numbers_stay_together(void) {
    test_mem t;
    ln_slab s;
    ln_slab_init(&s, test_mem_init(&t, SIZE_MAX / 2), BYTES);
    count = 0;
    for (int i = 0; i < 3 * LN_SLAB_CHUNK; i++) CHECK(take(&s));
    for (int i = 0; i < LN_SLAB_CHUNK; i++) ln_slab_give(&s, (uint32_t)i); /* the first chunk is empty now */
    ln_slab_give(&s, 2 * LN_SLAB_CHUNK + 5);
    CHECK_INT(ln_slab_take(&s), 2 * LN_SLAB_CHUNK + 5);
    CHECK_INT(ln_slab_take(&s), 0);
    ln_slab_free(&s);
    CHECK_INT(t.held, 0);
}

/* What is kept for later is bounded: the rest goes back at once. */
static void memory_goes_back(void) {
    enum { ENTRY = 4096, ENTRIES = 4000 };
    test_mem t;
    ln_slab s;
    ln_slab_init(&s, test_mem_init(&t, SIZE_MAX / 2), ENTRY);
    for (int i = 0; i < ENTRIES; i++) CHECK(ln_slab_take(&s) != LN_SLAB_NONE);
    for (uint32_t i = 0; i < ENTRIES; i++) ln_slab_give(&s, i);
    CHECK(t.held <= LN_MEM_KEPT_MAX + 64 * 1024);
    ln_slab_free(&s);
    CHECK_INT(t.held, 0);
}

static void memory_runs_out(void) {
    test_mem t;
    ln_slab s;
    uint64_t refused = 0;
    ln_slab_init(&s, test_mem_init(&t, SIZE_MAX / 2), BYTES);
    count = 0;
    while (count < MANY) {
        t.fail_at = t.calls + 1;
        while (!take(&s)) {
            refused++;
            is_same(&s);
            t.fail_at = t.fail_at == t.calls ? t.calls + 2 : 0;
        }
        t.fail_at = 0;
    }
    CHECK(refused > MANY / LN_SLAB_CHUNK);
    is_same(&s);
    ln_slab_free(&s);
    CHECK_INT(t.held, 0);
}

/* Entries come back under the numbers that they had, and the vacant ones between them are handed out. */
static void numbers_that_were_there(void) {
    static const uint32_t had[] = {3, 64, 65, 700};
    test_mem t;
    ln_slab s;
    ln_slab_init(&s, test_mem_init(&t, SIZE_MAX / 2), BYTES);
    count = 0;
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT(ln_slab_take_at(&s, had[i]), had[i]);
        write_entry(&s, had[i]);
        there[count++] = had[i];
    }
    is_same(&s);
    for (int i = 0; i < 900; i++) CHECK(take(&s));
    is_same(&s);
    while (count) give(&s, count - 1);
    ln_slab_free(&s);
    CHECK_INT(t.held, 0);
}

static const test_case cases[] = {
    {"random steps", random_steps},
    {"numbers stay together", numbers_stay_together},
    {"numbers that were there", numbers_that_were_there},
    {"memory goes back", memory_goes_back},
    {"memory runs out", memory_runs_out},
};
TEST_MAIN(cases)
