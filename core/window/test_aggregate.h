/* What the tests of aggregates share: random values with their places in time, and two ways to put them together: in
 * one pass, and cut into pieces that are joined in a random tree. */
#ifndef LN_WINDOW_TEST_AGGREGATE_H
#define LN_WINDOW_TEST_AGGREGATE_H

#include "base/test.h"
#include "base/test_random.h"
#include "window/aggregate/aggregate.h"

#include <math.h>

#ifndef TEST_VALUES
#define TEST_VALUES 200
#endif
enum { VALUES = TEST_VALUES, PIECES = 12 };

/* One record's value, its place in time, and the value that min_by, max_by and top go by. */
typedef struct sample {
    ln_value v;
    int64_t time_us;
    uint64_t arrival;
    ln_value by;
} sample;

static sample samples[VALUES];
static int count;

#define I(n) ((ln_value){.type = LN_INT, .i = (n)})
#define U(n) ((ln_value){.type = LN_UINT, .u = (n)})
#define D(x) ((ln_value){.type = LN_DOUBLE, .d = (x)})
#define TEXT(s) ((ln_value){.type = LN_TEXT, .len = sizeof(s) - 1, .at = (const uint8_t *)(s)})

static inline ln_value whole_value(test_random *r) {
    uint64_t bits = test_random_next(r) >> test_random_below(r, 64);
    return bits > INT64_MAX ? U(bits) : I(test_random_below(r, 2) ? (int64_t)bits : -(int64_t)bits);
}

/* m * 2^-30 with m of 53 bits: 200 of them are summed exactly in 128 bits. */
static inline ln_value double_value(test_random *r) {
    return D(ldexp((double)(test_random_wide(r) >> 11), (int)test_random_below(r, 50) - 30));
}

static inline ln_value number_value(test_random *r) {
    if (test_random_below(r, 4) == 0) return D((double)test_random_between(r, -5, 5));
    if (test_random_below(r, 4) == 0) return I(test_random_between(r, -5, 5));
    return test_random_below(r, 2) ? whole_value(r) : double_value(r);
}

/* Anything: numbers, words of all lengths, and values that few aggregates take. */
static inline ln_value any_value(test_random *r) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    static const uint8_t array[] = {0x92, 0x01, 0xa1, 'x'};
    ln_value v = {.at = (const uint8_t *)letters + test_random_below(r, 26), .len = test_random_below(r, 27)};
    switch (test_random_below(r, 8)) {
    case 0: return (ln_value){.type = LN_BOOL, .i = test_random_below(r, 2)};
    case 1: v.type = LN_BYTES; return v;
    case 2: return (ln_value){.type = LN_ARRAY, .len = sizeof array, .at = array};
    case 3: return (ln_value){.type = LN_MAP, .len = 1, .at = (const uint8_t *)"\x80"};
    case 4: return test_random_below(r, 9) ? TEXT("") : (ln_value){.type = LN_EXT, .len = 1, .at = array};
    case 5:
    case 6: v.type = LN_TEXT; return v;
    default: return number_value(r);
    }
}

static inline void make_samples(test_random *r, ln_value (*make)(test_random *r)) {
    count = (int)test_random_below(r, test_random_below(r, 4) ? VALUES + 1 : 4);
    for (int i = 0; i < count; i++)
        samples[i] = (sample){make(r), test_random_between(r, -9, 9), 1 + (uint64_t)i, I(test_random_between(r, 0, 9))};
}

/* ---- the two ways ---- */

typedef struct bench {
    test_mem t;
    ln_tally tally;
    ln_aggregate spec;
    const ln_aggregate_ops *ops;
} bench;

/* Parameters with which every kind works. */
static inline ln_aggregate spec_of(int kind) {
    static const double numbers[] = {0, 0.25, 0.5, 0.99, 1};
    return (ln_aggregate){.kind = kind,
                          .has_by = kind == LN_MIN_BY || kind == LN_MAX_BY,
                          .n = kind == LN_DISTINCT_APPROX ? 12
                               : kind == LN_TOP           ? 10
                                                          : kind == LN_QUANTILE,
                          .number = numbers,
                          .numbers = sizeof numbers / sizeof *numbers,
                          .limit = kind == LN_COLLECT ? 30 : 1024,
                          .accuracy = 0.01,
                          .per_us = 1000000};
}

static inline void bench_init(bench *b, int kind) {
    memset(b, 0, sizeof *b);
    b->ops = ln_aggregate_find(kind);
    b->spec = spec_of(kind);
    b->tally = (ln_tally){.mem = test_mem_init(&b->t, SIZE_MAX / 2), .distinct_max = 1000000, .span_us = 2000000};
    b->tally.spec = &b->spec;
    ln_buf_init(&b->tally.scratch, b->tally.mem);
    ln_buf_init(&b->tally.shown, b->tally.mem);
}

static inline void bench_free(bench *b) {
    ln_buf_free(&b->tally.scratch);
    ln_buf_free(&b->tally.shown);
    CHECK_INT(b->t.held, 0);
    CHECK_INT(b->tally.mem->used, 0);
}

