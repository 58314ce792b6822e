/* Positive numbers counted in bins whose widths grow with the numbers, so that any number of a bin stands for another
 * within a relative error: the store of a DDSketch. A bin is found from the number's exponent and a cubic of its
 * fraction, which is nearly its logarithm. Only the bins of the top 64 octaves are told apart; smaller numbers fall
 * into the lowest of these, whichever came first, so that what the bins hold does not depend on any order. */
#ifndef LN_WINDOW_AGGREGATE_BINS_H
#define LN_WINDOW_AGGREGATE_BINS_H

#include "window/aggregate/saved.h"

/* What all bins of one accuracy have in common. */
typedef struct ln_bin_scale {
    double per_octave; /* bins */
    int32_t most;      /* bins that are told apart */
} ln_bin_scale;

ln_bin_scale ln_bin_scale_of(double accuracy);
/* The bin of a number above zero. */
int32_t ln_bin_of(const ln_bin_scale *scale, double x);
/* The number that stands for all numbers of a bin. */
double ln_bin_value(const ln_bin_scale *scale, int32_t bin);

/* All bytes zero is empty. */
typedef struct ln_bins {
    void *count;   /* of bins first, first + 1, ...: uint32_t, or uint64_t once there are so many numbers */
    int32_t first; /* a multiple of 32, as is cap */
    int32_t cap;   /* 0: none */
    int32_t top;   /* the highest bin that holds a number */
    uint32_t wide;
    uint64_t total; /* numbers */
} ln_bins;

/* LN_OK, or LN_ENOMEM, and the bins hold what they held. */
int ln_bins_add(ln_bins *b, ln_mem *mem, const ln_bin_scale *scale, int32_t bin, uint64_t times);
int ln_bins_take(ln_bins *b, ln_mem *mem, const ln_bin_scale *scale, const ln_bins *from);
/* The bin that holds the number of this rank, from 0 for the least. */
int32_t ln_bins_rank(const ln_bins *b, uint64_t rank);
void ln_bins_free(ln_bins *b, ln_mem *mem);
/* Bins with equal counts are saved as equal bytes. */
void ln_bins_save(const ln_bins *b, ln_buf *out);
/* Into empty ones: LN_OK, LN_ENOMEM or LN_EINVALID. */
int ln_bins_load(ln_bins *b, ln_mem *mem, const ln_bin_scale *scale, ln_saved *saved);

#endif
