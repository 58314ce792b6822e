/* Numbers by their hashes: random comings and goings against a plain list, with hashes good and bad, and with memory
 * that runs out; and what is found does not depend on how parts were split. */
#include "base/index.h"

#include "base/test.h"
#include "base/test_random.h"

enum { MANY = 20000, STEPS = 120000 };

static uint32_t hashes[MANY], words[MANY];
static uint8_t there[MANY];
static size_t count;

static const uint32_t *word_of(const void *ctx, uint32_t number) {
    return ctx ? &hashes[number] : &words[number]; /* without tags hashes are made of words */
}

enum { GOOD = 0, ONE_OF_FIVE, SAME_DIRECTORY, SAME_HOME, KINDS };

/* Five hashes for all; or such as differ in the bits alone that the directory, or the place in a part, goes by. */
static void choose_hashes(test_random *r, int kind, int tagged) {
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t hash = (uint32_t)test_random_next(r);
        if (kind == ONE_OF_FIVE) hash = UINT32_MAX - hash % 5;
        if (kind == SAME_DIRECTORY) hash &= ~(UINT32_MAX >> LN_INDEX_BITS);
        if (kind == SAME_HOME) hash |= ~(UINT32_MAX >> LN_INDEX_BITS);
        words[i] = hash;
        hashes[i] = tagged ? hash : ln_index_spread(hash);
    }
}

/* By tags, or slot by slot. */
static int find(const ln_index *x, uint32_t number) {
    ln_index_search s = {0};
    uint32_t found;
    if (!x->tagged && x->part) {
        const ln_index_part *p = ln_index_of(x, hashes[number]);
        for (uint32_t i = ln_index_home(p, hashes[number]); p->slot[i]; i = (i + 1) & p->mask)
            if (p->slot[i] == number + 1) return 1;
    }
    if (!x->tagged) return 0;
    s = ln_index_begin(x, hashes[number]);
    while ((found = ln_index_next(&s)) != LN_INDEX_NONE)
        if (found == number) return 1;
    return 0;
}

static int is_same(const ln_index *x, uint32_t numbers) {
    int ok = CHECK_INT(x->count, count);
    for (uint32_t i = 0; i < numbers && ok; i++) ok = CHECK_INT(find(x, i), there[i]);
    return ok;
}

static void come(ln_index *x, uint32_t number) {
    CHECK_INT(ln_index_add(x, hashes[number], number), 0);
    there[number] = 1;
    count++;
}

static void go(ln_index *x, uint32_t number) {
    ln_index_remove(x, hashes[number], number);
    there[number] = 0;
    count--;
}

static void begin(ln_index *x, test_mem *t, int tagged) {
    ln_index_init(x, test_mem_init(t, SIZE_MAX / 2), word_of, tagged ? x : NULL, tagged);
    memset(there, 0, sizeof there);
    count = 0;
}

static void random_steps(void) {
    for (int run = 0; run < 2 * KINDS; run++) {
        int kind = run / 2, tagged = run % 2;
        test_random r = {(uint64_t)run};
        test_mem t;
        ln_index x;
        uint32_t numbers = kind == GOOD ? MANY : 500;
        choose_hashes(&r, kind, tagged);
        begin(&x, &t, tagged);
        for (int i = 0; i < STEPS; i++) {
            uint32_t number = test_random_below(&r, numbers);
            int more = test_random_below(&r, 8) < (i / 30000 % 2 ? 1u : 7u); /* tides: parts split and join */
            if (more && !there[number]) come(&x, number);
            else if (!more && there[number]) go(&x, number);
            if (i % 4000 == 0 && !is_same(&x, numbers)) break;
            if (i % 4000 == 0) CHECK_INT(x.bytes, t.held);
        }
        for (uint32_t i = 0; i < numbers; i++)
            if (there[i]) go(&x, i);
        is_same(&x, numbers);
        CHECK(t.held < 4096); /* and the directory has become small again */
        come(&x, 3);
        is_same(&x, numbers);
        ln_index_free(&x);
        CHECK_INT(t.held, 0);
        CHECK_INT(t.mem.used, 0);
    }
}

/* However many there are: what one more number asks for at once, and how often, is bounded. */
static void grows_by_parts(void) {
    test_random r = {7};
    test_mem t;
    ln_index x;
    size_t most = 0, guessed = 0;
    choose_hashes(&r, GOOD, 1);
    begin(&x, &t, 1);
    for (uint32_t i = 0; i < MANY; i++) {
        size_t had = t.held;
        uint64_t calls = t.calls;
        come(&x, i);
        if (t.held > had && t.held - had > most) most = t.held - had;
        CHECK(t.calls - calls <= 8);
    }
    CHECK(most < 32768);
    is_same(&x, MANY);
    for (uint32_t i = 0; i < MANY; i++) guessed += ln_index_likely(&x, hashes[i]) == i;
    CHECK(guessed > MANY * 85 / 100);
    CHECK(t.held < MANY * 14); /* three eighths full at the least, taken together */
    ln_index_clear(&x);
    CHECK_INT(x.bytes, t.held);
    memset(there, 0, sizeof there);
    count = 0;
    is_same(&x, MANY);
    come(&x, 5);
    is_same(&x, MANY);
    ln_index_free(&x);
    CHECK_INT(t.held, 0);
}

/* Hashes that are all alike do not make the directory large. */
static void bad_hashes(void) {
    test_random r = {9};
    test_mem t;
    ln_index x;
    choose_hashes(&r, SAME_DIRECTORY, 1);
    begin(&x, &t, 1);
    for (uint32_t i = 0; i < MANY; i++) come(&x, i);
    is_same(&x, MANY);
    CHECK(t.held < MANY * 20);
    for (uint32_t i = 0; i < MANY; i++) go(&x, i);
    is_same(&x, MANY);
    ln_index_free(&x);
    CHECK_INT(t.held, 0);
}

/* A number that could not be added is not there, and all others are; removing takes no memory. */
static void memory_runs_out(void) {
    test_random r = {11};
    test_mem t;
    ln_index x;
    uint64_t refused = 0;
    choose_hashes(&r, GOOD, 1);
    begin(&x, &t, 1);
    for (uint32_t i = 0; i < MANY; i++) {
        for (uint64_t n = 1; n <= 4 && !there[i]; n++) {
            t.fail_at = t.calls + n;
            if (ln_index_add(&x, hashes[i], i) == 0) {
                there[i] = 1;
                count++;
                continue;
            }
            refused++;
            CHECK_INT(x.count, count);
            CHECK(!find(&x, i));
        }
        t.fail_at = 0;
        if (!there[i]) come(&x, i);
        if (i % 1000 == 0) is_same(&x, MANY);
    }
    CHECK(refused > 15);
    is_same(&x, MANY);
    t.fail_at = 1;
    for (uint32_t i = 0; i < MANY; i++) go(&x, i);
    is_same(&x, MANY);
    ln_index_free(&x);
    CHECK_INT(t.held, 0);
}

static const test_case cases[] = {
    {"random steps", random_steps},
    {"grows by parts", grows_by_parts},
    {"bad hashes", bad_hashes},
    {"memory runs out", memory_runs_out},
};
TEST_MAIN(cases)
