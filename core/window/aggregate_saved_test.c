/* Aggregates of every kind where memory runs out, saved and loaded again, and loaded from bytes that are broken. */
#include "window/test_aggregate.h"

#include "base/number.h"

/* Parameters small enough that every kind leaves its first, exact form. */
static void small(bench *b) {
    b->tally.distinct_max = 20;
    if (b->spec.kind == LN_DISTINCT_APPROX) b->spec.n = 10;
    if (b->spec.kind == LN_TOP) b->spec.limit = 16;
    if (b->spec.kind == LN_COLLECT) b->spec.limit = 10;
}

/* A value that every kind has some use for. */
static ln_value useful_value(test_random *r) {
    if (test_random_below(r, 8) == 0) return any_value(r);
    if (test_random_below(r, 8) == 0) return (ln_value){.type = LN_BOOL, .i = test_random_below(r, 2)};
    return test_random_below(r, 2) ? number_value(r) : I(test_random_between(r, 0, 9999));
}

static int offer(bench *b, test_random *r, state *s, int i) {
    ln_value v = useful_value(r), by = I(test_random_between(r, 0, 99));
    b->tally.time_us = test_random_between(r, -50, 50);
    b->tally.arrival = (uint64_t)i + 1;
    b->tally.by = &by;
    return b->ops->add(&b->tally, s, &v);
}

static int save(bench *b, const state *s, ln_buf *out) {
    ln_buf_clear(out);
    ln_aggregate_save(b->ops, s, out);
    return out->failed ? LN_ENOMEM : LN_OK;
}

/* All that can be done with two states, the first failure of memory kept in mind but not heeded. */
static int whole_life(bench *b, state *s, int values, ln_buf *bytes) {
    test_random r = {77};
    state loaded = {{0}};
    ln_value v;
    int failed = 0;
    for (int i = 0; i < values; i++) failed |= offer(b, &r, &s[i % 2], i) != LN_OK;
    failed |= b->ops->take(&b->tally, &s[0], &s[1]) != LN_OK;
    failed |= ln_aggregate_merge(b->ops, &b->tally, &s[0], &s[1]) != LN_OK;
    if (ln_aggregate_value(b->ops, &b->tally, &s[0], &v) == LN_OK)
        CHECK(b->spec.kind == LN_FOLD || v.type != LN_MISSING);
    else failed = 1;
    ln_buf_clear(&b->tally.shown);
    if (save(b, &s[0], bytes) == LN_OK) {
        int err = ln_aggregate_load(b->ops, &b->tally, &loaded, bytes->data, bytes->len);
        CHECK(err == LN_OK || err == LN_ENOMEM);
        failed |= err != LN_OK;
        clear(b, &loaded);
    } else {
        failed = 1;
    }
    clear(b, &s[0]);
    clear(b, &s[1]);
    return failed;
}

/* Where memory runs out a state is as it was, or has what it was to take, and can be cleared. */
static void memory_runs_out(void) {
    for (int kind = 0; kind < LN_AGGREGATE_KINDS; kind++) {
        for (int null = 0; null <= (kind == LN_DISTINCT); null++) {
            uint64_t fail_at = 0;
            int failed;
            do {
                bench b;
                state s[2] = {{{0}}, {{0}}};
                ln_buf bytes;
                bench_init(&b, kind);
                small(&b);
                if (kind == LN_DISTINCT) b.spec.n = (uint32_t)null;
                ln_buf_init(&bytes, b.tally.mem);
                b.t.fail_at = ++fail_at;
                failed = whole_life(&b, s, 300, &bytes);
                ln_buf_free(&bytes);
                bench_free(&b);
            } while (failed && test_failures == 0);
            if (test_failures) fprintf(stderr, "  kind %d, call %" PRIu64 "\n", kind, fail_at);
        }
    }
}

static void same_shown(bench *b, const state *one, const state *other) {
    ln_value v, w;
    ln_buf kept;
    uint32_t marks;
    ln_buf_init(&kept, b->tally.mem);
    value(b, one, &v);
    marks = b->tally.marks;
    if (v.type >= LN_TEXT) {
        ln_buf_append(&kept, v.at, v.len);
        v.at = kept.data;
    }
    value(b, other, &w);
    CHECK(same_value(&v, &w));
    CHECK_INT(b->tally.marks, marks);
    ln_buf_free(&kept);
}

