/* Aggregates that choose records, list them or sort them into classes, against a plain search among all samples. */
#include "window/test_aggregate.h"

#include "base/msgpack.h"
#include "base/number.h"
#include "base/pack.h"

/* ---- min_by, max_by ---- */

static int is_earlier(const sample *a, const sample *b) {
    return a->time_us != b->time_us ? a->time_us < b->time_us : a->arrival < b->arrival;
}

static void is_best(const ln_value *got, int sign) {
    static const ln_value null = {.type = LN_NULL};
    const sample *best = NULL;
    for (int i = 0; i < count; i++) {
        const sample *s = &samples[i];
        int by = best ? ln_number_compare(&s->by, &best->by) * sign : 1;
        if (by > 0 || (by == 0 && is_earlier(s, best))) best = s;
    }
    CHECK(same_value(got, best ? &best->v : &null));
}

static void is_min_by(const ln_value *got) { is_best(got, -1); }
static void is_max_by(const ln_value *got) { is_best(got, 1); }

static void best_by(void) {
    rounds(LN_MIN_BY, any_value, is_min_by);
    rounds(LN_MAX_BY, any_value, is_max_by);
}

/* What is gone by must be a number. */
static void by_what_is_no_number(void) {
    static const int kinds[] = {LN_MIN_BY, LN_MAX_BY, LN_TOP};
    static const ln_value bad[] = {{.type = LN_BOOL, .i = 1},          TEXT("5"), {.type = LN_EXT},
                                   {.type = LN_DOUBLE, .d = INFINITY}, D(-1),     I(-1)};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < (kinds[k] == LN_TOP ? 6 : 3); i++) {
            bench b;
            state s = {{0}}, none = {{0}};
            bench_init(&b, kinds[k]);
            b.spec.has_by = 1;
            add(&b, &s, &(sample){I(1), 0, 1, bad[i]});
            CHECK_INT(b.tally.skipped, 1);
            CHECK(memcmp(&s, &none, sizeof s) == 0);
            bench_free(&b);
        }
    }
}

/* ---- collect ---- */

static int by_time(const void *a, const void *b) { return is_earlier(a, b) ? -1 : 1; }

static void is_list(const ln_value *got) {
    static sample sorted[VALUES];
    test_mem t;
    ln_buf want;
    int kept = count < 30 ? count : 30;
    ln_buf_init(&want, test_mem_init(&t, SIZE_MAX / 2));
    memcpy(sorted, samples, sizeof sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_time);
    ln_pack_put_head(&want, LN_ARRAY, (uint32_t)kept);
    for (int i = 0; i < kept; i++) ln_pack_put(&want, &sorted[i].v);
    CHECK_INT(got->type, LN_ARRAY);
    CHECK(got->len == want.len && memcmp(got->at, want.data, want.len) == 0);
    ln_buf_free(&want);
}

static void lists(void) { rounds(LN_COLLECT, any_value, is_list); }

/* It says whether there were more than it shows; and in order, what is beyond the limit takes no memory. */
static void list_is_cut(void) {
    for (int n = 28; n < 70; n++) {
        bench b;
        state s = {{0}};
        ln_value got;
        size_t used = 0;
        bench_init(&b, LN_COLLECT);
        for (int i = 0; i < n; i++) {
            if (i == 30) used = b.tally.mem->used;
            add(&b, &s, &(sample){I(i), i, 1 + (uint64_t)i, I(0)});
        }
        if (n > 30) CHECK_INT(b.tally.mem->used, used);
        value(&b, &s, &got);
        CHECK_INT(b.tally.marks, n > 30 ? LN_MARK_CUT : 0);
        clear(&b, &s);
        bench_free(&b);
    }
}

/* ---- histogram, ratio, rate ---- */

static ln_value classed_value(test_random *r) {
    if (test_random_below(r, 2)) return D((double)test_random_between(r, -4, 8) / 4);
    return test_random_below(r, 2) ? number_value(r) : I(test_random_between(r, -1, 2));
}

static void is_histogram(const ln_value *got) {
    const double *bound = spec_of(LN_HISTOGRAM).number;
    uint32_t bounds = spec_of(LN_HISTOGRAM).numbers;
    const uint8_t *p = got->at, *end = got->at + got->len;
    ln_value head, n;
    if (!CHECK(got->type == LN_ARRAY && ln_msgpack_head(p, end, &head, &p) == LN_HEAD_OK)) return;
    CHECK_INT(head.len, bounds + 1);
    for (uint32_t k = 0; k <= bounds; k++) {
        int want = 0;
        for (int i = 0; i < count; i++) {
            ln_value low = D(k ? bound[k - 1] : 0), high = D(k < bounds ? bound[k] : 0);
            want += (k == 0 || ln_number_compare(&samples[i].v, &low) >= 0) &&
                    (k == bounds || ln_number_compare(&samples[i].v, &high) < 0);
        }
        CHECK(ln_msgpack_head(p, end, &n, &p) == LN_HEAD_OK);
        CHECK_INT(n.i, want);
    }
    CHECK(p == end);
}

static void histograms(void) { rounds(LN_HISTOGRAM, classed_value, is_histogram); }

static ln_value truth(test_random *r) { return (ln_value){.type = LN_BOOL, .i = test_random_below(r, 3) == 0}; }

static void is_ratio(const ln_value *got) {
    int yes = 0;
    for (int i = 0; i < count; i++) yes += samples[i].v.i != 0;
    CHECK_INT(got->type, count ? LN_DOUBLE : LN_NULL);
    if (count) CHECK(got->d == (double)yes / count);
}

/* The tests' windows are two seconds long, and the rate is per second. */
static void is_rate(const ln_value *got) {
    double sum = 0;
    for (int i = 0; i < count; i++) sum += (double)samples[i].v.i;
    CHECK_INT(got->type, LN_DOUBLE);
    CHECK(got->d == sum / 2);
}

static ln_value small_value(test_random *r) { return I(test_random_between(r, -99, 99)); }

static void shares(void) {
    rounds(LN_RATIO, truth, is_ratio);
    rounds(LN_RATE, small_value, is_rate);
}

/* Without a field records are counted; a window without an end has no rate. */
static void rate_of_records(void) {
    bench b;
    state s = {{0}};
    ln_value got;
    bench_init(&b, LN_RATE);
    b.spec.column = -1;
    value(&b, &s, &got);
    CHECK(got.type == LN_DOUBLE && got.d == 0);
    for (int i = 0; i < 7; i++) add(&b, &s, &(sample){{.type = LN_MISSING}, 0, 1, I(0)});
    value(&b, &s, &got);
    CHECK(got.type == LN_DOUBLE && got.d == 3.5);
    b.tally.span_us = 0;
    value(&b, &s, &got);
    CHECK_INT(got.type, LN_NULL);
    clear(&b, &s);
    bench_free(&b);
}

static const test_case cases[] = {
    {"min_by and max_by", best_by},
    {"by what is no number", by_what_is_no_number},
    {"lists", lists},
    {"a list is cut", list_is_cut},
    {"histograms", histograms},
    {"shares", shares},
    {"a rate of records", rate_of_records},
};
TEST_MAIN(cases)
