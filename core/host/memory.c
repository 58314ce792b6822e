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

/* Blocks of a reserve lie one behind the other, and are not given again before all of them have gone. */
struct ln_reserve {
    ln_reserve *before; /* an earlier one, of which blocks are still there */
    size_t bytes, used, blocks;
};

enum { LUA_OVER = 4 << 20 };
enum { LUA_MIN = 128 << 10 }; /* below the limit, to enter Lua: making a state can't be refused its 50 KiB */
enum { ALIGN = 16, HEAD = (sizeof(ln_reserve) + ALIGN - 1) / ALIGN * ALIGN };

static ln_reserve *find_reserve(const ln_memory *m, const void *block) {
    ln_reserve *r = m->reserve;
    while (r &&
           ((const uint8_t *)block < (const uint8_t *)r || (const uint8_t *)block >= (const uint8_t *)r + r->bytes))
        r = r->before;
    return r;
}

/* Frees those of which nothing is left; the present one only where `all`. */
static void drop_reserves(ln_memory *m, int all) {
    ln_reserve **at = all || !m->reserve ? &m->reserve : &m->reserve->before;
    while (*at) {
        ln_reserve *r = *at;
        if (r->blocks) {
            at = &r->before;
            continue;
        }
        *at = r->before;
        ln_mem_free(&m->own, r, r->bytes);
    }
}

int ln_memory_reserve(ln_memory *m, size_t bytes) {
    ln_reserve *r = m->reserve;
    if (r && !r->blocks) r->used = HEAD;
    if (r && r->used == HEAD && r->bytes >= bytes && r->bytes / 2 <= bytes) return 0;
    r = m->lua_used > m->lua_max || m->lua_max - m->lua_used < LUA_MIN ? NULL : ln_mem_new(&m->own, bytes);
    if (!r) return -1;
    *r = (ln_reserve){.before = m->reserve, .bytes = bytes, .used = HEAD};
    m->reserve = r;
    drop_reserves(m, 0);
    return 0;
}

void ln_memory_drop_reserve(ln_memory *m) { drop_reserves(m, 1); }

static void *take_reserved(ln_memory *m, size_t bytes) {
    ln_reserve *r = m->reserve;
    uint8_t *block;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (!r || bytes > r->bytes - r->used) return NULL;
    block = (uint8_t *)r + r->used;
    r->used += bytes;
    r->blocks++;
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

/* A block of a reserve can't be resized in place, and goes where another is made. */
static void *move_reserved(ln_memory *m, ln_reserve *r, void *block, size_t old_bytes, size_t new_bytes) {
    void *to = NULL;
    if (new_bytes) {
        to = m->host.resize(m->host.ctx, NULL, 0, new_bytes);
        if (!to) to = take_reserved(m, new_bytes);
        if (!to) return NULL;
        memcpy(to, block, old_bytes < new_bytes ? old_bytes : new_bytes);
    }
    r->blocks--;
    return to;
}

/* Code that LuaJIT has compiled can't bear to be refused: a call may pass the limit by so much, and is told of it when
 * it has returned. */
static size_t lua_last(const ln_memory *m) {
    size_t over = m->lua_max / 4 + LUA_OVER;
    return m->lua_max > SIZE_MAX - over ? SIZE_MAX : m->lua_max + over;
}

void *ln_memory_of_lua(void *ud, void *block, size_t old_bytes, size_t new_bytes) {
    ln_memory *m = ud;
    ln_reserve *r;
    void *to;
    if (!block) old_bytes = 0;
    if (new_bytes > old_bytes && new_bytes - old_bytes > lua_last(m) - m->lua_used) return NULL;
    r = block ? find_reserve(m, block) : NULL;
    if (r) {
        to = move_reserved(m, r, block, old_bytes, new_bytes);
    } else {
        to = m->host.resize(m->host.ctx, block, old_bytes, new_bytes);
        if (!to && new_bytes) to = take_instead(m, block, old_bytes, new_bytes);
    }
    if (to || !new_bytes) m->lua_used += new_bytes - old_bytes;
    return to;
}
