/* Windows that wait for W, by their end: a heap of buckets, one for each distinct end, each a list of cells. Windows
 * on a grid share their ends, so that a firing costs a step per window and not a heap operation. A cell whose end has
 * grown stays where it is until its bucket is due, and is filed anew then. */
#ifndef LN_WINDOW_DEADLINES_H
#define LN_WINDOW_DEADLINES_H

#include "base/heap.h"
#include "window/cell.h"

typedef struct ln_bucket {
    int64_t end_us;
    ln_cell *first, *last; /* in order of arrival, or once sorted of (start, age) */
    struct ln_deadlines *owner;
    uint8_t sorted;
} ln_bucket;

typedef struct ln_deadlines {
    ln_mem *mem;
    ln_heap ends;      /* of buckets */
    ln_bucket **table; /* by end; open addressing, a power of two, at most half full */
    size_t slots;
    ln_bucket *recent;    /* the bucket filed to last */
    uint8_t mixed_starts; /* windows with one end may have several starts */
} ln_deadlines;

void ln_deadlines_init(ln_deadlines *d, ln_mem *mem, int mixed_starts);
void ln_deadlines_free(ln_deadlines *d);
/* Files a cell under its present end; 0, or -1 where memory is short. */
int ln_deadlines_add(ln_deadlines *d, ln_cell *cell);
void ln_deadlines_remove(ln_cell *cell);
/* The cell with the least (end, start, age) that waits for an end at or before `upto_us`; NULL where none does.
 * It stays filed; *failed is set where memory was short. */
ln_cell *ln_deadlines_due(ln_deadlines *d, int64_t upto_us, int *failed);
/* No cell is due before this end; INT64_MAX where none is filed. */
static inline int64_t ln_deadlines_next(const ln_deadlines *d) { return ln_heap_least(&d->ends); }
const char *ln_deadlines_verify(const ln_deadlines *d);

#endif
