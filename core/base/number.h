/* Numbers of three kinds (int64, uint64 above it, double) compared by their exact values. */
#ifndef LN_BASE_NUMBER_H
#define LN_BASE_NUMBER_H

#include "lunette.h"

static inline int ln_is_number(const ln_value *v) { return v->type >= LN_INT && v->type <= LN_DOUBLE; }
static inline int ln_is_nan(const ln_value *v) { return v->type == LN_DOUBLE && v->d != v->d; }

static inline double ln_number_double(const ln_value *v) {
    return v->type == LN_INT ? (double)v->i : v->type == LN_UINT ? (double)v->u : v->d;
}

/* -1, 0 or 1 as the whole number a (int64 or uint64) is below, at or above the double d, which is not NaN. */
static inline int ln_whole_against_double(const ln_value *a, double d) {
    double whole, fraction_of;
    if (d >= 18446744073709551616.0) return -1;
    if (d < -9223372036854775808.0) return 1;
    whole = __builtin_floor(d);
    fraction_of = d - whole;
    if (a->type == LN_INT) {
        int64_t w;
        if (whole >= 9223372036854775808.0) return -1;
        w = (int64_t)whole;
        if (a->i != w) return a->i < w ? -1 : 1;
    } else {
        uint64_t w;
        if (whole < 0) return 1;
        w = (uint64_t)whole;
        if (a->u != w) return a->u < w ? -1 : 1;
    }
    return fraction_of > 0 ? -1 : 0;
}

/* -1, 0 or 1; neither is NaN. */
static inline int ln_number_compare(const ln_value *a, const ln_value *b) {
    if (a->type == LN_DOUBLE && b->type == LN_DOUBLE) return (a->d > b->d) - (a->d < b->d);
    if (a->type == LN_DOUBLE) return -ln_whole_against_double(b, a->d);
    if (b->type == LN_DOUBLE) return ln_whole_against_double(a, b->d);
    if (a->type != b->type) return a->type == LN_UINT ? 1 : -1;
    if (a->type == LN_UINT) return (a->u > b->u) - (a->u < b->u);
    return (a->i > b->i) - (a->i < b->i);
}

/* Turns a double that is a whole number of 64 bits into that integer: 1.0 into 1, -0.0 into 0. */
static inline void ln_number_normalise(ln_value *v) {
    if (v->type != LN_DOUBLE || v->d != __builtin_floor(v->d)) return;
    if (v->d >= -9223372036854775808.0 && v->d < 9223372036854775808.0) {
        v->i = (int64_t)v->d;
        v->type = LN_INT;
    } else if (v->d > 0 && v->d < 18446744073709551616.0) {
        v->u = (uint64_t)v->d;
        v->type = LN_UINT;
    }
}

#endif
