/* A set of values in their canonical form: of the values, not of their hashes. The form is msgpack, which tells where
 * it ends, so the values lie one after the other in one run of bytes, in the order in which they came. All bytes zero
 * but for `bytes.mem` is the empty set. */
#ifndef LN_WINDOW_AGGREGATE_SET_H
#define LN_WINDOW_AGGREGATE_SET_H

#include "base/buf.h"

typedef struct ln_set_place {
    uint32_t tag; /* of the hash */
    uint32_t at;  /* 1 + where the value begins; 0: an empty place */
} ln_set_place;

typedef struct ln_set {
    ln_set_place *place; /* open addressing, a power of two, at most two thirds full */
    size_t places, count;
    uint64_t seed; /* of the hashes */
    ln_buf bytes;
} ln_set;

/* Adds a value in its canonical form where it is not there yet: LN_OK, LN_ENOMEM, or LN_EELEMENTS where the set has
 * `most` values already, or no room. */
int ln_set_add(ln_set *s, const uint8_t *bytes, size_t len, uint64_t most);
/* Where the value at `p` ends; NULL where what stands there is no value that can be in a set. */
const uint8_t *ln_set_value_end(const uint8_t *p, const uint8_t *end);
void ln_set_free(ln_set *s);

#endif
