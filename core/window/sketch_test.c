/* Sketches of many values: put together in any order and in any tree they are the same bytes as in one pass, and what
 * they show is within what they promise. */
#define TEST_VALUES 20000
#include "window/test_aggregate.h"

#include "base/msgpack.h"
#include "base/number.h"

static void fill(test_random *r, int n, ln_value (*make)(test_random *r)) {
    count = n;
    for (int i = 0; i < n; i++)
        samples[i] = (sample){make(r), test_random_between(r, -9, 9), 1 + (uint64_t)i, I(test_random_between(r, 0, 9))};
}

/* ---- distinct ---- */

static ln_value unlike_value(test_random *r) { return I((int64_t)test_random_next(r)); }

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int different(void) {
    static int64_t all[VALUES];
    int n = 0;
    for (int i = 0; i < count; i++) all[i] = samples[i].v.i;
    qsort(all, (size_t)count, sizeof *all, by_number);
    for (int i = 0; i < count; i++) n += i == 0 || all[i] != all[i - 1];
    return n;
}

/* Exact up to 3/32 of 2^precision values; past that within five standard errors. */
static void is_near(const ln_value *got, uint32_t precision) {
    int want = different();
    double error = fabs((double)got->i / want - 1), most = 5 * 0.78 / sqrt(ldexp(1, (int)precision));
    CHECK_INT(got->type, LN_INT);
    if (want <= 3 << precision >> 5) CHECK_INT(got->i, want);
    else if (!CHECK(error < most)) fprintf(stderr, "  %" PRId64 ", not %d\n", got->i, want);
}

static void estimates(void) {
    test_random r = {3};
    for (int round = 0; round < 120 && !test_failures; round++) {
        uint32_t precision = 10 + test_random_below(&r, 7);
        bench b;
        state one, other;
        ln_value v;
        bench_init(&b, LN_DISTINCT_APPROX);
        b.spec.n = precision;
        fill(&r, (int)test_random_below(&r, 2 + (VALUES - 1) / (1 + test_random_below(&r, 40))), unlike_value);
        for (int i = 0; i < count; i++)
            if (test_random_below(&r, 3) == 0) samples[i].v = samples[test_random_below(&r, (uint32_t)count)].v;
        in_one_pass(&b, &one);
        in_pieces(&b, &r, &other);
        same_saved(&b, &one, &other);
        if (count) {
            value(&b, &one, &v);
            is_near(&v, precision);
        }
        clear(&b, &one);
        clear(&b, &other);
        bench_free(&b);
        if (test_failures) fprintf(stderr, "  round %d\n", round);
    }
}

/* An exact distinct past its limit is a sketch: the same one in whatever way its set was given up. */
static void exact_becomes_a_sketch(void) {
    test_random r = {4};
    for (int round = 0; round < 60 && !test_failures; round++) {
        bench b;
        state one, other;
        ln_value v;
        bench_init(&b, LN_DISTINCT);
        fill(&r, 4000 + (int)test_random_below(&r, 2000), unlike_value);
        b.tally.distinct_max = 1 + test_random_below(&r, 3999);
        in_one_pass(&b, &one);
        in_pieces(&b, &r, &other);
        same_saved(&b, &one, &other);
        value(&b, &other, &v);
        CHECK_INT(b.tally.marks, LN_MARK_APPROX);
        is_near(&v, 14);
        clear(&b, &one);
        clear(&b, &other);
        bench_free(&b);
    }
}

/* ---- quantile ---- */

static double signed_size(test_random *r, double octaves) {
    double x = exp2(octaves * ((double)test_random_below(r, 1000000) / 1e6 - 0.5));
    return test_random_below(r, 3) ? x : -x;
}

/* Within the 64 octaves of which bins are told apart. */
static ln_value sized_value(test_random *r) {
    if (test_random_below(r, 20) == 0) return D(0);
    return test_random_below(r, 2) ? D(signed_size(r, 60)) : I((int64_t)signed_size(r, 60));
}

static ln_value wide_value(test_random *r) {
    if (test_random_below(r, 50) == 0) return D(test_random_below(r, 2) ? INFINITY : -INFINITY);
    if (test_random_below(r, 50) == 0) return D(-0.0);
    return test_random_below(r, 4) ? D(signed_size(r, 2040)) : D(signed_size(r, 4) * 0x1p-1073);
}

