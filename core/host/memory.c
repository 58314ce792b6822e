/* See memory.h. */
#include "host/memory.h"

#include <string.h>

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

/* ---- for Lua ---------------------------------------------------------------------------------------------------- */

enum { RESERVE = 128 * 1024, ALIGN = 16 }; /* a state with its libraries takes some 50 KiB */

int ln_memory_begin_lua(ln_memory *m) {
    if (m->lua_max - m->lua_used < RESERVE) return -1;
    if (!m->reserve) m->reserve = ln_mem_new(&m->own, RESERVE);
    if (!m->reserve) return -1;
    m->making = 1;
    return 0;
}

static void drop_reserve(ln_memory *m) {
    if (m->making || m->reserve_blocks || !m->reserve) return;
    ln_mem_free(&m->own, m->reserve, RESERVE);
    m->reserve = NULL;
    m->reserve_used = 0;
}

void ln_memory_made_lua(ln_memory *m) {
    m->making = 0;
    drop_reserve(m);
}

static int is_reserved(const ln_memory *m, const void *block) {
    return m->reserve && (const uint8_t *)block >= m->reserve && (const uint8_t *)block < m->reserve + RESERVE;
}

static void *take_reserved(ln_memory *m, size_t bytes) {
    uint8_t *block = m->reserve + m->reserve_used;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!m->making || bytes > RESERVE - m->reserve_used) return NULL;
    m->reserve_used += bytes;
    m->reserve_blocks++;
    return block;
}

/* Where the host has no memory. */
static void *take_instead(ln_memory *m, void *block, size_t old_bytes, size_t new_bytes) {
    void *to = take_reserved(m, new_bytes);
    if (!to || !block) return to;
    memcpy(to, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    (void)m->host.resize(m->host.ctx, block, old_bytes, 0);
    return to;
}

/* A block of the reserve can't be resized in place, and goes where another is made. */
static void *move_reserved(ln_memory *m, void *block, size_t old_bytes, size_t new_bytes) {
    void *to = NULL;
    if (new_bytes) {
        to = m->host.resize(m->host.ctx, NULL, 0, new_bytes);
        if (!to) to = take_reserved(m, new_bytes);
        if (!to) return NULL;
        memcpy(to, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    }
    m->reserve_blocks--;
    drop_reserve(m);
    return to;
}

void *ln_memory_of_lua(void *ud, void *block, size_t old_bytes, size_t new_bytes) {
    ln_memory *m = ud;
    void *to;
    if (!block) old_bytes = 0;
    if (new_bytes > old_bytes && new_bytes - old_bytes > m->lua_max - m->lua_used) return NULL;
    if (is_reserved(m, block)) {
        to = move_reserved(m, block, old_bytes, new_bytes);
    } else {
        to = m->host.resize(m->host.ctx, block, old_bytes, new_bytes);
        if (!to && new_bytes) to = take_instead(m, block, old_bytes, new_bytes);
    }
    if (to || !new_bytes) m->lua_used += new_bytes - old_bytes;
    return to;
}
