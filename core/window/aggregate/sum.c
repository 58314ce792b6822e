/* sum and avg. Whole numbers are added exactly in 128 bits, doubles apart from them with Neumaier's compensation, so
 * that neither the order of whole numbers nor the company of doubles changes their sum. */
#include "base/number.h"
#include "window/aggregate/aggregate.h"

#include <math.h>

typedef struct sum {
    uint64_t low; /* of the sum of whole numbers; apart, since a 128 bit member would want 16 byte alignment */
    int64_t high;
    double s, c;      /* the sum of doubles is s + c; c is what rounding took from s */
    uint64_t doubles; /* how many of the values were doubles */
    uint64_t count;
} sum;

static __int128 whole(const sum *a) { return (__int128)((unsigned __int128)(uint64_t)a->high << 64 | a->low); }

static void set_whole(sum *a, __int128 n) {
    a->low = (uint64_t)n;
    a->high = (int64_t)(n >> 64);
}

/* An infinite sum has no remainder to keep. */
static void add_double(sum *a, double v) {
    double t = a->s + v;
    if (isfinite(t)) a->c += fabs(a->s) >= fabs(v) ? (a->s - t) + v : (v - t) + a->s;
    a->s = t;
}

static int add(ln_tally *t, void *state, const ln_value *v) {
    sum *a = state;
    if (!ln_is_number(v)) {
        t->skipped++;
        return LN_OK;
    }
    a->count++;
    if (v->type == LN_DOUBLE) {
        a->doubles++;
        add_double(a, v->d);
    } else {
        set_whole(a, whole(a) + (v->type == LN_INT ? (__int128)v->i : (__int128)v->u));
    }
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from) {
    sum *a = into;
    const sum *b = from;
    (void)t;
    set_whole(a, whole(a) + whole(b));
    add_double(a, b->s);
    a->c += b->c;
    a->doubles += b->doubles;
    a->count += b->count;
    return LN_OK;
}

/* Both parts together, with what is lost when they are added put back before the last rounding. */
static double total(const sum *a) {
    sum both = *a;
    if (!isfinite(a->s)) return a->s;
    add_double(&both, (double)whole(a));
    add_double(&both, (double)(whole(a) - (__int128)(double)whole(a))); /* what one double cannot hold of it */
    return both.s + both.c;
}

static void sum_result(const void *state, ln_value *out) {
    const sum *a = state;
    __int128 n = whole(a);
    if (a->doubles) *out = (ln_value){.type = LN_DOUBLE, .d = total(a)};
    else if (n >= INT64_MIN && n <= INT64_MAX) *out = (ln_value){.type = LN_INT, .i = (int64_t)n};
    else if (n > 0 && n <= UINT64_MAX) *out = (ln_value){.type = LN_UINT, .u = (uint64_t)n};
    else *out = (ln_value){.type = LN_DOUBLE, .d = (double)n};
}

static void avg_result(const void *state, ln_value *out) {
    const sum *a = state;
    *out = (ln_value){.type = LN_NULL};
    if (a->count) *out = (ln_value){.type = LN_DOUBLE, .d = total(a) / (double)a->count};
}

const ln_aggregate_ops ln_sum_ops = {.size = sizeof(sum), .add = add, .take = take, .result = sum_result};
const ln_aggregate_ops ln_avg_ops = {.size = sizeof(sum), .add = add, .take = take, .result = avg_result};
