/* A growing run of bytes. The error is sticky: once memory was short, everything appended later is dropped and
 * `failed` stays set until the buffer is cleared, so that a writer checks once, at the end. */
#ifndef LN_BASE_BUF_H
#define LN_BASE_BUF_H

#include "base/mem.h"

#include <string.h>

typedef struct ln_buf {
    uint8_t *data;
    size_t len, cap; /* bytes */
    ln_mem *mem;
    int failed;
} ln_buf;

static inline void ln_buf_init(ln_buf *b, ln_mem *mem) { *b = (ln_buf){.mem = mem}; }
void ln_buf_free(ln_buf *b);
/* Room for `n` more bytes, not yet part of the buffer; NULL where memory is short. */
uint8_t *ln_buf_reserve_slow(ln_buf *b, size_t n);

static inline uint8_t *ln_buf_reserve(ln_buf *b, size_t n) {
    if (b->cap - b->len >= n && !b->failed) return b->data + b->len;
    return ln_buf_reserve_slow(b, n);
}

static inline void ln_buf_append(ln_buf *b, const void *bytes, size_t n) {
    uint8_t *to = ln_buf_reserve(b, n);
    if (!to || !n) return;
    memcpy(to, bytes, n);
    b->len += n;
}

static inline void ln_buf_byte(ln_buf *b, uint8_t byte) { ln_buf_append(b, &byte, 1); }

static inline void ln_buf_clear(ln_buf *b) {
    b->len = 0;
    b->failed = 0;
}

#endif
