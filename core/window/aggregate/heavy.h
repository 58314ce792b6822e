/* Which values weigh most, and how much, in bounded memory: a Misra-Gries summary, which is a Space-Saving one seen
 * from below. Up to its capacity of different values it holds all of them and is exact. When one more comes, the
 * lighter half is let go, and `lost` remembers the most that any value can have weighed that is not held. So of a value
 * held,
 *     weight - error <= its true weight <= weight,
 * and `lost`, which no error exceeds, is at most 2 / capacity of all that was added, in whatever order and however
 * parts were joined. Past the capacity, which of the lighter values are held does depend on that. */
#ifndef LN_WINDOW_AGGREGATE_HEAVY_H
#define LN_WINDOW_AGGREGATE_HEAVY_H

#include "window/aggregate/saved.h"

typedef struct ln_heavy_item {
    uint32_t tag;     /* of the hash */
    uint32_t at, len; /* of the value, in its canonical form */
    uint32_t seen;    /* while another summary is taken: that holds it too */
    double weight, error;
} ln_heavy_item;

typedef struct ln_heavy {
    ln_heavy_item *item;
    size_t count, cap;
    uint32_t *place; /* 1 + the number of an item, or 0: open addressing, a power of two, at most half full */
    size_t places;
    size_t capacity;
    uint64_t seed; /* of the hashes */
    double lost;
    ln_buf bytes;
} ln_heavy;

void ln_heavy_init(ln_heavy *h, ln_mem *mem, size_t capacity, uint64_t seed);
void ln_heavy_free(ln_heavy *h);
/* Adds the weight, above zero, to the value in its canonical form: LN_OK, or LN_ENOMEM, and it is as it was. */
int ln_heavy_add(ln_heavy *h, const uint8_t *bytes, size_t len, double weight);
/* LN_OK, or LN_ENOMEM, and it is as it was or has taken all but let nothing go. */
int ln_heavy_take(ln_heavy *h, const ln_heavy *from);
/* The first `most` items, by falling weight and then by their bytes, into `into`; returns how many. */
size_t ln_heavy_first(const ln_heavy *h, const ln_heavy_item **into, size_t most);
void ln_heavy_save(const ln_heavy *h, ln_buf *out);
/* Into a fresh one: LN_OK, LN_ENOMEM or LN_EINVALID. */
int ln_heavy_load(ln_heavy *h, ln_saved *saved);

#endif
