/* How many different values there have been, from their hashes, in memory of a fixed size: an UltraLogLog. Of few
 * values the hashes themselves are kept, which is exact; past a number that follows from the precision the sketch
 * becomes 2^precision registers of a byte. What it is depends on the set of hashes alone, not on their order and not on
 * how parts of it were joined. NULL is the sketch of none. */
#ifndef LN_WINDOW_AGGREGATE_SKETCH_H
#define LN_WINDOW_AGGREGATE_SKETCH_H

#include "window/aggregate/saved.h"

enum { LN_SKETCH_PRECISION_MIN = 10, LN_SKETCH_PRECISION_MAX = 16 };

typedef struct ln_sketch ln_sketch;

/* The hash of a value in its canonical form: the same in every run, since results and saved sketches stand on it. */
uint64_t ln_sketch_hash(const void *bytes, size_t len);
/* LN_OK, or LN_ENOMEM, and the sketch is as it was. */
int ln_sketch_add(ln_sketch **sketch, ln_mem *mem, uint32_t precision, uint64_t hash);
/* Takes another of the same precision into this one; LN_OK, or LN_ENOMEM, and it has taken a part. */
int ln_sketch_take(ln_sketch **sketch, ln_mem *mem, const ln_sketch *from);
double ln_sketch_estimate(const ln_sketch *s);
/* The number of values up to which the estimate is exact. */
uint32_t ln_sketch_exact(uint32_t precision);
void ln_sketch_free(ln_sketch **sketch, ln_mem *mem);
/* Equal sketches are saved as equal bytes. */
void ln_sketch_save(const ln_sketch *s, ln_buf *out);
/* Into NULL: LN_OK, LN_ENOMEM or LN_EINVALID. */
int ln_sketch_load(ln_sketch **sketch, ln_mem *mem, uint32_t precision, ln_saved *saved);

#endif
