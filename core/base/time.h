/* A record's time and a pipeline's unit: values to microseconds and back. */
#ifndef LN_BASE_TIME_H
#define LN_BASE_TIME_H

#include "lunette.h"

/* The time that a value of a record stands for: a number in `unit`, a msgpack timestamp, a Fluent event time, a text
 * in LN_UNIT_RFC3339. Whole numbers finer than a microsecond floor, doubles go to the nearest one. 0, or -1 where the
 * value is no time or lies outside the range. */
int ln_time_read(const ln_value *v, int unit, int64_t *us);

/* The same for a whole number in `unit`. */
int ln_time_whole_slow(int64_t n, int unit, int64_t *us);
/* Microseconds of a unit; 0 for the one that is finer. */
extern const int64_t ln_time_unit_us[];

static inline int ln_time_whole(int64_t n, int unit, int64_t *us) {
    int64_t width_us = ln_time_unit_us[unit];
    if (width_us && !__builtin_mul_overflow(n, width_us, us) && *us != INT64_MIN && *us != INT64_MAX) return 0;
    return ln_time_whole_slow(n, unit, us);
}

/* A finite time in `unit`: an integer where it is whole, else a double; null for the infinite ones. */
void ln_time_show(int64_t us, int unit, ln_value *out);

#endif
