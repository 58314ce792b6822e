/* Windows that wait for W, by their end, in two structures. Windows on a grid share their ends, so they lie in
 * buckets, one for each distinct end (and start, where windows with one end have several), and a heap of those: a
 * firing costs a step per window and not a heap operation. Where every window has an end of its own, as sessions
 * do, those that are near lie in a wheel: a ring of slots, each some width of time, whose cells go into buckets
 * when W comes into it. Either way a cell whose end has grown stays where it is until it is due, and is filed anew
 * then (sessions of the bench: 126 ns a record in all, against 165 with the heap alone). */
#ifndef LN_WINDOW_DEADLINES_H
#define LN_WINDOW_DEADLINES_H

#include "base/heap.h"
#include "base/pool.h"
#include "window/cell.h"

typedef struct ln_bucket {
    int64_t end_us, start_us; /* start 0 where starts are not told apart; of a slot neither counts */
    uint32_t first, last;     /* ids of cells, in order of arrival; LN_SLAB_NONE where there is none */
    struct ln_deadlines *owner;
    uint8_t in_wheel;
} ln_bucket;

/* The neighbours of a cell in its bucket. They lie side by side under the cells' ids and not in the cells, so that a
 * list can be walked, and filed to, without touching any, and the cells that come next are fetched meanwhile. With what
 * is fetched of those that will soon be due: 18 % of sessions' time. */
typedef struct ln_links {
    uint32_t before, after;
} ln_links;

enum { LN_WHEEL_SLOTS = 2048 };

typedef struct ln_wheel {
    int64_t first;   /* number of the slot that W is in: time >> shift; those before it are empty */
    int shift;       /* a slot is 2^shift microseconds */
    int64_t next_us; /* no cell in the wheel is due before this */
    uint64_t filled[LN_WHEEL_SLOTS / 64];
    ln_bucket slot[LN_WHEEL_SLOTS]; /* by the lowest bits of their number */
} ln_wheel;

typedef struct ln_deadlines {
    ln_mem *mem, *wheel_mem;
    ln_keys *keys;    /* told whose cells are filed anew; NULL: none is */
    uint32_t filings; /* so far */
    const ln_slab *cells;
    ln_links *link; /* by the id of a cell */
    size_t links;
    ln_heap ends; /* of buckets */
    ln_pool buckets;
    ln_bucket **table; /* by end and start; open addressing, a power of two, at most half full */
    size_t slots;
    ln_bucket *recent;    /* the bucket filed to last */
    uint8_t mixed_starts; /* windows with one end may have several starts */
    ln_wheel *wheel;      /* NULL: all lie in buckets */
    int wheel_shift;      /* of the wheel to be made; -1: none */
} ln_deadlines;

/* The wheel, whose size is fixed, is made when it is needed. `span_us` is about how far ahead of W the ends of
 * windows lie that each have their own; 0 where they share them. */
void ln_deadlines_init(ln_deadlines *d, ln_mem *mem, ln_mem *wheel_mem, const ln_slab *cells, int mixed_starts,
                       int64_t span_us);
void ln_deadlines_free(ln_deadlines *d);
/* Files a cell under its present end; 0, or -1 where memory is short. */
int ln_deadlines_add(ln_deadlines *d, ln_cell *cell);
void ln_deadlines_remove(ln_cell *cell);
/* Where a cell waits, for it to be put there again: the bounds under which it is filed, or of a slot of the wheel its
 * beginning as both. */
ln_span ln_deadlines_place(const ln_cell *cell);
/* Files a cell where one that was saved had waited, behind all that are there; 0 or -1. */
int ln_deadlines_put(ln_deadlines *d, ln_cell *cell, int in_wheel, ln_span place);
/* The wheel as one that was saved had stood, before anything is filed; nothing where its slots have another width. 0 or
 * -1. */
int ln_deadlines_set_wheel(ln_deadlines *d, int shift, int64_t first);
/* No cell is left: gives back what has become too large. */
void ln_deadlines_trim(ln_deadlines *d);
/* The cell that waits behind this one in its bucket, or NULL. */
static inline const ln_cell *ln_deadlines_behind(const ln_deadlines *d, const ln_cell *cell) {
    uint32_t id = d->link[cell->id].after;
    return id == LN_SLAB_NONE ? NULL : ln_slab_at(d->cells, id);
}
/* Readies the wheel for ln_deadlines_due, with as many steps of `work` as it takes: 1; 0 when they are used up
 * before; -1 where memory is short. `upto_us` never goes back. */
int ln_deadlines_turn(ln_deadlines *d, int64_t upto_us, uint32_t *work);
/* Has the wheel something to be readied for? Filing anew what has grown may bring that about. */
static inline int ln_deadlines_turns(const ln_deadlines *d, int64_t upto_us) {
    return d->wheel && d->wheel->next_us <= upto_us && d->wheel->next_us != INT64_MAX;
}
/* The cell with the least (end, start, age) that waits for an end at or before `upto_us`; NULL where none does. It
 * stays filed; *failed is set where memory was short. */
ln_cell *ln_deadlines_due(ln_deadlines *d, int64_t upto_us, int *failed);
/* No cell is due before this end; INT64_MAX where none is filed. */
static inline int64_t ln_deadlines_next(const ln_deadlines *d) {
    int64_t next_us = ln_heap_least(&d->ends);
    return d->wheel && d->wheel->next_us < next_us ? d->wheel->next_us : next_us;
}
const char *ln_deadlines_verify(const ln_deadlines *d);

#endif
