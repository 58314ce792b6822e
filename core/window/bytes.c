/* Entries one after the other, each with a checksum over its head and what stands beside it; what the engine has saved
 * has its own. */
#include "window/aggregate/saved.h"
#include "window/checked.h"

#include "lunette.h"

struct ln_bytes {
    ln_mem mem;
    ln_buf buf;
};

ln_bytes *ln_bytes_new(void) {
    ln_mem mem;
    ln_bytes *b;
    ln_mem_init(&mem);
    b = ln_mem_zero(&mem, sizeof *b);
    if (!b) return NULL;
    b->mem = mem;
    ln_buf_init(&b->buf, &b->mem);
    return b;
}

void ln_bytes_delete(ln_bytes *b) {
    ln_mem mem;
    if (!b) return;
    ln_buf_free(&b->buf);
    mem = b->mem;
    ln_mem_free(&mem, b, sizeof *b);
}

void ln_bytes_clear(ln_bytes *b) { ln_buf_clear(&b->buf); }

const uint8_t *ln_bytes_data(const ln_bytes *b, size_t *len) {
    static const uint8_t none;
    *len = b->buf.failed ? 0 : b->buf.len;
    return b->buf.failed ? NULL : b->buf.data ? b->buf.data : &none;
}

int ln_bytes_push(ln_bytes *b, const uint8_t *bytes, size_t len) {
    ln_buf_append(&b->buf, bytes, len);
    return b->buf.failed ? LN_ENOMEM : LN_OK;
}

void ln_bytes_drop(ln_bytes *b, size_t len) {
    if (len > b->buf.len) len = b->buf.len;
    memmove(b->buf.data, b->buf.data + len, b->buf.len - len);
    b->buf.len -= len;
}

enum { HEAD_LEN_BYTES = 4, HEAD_MAX = 1 << 28 };

/* The length of the head; the head: kind and whether there are bytes, part, number, their length, what stands beside, a
 * checksum; the bytes. */
void ln_bytes_write(ln_bytes *b, uint32_t part, const ln_entry *e, const char *beside, size_t beside_len) {
    ln_buf *out = &b->buf;
    size_t from = out->len, len;
    ln_buf_append(out, "\0\0\0\0", HEAD_LEN_BYTES);
    ln_save_uint(out, (uint64_t)e->kind * 2 + (e->bytes != NULL));
    ln_save_uint(out, part);
    ln_save_uint(out, e->number);
    ln_save_uint(out, e->bytes ? e->len : 0);
    ln_save_bytes(out, beside, beside_len);
    ln_check(out, from + HEAD_LEN_BYTES);
    len = out->len - from - HEAD_LEN_BYTES;
    if (len > HEAD_MAX) out->failed = 1;
    for (int i = 0; i < HEAD_LEN_BYTES && !out->failed; i++) out->data[from + (size_t)i] = (uint8_t)(len >> 8 * i);
    if (e->bytes) ln_buf_append(out, e->bytes, e->len);
}

int64_t ln_bytes_read(const uint8_t *bytes, size_t len, ln_read_entry *out) {
    const uint8_t *head = bytes + HEAD_LEN_BYTES;
    size_t head_len = 0;
    uint64_t kind, part, entry_len;
    ln_saved s;
    *out = (ln_read_entry){0};
    if (len < HEAD_LEN_BYTES) return 0;
    for (int i = 0; i < HEAD_LEN_BYTES; i++) head_len |= (size_t)bytes[i] << 8 * i;
    if (head_len > HEAD_MAX) return -1;
    if (len - HEAD_LEN_BYTES < head_len) return 0;
    len -= HEAD_LEN_BYTES + head_len;
    if (!ln_checked(&head, &head_len)) return -1;
    s = (ln_saved){head, head + head_len, 0};
    kind = ln_saved_uint(&s);
    part = ln_saved_uint(&s);
    out->number = ln_saved_uint(&s);
    entry_len = ln_saved_uint(&s);
    out->beside = ln_saved_bytes(&s, &out->beside_len);
    if (s.bad || ln_saved_left(&s) || kind / 2 > LN_ENTRY_REST || part > UINT32_MAX) return -1;
    out->kind = (int)(kind / 2);
    out->part = (uint32_t)part;
    if (entry_len > len) return entry_len > INT64_MAX / 2 ? -1 : 0;
    if (kind & 1) out->bytes = head + head_len + LN_CHECK_BYTES;
    out->len = (size_t)entry_len;
    return (int64_t)(HEAD_LEN_BYTES + head_len + LN_CHECK_BYTES + entry_len);
}
