/* Extents that expired windows of one key have left, in the order of their ends: added at the end, given up from the
 * beginning. Few keys have more than two, which lie in the key itself. */
#ifndef LN_WINDOW_EXTENTS_H
#define LN_WINDOW_EXTENTS_H

#include "window/cells.h"

#include <string.h>

enum { LN_EXTENTS_NEAR = 2 };

typedef struct ln_extents {
    ln_span near[LN_EXTENTS_NEAR];
    ln_span *far; /* NULL: they lie in `near` */
    size_t cap;   /* of `far` */
    uint32_t first, count;
} ln_extents;

static inline ln_span *ln_extents_at(const ln_extents *x, uint32_t i) {
    return (ln_span *)(x->far ? x->far : x->near) + x->first + i;
}

static inline void ln_extents_free(ln_extents *x, ln_mem *mem) {
    ln_mem_free(mem, x->far, x->cap * sizeof *x->far);
    x->far = NULL;
    x->cap = 0;
    x->first = 0;
}

/* 0, or -1 where memory is short. */
static inline int ln_extents_add(ln_extents *x, ln_mem *mem, ln_span span) {
    size_t cap = x->far ? x->cap : LN_EXTENTS_NEAR;
    if (x->first && x->first + x->count == cap) {
        memmove(ln_extents_at(x, 0) - x->first, ln_extents_at(x, 0), x->count * sizeof span);
        x->first = 0;
    }
    if (x->count == cap) {
        ln_span *far = x->far;
        size_t far_cap = x->cap;
        if (ln_mem_grow(mem, &far, &far_cap, cap + 1, sizeof span) < 0) return -1;
        if (!x->far) memcpy(far, x->near, sizeof x->near);
        x->far = far;
        x->cap = far_cap;
    }
    *ln_extents_at(x, x->count++) = span;
    return 0;
}

static inline void ln_extents_take_first(ln_extents *x) {
    x->first++;
    x->count--;
}

#endif
