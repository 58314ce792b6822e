/* Blocks of one size. Those that are kept do not count as used memory. */
#include "base/pool.h"

#include <string.h>

void *ln_pool_take(ln_pool *p) {
    void *block = p->kept;
    if (!block) return ln_mem_zero(p->mem, p->bytes);
    memcpy(&p->kept, block, sizeof p->kept);
    p->kept_bytes -= p->bytes;
    p->mem->used += p->bytes;
    memset(block, 0, p->bytes);
    return block;
}

void ln_pool_give(ln_pool *p, void *block) {
    if (p->kept_bytes + p->bytes > LN_MEM_KEPT_MAX) {
        ln_mem_free(p->mem, block, p->bytes);
        return;
    }
    memcpy(block, &p->kept, sizeof p->kept);
    p->kept = block;
    p->kept_bytes += p->bytes;
    p->mem->used -= p->bytes;
}

void ln_pool_free(ln_pool *p) {
    while (p->kept) {
        void *block = p->kept;
        memcpy(&p->kept, block, sizeof p->kept);
        p->mem->used += p->bytes;
        ln_mem_free(p->mem, block, p->bytes);
    }
    p->kept_bytes = 0;
}
