/* The open windows of one key. */
#include "window/cells.h"

#include "base/assert.h"

#include <string.h>

static inline int before(const ln_span *c, int64_t start_us, int64_t end_us) {
    return c->start_us < start_us || (c->start_us == start_us && c->end_us < end_us);
}

uint32_t ln_cells_search(const ln_cells *c, int64_t start_us, int64_t end_us) {
    uint32_t lo = 0, hi = c->count, step = 1;
    while (hi > 0) { /* gallop from the newest: most records belong there */
        uint32_t probe = hi > step ? hi - step : 0;
        if (before(ln_cells_span(c, probe), start_us, end_us)) {
            lo = probe + 1;
            break;
        }
        hi = probe;
        step *= 2;
    }
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (before(ln_cells_span(c, mid), start_us, end_us)) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

void *ln_cells_find_older(const ln_cells *c, int64_t start_us, int64_t end_us, uint32_t *at) {
    ln_span *found;
    *at = ln_cells_search(c, start_us, end_us);
    if (*at == c->count) return NULL;
    found = ln_cells_span(c, *at);
    return found->start_us == start_us && found->end_us == end_us ? found : NULL;
}

/* Moves to memory that fits, with room at both ends, the larger part behind, where windows are added. */
static int refit(ln_cells *c, ln_mem *mem) {
    size_t cap = LN_CELLS_FEW;
    ln_span **item = c->few;
    uint32_t head;
    if (c->count > UINT32_MAX / 4) return -1;
    while (cap < (size_t)c->count + c->count / 2 + 1) cap *= 2;
    if (cap > LN_CELLS_FEW) item = ln_mem_new(mem, cap * sizeof *item);
    if (!item) return -1;
    head = (uint32_t)((cap - c->count) / 4);
    if (c->count) memcpy(item + head, c->item + c->head, c->count * sizeof *item);
    if (c->item != c->few) ln_mem_free(mem, c->item, c->cap * sizeof *item);
    c->item = item;
    c->cap = cap;
    c->head = head;
    return 0;
}

int ln_cells_insert(ln_cells *c, ln_mem *mem, uint32_t at, ln_span *span) {
    int front = c->head > 0 && at < c->count - at;
    if (!front && c->head + c->count == c->cap) {
        if (refit(c, mem) < 0) return -1;
        front = c->head > 0 && at < c->count - at;
    }
    if (front) {
        memmove(c->item + c->head - 1, c->item + c->head, at * sizeof *c->item);
        c->head--;
    } else {
        memmove(c->item + c->head + at + 1, c->item + c->head + at, (c->count - at) * sizeof *c->item);
    }
    c->count++;
    c->item[c->head + at] = span;
    return 0;
}

void ln_cells_remove(ln_cells *c, ln_mem *mem, uint32_t at) {
    LN_DASSERT(at < c->count);
    if (at < c->count - at) {
        memmove(c->item + c->head + 1, c->item + c->head, at * sizeof *c->item);
        c->head++;
    } else {
        memmove(c->item + c->head + at, c->item + c->head + at + 1, (c->count - at - 1) * sizeof *c->item);
    }
    if (--c->count == 0) ln_cells_free(c, mem);
    else if (c->cap > 16 && c->count < c->cap / 8) (void)refit(c, mem); /* where it fails the old memory still serves */
}

void ln_cells_free(ln_cells *c, ln_mem *mem) {
    if (c->item != c->few) ln_mem_free(mem, c->item, c->cap * sizeof *c->item);
    *c = (ln_cells){0};
}
