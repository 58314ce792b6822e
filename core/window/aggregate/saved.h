/* Saved states: numbers and runs of bytes, one after the other, and a reader that trusts none of them. The reader's
 * error is sticky: what it returns after one is zero, so that a kind checks once, at the end. */
#ifndef LN_WINDOW_AGGREGATE_SAVED_H
#define LN_WINDOW_AGGREGATE_SAVED_H

#include "base/buf.h"

typedef struct ln_saved {
    const uint8_t *at, *end;
    int bad;
} ln_saved;

static inline size_t ln_saved_left(const ln_saved *s) { return s->bad ? 0 : (size_t)(s->end - s->at); }

/* Seven bits a byte, the low ones first. */
static inline void ln_save_uint(ln_buf *out, uint64_t n) {
    for (; n >= 0x80; n >>= 7) ln_buf_byte(out, (uint8_t)(n | 0x80));
    ln_buf_byte(out, (uint8_t)n);
}

static inline uint64_t ln_saved_uint(ln_saved *s) {
    uint64_t n = 0;
    for (unsigned shift = 0; shift < 64 && ln_saved_left(s); shift += 7) {
        uint64_t bits = *s->at & 0x7f, more = *s->at++ & 0x80;
        if (shift == 63 && bits > 1) break;
        n |= bits << shift;
        if (!more && (bits || !shift)) return n; /* one number has one form */
        if (!more) break;
    }
    s->bad = 1;
    return 0;
}

/* The same where small numbers of either sign are likely. */
static inline void ln_save_int(ln_buf *out, int64_t i) {
    ln_save_uint(out, (uint64_t)i << 1 ^ (i < 0 ? UINT64_MAX : 0));
}

static inline int64_t ln_saved_int(ln_saved *s) {
    uint64_t n = ln_saved_uint(s);
    return (int64_t)(n >> 1 ^ (n & 1 ? UINT64_MAX : 0));
}

static inline void ln_save_word(ln_buf *out, uint64_t word) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (uint8_t)(word >> 8 * i);
    ln_buf_append(out, bytes, 8);
}

static inline uint64_t ln_saved_word(ln_saved *s) {
    uint64_t word = 0;
    if (ln_saved_left(s) < 8) {
        s->bad = 1;
        return 0;
    }
    for (int i = 0; i < 8; i++) word |= (uint64_t)s->at[i] << 8 * i;
    s->at += 8;
    return word;
}

static inline void ln_save_double(ln_buf *out, double d) {
    uint64_t word;
    memcpy(&word, &d, 8);
    ln_save_word(out, word);
}

static inline double ln_saved_double(ln_saved *s) {
    uint64_t word = ln_saved_word(s);
    double d;
    memcpy(&d, &word, 8);
    return d;
}

static inline void ln_save_bytes(ln_buf *out, const void *bytes, size_t len) {
    ln_save_uint(out, len);
    ln_buf_append(out, bytes, len);
}

/* A run of exactly `len` bytes; NULL, and an error, where there is less. */
static inline const uint8_t *ln_saved_run(ln_saved *s, size_t len) {
    const uint8_t *at = s->at;
    if (s->bad || ln_saved_left(s) < len) {
        s->bad = 1;
        return NULL;
    }
    s->at += len;
    return at;
}

/* A run with its length before it. */
static inline const uint8_t *ln_saved_bytes(ln_saved *s, size_t *len) {
    uint64_t n = ln_saved_uint(s);
    const uint8_t *at = n <= SIZE_MAX ? ln_saved_run(s, (size_t)n) : NULL;
    *len = at ? (size_t)n : 0;
    if (!at) s->bad = 1;
    return at;
}

#endif
