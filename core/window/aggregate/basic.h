/* The states of count, sum, avg, min and max, and how they take a value: here, so that the loop over rows has them in
 * its own body (a call for each of four aggregates cost a record 4.5 ns). They are packed: a window of a million keys
 * pays for each byte a million times. */
#ifndef LN_WINDOW_AGGREGATE_BASIC_H
#define LN_WINDOW_AGGREGATE_BASIC_H

#include "base/number.h"
#include "window/aggregate/aggregate.h"

#include <string.h>

#define LN_PACKED __attribute__((packed))

typedef struct LN_PACKED ln_count {
    uint64_t n;
} ln_count;

/* Whole numbers are added exactly in 128 bits, doubles apart from them with Neumaier's compensation, so that neither
 * the order of whole numbers nor the company of doubles changes their sum. */
typedef struct LN_PACKED ln_sum {
    uint64_t low; /* of the sum of whole numbers */
    int64_t high;
    double s, c;     /* the sum of doubles is s + c; c is what rounding took from s */
    uint8_t doubles; /* some value was a double */
} ln_sum;

typedef struct LN_PACKED ln_avg {
    ln_sum sum;
    uint64_t n;
} ln_avg;

/* The least or greatest number, as it came. */
typedef struct LN_PACKED ln_best {
    uint64_t bits; /* of the value's payload */
    uint8_t type;  /* LN_MISSING: none yet */
} ln_best;

static inline __int128 ln_sum_whole(const ln_sum *a) {
    return (__int128)((unsigned __int128)(uint64_t)a->high << 64 | a->low);
}

static inline void ln_sum_add_whole(ln_sum *a, __int128 n) {
    n += ln_sum_whole(a);
    a->low = (uint64_t)n;
    a->high = (int64_t)(n >> 64);
}

/* An infinite sum has no remainder to keep. */
static inline void ln_sum_add_double(ln_sum *a, double v) {
    double s = a->s, t = s + v;
    int larger = __builtin_fabs(s) >= __builtin_fabs(v);
    double big = larger ? s : v, small = larger ? v : s;
    if (__builtin_isfinite(t)) a->c += (big - t) + small;
    a->s = t;
}

/* All bits where the condition holds. */
static inline uint64_t ln_mask(int condition) { return 0 - (uint64_t)(condition != 0); }