/* What is loaded shows the same, is saved as the same, and goes on the same. */
static void round_trips(void) {
    for (int kind = 0; kind < LN_AGGREGATE_KINDS; kind++) {
        if (!ln_aggregate_find(kind)->save) continue;
        for (uint64_t round = 0; round < 200 && !test_failures; round++) {
            test_random r = {round};
            int values = (int)test_random_below(&r, round % 2 ? 300 : 8), more = (int)test_random_below(&r, 20);
            bench b;
            state s = {{0}}, loaded = {{0}};
            ln_buf bytes;
            bench_init(&b, kind);
            if (round % 3) small(&b);
            if (kind == LN_DISTINCT) b.spec.n = round % 4 == 1;
            ln_buf_init(&bytes, b.tally.mem);
            for (int i = 0; i < values; i++) CHECK_INT(offer(&b, &r, &s, i), LN_OK);
            CHECK_INT(save(&b, &s, &bytes), LN_OK);
            CHECK_INT(ln_aggregate_load(b.ops, &b.tally, &loaded, bytes.data, bytes.len), LN_OK);
            same_shown(&b, &s, &loaded);
            same_saved(&b, &s, &loaded);
            for (int i = 0; i < more; i++) {
                test_random again = r;
                CHECK_INT(offer(&b, &r, &s, values + i), LN_OK);
                CHECK_INT(offer(&b, &again, &loaded, values + i), LN_OK);
            }
            same_shown(&b, &s, &loaded);
            same_saved(&b, &s, &loaded);
            clear(&b, &s);
            clear(&b, &loaded);
            ln_buf_free(&bytes);
            bench_free(&b);
            if (test_failures) fprintf(stderr, "  kind %d, round %" PRIu64 "\n", kind, round);
        }
    }
}

/* Cut short, lengthened, or with some bytes changed: it is refused, or it is a state like any other. */
static void breaks(bench *b, test_random *r, const ln_buf *whole) {
    uint8_t *bytes = malloc(whole->len + 4);
    size_t len = whole->len;
    state s = {{0}}, none = {{0}};
    ln_buf again;
    int err;
    memcpy(bytes, whole->data, len);
    memset(bytes + len, (int)test_random_below(r, 3), 4);
    switch (test_random_below(r, 4)) {
    case 0: len = test_random_below(r, (uint32_t)len + 1); break;
    case 1: len += 1 + test_random_below(r, 4); break;
    default:
        for (uint32_t i = test_random_below(r, 4); i < 4; i++)
            bytes[test_random_below(r, (uint32_t)len)] ^= (uint8_t)(1 << test_random_below(r, 8));
    }
    bytes = realloc(bytes, len ? len : 1); /* so that a read beyond the end is found */
    err = ln_aggregate_load(b->ops, &b->tally, &s, bytes, len);
    CHECK(err == LN_OK || err == LN_EINVALID);
    if (err != LN_OK) {
        CHECK(memcmp(&s, &none, sizeof s) == 0);
    } else {
        ln_value v;
        value(b, &s, &v);
        CHECK_INT(offer(b, r, &s, 1000), LN_OK);
        ln_buf_init(&again, b->tally.mem);
        CHECK_INT(save(b, &s, &again), LN_OK);
        ln_buf_free(&again);
        clear(b, &s);
    }
    free(bytes);
}

static void broken_bytes(void) {
    for (int kind = 0; kind < LN_AGGREGATE_KINDS; kind++) {
        if (!ln_aggregate_find(kind)->save) continue;
        for (uint64_t round = 0; round < 60 && !test_failures; round++) {
            test_random r = {round};
            bench b;
            state s = {{0}};
            ln_buf bytes;
            bench_init(&b, kind);
            if (round % 3) small(&b);
            ln_buf_init(&bytes, b.tally.mem);
            for (int i = 0; i < 1 + (int)round * 5; i++) CHECK_INT(offer(&b, &r, &s, i), LN_OK);
            CHECK_INT(save(&b, &s, &bytes), LN_OK);
            for (int k = 0; k < 100 && bytes.len; k++) breaks(&b, &r, &bytes);
            clear(&b, &s);
            ln_buf_free(&bytes);
            bench_free(&b);
            if (test_failures) fprintf(stderr, "  kind %d, round %" PRIu64 "\n", kind, round);
        }
    }
}

/* Saved with other parameters than it is loaded with. */
static void other_parameters(void) {
    static const int kinds[] = {LN_DISTINCT, LN_DISTINCT_APPROX, LN_QUANTILE, LN_TOP, LN_COLLECT, LN_HISTOGRAM};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bench b;
        state s = {{0}}, loaded = {{0}};
        ln_buf bytes;
        bench_init(&b, kinds[k]);
        ln_buf_init(&bytes, b.tally.mem);
        add(&b, &s, &(sample){I(5), 0, 1, I(1)});
        CHECK_INT(save(&b, &s, &bytes), LN_OK);
        if (kinds[k] == LN_DISTINCT) b.spec.n = 1;
        if (kinds[k] == LN_DISTINCT_APPROX) b.spec.n = 13;
        b.spec.accuracy = 0.02;
        b.spec.limit++;
        b.spec.numbers--;
        CHECK_INT(ln_aggregate_load(b.ops, &b.tally, &loaded, bytes.data, bytes.len), LN_EINVALID);
        clear(&b, &loaded);
        clear(&b, &s);
        ln_buf_free(&bytes);
        bench_free(&b);
    }
}

static const test_case cases[] = {
    {"memory runs out", memory_runs_out},
    {"round trips", round_trips},
    {"broken bytes", broken_bytes},
    {"other parameters", other_parameters},
};
TEST_MAIN(cases)
