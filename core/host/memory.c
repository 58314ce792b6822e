/* See memory.h. */
#include "host/memory.h"

static void *resize_counted(void *ctx, void *block, size_t old_bytes, size_t new_bytes) {
    ln_memory *m = ctx;
    void *to = m->host.resize(m->host.ctx, block, old_bytes, new_bytes);
    if (to || !new_bytes) m->used += new_bytes - old_bytes;
    return to;
}

void ln_memory_init(ln_memory *m, const ln_allocator *allocator, size_t lua_max) {
    *m = (ln_memory){.lua_max = lua_max, .is_heap = !allocator || !allocator->resize};
    ln_mem_init_in(&m->host, allocator);
    m->counted = (ln_allocator){resize_counted, m};
    ln_mem_init_in(&m->own, &m->counted);
}

void *ln_memory_of_lua(void *ud, void *block, size_t old_bytes, size_t new_bytes) {
    ln_memory *m = ud;
    void *to;
    if (!block) old_bytes = 0;
    if (new_bytes > old_bytes && new_bytes - old_bytes > m->lua_max - m->lua_used) return NULL;
    to = m->host.resize(m->host.ctx, block, old_bytes, new_bytes);
    if (to || !new_bytes) m->lua_used += new_bytes - old_bytes;
    return to;
}
