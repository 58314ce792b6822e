/* Bins of a quantile. Their counts take 32 bits each, until there are numbers enough to need more in one bin. */
#include "window/aggregate/bins.h"

#include "lunette.h"

#include <float.h>
#include <math.h>

enum { OCTAVES = 64, STEP = 32 };

/* ---- from numbers to bins and back ------------------------------------------------------------------------------ */

/* A cubic from 0 to 1 that is near to log2(1 + s), with the slope of either end alike where octaves meet. Its slope
 * against the logarithm to base e is at least 10/7 everywhere, which is what the error rests on. */
static double cubic(double s) { return ((6.0 / 35 * s - 3.0 / 5) * s + 10.0 / 7) * s; }
static double slope(double s) { return (18.0 / 35 * s - 6.0 / 5) * s + 10.0 / 7; }

/* With bins no wider than ln((1 + a) / (1 - a)), the harmonic middle of a bin is within a of all its numbers. */
ln_bin_scale ln_bin_scale_of(double accuracy) {
    ln_bin_scale scale;
    scale.per_octave = 0.7 / log((1 + accuracy) / (1 - accuracy));
    scale.most = (int32_t)ceil(scale.per_octave * OCTAVES);
    return scale;
}

int32_t ln_bin_of(const ln_bin_scale *scale, double x) {
    uint64_t bits;
    int exponent;
    double fraction;
    memcpy(&bits, &x, 8);
    exponent = (int)(bits >> 52) - 1023;
    if (exponent == -1023) { /* subnormal */
        x *= 0x1p64;
        memcpy(&bits, &x, 8);
        exponent = (int)(bits >> 52) - 1023 - 64;
    }
    bits = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x3ff0000000000000);
    memcpy(&fraction, &bits, 8);
    return (int32_t)floor(scale->per_octave * (exponent + cubic(fraction - 1)));
}

/* Where a bin begins, as mantissa * 2^exponent. */
static double begin_of(const ln_bin_scale *scale, int32_t bin, int *exponent) {
    double at = bin / scale->per_octave, octave = floor(at), s = at - octave;
    double want = s;
    for (int step = 0; step < 6; step++) s -= (cubic(s) - want) / slope(s);
    *exponent = (int)octave;
    return 1 + s;
}

double ln_bin_value(const ln_bin_scale *scale, int32_t bin) {
    int low_exponent, high_exponent;
    double low = begin_of(scale, bin, &low_exponent), high = begin_of(scale, bin + 1, &high_exponent);
    double middle = 2 / (1 + ldexp(low / high, low_exponent - high_exponent));
    double value = ldexp(low * middle, low_exponent);
    return value <= DBL_MAX ? value : DBL_MAX;
}

/* ---- counts ----------------------------------------------------------------------------------------------------- */

static size_t width(const ln_bins *b) { return b->wide ? sizeof(uint64_t) : sizeof(uint32_t); }

static uint64_t count_at(const ln_bins *b, int32_t i) {
    return b->wide ? ((const uint64_t *)b->count)[i] : ((const uint32_t *)b->count)[i];
}

static void count_more(ln_bins *b, int32_t i, uint64_t times) {
    if (b->wide) ((uint64_t *)b->count)[i] += times;
    else ((uint32_t *)b->count)[i] += (uint32_t)times;
}

void ln_bins_free(ln_bins *b, ln_mem *mem) {
    ln_mem_free(mem, b->count, (size_t)b->cap * width(b));
    *b = (ln_bins){0};
}

static int32_t round_down(int32_t bin) { return bin & ~(STEP - 1); }

/* Room for the bins from `low` up to `top`, as the highest; what lies below `low` goes into it. */
static int reshape(ln_bins *b, ln_mem *mem, int32_t low, int32_t top, int wide) {
    ln_bins next = {.first = round_down(low), .top = top, .wide = (uint32_t)wide, .total = b->total};
    next.cap = round_down(top) + STEP - next.first;
    next.count = ln_mem_zero(mem, (size_t)next.cap * width(&next));
    if (!next.count) return LN_ENOMEM;
    for (int32_t i = 0; i < b->cap; i++) {
        int32_t bin = b->first + i < low ? low : b->first + i;
        uint64_t n = count_at(b, i);
        if (n) count_more(&next, bin - next.first, n);
    }
    ln_bins_free(b, mem);
    *b = next;
    return LN_OK;
}

