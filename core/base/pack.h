/* msgpack written straight into a buffer, each value in its shortest form. */
#ifndef LN_BASE_PACK_H
#define LN_BASE_PACK_H

#include "base/buf.h"
#include "lunette.h"

enum { LN_PACK_MAX = 9 }; /* bytes of a scalar or of a head */

/* The writers below put bytes at `to`, which has room for LN_PACK_MAX, and return their end. */

static inline uint8_t *ln_pack_be(uint8_t *to, uint8_t tag, uint64_t n, unsigned bytes) {
    uint64_t big = __builtin_bswap64(n << (64 - 8 * bytes));
    *to++ = tag;
    memcpy(to, &big, bytes);
    return to + bytes;
}

static inline uint8_t *ln_pack_uint(uint8_t *to, uint64_t u) {
    if (u < 0x80) {
        *to = (uint8_t)u;
        return to + 1;
    }
    if (u <= 0xff) return ln_pack_be(to, 0xcc, u, 1);
    if (u <= 0xffff) return ln_pack_be(to, 0xcd, u, 2);
    if (u <= 0xffffffff) return ln_pack_be(to, 0xce, u, 4);
    return ln_pack_be(to, 0xcf, u, 8);
}

static inline uint8_t *ln_pack_int(uint8_t *to, int64_t i) {
    if (i >= 0) return ln_pack_uint(to, (uint64_t)i);
    if (i >= -32) {
        *to = (uint8_t)i;
        return to + 1;
    }
    if (i >= INT8_MIN) return ln_pack_be(to, 0xd0, (uint64_t)i, 1);
    if (i >= INT16_MIN) return ln_pack_be(to, 0xd1, (uint64_t)i, 2);
    if (i >= INT32_MIN) return ln_pack_be(to, 0xd2, (uint64_t)i, 4);
    return ln_pack_be(to, 0xd3, (uint64_t)i, 8);
}

static inline uint8_t *ln_pack_double(uint8_t *to, double d) {
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return ln_pack_be(to, 0xcb, bits, 8);
}

/* A head whose shortest form holds its number in the first byte, or else stands in 8 (where tag8 is not 0), 16 or 32
 * bits. */
static inline uint8_t *ln_pack_sized(uint8_t *to, uint32_t n, uint8_t fix, uint32_t fix_end, uint8_t tag8,
                                     uint8_t tag16) {
    if (n < fix_end) {
        *to = (uint8_t)(fix | n);
        return to + 1;
    }
    if (tag8 && n <= 0xff) return ln_pack_be(to, tag8, n, 1);
    if (n <= 0xffff) return ln_pack_be(to, tag16, n, 2);
    return ln_pack_be(to, (uint8_t)(tag16 + 1), n, 4);
}

/* The head of a text, of bytes, of an array or of a map. */
static inline uint8_t *ln_pack_head(uint8_t *to, int type, uint32_t n) {
    switch (type) {
    case LN_TEXT: return ln_pack_sized(to, n, 0xa0, 32, 0xd9, 0xda);
    case LN_BYTES: return ln_pack_sized(to, n, 0, 0, 0xc4, 0xc5);
    case LN_ARRAY: return ln_pack_sized(to, n, 0x90, 16, 0, 0xdc);
    default: return ln_pack_sized(to, n, 0x80, 16, 0, 0xde);
    }
}

/* Any value, for which there is ln_pack_room; that of an array or a map is encoded already. */
uint8_t *ln_pack_value_slow(uint8_t *to, const ln_value *v);

static inline uint8_t *ln_pack_value(uint8_t *to, const ln_value *v) {
    if (v->type == LN_DOUBLE) return ln_pack_double(to, v->d);
    if (v->type == LN_INT) return ln_pack_int(to, v->i);
    return ln_pack_value_slow(to, v);
}

/* Bytes that a value takes at most. */
static inline size_t ln_pack_room(const ln_value *v) { return LN_PACK_MAX + (v->type >= LN_TEXT ? (size_t)v->len : 0); }

/* A head by itself. */
static inline void ln_pack_put_head(ln_buf *out, int type, uint32_t n) {
    uint8_t *to = ln_buf_reserve(out, LN_PACK_MAX);
    if (to) out->len = (size_t)(ln_pack_head(to, type, n) - out->data);
}

static inline void ln_pack_put_text(ln_buf *out, const void *text, size_t len) {
    ln_pack_put_head(out, LN_TEXT, (uint32_t)len);
    ln_buf_append(out, text, len);
}

/* Any value; that of an array or a map is encoded already. */
void ln_pack_put(ln_buf *out, const ln_value *v);

#endif