typedef union state {
    uint64_t words[8];
    uint8_t bytes[64];
} state;

static inline void clear(bench *b, state *s) {
    if (b->ops->clear) b->ops->clear(&b->tally, s);
    else memset(s, 0, b->ops->size);
    for (size_t i = 0; i < b->ops->size; i++) CHECK_INT(s->bytes[i], 0);
}

static inline void add(bench *b, state *s, const sample *one) {
    b->tally.time_us = one->time_us;
    b->tally.arrival = one->arrival;
    b->tally.by = &one->by;
    CHECK_INT(b->ops->add(&b->tally, s, &one->v), LN_OK);
}

/* The value of a state; its bytes live until the next one. */
static inline void value(bench *b, const state *s, ln_value *out) {
    ln_buf_clear(&b->tally.shown);
    b->tally.marks = 0;
    CHECK_INT(ln_aggregate_value(b->ops, &b->tally, s, out), LN_OK);
    ln_aggregate_settle(b->ops, &b->tally, out);
}

/* All samples in one state. */
static inline void in_one_pass(bench *b, state *s) {
    memset(s, 0, sizeof *s);
    CHECK(b->ops->size <= sizeof *s && b->ops->size % b->ops->align == 0);
    for (int i = 0; i < count; i++) add(b, s, &samples[i]);
}

/* Each sample into some piece, all but some in any order; then two pieces become one, until one is left. A piece that
 * was taken stays as it is, until it is cleared. */
static inline void in_pieces(bench *b, test_random *r, state *s) {
    state piece[PIECES];
    static int order[VALUES];
    int pieces = 1 + (int)test_random_below(r, PIECES);
    memset(piece, 0, sizeof piece);
    for (int i = 0; i < count; i++) {
        int at = (int)test_random_below(r, (uint32_t)i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    for (int i = 0; i < count; i++) add(b, &piece[test_random_below(r, (uint32_t)pieces)], &samples[order[i]]);
    while (pieces > 1) {
        int a = (int)test_random_below(r, (uint32_t)pieces), c = (int)test_random_below(r, (uint32_t)pieces - 1);
        c += c >= a;
        if (test_random_below(r, 2)) {
            state before = piece[c];
            CHECK_INT(b->ops->take(&b->tally, &piece[a], &piece[c]), LN_OK);
            CHECK(memcmp(&before, &piece[c], sizeof before) == 0);
        } else {
            CHECK_INT(ln_aggregate_merge(b->ops, &b->tally, &piece[a], &piece[c]), LN_OK);
        }
        clear(b, &piece[c]);
        piece[c] = piece[--pieces];
    }
    *s = piece[0];
}

static inline int same_value(const ln_value *a, const ln_value *b) {
    if (a->type != b->type) return 0;
    if (a->type >= LN_TEXT) return a->len == b->len && (a->len == 0 || memcmp(a->at, b->at, a->len) == 0);
    return a->type <= LN_NULL || a->u == b->u;
}

/* Are states of the same values saved as the same bytes, whatever their order and grouping? Not where doubles are
 * added up, nor the set of an exact distinct, which is saved in the order in which it was filled, nor an extreme, which
 * may come as 1 and as 1.0. */
static inline int is_canonical(int kind) {
    return kind != LN_SUM && kind != LN_AVG && kind != LN_RATE && kind != LN_VARIANCE && kind != LN_STDDEV &&
           kind != LN_DISTINCT && kind != LN_MIN && kind != LN_MAX;
}

static inline void same_saved(bench *b, const state *one, const state *other) {
    ln_buf a, c;
    ln_buf_init(&a, b->tally.mem);
    ln_buf_init(&c, b->tally.mem);
    ln_aggregate_save(b->ops, one, &a);
    ln_aggregate_save(b->ops, other, &c);
    CHECK(!a.failed && !c.failed && a.len == c.len && (a.len == 0 || memcmp(a.data, c.data, a.len) == 0));
    ln_buf_free(&a);
    ln_buf_free(&c);
}

typedef void (*check)(const ln_value *got);

static inline void rounds(int kind, ln_value (*make)(test_random *r), check is_right) {
    test_random r = {(uint64_t)kind};
    int failures = test_failures;
    for (int round = 0; round < 400 && test_failures == failures; round++) {
        bench b;
        state one, other;
        ln_value v;
        uint64_t skipped;
        bench_init(&b, kind);
        make_samples(&r, make);
        in_one_pass(&b, &one);
        value(&b, &one, &v);
        is_right(&v);
        skipped = b.tally.skipped;
        in_pieces(&b, &r, &other);
        CHECK_INT(b.tally.skipped, 2 * skipped);
        value(&b, &other, &v);
        is_right(&v);
        if (is_canonical(kind)) same_saved(&b, &one, &other);
        clear(&b, &one);
        clear(&b, &other);
        bench_free(&b);
        if (test_failures > failures) fprintf(stderr, "  of %d values, in round %d\n", count, round);
    }
}

#endif
