/* Memory that is given back all at once. */
#include "base/arena.h"

#include <string.h>

enum { BLOCK_BYTES = 16384 };

struct ln_arena_block {
    ln_arena_block *next;
    size_t cap;
    uint8_t data[];
};

void ln_arena_init(ln_arena *a, ln_mem *mem) { *a = (ln_arena){.mem = mem}; }

static void release(ln_arena *a, ln_arena_block *b) {
    while (b) {
        ln_arena_block *next = b->next;
        ln_mem_free(a->mem, b, sizeof *b + b->cap);
        b = next;
    }
}

void ln_arena_free(ln_arena *a) {
    release(a, a->blocks);
    ln_arena_init(a, a->mem);
}

void ln_arena_reset(ln_arena *a) {
    a->used = 0;
    if (!a->blocks) return;
    release(a, a->blocks->next);
    a->blocks->next = NULL;
}

uint8_t *ln_arena_copy(ln_arena *a, const void *bytes, size_t len) {
    uint8_t *to;
    if (!a->blocks || a->blocks->cap - a->used < len) {
        size_t cap = len > BLOCK_BYTES ? len : BLOCK_BYTES;
        ln_arena_block *b = ln_mem_new(a->mem, sizeof *b + cap);
        if (!b) return NULL;
        b->next = a->blocks;
        b->cap = cap;
        a->blocks = b;
        a->used = 0;
    }
    to = a->blocks->data + a->used;
    if (len) memcpy(to, bytes, len);
    a->used += len;
    return to;
}
