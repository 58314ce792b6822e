/* Aggregates: random values, cut into pieces that are joined in a random tree, against one pass over all of them. What
 * can be exact is compared exactly. */
#include "window/test_aggregate.h"

#include "base/number.h"

#include <float.h>

static void is_count(const ln_value *got) {
    CHECK_INT(got->type, LN_INT);
    CHECK_INT(got->i, count);
}

static void counts(void) { rounds(LN_COUNT, any_value, is_count); }

/* The sum of the whole numbers, and how many are none. */
static __int128 whole_sum(int *doubles) {
    __int128 sum = 0;
    *doubles = 0;
    for (int i = 0; i < count; i++) {
        if (samples[i].v.type == LN_INT) sum += samples[i].v.i;
        else if (samples[i].v.type == LN_UINT) sum += samples[i].v.u;
        else ++*doubles;
    }
    return sum;
}

static void is_whole_sum(const ln_value *got) {
    int doubles;
    __int128 sum = whole_sum(&doubles);
    if (sum > UINT64_MAX || sum < INT64_MIN) {
        CHECK_INT(got->type, LN_DOUBLE);
        CHECK(got->d == (double)sum);
    } else {
        CHECK_INT(got->type, sum > INT64_MAX ? LN_UINT : LN_INT);
        CHECK(got->u == (uint64_t)sum);
    }
}

static const double UNIT = 0x1p-30;

/* The sum in units of 2^-30, exactly, and that of the doubles' distances from zero. */
static __int128 exact_sum(double *distance) {
    int doubles;
    __int128 sum = whole_sum(&doubles) * (1 << 30);
    *distance = 0;
    for (int i = 0; i < count; i++) {
        if (samples[i].v.type != LN_DOUBLE) continue;
        sum += (__int128)(samples[i].v.d / UNIT);
        *distance += fabs(samples[i].v.d);
    }
    return sum;
}

/* As good as compensation promises: the rounding of the result, and a second order of that of the doubles. */
static void is_near(double got, double want, double distance) {
    double most = 2 * DBL_EPSILON * fabs(want) + VALUES * DBL_EPSILON * DBL_EPSILON * distance;
    if (!CHECK(fabs(got - want) <= most)) fprintf(stderr, "  %.17g, not %.17g, beyond %g\n", got, want, most);
}

static void is_sum(const ln_value *got) {
    int doubles;
    double distance, want = (double)exact_sum(&distance) * UNIT;
    (void)whole_sum(&doubles);
    if (!doubles) {
        is_whole_sum(got);
        return;
    }
    CHECK_INT(got->type, LN_DOUBLE);
    is_near(got->d, want, distance + fabs(want));
}

static void is_avg(const ln_value *got) {
    double distance, want = (double)exact_sum(&distance) * UNIT;
    CHECK_INT(got->type, count ? LN_DOUBLE : LN_NULL);
    if (count) is_near(got->d, want / count, distance + fabs(want));
}

static void sums(void) {
    rounds(LN_SUM, whole_value, is_whole_sum);
    rounds(LN_SUM, double_value, is_sum);
    rounds(LN_SUM, number_value, is_sum);
    rounds(LN_AVG, number_value, is_avg);
    rounds(LN_AVG, whole_value, is_avg);
}

/* Sums that lose all in plain arithmetic, sums that leave 64 bits and come back, and infinite ones. */
static void sums_at_the_edge(void) {
    static const struct {
        ln_value v[4], want;
    } edge[] = {
        {{D(1), D(1e100), D(1), D(-1e100)}, D(2)},
        {{D(1e16), I(1), D(-1e16), I(1)}, D(2)},
        {{I(9007199254740993), D(-0x1p53), I(0), I(0)}, D(1)},
        {{U(UINT64_MAX), U(UINT64_MAX), D(-0x1p65), I(0)}, D(-2)},
        {{I(INT64_MAX), D(0.5), I(-INT64_MAX), I(0)}, D(0.5)},
        {{I(INT64_MAX), I(1), I(0), I(0)}, U(UINT64_C(1) << 63)},
        {{U(UINT64_MAX), I(1), I(-1), I(0)}, U(UINT64_MAX)},
        {{U(UINT64_MAX), U(UINT64_MAX), I(0), I(0)}, D(0x1p65)},
        {{I(INT64_MIN), I(-1), I(2), I(0)}, I(INT64_MIN + 1)},
        {{D(INFINITY), D(1), I(5), D(-1e308)}, D(INFINITY)},
        {{D(-INFINITY), D(1), I(5), D(1e308)}, D(-INFINITY)},
        {{D(-0.0), I(0), I(0), I(0)}, D(0)},
    };
    for (size_t i = 0; i < sizeof edge / sizeof *edge; i++) {
        test_random r = {i};
        for (int round = 0; round < 20; round++) {
            bench b;
            state s;
            ln_value got;
            bench_init(&b, LN_SUM);
            count = 4;
            for (int k = 0; k < 4; k++) samples[k] = (sample){edge[i].v[k], 0, 1, I(0)};
            if (round) in_pieces(&b, &r, &s);
            else in_one_pass(&b, &s);
            value(&b, &s, &got);
            CHECK_INT(got.type, edge[i].want.type);
            if (!CHECK(got.type == LN_DOUBLE ? got.d == edge[i].want.d : got.u == edge[i].want.u))
                fprintf(stderr, "  of sum %zu\n", i);
            bench_free(&b);
        }
    }
}

