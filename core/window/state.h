/* The engine from inside: what its parts share. `store` opens and closes windows, `fire` makes panes, `join` puts a
 * record into its windows (`merge` where these grow), `hold` keeps records that wait, `advance` moves the clock and W;
 * `grid` does all of this for windows that need no cells; and `engine` leads them from row to row. Only this room
 * includes it. */
#ifndef LN_WINDOW_STATE_H
#define LN_WINDOW_STATE_H

#include "base/ids.h"
#include "base/instant.h"
#include "base/pool.h"
#include "window/deadlines.h"
#include "window/fold_states.h"
#include "window/frame.h"
#include "window/grid.h"
#include "window/pane.h"
#include "window/states.h"
#include "window/trace.h"

/* Where the engine stands between two steps. */
enum ln_phase {
    LN_PHASE_NONE = 0, /* no batch */
    LN_PHASE_ROW,      /* at the beginning of a row */
    LN_PHASE_CLOCK,    /* the clock has moved: windows are asked */
    LN_PHASE_IDLE,     /* W may move since sources became idle */
    LN_PHASE_JUDGE,    /* the record's own fate */
    LN_PHASE_JOIN,     /* one window after the other */
    LN_PHASE_ANSWER,   /* a predicate has been asked */
    LN_PHASE_AFTER,    /* W may move since the record was read */
    LN_PHASE_NEXT,     /* the row is done */
    LN_PHASE_TICK,     /* the clock moves without a record */
    LN_PHASE_RELEASE,  /* W is about to move: records that wait for it join */
    LN_PHASE_MOVING    /* W has moved: windows complete and expire */
};

/* What a run of rows that have little to them has come to. */
enum ln_run {
    LN_RUN_NONE = 0, /* the present row has more to it than runs do */
    LN_RUN_OVER,     /* the present row has joined, and W is still to be moved by it */
    LN_RUN_STOPPED   /* the step must end here: for a question, or for the host */
};

/* Which windows a move asks. */
enum ln_walk { LN_WALK_NONE = 0, LN_WALK_ALL, LN_WALK_AHEAD, LN_WALK_ALARMS };

/* An extent that an expired window has left with its key. Those of all keys are given up in the order of their ends. */
typedef struct ln_grave {
    ln_cell_key *key;
    int64_t given_up_us; /* when W reaches this */
    ln_span extent;
} ln_grave;

typedef struct ln_graves {
    ln_grave *item; /* a ring */
    size_t cap, first, count;
    uint64_t gone; /* given up, ever */
} ln_graves;

/* A record of sessions with a maximum that waits until W reaches it, with all that it will be asked for. */
typedef struct ln_held {
    ln_cell_key *key;
    struct ln_held *before, *after; /* those of the key that wait */
    size_t at;                      /* its place in the heap */
    int64_t time_us;
    uint64_t arrival;
    uint32_t id;           /* once it joins */
    uint32_t record_bytes; /* 0 where no function will read it */
    size_t bytes;          /* of this block: the values, what they point to, and the record behind it */
    ln_value value[];      /* for each aggregate; then again those that aggregates go by, if any does */
} ln_held;

/* The canonical key of a row, worked out for the whole batch, so that the table of keys can be fetched ahead. */
typedef struct ln_key_of_row {
    const uint8_t *bytes; /* NULL: no key, or the row has no use for it */
    uint32_t len;
    uint32_t hash;
    uint32_t id; /* where it has been looked up ahead: what it was then */
} ln_key_of_row;

/* Where the present record stands among its windows. */
typedef struct ln_joining {
    ln_cell_key *key;
    const ln_held *held; /* NULL: the record is the present row */
    int64_t time_us;
    uint64_t arrival;
    uint32_t next, count;  /* windows worked on, windows in all */
    __int128 first_us;     /* grid: the first start, before it is cut to the range */
    __int128 hop_start_us; /* grid: the last start at or before the record before */
    int64_t hop_from_us;   /* grid: where that hop begins and ends, cut to the range; both 0: not known */
    int64_t hop_to_us;
    size_t bounds; /* assigner: the first of its windows in the frame */
    uint32_t taken, late, limited;
    ln_cell *asked; /* the window that a predicate is asked about, where it has a cell */
    int back;       /* the phase in which to go on when it is answered */
    uint64_t whens; /* the nodes asked */
} ln_joining;

/* A window as predicates and panes see it, whatever holds it. */
typedef struct ln_window {
    const ln_key *key;
    int64_t start_us, end_us;
    const uint8_t *run; /* of states */
    uint8_t *over;      /* as in ln_cell */
    uint32_t slot, index;
} ln_window;

