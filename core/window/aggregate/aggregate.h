/* Aggregates: what a window knows of its records. Each kind is one file with the same few functions; the table in
 * aggregate.c names them all. All bytes zero is the identity of every kind, and no kind points into itself, so a state
 * is made by clearing memory and moved by copying it. */
#ifndef LN_WINDOW_AGGREGATE_H
#define LN_WINDOW_AGGREGATE_H

#include "base/buf.h"
#include "lunette.h"
#include "window/aggregate/saved.h"

/* What a value says of itself beside the value. */
enum ln_mark {
    LN_MARK_APPROX = 1,  /* an exact distinct has passed its limit and is an estimate since */
    LN_MARK_REFUSED = 2, /* or is null since */
    LN_MARK_CUT = 4      /* a collect has left values out */
};

/* What a function may need beside its state: where memory comes from, what the plan says of the aggregate, the present
 * record's place in time, the window's length, counters. */
typedef struct ln_tally {
    ln_mem *mem;
    ln_buf scratch;
    ln_buf shown; /* encoded values of the pane being made */
    int64_t time_us;
    uint64_t arrival; /* of the record, counted from the first */
    uint64_t distinct_max;
    uint64_t skipped; /* values that an aggregate could not take */
    uint64_t seed;
    const ln_aggregate *spec; /* for add, show and load of the kinds that have parameters */
    const ln_value *by;       /* for add, where the aggregate has a second column: neither missing, null nor NaN */
    int64_t span_us;          /* for show: the length of the window, 0 where it has none */
    uint32_t marks;           /* enum ln_mark: added by show */
} ln_tally;

typedef struct ln_aggregate_ops {
    uint32_t size;  /* bytes of a state, a multiple of `align` */
    uint32_t align; /* 8, or 1 where the state is packed */
    /* Takes a value that is neither missing, null nor NaN. LN_OK or LN_ENOMEM. */
    int (*add)(ln_tally *t, void *state, const ln_value *v);
    /* Takes what `from` knows into `into`, and leaves `from` as it is. LN_OK or LN_ENOMEM. */
    int (*take)(ln_tally *t, void *into, const void *from);
    /* The same where `from` may be changed, since the caller clears it next; NULL where take is as good. */
    int (*merge)(ln_tally *t, void *into, void *from);
    /* Its value, a view into the state; NULL where there is `show`. */
    void (*result)(const void *state, ln_value *out);
    /* The same for a value that has parameters, marks, or an encoded form. An array or a map is encoded at the end of
     * t->shown, and until that is settled `u` is where it begins there. LN_OK or LN_ENOMEM. */
    int (*show)(ln_tally *t, const void *state, ln_value *out);
    /* Back to the identity, with its memory given back; NULL where clearing bytes does it. */
    void (*clear)(ln_tally *t, void *state);
    /* Appends what load needs; never called for the identity. `out` remembers whether memory was short. */
    void (*save)(const void *state, ln_buf *out);
    /* Makes of the identity what was saved: LN_OK, LN_ENOMEM, or LN_EINVALID for bytes that no save has written or
     * whose parameters are not those of t->spec; what is left half made then is cleared by the caller. */
    int (*load)(ln_tally *t, void *state, ln_saved *saved);
} ln_aggregate_ops;

extern const ln_aggregate_ops ln_count_ops, ln_sum_ops, ln_min_ops, ln_max_ops, ln_avg_ops, ln_variance_ops,
    ln_stddev_ops, ln_first_ops, ln_last_ops, ln_distinct_ops, ln_fold_ops, ln_distinct_approx_ops, ln_quantile_ops,
    ln_top_ops, ln_min_by_ops, ln_max_by_ops, ln_collect_ops, ln_histogram_ops, ln_rate_ops, ln_ratio_ops;

const ln_aggregate_ops *ln_aggregate_find(int kind);

/* The value of a state, whichever of the two ways its kind has. */
static inline int ln_aggregate_value(const ln_aggregate_ops *ops, ln_tally *t, const void *state, ln_value *out) {
    if (ops->show) return ops->show(t, state, out);
    ops->result(state, out);
    return LN_OK;
}

/* For show: what has been encoded since t->shown had `from` bytes. */
static inline int ln_aggregate_shown(const ln_tally *t, int type, size_t from, ln_value *out) {
    *out = (ln_value){.type = (uint8_t)type, .len = (uint32_t)(t->shown.len - from)};
    out->u = from;
    return t->shown.failed || t->shown.len - from > UINT32_MAX ? LN_ENOMEM : LN_OK;
}

/* Nothing more is encoded for this pane: the value's bytes stay where they are until the next one. */
static inline void ln_aggregate_settle(const ln_aggregate_ops *ops, const ln_tally *t, ln_value *v) {
    if (ops->show && v->type >= LN_TEXT) v->at = t->shown.data + v->u;
}

/* Saves a state: its bytes, none for the identity. `out` remembers whether memory was short. */
void ln_aggregate_save(const ln_aggregate_ops *ops, const void *state, ln_buf *out);
/* Loads into an identity what was saved; t->spec is the aggregate's. LN_OK, LN_ENOMEM or LN_EINVALID, and then it is
 * the identity still. */
int ln_aggregate_load(const ln_aggregate_ops *ops, ln_tally *t, void *state, const uint8_t *bytes, size_t len);

static inline int ln_aggregate_merge(const ln_aggregate_ops *ops, ln_tally *t, void *into, void *from) {
    return ops->merge ? ops->merge(t, into, from) : ops->take(t, into, from);
}

#endif
