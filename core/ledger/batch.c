/* See batch.h. A change is a head of fixed size, its key and its value. */
#include "ledger/batch.h"

#include "base/assert.h"

typedef struct head {
    uint8_t kind, table;
    uint16_t key_bytes;
    uint32_t reserved;
    uint64_t value_bytes;
} head;

static void add(ln_batch_writer *b, int kind, unsigned table, const void *key, size_t key_bytes, const void *value,
                size_t value_bytes) {
    head h = {
        .kind = (uint8_t)kind, .table = (uint8_t)table, .key_bytes = (uint16_t)key_bytes, .value_bytes = value_bytes};
    LN_ASSERT(key_bytes && key_bytes <= LN_LEDGER_KEY_MAX);
    if (!ln_buf_reserve(&b->bytes, sizeof h + key_bytes + value_bytes)) return;
    ln_buf_append(&b->bytes, &h, sizeof h);
    ln_buf_append(&b->bytes, key, key_bytes);
    ln_buf_append(&b->bytes, value, value_bytes);
    b->changes++;
}

void ln_batch_put(ln_batch_writer *b, unsigned table, const void *key, size_t key_bytes, const void *value,
                  size_t value_bytes) {
    add(b, LN_CHANGE_PUT, table, key, key_bytes, value, value_bytes);
}

void ln_batch_delete(ln_batch_writer *b, unsigned table, const void *key, size_t key_bytes) {
    add(b, LN_CHANGE_DELETE, table, key, key_bytes, NULL, 0);
}

void ln_batch_delete_range(ln_batch_writer *b, unsigned table, const void *from, size_t from_bytes, const void *to,
                           size_t to_bytes) {
    add(b, LN_CHANGE_DELETE_RANGE, table, from, from_bytes, to, to_bytes);
}

int ln_batch_next(const ln_batch_writer *b, size_t *at, ln_change_read *out) {
    const uint8_t *p = b->bytes.data + *at;
    head h;
    if (*at >= b->bytes.len) return 0;
    memcpy(&h, p, sizeof h);
    p += sizeof h;
    *out = (ln_change_read){.kind = h.kind,
                            .table = h.table,
                            .key = p,
                            .key_bytes = h.key_bytes,
                            .value = p + h.key_bytes,
                            .value_bytes = (size_t)h.value_bytes};
    *at += sizeof h + h.key_bytes + (size_t)h.value_bytes;
    return 1;
}
