/* Entries of one size under small numbers. */
#include "base/slab.h"

#include "base/assert.h"

#include <string.h>

enum { LINE = 64 };

void ln_slab_init(ln_slab *s, ln_mem *mem, size_t entry_bytes) {
    *s = (ln_slab){.mem = mem, .entry_bytes = entry_bytes, .roomy = LN_SLAB_NONE, .bare = LN_SLAB_NONE};
    s->spare = LN_SLAB_NONE;
}

static size_t block_bytes(const ln_slab *s) { return s->entry_bytes * LN_SLAB_CHUNK + LINE; }

void ln_slab_free(ln_slab *s) {
    if (!s->mem) return; /* all zeros: it was never made */
    s->mem->used += s->spares * block_bytes(s);
    for (size_t i = 0; i < s->chunks; i++) ln_mem_free(s->mem, s->chunk[i].block, block_bytes(s));
    ln_mem_free(s->mem, s->chunk, s->chunk_cap * sizeof *s->chunk);
    ln_slab_init(s, s->mem, s->entry_bytes);
}

static void link_first(ln_slab *s, uint32_t *head, uint32_t c) {
    s->chunk[c].before = LN_SLAB_NONE;
    s->chunk[c].after = *head;
    if (*head != LN_SLAB_NONE) s->chunk[*head].before = c;
    *head = c;
}

static void unlink_chunk(ln_slab *s, uint32_t *head, uint32_t c) {
    const ln_slab_chunk *k = &s->chunk[c];
    if (k->before == LN_SLAB_NONE) *head = k->after;
    else s->chunk[k->before].after = k->after;
    if (k->after != LN_SLAB_NONE) s->chunk[k->after].before = k->before;
}

/* One chunk more, without memory; 0, or -1 where memory is short. */
static int add_chunk(ln_slab *s) {
    if (s->chunks == UINT32_MAX / LN_SLAB_CHUNK - 1 ||
        ln_mem_grow(s->mem, &s->chunk, &s->chunk_cap, s->chunks + 1, sizeof *s->chunk) < 0)
        return -1;
    s->chunk[s->chunks] = (ln_slab_chunk){0};
    link_first(s, &s->bare, (uint32_t)s->chunks++);
    return 0;
}

/* Gives memory to a chunk that has none. */
static int furnish(ln_slab *s, uint32_t c) {
    ln_slab_chunk *k = &s->chunk[c];
    k->block = ln_mem_new(s->mem, block_bytes(s));
    if (!k->block) return -1;
    k->entry = (uint8_t *)k->block + (LINE - (uintptr_t)k->block % LINE) % LINE;
    unlink_chunk(s, &s->bare, c);
    link_first(s, &s->roomy, c);
    return 0;
}

static int make_room(ln_slab *s) {
    if (s->bare == LN_SLAB_NONE && add_chunk(s) < 0) return -1;
    return furnish(s, s->bare);
}

/* A chunk that nothing lives in is in use again. */
static void use_spare(ln_slab *s, uint32_t c) {
    unlink_chunk(s, &s->spare, c);
    link_first(s, &s->roomy, c);
    s->spares--;
    s->mem->used += block_bytes(s);
}

static void take(ln_slab *s, uint32_t c, uint32_t i) {
    s->chunk[c].used |= UINT64_C(1) << i;
    if (s->chunk[c].used == UINT64_MAX) unlink_chunk(s, &s->roomy, c);
    s->live++;
    memset(s->chunk[c].entry + i * s->entry_bytes, 0, s->entry_bytes);
}

uint32_t ln_slab_take(ln_slab *s) {
    uint32_t c, i;
    if (s->roomy == LN_SLAB_NONE && s->spare != LN_SLAB_NONE) use_spare(s, s->spare);
    if (s->roomy == LN_SLAB_NONE && make_room(s) < 0) return LN_SLAB_NONE;
    c = s->roomy;
    i = (uint32_t)__builtin_ctzll(~s->chunk[c].used);
    take(s, c, i);
    return c * LN_SLAB_CHUNK + i;
}

int ln_slab_take_at(ln_slab *s, uint32_t id) {
    uint32_t c = id / LN_SLAB_CHUNK;
    while (s->chunks <= c)
        if (add_chunk(s) < 0) return -1;
    LN_DASSERT(!ln_slab_holds(s, id));
    if (!s->chunk[c].entry && furnish(s, c) < 0) return -1;
    take(s, c, id % LN_SLAB_CHUNK);
    return 0;
}

void ln_slab_give(ln_slab *s, uint32_t id) {
    uint32_t c = id / LN_SLAB_CHUNK, i = id % LN_SLAB_CHUNK;
    ln_slab_chunk *k = &s->chunk[c];
    LN_DASSERT(k->used >> i & 1);
    if (k->used == UINT64_MAX) link_first(s, &s->roomy, c);
    k->used &= ~(UINT64_C(1) << i);
    s->live--;
    if (k->used) return;
    unlink_chunk(s, &s->roomy, c);
    if ((s->spares + 1) * block_bytes(s) <= LN_MEM_KEPT_MAX) {
        link_first(s, &s->spare, c);
        s->spares++;
        s->mem->used -= block_bytes(s);
        return;
    }
    ln_mem_free(s->mem, k->block, block_bytes(s));
    k->block = k->entry = NULL;
    link_first(s, &s->bare, c);
}

uint32_t ln_slab_next(const ln_slab *s, uint32_t id) {
    for (size_t c = id / LN_SLAB_CHUNK; c < s->chunks; c++, id = 0) {
        uint64_t rest = s->chunk[c].used >> id % LN_SLAB_CHUNK << id % LN_SLAB_CHUNK;
        if (rest) return (uint32_t)(c * LN_SLAB_CHUNK) + (uint32_t)__builtin_ctzll(rest);
    }
    return LN_SLAB_NONE;
}