/* Why a window, or all of them, took no record. */
enum ln_refusal { LN_TAKEN = 0, LN_REFUSED_LATE, LN_REFUSED_LIMIT, LN_REFUSED_ALL };

/* What an engine that is traced keeps for it. */
typedef struct ln_tracing {
    ln_trace_window *taken, *refused; /* by the present record */
    size_t taken_count, taken_cap, refused_count, refused_cap;
    struct ln_idled {
        uint32_t row;
        const ln_source *source;
    } * idled; /* sources that became idle, in order, by the row at which they did */
    size_t idled_count, idled_cap, idled_told;
    const ln_source *holder; /* who holds W, as far as it has been told */
} ln_tracing;

typedef struct ln_saving ln_saving;
typedef struct ln_loading ln_loading;

struct ln_engine {
    ln_mem mem;        /* all that a pipeline holds as state, but for its sources */
    ln_mem source_mem; /* those: apart, since the watermark runs ahead to the end of the batch */
    ln_plan plan;
    const ln_sink *sink;
    ln_pane_shape shape;
    int phase;
    int failed; /* ln_err */
    char error[160];

    /* how a cell's state is laid out */
    ln_states states;
    uint32_t states_at;          /* where their run begins in a cell's state */
    uint32_t rare_at;            /* and where its ln_rare lies, */
    int rare;                    /* in pipelines that have a use for it */
    ln_fold_states *fold_states; /* of each aggregate: those of declared folds */
    uint32_t cell_bytes;
    int stateful;                     /* triggers keep state */
    uint32_t folds;                   /* how many aggregates are */
    int by;                           /* an aggregate has a second column */
    int sliced;                       /* windows lie in `grid`, and there are no cells */
    int quiet_early;                  /* no trigger asks before the end of a window */
    int plain;                        /* every row goes the long way, phase by phase: for tests */
    int extents;                      /* expired windows leave their extents: sessions, and others that merge */
    uint64_t early_whens, late_whens; /* nodes that are predicates */
    int clock_every, clock_delays, event_every; /* what kinds of trigger there are at all */

    ln_slab cell_slab;
    ln_grid grid;
    ln_keys keys;
    ln_watermark watermark;  /* of the input: runs ahead to the end of the batch */
    ln_deadlines completing; /* windows whose end W has not reached */
    ln_deadlines expiring;   /* those that wait for end + lateness */
    ln_heap alarms;          /* windows by the clock at which a delay or an idleness may be due, each at most once */
    ln_graves graves;
    ln_ids slots, handles, held_ids;
    ln_heap waiting; /* by (time, arrival) */
    ln_held **held;  /* by id: the one that joins, and those that the driver has still to see */
    size_t held_cap;
    ln_held **spent; /* the latter */
    size_t spent_count, spent_cap;
    ln_tally tally;
    uint64_t ages, arrivals;
    int64_t now_us;   /* W, as far as windows have been told */
    int64_t clock_us; /* the clock, likewise */
    int64_t set_us;   /* how far the clock was set forward: delays are counted without it */
    size_t cells;

    ln_rows rows;
    uint32_t row;
    uint32_t until;
    ln_joining join;
    ln_key_of_row *row_key;
    size_t row_key_cap;
    uint32_t ahead;           /* rows whose keys have been looked up */
    uint64_t ahead_forgotten; /* keys.forgotten at that time: while it stays, all that were found are there */

    int64_t from_us, to_us; /* the move of W or of the clock being worked on */
    int64_t aim_us;         /* where W is about to move */
    int next;               /* the phase after that */
    int walk_kind;          /* enum ln_walk: which windows this move asks */
    uint32_t walk_id;       /* the number of the key with which to go on */
    ln_cell **walk;         /* windows of one key to be asked, in order */
    size_t walk_count, walk_next, walk_cap;
    int walked;

    ln_op *op;
    size_t op_count, op_cap;
    int ops_taken;
    ln_buf staged;
    ln_buf places;    /* of each staged pane: where it begins, its folds, where it ends; uint32_t */
    ln_value *values; /* of the pane being made */
    int64_t *absorbed_us;
    size_t absorbed_cap;
    ln_question question;
    ln_window asked; /* key NULL: there is no question */
    ln_value shown;  /* of the window in question: what was read last */
    int pause; /* the host should have its turn first: to take output or operations, or since much has been done */
    uint32_t work_max;  /* LN_WORK_MAX, or what the host says */
    size_t waiting_max; /* LN_WAITING_MAX, or what the host says */
    uint32_t work;      /* rows, windows and keys worked on in this step, beside those of the batch */
    uint64_t sent;      /* panes to the output */
    ln_stats stats;
    ln_lateness lateness;
    ln_tracing *tracing; /* NULL: nobody is told */
    ln_saving *saving;   /* NULL: nobody saves */
    ln_loading *loading; /* NULL: nothing is being loaded */
    int caught_up; /* what has been loaded is being put in order: windows whose end had passed have had their pane */
};

