/* Windows that wait for the clock. */
#include "window/alarms.h"

#include "base/instant.h"

void ln_alarms_init(ln_alarms *a, ln_mem *mem) { *a = (ln_alarms){.mem = mem}; }

void ln_alarms_free(ln_alarms *a) {
    ln_mem_free(a->mem, a->heap, a->cap * sizeof *a->heap);
    ln_alarms_init(a, a->mem);
}

static void put(ln_alarms *a, size_t at, ln_cell *cell) {
    a->heap[at] = cell;
    cell->alarm_at = at;
}

static void sift_up(ln_alarms *a, size_t at, ln_cell *cell) {
    for (; at > 0 && a->heap[(at - 1) / 2]->alarm_us > cell->alarm_us; at = (at - 1) / 2)
        put(a, at, a->heap[(at - 1) / 2]);
    put(a, at, cell);
}

static void sift_down(ln_alarms *a, size_t at, ln_cell *cell) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= a->count) break;
        if (child + 1 < a->count && a->heap[child + 1]->alarm_us < a->heap[child]->alarm_us) child++;
        if (a->heap[child]->alarm_us >= cell->alarm_us) break;
        put(a, at, a->heap[child]);
        at = child;
    }
    put(a, at, cell);
}

int ln_alarms_set(ln_alarms *a, ln_cell *cell, int64_t at_us) {
    if (at_us >= cell->alarm_us) return 0;
    if (cell->alarm_us != LN_FUTURE) {
        cell->alarm_us = at_us;
        sift_up(a, cell->alarm_at, cell);
        return 0;
    }
    if (ln_mem_grow(a->mem, &a->heap, &a->cap, a->count + 1, sizeof *a->heap) < 0) return -1;
    cell->alarm_us = at_us;
    sift_up(a, a->count++, cell);
    return 0;
}

void ln_alarms_remove(ln_alarms *a, ln_cell *cell) {
    ln_cell *last;
    size_t at = cell->alarm_at;
    if (cell->alarm_us == LN_FUTURE) return;
    cell->alarm_us = LN_FUTURE;
    last = a->heap[--a->count];
    if (last == cell) return;
    if (at > 0 && a->heap[(at - 1) / 2]->alarm_us > last->alarm_us) sift_up(a, at, last);
    else sift_down(a, at, last);
}

ln_cell *ln_alarms_pop(ln_alarms *a, int64_t upto_us) {
    ln_cell *top = a->count ? a->heap[0] : NULL;
    if (!top || top->alarm_us > upto_us) return NULL;
    ln_alarms_remove(a, top);
    return top;
}

const char *ln_alarms_verify(const ln_alarms *a) {
    for (size_t i = 0; i < a->count; i++) {
        if (a->heap[i]->alarm_at != i) return "a window is not where it says it is among the alarms";
        if (i && a->heap[(i - 1) / 2]->alarm_us > a->heap[i]->alarm_us) return "the heap of alarms is out of order";
    }
    return NULL;
}
