/* Windows that wait for W, by their end, in two structures. Windows on a grid share their ends, so they lie in buckets,
 * one for each distinct end (and start, where windows with one end have several), and a heap of those: a firing costs a
 * step per window and not a heap operation. Where every window has an end of its own, as sessions do, those that are
 * near lie in a wheel: a ring of slots, each some width of time, of which one is sorted when W comes into it. Either way
 * a cell whose end has grown stays where it is until it is due, and is filed anew then (measured for sessions: 30 ns a
 * record against 75 with the heap alone). */
#ifndef LN_WINDOW_DEADLINES_H
#define LN_WINDOW_DEADLINES_H

#include "base/heap.h"
#include "window/cell.h"

typedef struct ln_bucket {
    int64_t end_us, start_us; /* start 0 where starts are not told apart; of a slot neither counts */
    ln_cell *first, *last;    /* a bucket: in order of arrival; a slot: in order of (end, start, age) where sorted */
    struct ln_deadlines *owner;
    uint8_t in_wheel, sorted;
} ln_bucket;

enum { LN_WHEEL_SLOTS = 2048 };

typedef struct ln_wheel {
    int64_t first;      /* number of the slot that W is in: time >> shift; those before it are empty */
    int shift;          /* a slot is 2^shift microseconds */
    int64_t next_us;    /* no cell in the wheel is due before this */
    ln_bucket *current; /* the slot that has been sorted, since W is in it; NULL: none */
    uint64_t filled[LN_WHEEL_SLOTS / 64];
    ln_bucket slot[LN_WHEEL_SLOTS]; /* by the lowest bits of their number */
} ln_wheel;

typedef struct ln_deadlines {
    ln_mem *mem, *wheel_mem;
    ln_heap ends;      /* of buckets */
    ln_bucket **table; /* by end and start; open addressing, a power of two, at most half full */
    size_t slots;
    ln_bucket *recent;    /* the bucket filed to last */
    uint8_t mixed_starts; /* windows with one end may have several starts */
    ln_wheel *wheel;      /* NULL: all lie in buckets */
    int wheel_shift;      /* of the wheel to be made; -1: none */
} ln_deadlines;

/* The wheel, whose size is fixed, is made when it is needed. `span_us` is about how far ahead of W the ends of windows lie that each have their own; 0 where they share them. */
void ln_deadlines_init(ln_deadlines *d, ln_mem *mem, ln_mem *wheel_mem, int mixed_starts, int64_t span_us);
void ln_deadlines_free(ln_deadlines *d);
/* Files a cell under its present end; 0, or -1 where memory is short. */
int ln_deadlines_add(ln_deadlines *d, ln_cell *cell);
void ln_deadlines_remove(ln_cell *cell);
/* The end of a filed cell has grown: where it lies in the slot that W is in, it has lost its place there. */
static inline void ln_deadlines_grown(ln_deadlines *d, const ln_cell *cell) {
    if (d->wheel && cell->bucket == d->wheel->current) d->wheel->current->sorted = 0;
}
/* The cell with the least (end, start, age) that waits for an end at or before `upto_us`, which never goes back; NULL
 * where none does. It stays filed; *failed is set where memory was short. */
ln_cell *ln_deadlines_due(ln_deadlines *d, int64_t upto_us, int *failed);
/* No cell is due before this end; INT64_MAX where none is filed. */
static inline int64_t ln_deadlines_next(const ln_deadlines *d) {
    int64_t next_us = ln_heap_least(&d->ends);
    return d->wheel && d->wheel->next_us < next_us ? d->wheel->next_us : next_us;
}
const char *ln_deadlines_verify(const ln_deadlines *d);

#endif
