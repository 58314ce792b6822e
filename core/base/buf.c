/* The slow path of a growing run of bytes. */
#include "base/buf.h"

void ln_buf_free(ln_buf *b) {
    ln_mem_free(b->mem, b->data, b->cap);
    ln_buf_init(b, b->mem);
}

uint8_t *ln_buf_reserve_slow(ln_buf *b, size_t n) {
    if (b->failed || n > SIZE_MAX / 4 || ln_mem_grow(b->mem, &b->data, &b->cap, b->len + (n ? n : 1), 1) < 0) {
        b->failed = 1;
        return NULL;
    }
    return b->data + b->len;
}
