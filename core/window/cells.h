/* The open windows of one key (or its slices) in order of (start, end): an array in the middle of its memory, so that
 * the oldest leave and the newest come at the cost of a step. Searched from the newest. */
#ifndef LN_WINDOW_CELLS_H
#define LN_WINDOW_CELLS_H

#include "base/mem.h"

typedef struct ln_cell ln_cell;

/* What cells and slices begin with. */
typedef struct ln_span {
    int64_t start_us, end_us;
} ln_span;

enum { LN_CELLS_FEW = 2 };

typedef struct ln_cells {
    ln_span **item; /* the first is item[head]; the array is `few` while that is large enough, so this never moves */
    uint32_t head, count;
    size_t cap;
    ln_span *few[LN_CELLS_FEW];
} ln_cells;

static inline ln_span *ln_cells_span(const ln_cells *c, uint32_t i) { return c->item[c->head + i]; }
static inline ln_cell *ln_cells_at(const ln_cells *c, uint32_t i) { return (ln_cell *)(void *)c->item[c->head + i]; }
/* The number of cells that begin before `start`, or with it and end before `end`: where such a window is or belongs. */
uint32_t ln_cells_search(const ln_cells *c, int64_t start_us, int64_t end_us);
/* The cell or slice of exactly these bounds, or NULL; *at is where it is or belongs. */
void *ln_cells_find_older(const ln_cells *c, int64_t start_us, int64_t end_us, uint32_t *at);

static inline void *ln_cells_find(const ln_cells *c, int64_t start_us, int64_t end_us, uint32_t *at) {
    ln_span *newest = c->count ? ln_cells_span(c, c->count - 1) : NULL;
    if (!newest || newest->start_us != start_us || newest->end_us != end_us)
        return ln_cells_find_older(c, start_us, end_us, at);
    *at = c->count - 1;
    return newest;
}
/* 0, or -1 where memory is short. */
int ln_cells_insert(ln_cells *c, ln_mem *mem, uint32_t at, ln_span *span);
void ln_cells_remove(ln_cells *c, ln_mem *mem, uint32_t at);
void ln_cells_free(ln_cells *c, ln_mem *mem);

#endif
