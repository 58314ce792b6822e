/* Windows on a grid of which each has exactly one pane, at its end: what most pipelines ask for, and what can be had
 * with the least work. Time is cut into slices; a record is added once, to its key's row in its slice, whatever
 * size / hop is. Where windows do not overlap a slice is a window. Where they do, its aggregates are put together
 * from its slices when it completes, by the method of the two stacks:
 *
 *   - slices before `pivot` are the front: the row of a key there holds what came in it and in all later slices of the
 *     front, and knows the key's next row there; the key knows its first one;
 *   - slices from `pivot` up to `folded` are the back: what came in them is kept in the key, all in one;
 *   - so a window is its key's first row in the front and the key's back. When the front is used up the back becomes
 *     the front ("flips"), which costs each row one merge; doubles are never subtracted.
 *
 * Windows that do not overlap may also keep folds, and be asked by predicates at each record whether a pane leaves
 * early: their rows have a head of their own for that. Measured against a cell for each: a record with a predicate 142
 * ns for 178, one with a fold 166 for 188.
 *
 * Windows are fired in the order of their ends, all keys of one in a pass over memory: of the slice's rows, or of the
 * keys. A pass can stop after any row and go on there later. */
#ifndef LN_WINDOW_GRID_H
#define LN_WINDOW_GRID_H

#include "window/column.h"
#include "window/key.h"

/* Before every point of a grid, those before the first time there is included. */
#define LN_GRID_PAST (-((__int128)1 << 100))

typedef struct ln_slice {
    int64_t start_us, end_us; /* first, as in ln_span; cut to the range of time */
    int64_t first_end_us;     /* the end of the first window that holds it */
    ln_column column;
} ln_slice;

/* A row is its head, and behind that, at ln_grid.state_at, its run of states. The head is the number of the key alone
 * where windows do not overlap and have nothing but their pane at the end; else one of these two. */

/* Windows that have folds or an early trigger. */
typedef struct ln_window_row {
    uint32_t key;
    uint32_t slot;  /* as in ln_cell */
    uint32_t index; /* likewise */
    uint8_t over;   /* likewise */
} ln_window_row;

/* Windows that overlap. */
typedef struct ln_hop_row {
    uint32_t key;
    uint32_t next_row; /* of the same key, in `next` */
    ln_slice *next;    /* front: the key's next slice there; NULL where this is the last */
} ln_hop_row;

/* A key where windows overlap. */
typedef struct ln_hop_key {
    ln_key key;
    ln_slice *first; /* in the front; NULL where it has none there */
    uint32_t first_row;
    uint32_t back_rows;         /* rows folded into the back; 0: it is empty */
    _Alignas(8) uint8_t back[]; /* states */
} ln_hop_key;

enum ln_grid_stage {
    LN_GRID_BEGIN = 0, /* no window is being fired */
    LN_GRID_UNLINK,    /* flip: the keys forget front and back */
    LN_GRID_FLIP,      /* flip: rows take those that come after them */
    LN_GRID_FOLD,      /* rows go into the back */
    LN_GRID_PASS,      /* panes leave */
    LN_GRID_DROP       /* slices go that no window needs any more */
};

/* Rows that are looked up before the first of them is added, so that memory comes side by side: 3 ns a record among
 * 10,000 keys, 46 among a million. A step may end between two of them. */
enum { LN_GRID_RUN = 64 };
typedef struct ln_grid_run {
    uint32_t first, next, end; /* rows of the batch; `next` is still to be added */
    uint64_t forgotten;        /* of the keys, when they were looked up: ids hold while it stays */
    uint32_t id[LN_GRID_RUN];
    ln_slice *slice[LN_GRID_RUN];
} ln_grid_run;

typedef struct ln_grid {
    int hopping;     /* windows overlap */
    int headed;      /* rows are ln_window_row */
    size_t state_at; /* of a run in a row */
    size_t row_bytes;
    ln_cells slices;           /* in order */
    ln_slice *recent, *before; /* those used last */
    ln_slice *spare[2];        /* for the slices that come next; their memory does not count as used */
    size_t rows;               /* in all slices */
    __int128 next_us;          /* where there are slices: the start of the first window that holds one */
    int64_t next_end_us;       /* its end, cut to the range; INT64_MAX where there are none */
    int64_t edge_us;           /* no window of the grid ends after W and before this */
    ln_grid_run run;
    ln_window_row *asked; /* whose window a predicate is asked about */
    __int128 pivot_us, folded_us;
    uint8_t *combined; /* a run: front and back together */
    int stage;
    uint32_t slice; /* stages go through slices and their rows, */
    uint32_t row;   /* or through keys */
} ln_grid;

#endif
