/* Blocks of one size. What is given back is kept for the next to ask, up to a bound, past which it goes back to the
 * heap: windows that end together are as many as begin together. */
#ifndef LN_BASE_POOL_H
#define LN_BASE_POOL_H

#include "base/mem.h"

typedef struct ln_pool {
    ln_mem *mem;
    size_t bytes; /* of a block, at least those of a pointer */
    void *kept;   /* a list through the blocks' first words */
    size_t kept_bytes;
} ln_pool;

static inline void ln_pool_init(ln_pool *p, ln_mem *mem, size_t bytes) { *p = (ln_pool){.mem = mem, .bytes = bytes}; }
/* A block of zeros; NULL where memory is short. */
void *ln_pool_take(ln_pool *p);
void ln_pool_give(ln_pool *p, void *block);
/* Gives back what is kept. */
void ln_pool_free(ln_pool *p);

#endif