/* The same as ln_engine_new, with memory from elsewhere. `mem` is copied; what its functions stand on must outlive the
 * engine. */
ln_engine *ln_engine_new_with(const ln_plan *plan, const ln_sink *sink, const ln_mem *mem);
/* The engine has failed; returns -1. */
int ln_engine_fail(ln_engine *e, int err, const char *what);
void ln_engine_op(ln_engine *e, uint32_t kind, uint32_t a, uint32_t b);
/* Operations that the driver has taken are done. */
void ln_engine_ops_done(ln_engine *e);

static inline ln_trigger_state *ln_cell_early(ln_cell *c) { return (ln_trigger_state *)(void *)c->state; }
static inline ln_trigger_state *ln_cell_late(ln_cell *c) { return ln_cell_early(c) + 1; }
/* Hangs nothing on the key? */
static inline int ln_key_idle(const ln_engine *e, const ln_cell_key *key) {
    return key->open.count == 0 && key->waiting == 0 && !(e->extents && key->closed.count);
}
static inline ln_rare *ln_cell_rare(const ln_engine *e, ln_cell *c) {
    return (ln_rare *)(void *)(c->state + e->rare_at);
}
static inline uint8_t *ln_cell_run(const ln_engine *e, ln_cell *c) { return c->state + e->states_at; }
/* One thing more has been done: true where the step has done enough, so that the host's loop turns meanwhile. */
enum { LN_WORK_MAX = 2048, LN_WAITING_MAX = 256 * 1024 };
static inline int ln_engine_worked(ln_engine *e) {
    if (++e->work >= e->work_max) e->pause = 1;
    return e->pause;
}
/* The account of a record that has met all its windows, or that `refused` tells was not taken; 0 or -1. */
int ln_engine_settle(ln_engine *e, int refused);
/* The end of the time in which a window takes records. */
static inline int64_t ln_engine_expiry(const ln_engine *e, int64_t end_us) {
    return ln_time_add(end_us, e->plan.lateness_us);
}

/* store: a cell of a key, not yet among its windows; NULL where memory is short. */
ln_cell *ln_store_cell(ln_engine *e, ln_cell_key *key, int64_t start_us, int64_t end_us);
/* The same, put in its place. */
ln_cell *ln_store_open(ln_engine *e, ln_cell_key *key, uint32_t at, int64_t start_us, int64_t end_us);
/* Files an open cell where it has to wait; 0 or -1. */
int ln_store_file(ln_engine *e, ln_cell *c);
/* Forgets a cell and all that hangs on it, but neither its key nor its place among the key's windows. */
void ln_store_drop(ln_engine *e, ln_cell *c);
/* A slot for the folds of a window; 0 where memory is short. */
uint32_t ln_store_slot(ln_engine *e);
/* The window is gone. */
void ln_store_give_slot(ln_engine *e, uint32_t slot);
/* A cell has expired: its extent stays where windows merge, and the key goes when nothing hangs on it. */
int ln_store_expire(ln_engine *e, ln_cell *c);
/* The extent of a window that has expired stays with its key; 0 or -1. */
int ln_store_extent(ln_engine *e, ln_cell_key *key, ln_span extent);
/* Gives up the extents that nothing can overlap any more; works like ln_advance. */
int ln_store_bury(ln_engine *e);
/* Takes the state of `from` into `into`, both of one key, and forgets `from`; 0 or -1. */
int ln_store_merge(ln_engine *e, ln_cell *into, ln_cell *from);
/* Would another window, and `more` bytes beside it, pass limits.state_bytes? */
int ln_store_full(ln_engine *e, size_t more);

/* The key rests where nothing hangs on it any more. */
void ln_store_rest(ln_engine *e, ln_cell_key *key);

