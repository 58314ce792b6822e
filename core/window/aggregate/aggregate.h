/* Aggregates: what a window knows of its records. Each kind is one file with the same few functions; the table in
 * aggregate.c names them all. All bytes zero is the identity of every kind, and no kind points into itself, so a state
 * is made by clearing memory and moved by copying it. */
#ifndef LN_WINDOW_AGGREGATE_H
#define LN_WINDOW_AGGREGATE_H

#include "base/buf.h"
#include "lunette.h"

/* What a function may need beside its state: where memory comes from, the present record's place in time, counters. */
typedef struct ln_tally {
    ln_mem *mem;
    ln_buf scratch;
    int64_t time_us;
    uint64_t arrival; /* of the record, counted from the first */
    uint64_t distinct_max;
    uint64_t skipped; /* values that an aggregate could not take */
    uint64_t seed;
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
    /* Its value, a view into the state. */
    void (*result)(const void *state, ln_value *out);
    /* Back to the identity, with its memory given back; NULL where clearing bytes does it. */
    void (*clear)(ln_tally *t, void *state);
} ln_aggregate_ops;

extern const ln_aggregate_ops ln_count_ops, ln_sum_ops, ln_min_ops, ln_max_ops, ln_avg_ops, ln_variance_ops,
    ln_stddev_ops, ln_first_ops, ln_last_ops, ln_distinct_ops, ln_fold_ops;

const ln_aggregate_ops *ln_aggregate_find(int kind);

static inline int ln_aggregate_merge(const ln_aggregate_ops *ops, ln_tally *t, void *into, void *from) {
    return ops->merge ? ops->merge(t, into, from) : ops->take(t, into, from);
}

#endif
