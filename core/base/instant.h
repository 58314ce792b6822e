/* Time arithmetic: int64 microseconds on one line, INT64_MIN and INT64_MAX standing for minus and plus infinity.
 * Every sum of finite times is finite: it stops at the ends of the range instead of wrapping. Division floors. */
#ifndef LN_BASE_INSTANT_H
#define LN_BASE_INSTANT_H

#include <stdint.h>

#define LN_PAST INT64_MIN           /* minus infinity: before every time */
#define LN_FUTURE INT64_MAX         /* plus infinity: after every time */
#define LN_TIME_MIN (INT64_MIN + 1) /* the first and the last time there is */
#define LN_TIME_MAX (INT64_MAX - 1)

/* A time cut to the range of finite ones. */
static inline int64_t ln_time_clamp(__int128 t) {
    return t < LN_TIME_MIN ? LN_TIME_MIN : t > LN_TIME_MAX ? LN_TIME_MAX : (int64_t)t;
}

/* t + d; an infinite t stays what it is, a finite one stays finite. */
static inline int64_t ln_time_add(int64_t t, int64_t d) {
    int64_t sum;
    if (t == LN_PAST || t == LN_FUTURE) return t;
    if (__builtin_add_overflow(t, d, &sum)) return d < 0 ? LN_TIME_MIN : LN_TIME_MAX;
    return ln_time_clamp(sum);
}

static inline int64_t ln_time_sub(int64_t t, int64_t d) {
    return d == INT64_MIN ? ln_time_add(ln_time_add(t, INT64_MAX), 1) : ln_time_add(t, -d);
}

/* floor(a / b) for b > 0. */
static inline int64_t ln_floor_div(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q - (a % b < 0);
}

/* a - floor(a / b) * b for b > 0: between 0 and b - 1. */
static inline int64_t ln_floor_mod(int64_t a, int64_t b) {
    int64_t m = a % b;
    return m < 0 ? m + b : m;
}

/* The last point of the grid {k * step + offset} at or before t, with 0 <= offset < step. Not cut to the range: it may
 * lie before the first time there is. */
static inline __int128 ln_grid_floor(int64_t t, int64_t step, int64_t offset) {
    return (__int128)t - ln_floor_mod(ln_floor_mod(t, step) - offset, step);
}

/* True where a multiple of `period` lies in (from, to]; moves from or to infinity pass none. */
static inline int ln_time_crosses(int64_t period, int64_t from, int64_t to) {
    if (from == LN_PAST || to == LN_FUTURE) return 0;
    return ln_floor_div(to, period) > ln_floor_div(from, period);
}

#endif
