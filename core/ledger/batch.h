/* Changes to a ledger, put together in memory: all of them take effect, in their order, or none. Tables are numbered
 * from 0; keys compare byte by byte. */
#ifndef LN_LEDGER_BATCH_H
#define LN_LEDGER_BATCH_H

#include "base/buf.h"

enum ln_change { LN_CHANGE_PUT = 0, LN_CHANGE_DELETE, LN_CHANGE_DELETE_RANGE };

enum { LN_LEDGER_KEY_MAX = 500 }; /* bytes */

typedef struct ln_batch_writer {
    ln_buf bytes; /* remembers where memory was short */
    uint64_t changes;
} ln_batch_writer;

/* One change, read back: views into the batch. */
typedef struct ln_change_read {
    int kind; /* enum ln_change */
    unsigned table;
    const uint8_t *key;
    size_t key_bytes;
    const uint8_t *value; /* of a range: the first key beyond it */
    size_t value_bytes;
} ln_change_read;

static inline void ln_batch_init(ln_batch_writer *b, ln_mem *mem) {
    ln_buf_init(&b->bytes, mem);
    b->changes = 0;
}
static inline void ln_batch_free(ln_batch_writer *b) { ln_buf_free(&b->bytes); }
static inline void ln_batch_clear(ln_batch_writer *b) {
    ln_buf_clear(&b->bytes);
    b->changes = 0;
}

/* Keys are at most LN_LEDGER_KEY_MAX bytes. */
void ln_batch_put(ln_batch_writer *b, unsigned table, const void *key, size_t key_bytes, const void *value,
                  size_t value_bytes);
/* A key that is not there is no error. */
void ln_batch_delete(ln_batch_writer *b, unsigned table, const void *key, size_t key_bytes);
/* All keys from `from` up to `to`, which stays. */
void ln_batch_delete_range(ln_batch_writer *b, unsigned table, const void *from, size_t from_bytes, const void *to,
                           size_t to_bytes);
/* The change at `*at`, which moves on; 0 behind the last. */
int ln_batch_next(const ln_batch_writer *b, size_t *at, ln_change_read *out);

#endif