static inline double ln_as_double(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* 0 where the value is no number. */
static inline int ln_sum_add(ln_sum *a, const ln_value *v) {
    if (v->type == LN_DOUBLE) {
        a->doubles = 1;
        ln_sum_add_double(a, v->d);
        return 1;
    }
    if (!ln_is_number(v)) return 0;
    ln_sum_add_whole(a, v->type == LN_INT ? (__int128)v->i : (__int128)v->u);
    return 1;
}

static inline void ln_sum_take(ln_sum *a, const ln_sum *b) {
    if (b->low | (uint64_t)b->high) ln_sum_add_whole(a, ln_sum_whole(b));
    if (!b->doubles) return;
    ln_sum_add_double(a, b->s);
    a->c += b->c;
    a->doubles = 1;
}

/* A double, or a whole number that a double holds exactly. */
static inline int ln_best_is_near(const ln_value *v) {
    return (v->type == LN_DOUBLE) | ((v->type == LN_INT) & (v->u + (UINT64_C(1) << 53) <= UINT64_C(1) << 54));
}

/* Two of those, compared as doubles, without a branch on what they are or which is better: where scripts compute
 * values, whole numbers and others come by turns that no processor foresees (2.4 ns a record with a min and a max). */
static inline void ln_best_offer_near(ln_best *b, const ln_value *best, const ln_value *v, int sign) {
    uint64_t x_is_double = ln_mask(best->type == LN_DOUBLE), y_is_double = ln_mask(v->type == LN_DOUBLE), better;
    double xi = (double)best->i, yi = (double)v->i, x, y;
    uint64_t x_bits, y_bits;
    memcpy(&x_bits, &xi, 8);
    memcpy(&y_bits, &yi, 8);
    x = ln_as_double((best->u & x_is_double) | (x_bits & ~x_is_double));
    y = ln_as_double((v->u & y_is_double) | (y_bits & ~y_is_double));
    better = ln_mask(sign > 0 ? y > x : y < x);
    b->bits = (v->u & better) | (best->u & ~better);
    b->type = (uint8_t)((v->type & better) | (best->type & ~better));
}

/* `sign` is 1 for the greatest, -1 for the least. 0 where the value is no number. */
static inline int ln_best_offer(ln_best *b, const ln_value *v, int sign) {
    ln_value best = {.type = b->type, .u = b->bits};
    if (v->type == LN_DOUBLE && best.type == LN_DOUBLE) {
        if (sign > 0 ? v->d > best.d : v->d < best.d) b->bits = v->u;
        return 1;
    }
    if (ln_best_is_near(&best) && ln_best_is_near(v)) {
        ln_best_offer_near(b, &best, v, sign);
        return 1;
    }
    if (!ln_is_number(v)) return 0;
    if (best.type == LN_MISSING || sign * ln_number_compare(v, &best) > 0) {
        b->bits = v->u;
        b->type = v->type;
    }
    return 1;
}

static inline void ln_best_take(ln_best *into, const ln_best *from, int sign) {
    ln_value v = {.type = from->type, .u = from->bits};
    (void)ln_best_offer(into, &v, sign); /* one that is missing is no number */
}

/* One aggregate of a pipeline: where its state lies among the others, and where its values are. */
typedef struct ln_part {
    const ln_value *value; /* of the batch's first row; NULL: the record itself */
    const ln_value *by;    /* the same for its second column; NULL: it has none */
    const ln_aggregate *spec;
    const ln_aggregate_ops *ops;
    uint32_t at;
    int kind;
} ln_part;

/* Takes a value that is neither missing, null nor NaN. LN_OK or LN_ENOMEM. */
static inline int ln_part_add(const ln_part *s, ln_tally *t, uint8_t *states, const ln_value *v) {
    void *state = states + s->at;
    switch (s->kind) {
    case LN_COUNT: ((ln_count *)state)->n++; return LN_OK;
    case LN_SUM: t->skipped += !ln_sum_add(state, v); return LN_OK;
    case LN_MIN: t->skipped += !ln_best_offer(state, v, -1); return LN_OK;
    case LN_MAX: t->skipped += !ln_best_offer(state, v, 1); return LN_OK;
    default: t->spec = s->spec; return s->ops->add(t, state, v);
    }
}

/* Takes what `from` knows into `states`. LN_OK or LN_ENOMEM. */
static inline int ln_part_take(const ln_part *part, ln_tally *t, uint8_t *states, const uint8_t *from) {
    void *into = states + part->at;
    const void *other = from + part->at;
    switch (part->kind) {
    case LN_COUNT: ((ln_count *)into)->n += ((const ln_count *)other)->n; return LN_OK;
    case LN_SUM: ln_sum_take(into, other); return LN_OK;
    case LN_MIN: ln_best_take(into, other, -1); return LN_OK;
    case LN_MAX: ln_best_take(into, other, 1); return LN_OK;
    default: return part->ops->take(t, into, other);
    }
}

/* Its value, not settled yet. Those that have nothing to work out are read here. LN_OK or LN_ENOMEM. */
static inline int ln_part_result(const ln_part *part, ln_tally *t, const uint8_t *states, ln_value *out) {
    const void *state = states + part->at;
    switch (part->kind) {
    case LN_COUNT: *out = (ln_value){.type = LN_INT, .u = ((const ln_count *)state)->n}; return LN_OK;
    case LN_SUM: {
        const ln_sum *a = state;
        if (!a->doubles || a->low || a->high || !__builtin_isfinite(a->s)) break;
        *out = (ln_value){.type = LN_DOUBLE, .d = a->s + a->c};
        return LN_OK;
    }
    case LN_MIN:
    case LN_MAX: {
        const ln_best *b = state;
        *out = (ln_value){.type = b->type == LN_MISSING ? LN_NULL : b->type, .u = b->bits};
        return LN_OK;
    }
    default: break;
    }
    t->spec = part->spec;
    return ln_aggregate_value(part->ops, t, state, out);
}

/* The value of two states together, for the kinds that need no third state to tell it; 0 for all others. */
static inline int ln_part_result_of_two(const ln_part *part, ln_tally *t, const uint8_t *a, const uint8_t *b,
                                        ln_value *out) {
    const void *one = a + part->at, *other = b + part->at;
    switch (part->kind) {
    case LN_COUNT: {
        const ln_count *x = one, *y = other;
        *out = (ln_value){.type = LN_INT, .u = x->n + y->n};
        return 1;
    }
    case LN_SUM: {
        ln_sum x = *(const ln_sum *)one;
        ln_part local = {.kind = LN_SUM, .ops = part->ops};
        ln_sum_take(&x, other);
        (void)ln_part_result(&local, t, (const uint8_t *)&x, out);
        return 1;
    }
    case LN_MIN:
    case LN_MAX: {
        ln_best x = *(const ln_best *)one;
        ln_best_take(&x, other, part->kind == LN_MAX ? 1 : -1);
        *out = (ln_value){.type = x.type == LN_MISSING ? LN_NULL : x.type, .u = x.bits};
        return 1;
    }
    default: return 0;
    }
}

#endif
