/* A histogram of lengths of time, from 100 us to 1 s. */
#ifndef LN_SERVER_HISTOGRAM_H
#define LN_SERVER_HISTOGRAM_H

#include <stdint.h>

enum { LN_HISTOGRAM_CLASSES = 14 };

typedef struct ln_histogram {
    uint64_t count[LN_HISTOGRAM_CLASSES]; /* of each class alone */
    uint64_t sum_us;
} ln_histogram;

void ln_histogram_add(ln_histogram *h, int64_t us);
/* Where class i ends, itself included; INT64_MAX for the last. */
int64_t ln_histogram_bound_us(int i);

#endif
