/* A record's time and a pipeline's unit: values to microseconds and back. */
#ifndef LN_BASE_TIME_H
#define LN_BASE_TIME_H

#include "lunette.h"

/* The time that a value of a record stands for: a number in `unit`, a msgpack timestamp, a Fluent event time, a text
 * in LN_UNIT_RFC3339. Whole numbers finer than a microsecond floor, doubles go to the nearest one. 0, or -1 where the
 * value is no time or lies outside the range. */
int ln_time_read(const ln_value *v, int unit, int64_t *us);

/* A finite time in `unit`: an integer where it is whole, else a double; null for the infinite ones. */
void ln_time_show(int64_t us, int unit, ln_value *out);

#endif