/* What lies below `least` goes into it. */
static void raise(ln_bins *b, int32_t least) {
    uint64_t n = 0;
    for (int32_t i = 0; i < least - b->first; i++) n += count_at(b, i);
    if (!n) return;
    memset(b->count, 0, (size_t)(least - b->first) * width(b));
    count_more(b, least - b->first, n);
}

/* Makes room for bins from `low` up to `top` and for `times` more numbers; *least is the lowest bin told apart then. */
static int ensure(ln_bins *b, ln_mem *mem, const ln_bin_scale *scale, int32_t low, int32_t top, uint64_t times,
                  int32_t *least) {
    int wide = b->wide || b->total + times > UINT32_MAX;
    if (b->total && b->top > top) top = b->top;
    *least = top - scale->most + 1;
    if (low < *least) low = *least;
    if (!b->cap || wide != (int)b->wide || low < b->first || top >= b->first + b->cap) {
        if (b->total && b->first < low) low = b->first < *least ? *least : b->first;
        return reshape(b, mem, low, top, wide);
    }
    b->top = top;
    raise(b, *least);
    return LN_OK;
}

int ln_bins_add(ln_bins *b, ln_mem *mem, const ln_bin_scale *scale, int32_t bin, uint64_t times) {
    int32_t least;
    if (ensure(b, mem, scale, bin, bin, times, &least) != LN_OK) return LN_ENOMEM;
    count_more(b, (bin < least ? least : bin) - b->first, times);
    b->total += times;
    return LN_OK;
}

int ln_bins_take(ln_bins *b, ln_mem *mem, const ln_bin_scale *scale, const ln_bins *from) {
    int32_t least;
    if (!from->total) return LN_OK;
    if (ensure(b, mem, scale, from->first, from->top, from->total, &least) != LN_OK) return LN_ENOMEM;
    for (int32_t i = 0; i <= from->top - from->first; i++) {
        int32_t bin = from->first + i;
        uint64_t n = count_at(from, i);
        if (n) count_more(b, (bin < least ? least : bin) - b->first, n);
    }
    b->total += from->total;
    return LN_OK;
}

int32_t ln_bins_rank(const ln_bins *b, uint64_t rank) {
    int32_t i = 0;
    for (uint64_t below = 0; i < b->top - b->first; i++) {
        below += count_at(b, i);
        if (below > rank) break;
    }
    return b->first + i;
}

/* ---- saved ------------------------------------------------------------------------------------------------------ */

/* How many bins hold a number; the first of them and its count; for each later one the distance and its count. */
void ln_bins_save(const ln_bins *b, ln_buf *out) {
    uint64_t used = 0;
    int32_t before = 0;
    for (int32_t i = 0; i < b->cap; i++) used += count_at(b, i) != 0;
    ln_save_uint(out, used);
    used = 0;
    for (int32_t i = 0; i < b->cap; i++) {
        int32_t bin = b->first + i;
        if (!count_at(b, i)) continue;
        if (used++) ln_save_uint(out, (uint64_t)(bin - before));
        else ln_save_int(out, bin);
        ln_save_uint(out, count_at(b, i));
        before = bin;
    }
}

int ln_bins_load(ln_bins *b, ln_mem *mem, const ln_bin_scale *scale, ln_saved *saved) {
    uint64_t used = ln_saved_uint(saved);
    int64_t first = 0, bin = 0;
    if (used > (uint64_t)scale->most) return LN_EINVALID;
    for (uint64_t i = 0; i < used; i++) {
        uint64_t step = i ? ln_saved_uint(saved) : 0, n;
        if (!i) first = bin = ln_saved_int(saved);
        n = ln_saved_uint(saved);
        if (saved->bad || step > (uint64_t)scale->most || (i && !step) || n == 0 || n > INT64_MAX / 4 - b->total)
            return LN_EINVALID;
        bin += (int64_t)step;
        if (fabs((double)bin) > scale->per_octave * 1100 || bin - first >= scale->most) return LN_EINVALID;
        if (ln_bins_add(b, mem, scale, (int32_t)bin, n) != LN_OK) return LN_ENOMEM;
    }
    return saved->bad ? LN_EINVALID : LN_OK;
}
