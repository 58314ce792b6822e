/* One step over msgpack: reads the head of the value at p. The one place that knows the format's bytes; bounded by
 * `end`, without recursion, without memory. */
#ifndef LN_BASE_MSGPACK_H
#define LN_BASE_MSGPACK_H

#include "lunette.h"

enum ln_head { LN_HEAD_OK = 0, LN_HEAD_SHORT, LN_HEAD_BAD };

/* Reads the value's type and content into *v, and where its head ends into *next.
 *   - scalars: *v is whole, *next is their end;
 *   - texts, bytes and ext: v->at is the payload, v->len its length as declared, *next the payload's start (the payload
 *     itself is not checked against `end`: the caller knows what is at hand);
 *   - arrays and maps: v->len is the number of elements (pairs), *next the first of them.
 * LN_HEAD_SHORT: the head itself goes beyond `end`. LN_HEAD_BAD: 0xc1, which is no msgpack. */
int ln_msgpack_head(const uint8_t *p, const uint8_t *end, ln_value *v, const uint8_t **next);

static inline uint16_t ln_be16(const uint8_t *p) {
    uint16_t x;
    __builtin_memcpy(&x, p, 2);
    return __builtin_bswap16(x);
}
static inline uint32_t ln_be32(const uint8_t *p) {
    uint32_t x;
    __builtin_memcpy(&x, p, 4);
    return __builtin_bswap32(x);
}
static inline uint64_t ln_be64(const uint8_t *p) {
    uint64_t x;
    __builtin_memcpy(&x, p, 8);
    return __builtin_bswap64(x);
}

#endif
