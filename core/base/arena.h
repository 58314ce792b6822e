/* Memory that is given back all at once. What it hands out stays where it is until the next reset. */
#ifndef LN_BASE_ARENA_H
#define LN_BASE_ARENA_H

#include "base/mem.h"

typedef struct ln_arena_block ln_arena_block;

typedef struct ln_arena {
    ln_mem *mem;
    ln_arena_block *blocks; /* the one in use first */
    size_t used;            /* bytes of it */
} ln_arena;

void ln_arena_init(ln_arena *a, ln_mem *mem);
void ln_arena_free(ln_arena *a);
/* Gives everything back but one block, for the next round. */
void ln_arena_reset(ln_arena *a);
/* A copy of the bytes; NULL where memory is short (or, without a meaning, for no bytes at all). */
uint8_t *ln_arena_copy(ln_arena *a, const void *bytes, size_t len);

#endif
