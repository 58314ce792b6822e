/* Time arithmetic against the same in 128 bits, with the ends of the range in every place. */
#include "base/instant.h"
#include "base/test.h"
#include "base/test_random.h"

enum { ROUNDS = 100000 };

static const int64_t edges[] = {
    LN_PAST, LN_TIME_MIN, LN_TIME_MIN + 1, -1000001, -1000000, -999999,         -7,          -2,        -1, 0, 1,
    2,       7,           999999,          1000000,  1000001,  LN_TIME_MAX - 1, LN_TIME_MAX, LN_FUTURE,
};
enum { EDGES = sizeof edges / sizeof *edges };

/* An edge or any number. */
static int64_t some(test_random *r) {
    return test_random_below(r, 2) ? edges[test_random_below(r, EDGES)] : test_random_wide(r);
}

static int64_t some_finite(test_random *r) { return ln_time_clamp(some(r)); }

static int64_t some_positive(test_random *r) {
    int64_t n = some(r);
    if (test_random_below(r, 2)) n %= 1000;
    return n > 0 ? n : n < -1 ? -(n + 1) : 1;
}

static __int128 floor_of(__int128 a, __int128 b) {
    __int128 q = a / b;
    while (q * b > a) q--;
    return q;
}

static int64_t cut(__int128 t) { return t < LN_TIME_MIN ? LN_TIME_MIN : t > LN_TIME_MAX ? LN_TIME_MAX : (int64_t)t; }

static void sums(void) {
    test_random r = {1};
    for (int i = 0; i < ROUNDS; i++) {
        int64_t t = some(&r), d = some(&r);
        int infinite = t == LN_PAST || t == LN_FUTURE;
        int ok = CHECK_INT(ln_time_add(t, d), infinite ? t : cut((__int128)t + d));
        ok &= CHECK_INT(ln_time_sub(t, d), infinite ? t : cut((__int128)t - d));
        ok &= CHECK_INT(ln_time_clamp(t), cut(t));
        if (!ok) fprintf(stderr, "  t = %" PRId64 ", d = %" PRId64 "\n", t, d);
    }
    CHECK_INT(ln_time_add(LN_TIME_MAX, 1), LN_TIME_MAX);
    CHECK_INT(ln_time_add(LN_TIME_MIN, -1), LN_TIME_MIN);
    CHECK_INT(ln_time_sub(0, INT64_MIN), LN_TIME_MAX);
    CHECK_INT(ln_time_sub(LN_TIME_MIN, INT64_MIN), 1);
    CHECK_INT(ln_time_sub(LN_FUTURE, LN_FUTURE), LN_FUTURE);
    CHECK_INT(ln_time_add(LN_PAST, LN_FUTURE), LN_PAST);
}

static void divisions(void) {
    test_random r = {2};
    for (int i = 0; i < ROUNDS; i++) {
        int64_t a = some(&r), b = some_positive(&r);
        int ok = CHECK_INT(ln_floor_div(a, b), floor_of(a, b));
        ok &= CHECK_INT(ln_floor_mod(a, b), a - floor_of(a, b) * b);
        if (!ok) fprintf(stderr, "  a = %" PRId64 ", b = %" PRId64 "\n", a, b);
    }
    CHECK_INT(ln_floor_div(-1, 1000), -1);
    CHECK_INT(ln_floor_mod(-1, 1000), 999);
    CHECK_INT(ln_floor_div(-1000, 1000), -1);
    CHECK_INT(ln_floor_mod(-1000, 1000), 0);
}

static void points_of_a_grid(void) {
    test_random r = {3};
    for (int i = 0; i < ROUNDS; i++) {
        int64_t t = some_finite(&r), step = some_positive(&r), offset = ln_floor_mod(some(&r), step);
        __int128 want = floor_of((__int128)t - offset, step) * step + offset;
        if (!CHECK(ln_grid_floor(t, step, offset) == want))
            fprintf(stderr, "  t = %" PRId64 ", step = %" PRId64 ", offset = %" PRId64 "\n", t, step, offset);
    }
    CHECK(ln_grid_floor(9, 10, 0) == 0);
    CHECK(ln_grid_floor(10, 10, 0) == 10);
    CHECK(ln_grid_floor(2, 10, 3) == -7);
    CHECK(ln_grid_floor(3, 10, 3) == 3);
    CHECK(ln_grid_floor(-8, 10, 3) == -17);
    CHECK(ln_grid_floor(LN_TIME_MIN, 10, 0) == (__int128)LN_TIME_MIN - 3);
    CHECK(ln_grid_floor(LN_TIME_MAX, INT64_MAX, 0) == 0);
}

/* Looks at each multiple near (from, to]. */
static int crosses_one(int64_t period, int64_t from, int64_t to) {
    for (int64_t k = -50; k <= 50; k++)
        if (from < k * period && k * period <= to) return 1;
    return 0;
}

static void multiples_in_a_move(void) {
    test_random r = {4};
    for (int i = 0; i < ROUNDS; i++) {
        int64_t period = test_random_between(&r, 1, 9), from = test_random_between(&r, -40, 40);
        int64_t to = from + test_random_between(&r, 0, 12);
        if (!CHECK_INT(ln_time_crosses(period, from, to), crosses_one(period, from, to)))
            fprintf(stderr, "  period %" PRId64 " in (%" PRId64 ", %" PRId64 "]\n", period, from, to);
    }
    CHECK(!ln_time_crosses(1, LN_PAST, 0));
    CHECK(!ln_time_crosses(1, 0, LN_FUTURE));
    CHECK(!ln_time_crosses(1, LN_PAST, LN_FUTURE));
    CHECK(ln_time_crosses(1, LN_TIME_MIN, LN_TIME_MAX));
    CHECK(!ln_time_crosses(INT64_MAX, 1, LN_TIME_MAX));
    CHECK(ln_time_crosses(INT64_MAX, -1, LN_TIME_MAX));
    CHECK(ln_time_crosses(1, LN_TIME_MAX - 1, LN_TIME_MAX));
}

static const test_case cases[] = {
    {"sums", sums},
    {"divisions", divisions},
    {"points of a grid", points_of_a_grid},
    {"multiples in a move", multiples_in_a_move},
};
TEST_MAIN(cases)
