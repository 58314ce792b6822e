/* One open window of one key: its bounds, and behind that the state of its triggers and of its aggregates, whose
 * sizes the plan knows, and what it must remember of its panes. */
#ifndef LN_WINDOW_CELL_H
#define LN_WINDOW_CELL_H

#include "window/key.h"
#include "window/trigger.h"

struct ln_bucket;
struct ln_pane;

/* A pane that may have to be withdrawn. Where panes pass through the driver it is kept there, under a handle. */
typedef struct ln_kept {
    int64_t start_us;
    struct ln_pane *pane; /* a copy, one block of memory; NULL where there is only a handle, or a start */
    uint32_t handle;
} ln_kept;

/* What only some pipelines ask of their windows, behind the rest of a cell: to remember panes, their own and those of
 * windows they have absorbed; and then, where a pipeline asks for that, to be called by the clock and to count those
 * filled in. */
typedef struct ln_rare {
    ln_kept last;      /* the pane before, where it may be withdrawn */
    ln_kept *absorbed; /* last panes of absorbed windows, not yet withdrawn (or, discarding, not yet named) */
    uint32_t absorbed_count, absorbed_cap;
    /* What follows is there only where there are delays by the clock or windows are filled in. */
    int64_t alarm_us; /* the clock for which it is filed among the alarms; LN_FUTURE: not filed */
    size_t alarm_at;  /* its place in the heap of alarms */
    int64_t run;      /* fill: empty windows in a row up to here */
} ln_rare;

/* Takes a kept pane over; 0, or -1 where memory is short. */
int ln_rare_absorb(ln_rare *into, ln_mem *mem, ln_kept *kept);

struct ln_cell {
    int64_t start_us, end_us; /* first, as in ln_span */
    ln_cell_key *key;
    uint64_t age; /* of two windows with the same bounds the one opened first has the lower */
    ln_since since;
    struct ln_bucket *bucket; /* where it waits for W */
    uint32_t id;              /* among all cells */
    uint32_t index;           /* of the next pane */
    uint32_t slot;            /* of its folds in the driver; 0 where there are none */
    uint32_t filed;           /* when it was put where it waits, counted among all that wait there: lists hold those
                                 filed first first. Goes round at the end of its range */
    uint8_t on_time_done;     /* completed, or opened behind W */
    uint8_t shown;            /* a pane has left */
    uint8_t last_final;       /* and the last one was final */
    uint8_t nonempty;         /* some record came */
    uint8_t has_past;         /* its ln_rare holds panes */
    uint8_t over;             /* enum ln_mark of distincts past their limits, where that has been counted */
    _Alignas(8) uint8_t state
        []; /* two ln_trigger_state where triggers keep any, then the aggregates, then where there is any its ln_rare */
};

#endif
