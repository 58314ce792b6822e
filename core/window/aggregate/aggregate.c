/* The table of aggregates. */
#include "window/aggregate/aggregate.h"

static const ln_aggregate_ops *const table[] = {
    [LN_COUNT] = &ln_count_ops,       [LN_SUM] = &ln_sum_ops,     [LN_MIN] = &ln_min_ops,
    [LN_MAX] = &ln_max_ops,           [LN_AVG] = &ln_avg_ops,     [LN_VARIANCE] = &ln_variance_ops,
    [LN_STDDEV] = &ln_stddev_ops,     [LN_FIRST] = &ln_first_ops, [LN_LAST] = &ln_last_ops,
    [LN_DISTINCT] = &ln_distinct_ops, [LN_FOLD] = &ln_fold_ops,
};
_Static_assert(sizeof table / sizeof *table == LN_AGGREGATE_KINDS, "each kind has its functions");

const ln_aggregate_ops *ln_aggregate_find(int kind) { return table[kind]; }
