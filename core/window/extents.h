/* Extents that expired windows of one key have left, in the order of their ends: added at the end, given up from the
 * beginning. Few keys have more than two, which lie in the key itself. */
#ifndef LN_WINDOW_EXTENTS_H
#define LN_WINDOW_EXTENTS_H

#include "window/cells.h"

#include <string.h>

enum { LN_EXTENTS_NEAR = 2 };

typedef struct ln_extents {
    union {
        ln_span near[LN_EXTENTS_NEAR];
        ln_span *far;
    };
    uint32_t cap; /* of `far`; 0: they lie in `near` */
    uint32_t first, count;
} ln_extents;

static inline ln_span *ln_extents_at(const ln_extents *x, uint32_t i) {
    return (ln_span *)(x->cap ? x->far : x->near) + x->first + i;
}

static inline void ln_extents_free(ln_extents *x, ln_mem *mem) {
    if (x->cap) ln_mem_free(mem, x->far, x->cap * sizeof *x->far);
    x->cap = 0;
    x->first = 0;
}

/* Twice the room; 0, or -1 where memory is short. */
static inline int ln_extents_widen(ln_extents *x, ln_mem *mem) {
    size_t cap = x->cap;
    ln_span *far = cap ? x->far : NULL;
    if (x->count > UINT32_MAX / 4 || ln_mem_grow(mem, &far, &cap, (size_t)x->count + 1, sizeof *far) < 0) return -1;
    if (!x->cap) memcpy(far, x->near, sizeof x->near);
    x->far = far;
    x->cap = (uint32_t)cap;
    return 0;
}

/* 0, or -1 where memory is short. */
static inline int ln_extents_add(ln_extents *x, ln_mem *mem, ln_span span) {
    uint32_t cap = x->cap ? x->cap : LN_EXTENTS_NEAR;
    if (x->first && x->first + x->count == cap) {
        memmove(ln_extents_at(x, 0) - x->first, ln_extents_at(x, 0), x->count * sizeof span);
        x->first = 0;
    }
    if (x->count == cap && ln_extents_widen(x, mem) < 0) return -1;
    *ln_extents_at(x, x->count++) = span;
    return 0;
}

static inline void ln_extents_take_first(ln_extents *x) {
    x->first++;
    x->count--;
}

#endif
