/* Entries of one size under small numbers. */
#include "base/slab.h"

#include "base/assert.h"
#include "lunette.h"

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

/* One chunk more, without memory; 0 or -1. */
static int add_chunk(ln_slab *s) {
    if (s->chunks == UINT32_MAX / LN_SLAB_CHUNK - 1 ||
        ln_mem_grow(s->mem, &s->chunk, &s->chunk_cap, s->chunks + 1, sizeof *s->chunk) < 0)
        return -1;
    s->chunk[s->chunks] = (ln_slab_chunk){0};
    link_first(s, &s->bare, (uint32_t)s->chunks++);
    return 0;
}

static int give_memory(ln_slab *s, uint32_t c) {
    ln_slab_chunk *k = &s->chunk[c];
    k->block = ln_mem_new(s->mem, block_bytes(s));
    if (!k->block) return -1;
    k->entry = (uint8_t *)k->block + (LINE - (uintptr_t)k->block % LINE) % LINE;
    return 0;
}

/* Gives memory to a chunk that has none, a new one where there is no such. */
static int make_room(ln_slab *s) {
    uint32_t c;
    if (s->bare == LN_SLAB_NONE && add_chunk(s) < 0) return -1;
    c = s->bare;
    if (give_memory(s, c) < 0) return -1;
    unlink_chunk(s, &s->bare, c);
    link_first(s, &s->roomy, c);
    return 0;
}

uint32_t ln_slab_take(ln_slab *s) {
    uint32_t c, i;
    if (s->roomy == LN_SLAB_NONE && s->spare != LN_SLAB_NONE) { /* in use again */
        c = s->spare;
        unlink_chunk(s, &s->spare, c);
        link_first(s, &s->roomy, c);
        s->spares--;
        s->mem->used += block_bytes(s);
    }
    if (s->roomy == LN_SLAB_NONE && make_room(s) < 0) return LN_SLAB_NONE;
    c = s->roomy;
    i = (uint32_t)__builtin_ctzll(~s->chunk[c].used);
    s->chunk[c].used |= UINT64_C(1) << i;
    if (s->chunk[c].used == UINT64_MAX) unlink_chunk(s, &s->roomy, c);
    s->live++;
    memset(s->chunk[c].entry + i * s->entry_bytes, 0, s->entry_bytes);
    return c * LN_SLAB_CHUNK + i;
}

uint32_t ln_slab_take_at(ln_slab *s, uint32_t id) {
    uint32_t c = id / LN_SLAB_CHUNK, i = id % LN_SLAB_CHUNK;
    ln_slab_chunk *k;
    while (s->chunks <= c)
        if (add_chunk(s) < 0) return LN_SLAB_NONE;
    k = &s->chunk[c];
    LN_DASSERT(!(k->used >> i & 1));
    if (!k->block) {
        if (give_memory(s, c) < 0) return LN_SLAB_NONE;
        unlink_chunk(s, &s->bare, c);
        link_first(s, &s->roomy, c);
    } else if (!k->used) { /* a spare */
        unlink_chunk(s, &s->spare, c);
        link_first(s, &s->roomy, c);
        s->spares--;
        s->mem->used += block_bytes(s);
    }
    k->used |= UINT64_C(1) << i;
    if (k->used == UINT64_MAX) unlink_chunk(s, &s->roomy, c);
    s->live++;
    memset(k->entry + i * s->entry_bytes, 0, s->entry_bytes);
    return id;
}

void ln_slab_lists(const ln_slab *s, uint32_t *list, size_t count[3]) {
    const uint32_t heads[3] = {s->roomy, s->spare, s->bare};
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        size_t from = n;
        for (uint32_t c = heads[i]; c != LN_SLAB_NONE; c = s->chunk[c].after) list[n++] = c;
        count[i] = n - from;
    }
}

/* Is the chunk one for list i, as it is now, without a spare? */
static int fits(const ln_slab *s, uint32_t c, int i) {
    if (c >= s->chunks) return 0;
    return i == 0 ? s->chunk[c].used && s->chunk[c].used != UINT64_MAX : !s->chunk[c].used;
}

/* Gives back the memory of spares: what is arranged says which there shall be. */
static void empty_spares(ln_slab *s) {
    while (s->spare != LN_SLAB_NONE) {
        uint32_t c = s->spare;
        unlink_chunk(s, &s->spare, c);
        s->spares--;
        s->mem->used += block_bytes(s);
        ln_mem_free(s->mem, s->chunk[c].block, block_bytes(s));
        s->chunk[c].block = s->chunk[c].entry = NULL;
        link_first(s, &s->bare, c);
    }
}

int ln_slab_arrange(ln_slab *s, size_t chunks, const uint32_t *list, const size_t count[3]) {
    uint32_t *heads[3] = {&s->roomy, &s->spare, &s->bare};
    size_t open = 0, n = 0;
    if (chunks < s->chunks || chunks - s->chunks > count[1] + count[2]) return LN_EINVALID;
    while (s->chunks < chunks)
        if (add_chunk(s) < 0) return LN_ENOMEM;
    empty_spares(s);
    for (size_t c = 0; c < s->chunks; c++) open += s->chunk[c].used != UINT64_MAX;
    if (open != count[0] + count[1] + count[2]) return LN_EINVALID;
    if (count[1] * block_bytes(s) > LN_MEM_KEPT_MAX) return LN_EINVALID;
    for (int i = 0; i < 3; i++)
        for (size_t end = n + count[i]; n < end; n++)
            if (!fits(s, list[n], i)) return LN_EINVALID;
    /* From the last to the first each is put before the others: a chunk that is listed twice is missing elsewhere. */
    for (int i = 2; i >= 0; i--) {
        for (size_t left = count[i]; left > 0; left--) {
            uint32_t c = list[--n];
            if (i == 1 && s->chunk[c].block) return LN_EINVALID;
            unlink_chunk(s, i == 0 ? &s->roomy : &s->bare, c);
            if (i == 1 && give_memory(s, c) < 0) {
                link_first(s, &s->bare, c);
                return LN_ENOMEM;
            }
            if (i == 1) s->mem->used -= block_bytes(s);
            s->spares += i == 1;
            link_first(s, heads[i], c);
        }
    }
    return LN_OK;
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