static void is_extreme(const ln_value *got, int sign) {
    const ln_value *best = NULL;
    for (int i = 0; i < count; i++)
        if (!best || ln_number_compare(&samples[i].v, best) == sign) best = &samples[i].v;
    if (!best) CHECK_INT(got->type, LN_NULL);
    else CHECK(ln_is_number(got) && ln_number_compare(got, best) == 0);
}

static void is_min(const ln_value *got) { is_extreme(got, -1); }
static void is_max(const ln_value *got) { is_extreme(got, 1); }

/* Numbers that doubles cannot tell apart. */
static ln_value close_value(test_random *r) {
    int64_t by = test_random_between(r, -2, 2);
    switch (test_random_below(r, 3)) {
    case 0: return I(INT64_MAX - 2 + by);
    case 1: return U((UINT64_C(1) << 63) + 2 + (uint64_t)by);
    default: return D(0x1p63);
    }
}

static void extremes(void) {
    rounds(LN_MIN, close_value, is_min);
    rounds(LN_MAX, close_value, is_max);
    rounds(LN_MIN, number_value, is_min);
    rounds(LN_MAX, number_value, is_max);
}

/* In two passes: the mean first. Numbers of like size, far from zero. */
static ln_value measured_value(test_random *r) {
    if (test_random_below(r, 2)) return I(1000000 + test_random_between(r, -500, 500));
    return D(1000000 + (double)test_random_between(r, -4000, 4000) / 8);
}

static double variance(void) {
    double mean = 0, squares = 0;
    for (int i = 0; i < count; i++) mean += (ln_number_double(&samples[i].v) - 1000000) / count;
    for (int i = 0; i < count; i++) {
        double distance = ln_number_double(&samples[i].v) - 1000000 - mean;
        squares += distance * distance;
    }
    return squares / (count - 1);
}

static void is_about(const ln_value *got, double want) {
    CHECK_INT(got->type, count > 1 ? LN_DOUBLE : LN_NULL);
    if (count > 1 && !CHECK(fabs(got->d - want) <= 1e-9 * want)) fprintf(stderr, "  %.17g, not %.17g\n", got->d, want);
}

static void is_variance(const ln_value *got) { is_about(got, variance()); }
static void is_stddev(const ln_value *got) { is_about(got, sqrt(variance())); }

static void moments(void) {
    rounds(LN_VARIANCE, measured_value, is_variance);
    rounds(LN_STDDEV, measured_value, is_stddev);
}

static void is_edge(const ln_value *got, int sign) {
    static const ln_value null = {.type = LN_NULL};
    const sample *best = NULL;
    for (int i = 0; i < count; i++) {
        const sample *s = &samples[i];
        int64_t d = !best                         ? sign
                    : s->time_us != best->time_us ? s->time_us - best->time_us
                                                  : (int64_t)(s->arrival - best->arrival);
        if (sign > 0 ? d > 0 : d < 0) best = s;
    }
    CHECK(same_value(got, best ? &best->v : &null));
}

static void is_first(const ln_value *got) { is_edge(got, -1); }
static void is_last(const ln_value *got) { is_edge(got, 1); }

static void edges(void) {
    rounds(LN_FIRST, any_value, is_first);
    rounds(LN_LAST, any_value, is_last);
}

/* ---- distinct ---- */

static int is_key(const ln_value *v) { return v->type != LN_MAP && v->type != LN_EXT; }

