/* Random numbers for C tests: from one seed always the same. */
#ifndef LN_BASE_TEST_RANDOM_H
#define LN_BASE_TEST_RANDOM_H

#include <stdint.h>

typedef struct test_random {
    uint64_t state;
} test_random;

static inline uint64_t test_random_next(test_random *r) {
    uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* From 0 up to n - 1. */
static inline uint32_t test_random_below(test_random *r, uint32_t n) { return (uint32_t)(test_random_next(r) % n); }

/* From lo up to hi, both included; no further apart than 63 bits. */
static inline int64_t test_random_between(test_random *r, int64_t lo, int64_t hi) {
    return lo + (int64_t)(test_random_next(r) % (uint64_t)(hi - lo + 1));
}

/* All 64 bits, or only some of them: as many small numbers as large ones, of both signs. */
static inline int64_t test_random_wide(test_random *r) {
    int64_t x = (int64_t)(test_random_next(r) >> test_random_below(r, 64));
    return test_random_below(r, 2) && x != INT64_MIN ? -x : x;
}

#endif