static int by_double(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const double *sorted_numbers(void) {
    static double all[VALUES];
    for (int i = 0; i < count; i++) all[i] = ln_number_double(&samples[i].v);
    qsort(all, (size_t)count, sizeof *all, by_double);
    return all;
}

/* Each share's number of rank floor(q (n - 1)), within the accuracy; where bins may have met, within what is 64 octaves
 * below the greatest number of either sign. */
static void are_quantiles(const ln_value *got, const ln_aggregate *spec) {
    const double *all = sorted_numbers();
    const uint8_t *p = got->at, *end = got->at + got->len;
    ln_value head, v;
    if (!CHECK(got->type == LN_ARRAY && ln_msgpack_head(p, end, &head, &p) == LN_HEAD_OK)) return;
    CHECK_INT(head.len, spec->numbers);
    for (uint32_t i = 0; i < head.len; i++) {
        double want, most;
        if (!CHECK(ln_msgpack_head(p, end, &v, &p) == LN_HEAD_OK)) return;
        if (count == 0) {
            CHECK_INT(v.type, LN_NULL);
            continue;
        }
        want = all[(int)floor(spec->number[i] * (count - 1))];
        most = fabs(want) * (spec->accuracy + 1e-12);
        if (v.d != want &&
            !CHECK(fabs(v.d - want) <= most || fabs(want) < 0x1p-63 * fabs(all[want > 0 ? count - 1 : 0])))
            fprintf(stderr, "  %.17g, not %.17g, of share %g\n", v.d, want, spec->number[i]);
    }
    CHECK(p == end);
}

static void quantiles(void) {
    static const double accuracies[] = {0.01, 0.001, 0.05, 0.5}, shares[] = {0, 0.001, 0.3, 0.5, 0.77, 0.99, 0.9999, 1};
    test_random r = {5};
    for (int round = 0; round < 120 && !test_failures; round++) {
        bench b;
        state one, other;
        ln_value v;
        bench_init(&b, LN_QUANTILE);
        b.spec.accuracy = accuracies[round % 4];
        b.spec.number = shares;
        b.spec.numbers = 8;
        fill(&r, (int)test_random_below(&r, round % 3 ? 300 : VALUES), round % 5 ? sized_value : wide_value);
        in_one_pass(&b, &one);
        in_pieces(&b, &r, &other);
        same_saved(&b, &one, &other);
        value(&b, &other, &v);
        are_quantiles(&v, &b.spec);
        clear(&b, &one);
        clear(&b, &other);
        bench_free(&b);
        if (test_failures) fprintf(stderr, "  round %d\n", round);
    }
}

/* More numbers in a bin than 32 bits can count: sketches taken into themselves, as it were, 40 times over. */
static void quantile_of_very_many(void) {
    bench b;
    state s[2] = {{{0}}, {{0}}};
    ln_value v;
    bench_init(&b, LN_QUANTILE);
    b.spec.n = 0;
    for (int i = 0; i < 3; i++) add(&b, &s[0], &(sample){D(i == 1 ? 100 : 1), 0, 1, I(0)});
    for (int i = 0; i < 40; i++) {
        CHECK_INT(b.ops->take(&b.tally, &s[(i + 1) % 2], &s[i % 2]), LN_OK);
        CHECK_INT(b.ops->take(&b.tally, &s[(i + 1) % 2], &s[i % 2]), LN_OK);
        clear(&b, &s[i % 2]);
    }
    for (int i = 0; i < 3; i++) {
        static const double share[] = {0.66, 0.67, 1};
        b.spec.number = &share[i];
        value(&b, &s[0], &v);
        CHECK(fabs(v.d / (i ? 100 : 1) - 1) <= 0.01);
    }
    clear(&b, &s[0]);
    bench_free(&b);
}

/* ---- top ---- */

enum { NAMES = 5000 };

/* Some much more often than others: name i with a probability like 1 / i. */
static ln_value skewed_value(test_random *r) {
    return I((int64_t)exp2(log2(NAMES) * test_random_below(r, 100000) / 1e5));
}

typedef struct entry {
    int64_t name;
    double weight, error;
} entry;

static double number(const uint8_t **p, const uint8_t *end) {
    ln_value v;
    CHECK(ln_msgpack_head(*p, end, &v, p) == LN_HEAD_OK && ln_is_number(&v));
    return ln_number_double(&v);
}

static void is_name(const uint8_t **p, const uint8_t *end, const char *name) {
    ln_value v;
    if (!CHECK(ln_msgpack_head(*p, end, &v, p) == LN_HEAD_OK && v.type == LN_TEXT && v.len == strlen(name))) return;
    CHECK(memcmp(v.at, name, v.len) == 0);
    *p += v.len;
}

static uint32_t read_entries(const ln_value *got, entry *into) {
    const uint8_t *p = got->at, *end = got->at + got->len;
    ln_value head, map;
    if (!CHECK(got->type == LN_ARRAY && ln_msgpack_head(p, end, &head, &p) == LN_HEAD_OK)) return 0;
    for (uint32_t i = 0; i < head.len; i++) {
        CHECK(ln_msgpack_head(p, end, &map, &p) == LN_HEAD_OK && map.type == LN_MAP && map.len == 3);
        is_name(&p, end, "value");
        into[i].name = (int64_t)number(&p, end);
        is_name(&p, end, "count");
        into[i].weight = number(&p, end);
        is_name(&p, end, "error");
        into[i].error = number(&p, end);
    }
    CHECK(p == end);
    return head.len;
}

/* The true weights of all names, and what they come to. */
static double true_weights(const bench *b, double *weight) {
    double all = 0;
    memset(weight, 0, (NAMES + 1) * sizeof *weight);
    for (int i = 0; i < count; i++) {
        double w = b->spec.has_by ? (double)samples[i].by.i : 1;
        weight[samples[i].v.i] += w;
        all += w;
    }
    return all;
}

/* The bounds hold; they are no further apart than promised; and nothing that weighs more than that is missing. */
static void is_top(const bench *b, const ln_value *got, int exact) {
    static double weight[NAMES + 1];
    entry list[1000] = {{0}};
    double all = true_weights(b, weight), most = exact ? 0 : 2 * all / (double)b->spec.limit;
    uint32_t n = read_entries(got, list);
    for (uint32_t i = 0; i < n; i++) {
        double real = weight[list[i].name];
        CHECK(list[i].weight - list[i].error <= real && real <= list[i].weight && list[i].error <= most);
        CHECK(i == 0 || list[i - 1].weight >= list[i].weight);
        weight[list[i].name] = 0;
    }
    for (int name = 0; name <= NAMES; name++)
        if (weight[name] > 0) CHECK((n == b->spec.n && weight[name] <= list[n - 1].weight) || weight[name] <= most);
}

static void tops(void) {
    test_random r = {6};
    int exact = 0;
    for (int round = 0; round < 120 && !test_failures; round++) {
        static double weight[NAMES + 1];
        bench b;
        state one, other;
        ln_value v;
        uint64_t names = 0;
        int whole;
        bench_init(&b, LN_TOP);
        b.spec.has_by = round % 2;
        b.spec.n = 1 + test_random_below(&r, 100);
        b.spec.limit = 2 + test_random_below(&r, round % 3 ? 500 : 2 * NAMES);
        fill(&r, 1 + (int)test_random_below(&r, round % 5 ? VALUES : 500), skewed_value);
        (void)true_weights(&b, weight);
        for (int i = 0; i <= NAMES; i++) names += weight[i] > 0;
        whole = names <= b.spec.limit;
        exact += whole;
        in_one_pass(&b, &one);
        in_pieces(&b, &r, &other);
        if (whole) same_saved(&b, &one, &other);
        value(&b, &one, &v);
        is_top(&b, &v, whole);
        value(&b, &other, &v);
        is_top(&b, &v, whole);
        clear(&b, &one);
        clear(&b, &other);
        bench_free(&b);
        if (test_failures) fprintf(stderr, "  round %d\n", round);
    }
    CHECK(exact > 20 && exact < 100);
}

static const test_case cases[] = {
    {"estimates", estimates}, {"exact becomes a sketch", exact_becomes_a_sketch},
    {"quantiles", quantiles}, {"a quantile of very many", quantile_of_very_many},
    {"tops", tops},
};
TEST_MAIN(cases)