static int is_one(const ln_value *a, const ln_value *b) {
    if (ln_is_number(a) && ln_is_number(b)) return ln_number_compare(a, b) == 0;
    return same_value(a, b);
}

static int different(void) {
    int n = 0;
    for (int i = 0; i < count; i++) {
        int fresh = is_key(&samples[i].v);
        for (int k = 0; k < i && fresh; k++) fresh = !is_one(&samples[k].v, &samples[i].v);
        n += fresh;
    }
    return n;
}

static void is_distinct(const ln_value *got) {
    CHECK_INT(got->type, LN_INT);
    CHECK_INT(got->i, different());
}

static void distinct(void) { rounds(LN_DISTINCT, any_value, is_distinct); }

/* One more than the limit is an estimate, or null where the plan wants that, whichever way it came about; the limit
 * itself is still exact. */
static void distinct_at_its_limit(void) {
    test_random r = {5};
    int over = 0, exact = 0;
    for (int round = 0; round < 600; round++) {
        bench b;
        state s;
        ln_value got;
        bench_init(&b, LN_DISTINCT);
        b.spec.n = test_random_below(&r, 2);
        make_samples(&r, any_value);
        b.tally.distinct_max = (uint64_t)different();
        if (round % 2 && b.tally.distinct_max)
            b.tally.distinct_max -= 1 + test_random_below(&r, 2) % b.tally.distinct_max;
        if (round % 3) in_pieces(&b, &r, &s);
        else in_one_pass(&b, &s);
        value(&b, &s, &got);
        if ((uint64_t)different() > b.tally.distinct_max) {
            over++;
            CHECK_INT(b.tally.marks, b.spec.n ? LN_MARK_REFUSED : LN_MARK_APPROX);
            if (b.spec.n) CHECK_INT(got.type, LN_NULL);
            else is_distinct(&got); /* so few are exact there, too */
        } else {
            exact++;
            CHECK_INT(b.tally.marks, 0);
            is_distinct(&got);
        }
        /* It begins anew. */
        clear(&b, &s);
        if (b.tally.distinct_max) {
            add(&b, &s, &(sample){I(1), 0, 1, I(0)});
            value(&b, &s, &got);
            CHECK_INT(got.type, LN_INT);
            CHECK_INT(got.i, 1);
            CHECK_INT(b.tally.marks, 0);
            clear(&b, &s);
        }
        bench_free(&b);
    }
    CHECK(over > 200 && exact > 200);
}

/* ---- values that cannot be taken ---- */

/* Which types each kind takes; what it does not take is counted and changes nothing. */
static void what_is_skipped(void) {
    for (int kind = 0; kind < LN_AGGREGATE_KINDS; kind++) {
        int numbers_only =
            (kind >= LN_SUM && kind <= LN_STDDEV) || kind == LN_QUANTILE || kind == LN_HISTOGRAM || kind == LN_RATE;
        int keys_only = kind == LN_DISTINCT || kind == LN_DISTINCT_APPROX || kind == LN_TOP;
        for (int type = LN_BOOL; type <= LN_EXT; type++) {
            ln_value v = {.type = (uint8_t)type}, got;
            int number = type == LN_INT || type == LN_UINT || type == LN_DOUBLE;
            int skipped = numbers_only       ? !number
                          : kind == LN_RATIO ? type != LN_BOOL
                                             : keys_only && (type == LN_MAP || type == LN_EXT);
            bench b;
            state s = {{0}}, none = {{0}};
            bench_init(&b, kind);
            if (type == LN_UINT) v.u = UINT64_MAX;
            if (type >= LN_TEXT) v.at = (const uint8_t *)"\x90", v.len = 1;
            add(&b, &s, &(sample){v, 0, 1, I(0)});
            if (!CHECK_INT(b.tally.skipped, skipped)) fprintf(stderr, "  kind %d, type %d\n", kind, type);
            if (skipped) CHECK(memcmp(&s, &none, sizeof s) == 0);
            value(&b, &s, &got);
            if (kind == LN_FOLD) CHECK_INT(got.type, LN_MISSING); /* Lua knows it */
            clear(&b, &s);
            bench_free(&b);
        }
    }
}

static const test_case cases[] = {
    {"counts", counts},
    {"sums", sums},
    {"sums at the edge", sums_at_the_edge},
    {"extremes", extremes},
    {"moments", moments},
    {"edges", edges},
    {"distinct", distinct},
    {"distinct at its limit", distinct_at_its_limit},
    {"what is skipped", what_is_skipped},
};
TEST_MAIN(cases)
