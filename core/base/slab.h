/* Entries of one size under small numbers (ids), in chunks that never move. The lowest vacant id of a chunk is
 * handed out first; a chunk whose last entry has gone gives its memory back, but for one, which does not count as
 * used. Entries are walked in the order of their ids, a function of what was taken and given alone. */
#ifndef LN_BASE_SLAB_H
#define LN_BASE_SLAB_H

#include "base/mem.h"

enum { LN_SLAB_CHUNK = 64 }; /* entries; a bit of a word for each */
#define LN_SLAB_NONE UINT32_MAX

typedef struct ln_slab_chunk {
    uint8_t *entry; /* NULL: no memory now */
    void *block;    /* what was allocated: `entry` lies in it on a cache line */
    uint64_t used;
    uint32_t before, after; /* in the list of those with room, or of those without memory */
} ln_slab_chunk;

typedef struct ln_slab {
    ln_mem *mem;
    size_t entry_bytes;
    ln_slab_chunk *chunk;
    size_t chunks, chunk_cap;
    uint32_t roomy, bare; /* heads of these lists */
    uint32_t spare;       /* head of the list of those that nothing lives in: filled again when no other has room */
    size_t spares;
    size_t live;
} ln_slab;

void ln_slab_init(ln_slab *s, ln_mem *mem, size_t entry_bytes);
void ln_slab_free(ln_slab *s);
/* The id of an entry of zeros; LN_SLAB_NONE where memory is short. */
uint32_t ln_slab_take(ln_slab *s);
/* The same under a number that is vacant; ln_slab_arrange must follow before any is taken otherwise. */
uint32_t ln_slab_take_at(ln_slab *s, uint32_t id);
/* Chunks are looked through for a vacant number in the order of these lists, which say the same of another slab. Of one
 * filled by ln_slab_take_at they are set: `list` has the chunks with room, then those that nothing lives in and that
 * keep their memory, then those without memory, each other than full once. LN_OK, LN_ENOMEM, or LN_EINVALID for lists
 * that do not fit. */
int ln_slab_arrange(ln_slab *s, size_t chunks, const uint32_t *list, const size_t count[3]);
/* Writes the same lists, which have room for s->chunks numbers. */
void ln_slab_lists(const ln_slab *s, uint32_t *list, size_t count[3]);
void ln_slab_give(ln_slab *s, uint32_t id);
static inline void *ln_slab_at(const ln_slab *s, uint32_t id) {
    return s->chunk[id / LN_SLAB_CHUNK].entry + id % LN_SLAB_CHUNK * s->entry_bytes;
}
/* Is the entry with this number, which has been handed out once, in use? */
static inline int ln_slab_holds(const ln_slab *s, uint32_t id) {
    return s->chunk[id / LN_SLAB_CHUNK].used >> id % LN_SLAB_CHUNK & 1;
}
/* The first entry in use from `id` on; LN_SLAB_NONE after the last. */
uint32_t ln_slab_next(const ln_slab *s, uint32_t id);

#endif