/* grid_rows: the present row joins its windows: LN_TAKEN, why not, or -1. */
int ln_grid_join(ln_engine *e);
/* The same for a run of rows that have nothing else to them: enum ln_run, or -1. */
int ln_grid_go(ln_engine *e);
/* Rows get heads although the plan needs none, since a saved engine's had; before the first slice. */
void ln_grid_add_heads(ln_engine *e);
/* The slice that a time lies in, made where there is none; NULL where memory is short. */
ln_slice *ln_grid_open(ln_engine *e, int64_t t_us);
/* The next window to complete is the first from `from` on that holds a slice; there is none where there is no slice. */
void ln_grid_point(ln_engine *e, __int128 from);
/* A slice that holds nothing any more. */
void ln_grid_retire(ln_engine *e, ln_slice *s);
static inline ln_window ln_grid_window(const ln_engine *e, const ln_slice *s, ln_window_row *own, const uint8_t *run) {
    return (ln_window){.key = ln_keys_at(&e->keys, own->key),
                       .start_us = s->start_us,
                       .end_us = s->end_us,
                       .run = run,
                       .over = &own->over,
                       .slot = own->slot,
                       .index = own->index};
}
/* grid_fire: works like ln_advance. */
int ln_grid_advance(ln_engine *e);
/* The window that was asked about shows a pane before its end; 0 or -1. */
int ln_grid_show_early(ln_engine *e);
/* A new row, in its place among the key's rows; 0 or -1. */
int ln_grid_link(ln_engine *e, ln_slice *s, uint32_t row);
/* Row `row` of the batch has been added to slice s: adds it to what has been put together from there. 0 or -1. */
int ln_grid_add_behind(ln_engine *e, const ln_slice *s, uint32_t id, uint32_t row);
/* The first end of a window of the grid that comes after now_us. */
int64_t ln_grid_edge(const ln_engine *e, int64_t now_us);
/* Where a slice begins, before that was cut to the range of time: a start that was cut is found from its end, since
 * nothing is as long as the range. */
__int128 ln_grid_start(const ln_engine *e, const ln_slice *s);
static inline ln_slice *ln_grid_slice(const ln_grid *g, uint32_t i) {
    return (ln_slice *)(void *)ln_cells_span(&g->slices, i);
}
/* What a key holds in the grid is about to change. */
static inline void ln_grid_touch(ln_engine *e, uint32_t id) {
    if (e->keys.changes.on) ln_keys_touch(&e->keys, ln_keys_at(&e->keys, id), id);
}
/* Open windows; where they overlap one is counted for each key. */
static inline size_t ln_grid_windows(const ln_engine *e) {
    return e->grid.hopping ? ln_keys_live(&e->keys) : e->grid.rows;
}
const char *ln_grid_verify(const ln_engine *e);
void ln_grid_free(ln_engine *e);
/* Frees so many rows, of an engine that does nothing more; 1 when none is left. */
int ln_grid_dispose(ln_engine *e, uint32_t rows);

/* values: those of a pane, from a run of states, and its marks, each of which `over` remembers to have been counted.
 * The pane's bounds are known. 0, or -1 where memory is short. */
int ln_values_fill(ln_engine *e, const uint8_t *run, uint8_t *over, ln_pane *pane);
/* The same of two runs together, where the states are simple. */
void ln_values_fill_two(ln_engine *e, const uint8_t *one, const uint8_t *other, ln_pane *pane);
/* Aggregate i of a window; a view until the next value is worked out. 0 or -1. */
int ln_values_one(ln_engine *e, const ln_window *w, uint32_t i, ln_value *out);

/* fire */
int ln_fire(ln_engine *e, ln_cell *c, int timing);
/* A pane of a window that has neither cell nor lateness; 0 or -1. */
int ln_fire_window(ln_engine *e, const ln_window *w, int timing);
/* The only pane of one without a head, from a run and, where runs are simple, from another beside it, or NULL.
 * 0 or -1. */
int ln_fire_run(ln_engine *e, const ln_key *key, int64_t start_us, int64_t end_us, const uint8_t *run,
                const uint8_t *more);
/* Asks the window's trigger, and fires when it is ready; 0 or -1. */
int ln_offer(ln_engine *e, ln_cell *c, const ln_event *event);
/* The predicates that the window's trigger would ask for a record. */
uint64_t ln_offer_whens(ln_engine *e, ln_cell *c);
const ln_trigger *ln_offer_trigger(const ln_engine *e, const ln_cell *c);
/* Clears the aggregates of a cell. */
void ln_fire_empty(ln_engine *e, ln_cell *c);
void ln_kept_free(ln_engine *e, ln_kept *kept);

/* join: begins with the present row or with a record that has waited, then works until it is done (1), has to pause or
 * to ask (0), or fails (-1). */
