/* See round.h. */
#include "durable/round.h"

#include "durable/layout.h"
#include "lunette.h"

enum { KEPT_BYTES = 16 << 20 };

void ln_round_init(ln_round *r) {
    *r = (ln_round){.begun = 0};
    ln_mem_init(&r->mem);
    ln_batch_init(&r->batch, &r->mem);
}

void ln_round_free(ln_round *r) { ln_batch_free(&r->batch); }

void ln_round_clear(ln_round *r) {
    if (r->batch.bytes.cap > KEPT_BYTES) {
        ln_batch_free(&r->batch);
        ln_batch_init(&r->batch, &r->mem);
    }
    ln_batch_clear(&r->batch);
    r->begun = r->whole = r->broken = 0;
    r->entries = 0;
}

/* The first plan of a round: all that was there before is void. */
static void begin_whole(ln_round *r) {
    r->whole = 1;
    ln_batch_delete_range(&r->batch, LN_DURABLE_ENTRIES, "\0", 1, "\xff", 1);
    ln_batch_delete_range(&r->batch, LN_DURABLE_TEXTS, "\0", 1, "\xff", 1);
}

/* One extent that has gone stands for all with lower numbers. */
static void forget(ln_round *r, const ln_read_entry *e) {
    uint8_t key[LN_DURABLE_ENTRY_KEY], to[LN_DURABLE_ENTRY_KEY];
    ln_durable_entry_key(key, 0, e->part, e->kind, e->kind == LN_ENTRY_EXTENT ? 0 : e->number);
    ln_durable_entry_key(to, 0, e->part, e->kind, e->number + 1);
    if (e->kind == LN_ENTRY_EXTENT)
        ln_batch_delete_range(&r->batch, LN_DURABLE_ENTRIES, key, sizeof key, to, sizeof to);
    else ln_batch_delete(&r->batch, LN_DURABLE_ENTRIES, key, sizeof key);
}

int ln_round_write(void *ctx, const void *bytes, size_t len) {
    ln_round *r = ctx;
    const uint8_t *at = bytes, *end = at + len;
    r->begun = 1;
    while (at < end) {
        uint8_t key[LN_DURABLE_ENTRY_KEY];
        ln_read_entry e;
        int64_t n = ln_bytes_read(at, (size_t)(end - at), &e);
        if (n <= 0) {
            r->broken = 1;
            return -1;
        }
        if (e.kind == LN_ENTRY_PLAN && !r->whole) begin_whole(r);
        r->entries += e.kind != LN_ENTRY_PLAN;
        ln_durable_entry_key(key, e.kind == LN_ENTRY_PLAN, e.part, e.kind, e.number);
        if (e.bytes) ln_batch_put(&r->batch, LN_DURABLE_ENTRIES, key, sizeof key, at, (size_t)n);
        else forget(r, &e);
        at += n;
    }
    return r->batch.bytes.failed ? -1 : 0;
}
