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

/* The head of a text, of bytes, of an array or of a map. */
static inline uint8_t *ln_pack_head(uint8_t *to, int type, uint32_t n) {
    static const struct {
        uint8_t fix, fix_max, tag8, tag16; /* 0 where there is no such form */
    } form[] = {
        [LN_TEXT] = {0xa0, 31, 0xd9, 0xda},
        [LN_BYTES] = {0, 0, 0xc4, 0xc5},
        [LN_ARRAY] = {0x90, 15, 0, 0xdc},
        [LN_MAP] = {0x80, 15, 0, 0xde},
    };
    if (form[type].fix && n <= form[type].fix_max) {
        *to = (uint8_t)(form[type].fix | n);
        return to + 1;
    }
    if (form[type].tag8 && n <= 0xff) return ln_pack_be(to, form[type].tag8, n, 1);
    if (n <= 0xffff) return ln_pack_be(to, form[type].tag16, n, 2);
    return ln_pack_be(to, (uint8_t)(form[type].tag16 + 1), n, 4);
}

/* A head by itself. */
static inline void ln_pack_put_head(ln_buf *out, int type, uint32_t n) {
    uint8_t *to = ln_buf_reserve(out, LN_PACK_MAX);
    if (to) out->len = (size_t)(ln_pack_head(to, type, n) - out->data);
}

static inline void ln_pack_put_text(ln_buf *out, const char *text, size_t len) {
    ln_pack_put_head(out, LN_TEXT, (uint32_t)len);
    ln_buf_append(out, text, len);
}

/* Any value; that of an array or a map is encoded already. */
void ln_pack_put(ln_buf *out, const ln_value *v);

#endif