void ln_join_begin(ln_engine *e, ln_cell_key *key, int64_t time_us, uint64_t arrival, const ln_held *held);
int ln_join_next(ln_engine *e);
/* The windows of the grid that hold t, into e->join. */
void ln_join_grid(ln_engine *e, int64_t t_us);
/* The functions that a question asks. */
void ln_join_name(ln_question *q, const ln_trigger *trigger, uint64_t whens);
/* They are to be asked about a window that `row` has come into. */
void ln_join_ask(ln_engine *e, uint32_t row, ln_window w, uint64_t whens);
int ln_join_answered(ln_engine *e);

/* keys of rows: works out those of the batch; LN_OK or LN_ENOMEM. */
int ln_row_keys(ln_engine *e);
/* The key of the present row; LN_KEY_NONE where there is none. Looks up those of the next rows, too. */
uint32_t ln_row_key_find(ln_engine *e);

/* hold: sessions with a maximum. Puts the present row among those that wait; 0 or -1. */
int ln_hold(ln_engine *e, ln_cell_key *key);
/* The record that waits and whose time has come by `to_us`, taken out; NULL where there is none. */
const ln_held *ln_hold_next(ln_engine *e, int64_t to_us);
/* It has joined: it is forgotten, at once or when the driver has seen it. */
int ln_hold_done(ln_engine *e, const ln_held *held);
/* The driver has seen what it was to see. */
void ln_hold_spent(ln_engine *e);
void ln_hold_free(ln_engine *e);
/* How many values a record is held with. */
static inline uint32_t ln_held_values(const ln_engine *e) { return e->plan.aggregates << (e->by != 0); }
/* Puts a record of `bytes` that was saved among those that wait; 0 or -1, and then it is the caller's still. */
int ln_hold_again(ln_engine *e, ln_held *h);
/* Forgets those of a key. */
void ln_hold_forget(ln_engine *e, ln_cell_key *key);

/* save: a key of that number, or the extent that is given up next, is about to change. */
void ln_save_before(void *engine, uint32_t id);
void ln_save_grave_before(ln_engine *e, const ln_grave *grave);
/* load: forgets what was kept for it. */
void ln_load_free(ln_engine *e);

/* merge: the open window of `key` that takes a record with its own window [start, end), merged and made where needed.
 * NULL: memory is short, or *refused says why there is none. */
ln_cell *ln_merge_place(ln_engine *e, ln_cell_key *key, int64_t start_us, int64_t end_us, int *refused);
/* The same for sessions with a maximum, which never merge. */
ln_cell *ln_merge_extend(ln_engine *e, ln_cell_key *key, int64_t t_us, int *refused);

/* trace: each tells of what has just happened, and is called only where e->tracing is not NULL. */
void ln_trace_begin(ln_engine *e);
/* A window has taken the present record, or refused it as late. */
void ln_trace_taken(ln_engine *e, const ln_cell *c);
void ln_trace_refused(ln_engine *e, const ln_cell_key *key, int64_t start_us, int64_t end_us);
void ln_trace_record(ln_engine *e, int fate, int reason, const char *message, size_t len);
/* A record that waited has joined. */
void ln_trace_joined(ln_engine *e, const ln_held *held);
/* Before the row is judged, and when it is done: who holds W, and who became idle. W may move next. */
void ln_trace_before(ln_engine *e);
void ln_trace_after(ln_engine *e);
/* The same where the clock moves without a record. */
void ln_trace_tick(ln_engine *e);
/* W is about to move there. */
void ln_trace_move(ln_engine *e, int64_t to_us);
void ln_trace_gone(ln_engine *e, const ln_source *s);
void ln_trace_of_window(ln_engine *e, int kind, const ln_cell *c);
void ln_trace_merged(ln_engine *e, const ln_cell *into, int64_t start_us, int64_t end_us);
void ln_trace_pane(ln_engine *e, const ln_pane *pane);
void ln_trace_free(ln_engine *e);

/* advance: begin a move, then work on it until it is done (1), has to pause (0), or fails (-1). */
void ln_advance_begin(ln_engine *e, int64_t to_us);
/* Could a move of W to there do anything at all? */
static inline int ln_advance_concerns(const ln_engine *e, int64_t to_us) {
    if (e->sliced) return e->grid.slices.count && e->grid.next_end_us <= to_us;
    if (e->waiting.count || e->event_every) return 1;
    if (e->graves.count && e->graves.item[e->graves.first].given_up_us <= to_us) return 1;
    return ln_deadlines_next(&e->completing) <= to_us ||
           ln_deadlines_next(&e->expiring) <= ln_time_sub(to_us, e->plan.lateness_us);
}
int ln_advance(ln_engine *e);
void ln_advance_clock_begin(ln_engine *e, int64_t to_us);
int ln_advance_clock(ln_engine *e);

#endif
