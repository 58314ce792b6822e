/* Small numbers from 1 up, handed out and taken back; the one given back last is handed out next. */
#ifndef LN_BASE_IDS_H
#define LN_BASE_IDS_H

#include "base/mem.h"

typedef struct ln_ids {
    uint32_t *free;
    size_t free_count, free_cap;
    uint32_t last; /* the highest ever handed out */
} ln_ids;

/* 0 where memory is short. Room for giving the number back is made here, so that giving back never fails. */
static inline uint32_t ln_ids_take(ln_ids *ids, ln_mem *mem) {
    if (ids->free_count) return ids->free[--ids->free_count];
    if (ids->last == UINT32_MAX ||
        ln_mem_grow(mem, &ids->free, &ids->free_cap, (size_t)ids->last + 1, sizeof *ids->free) < 0)
        return 0;
    return ++ids->last;
}

/* When the last one comes back all begin anew, and the memory for them goes where it has become large. */
static inline void ln_ids_give(ln_ids *ids, ln_mem *mem, uint32_t id) {
    ids->free[ids->free_count++] = id;
    if (ids->free_count < ids->last) return;
    ids->free_count = ids->last = 0;
    ln_mem_shrink(mem, &ids->free, &ids->free_cap, 0, sizeof *ids->free);
}

static inline uint32_t ln_ids_live(const ln_ids *ids) { return ids->last - (uint32_t)ids->free_count; }

static inline void ln_ids_free(ln_ids *ids, ln_mem *mem) {
    ln_mem_free(mem, ids->free, ids->free_cap * sizeof *ids->free);
    *ids = (ln_ids){0};
}

#endif
