/* See histogram.h. */
#include "server/histogram.h"

static const int64_t BOUNDS_US[LN_HISTOGRAM_CLASSES] = {100,   250,   500,    1000,   2500,   5000,    10000,
                                                        25000, 50000, 100000, 250000, 500000, 1000000, INT64_MAX};

void ln_histogram_add(ln_histogram *h, int64_t us) {
    int i = 0;
    while (us > BOUNDS_US[i]) i++;
    h->count[i]++;
    h->sum_us += us > 0 ? (uint64_t)us : 0;
}

int64_t ln_histogram_bound_us(int i) { return BOUNDS_US[i]; }
