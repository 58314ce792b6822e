/* Chunks. */
#include "forward/chunk.h"

#include "base/instant.h"
#include "base/pack.h"
#include "forward/gzip.h"

#include <sodium.h>

enum { LENGTH_BYTES = 5, OPTIONS_MAX = 96 };

ln_chunk *ln_chunk_new(ln_mem *mem, const ln_value *tag, const uint8_t *seed, uint64_t number) {
    uint8_t raw[LN_CHUNK_SEED + 8];
    ln_chunk *c = ln_mem_zero(mem, sizeof *c);
    if (!c) return NULL;
    memcpy(raw, seed, LN_CHUNK_SEED);
    memcpy(raw + LN_CHUNK_SEED, &number, 8);
    sodium_bin2base64(c->id, sizeof c->id, raw, sizeof raw, sodium_base64_VARIANT_ORIGINAL);
    ln_buf_init(&c->message, mem);
    ln_pack_put_head(&c->message, LN_ARRAY, 3);
    ln_pack_put_text(&c->message, tag->at, tag->len);
    if (ln_buf_reserve(&c->message, LENGTH_BYTES)) c->message.len += LENGTH_BYTES;
    c->head = c->message.len;
    if (!c->message.failed) return c;
    ln_chunk_delete(c, mem);
    return NULL;
}

void ln_chunk_delete(ln_chunk *c, ln_mem *mem) {
    if (!c) return;
    ln_buf_free(&c->message);
    ln_mem_free(mem, c, sizeof *c);
}

/* Seconds and nanoseconds of an event time, cut to its range of 32 bits. */
static uint64_t event_time(int64_t time_us) {
    int64_t s = ln_floor_div(time_us, 1000000), us = ln_floor_mod(time_us, 1000000);
    if (s < 0) return 0;
    if (s > UINT32_MAX) return UINT64_MAX << 32 | 999999999;
    return (uint64_t)s << 32 | (uint64_t)us * 1000;
}

int ln_chunk_add(ln_chunk *c, int64_t time_us, const uint8_t *value, size_t len, int is_map) {
    static const uint8_t wrapped[] = {0x81, 0xa5, 'v', 'a', 'l', 'u', 'e'};
    uint8_t *to = ln_buf_reserve(&c->message, LN_CHUNK_ENTRY + len);
    if (!to) {
        c->message.failed = 0;
        return LN_ENOMEM;
    }
    *to++ = 0x92;
    *to++ = 0xd7;
    to = ln_pack_be(to, 0, event_time(time_us), 8);
    if (!is_map) {
        memcpy(to, wrapped, sizeof wrapped);
        to += sizeof wrapped;
    }
    memcpy(to, value, len);
    c->message.len = (size_t)(to + len - c->message.data);
    c->entries++;
    return LN_OK;
}

static void put_options(ln_buf *out, const ln_chunk *c, int gzip, int acknowledged) {
    ln_value size = {.type = LN_INT, .i = (int64_t)c->entries};
    ln_pack_put_head(out, LN_MAP, 1u + (gzip != 0) + (acknowledged != 0));
    ln_pack_put_text(out, "size", 4);
    ln_pack_put(out, &size);
    if (acknowledged) {
        ln_pack_put_text(out, "chunk", 5);
        ln_pack_put_text(out, c->id, LN_CHUNK_ID);
    }
    if (gzip) {
        ln_pack_put_text(out, "compressed", 10);
        ln_pack_put_text(out, "gzip", 4);
    }
}

/* The message with its entries compressed: built beside the open one, which it takes the place of. */
static int compress_entries(ln_chunk *c, ln_mem *mem) {
    ln_buf packed;
    int err;
    ln_buf_init(&packed, mem);
    ln_buf_append(&packed, c->message.data, c->head);
    err = ln_gzip(&packed, mem, c->message.data + c->head, ln_chunk_bytes(c), OPTIONS_MAX);
    if (err) {
        ln_buf_free(&packed);
        return err;
    }
    ln_buf_free(&c->message);
    c->message = packed;
    return LN_OK;
}

/* A chunk may be kept for long: what its buffer has grown beyond it goes back. */
static void fit(ln_chunk *c, ln_mem *mem) {
    uint8_t *less = ln_mem_resize(mem, c->message.data, c->message.cap, c->message.len);
    if (!less) return;
    c->message.data = less;
    c->message.cap = c->message.len;
}

int ln_chunk_fill(ln_chunk *c, ln_mem *mem, int gzip, int acknowledged) {
    int err = LN_OK;
    if (gzip) err = compress_entries(c, mem);
    else if (!ln_buf_reserve(&c->message, OPTIONS_MAX)) err = LN_ENOMEM;
    c->message.failed = 0;
    if (err) return err;
    ln_pack_be(c->message.data + c->head - LENGTH_BYTES, 0xc6, ln_chunk_bytes(c), 4);
    put_options(&c->message, c, gzip, acknowledged);
    fit(c, mem);
    c->state = LN_CHUNK_FILLED;
    return LN_OK;
}
