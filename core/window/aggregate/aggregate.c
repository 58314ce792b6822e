/* The table of aggregates, and what is the same for each when it is saved: a version, and the end of its bytes. */
#include "window/aggregate/aggregate.h"

static const ln_aggregate_ops *const table[] = {
    [LN_COUNT] = &ln_count_ops,       [LN_SUM] = &ln_sum_ops,         [LN_MIN] = &ln_min_ops,
    [LN_MAX] = &ln_max_ops,           [LN_AVG] = &ln_avg_ops,         [LN_VARIANCE] = &ln_variance_ops,
    [LN_STDDEV] = &ln_stddev_ops,     [LN_FIRST] = &ln_first_ops,     [LN_LAST] = &ln_last_ops,
    [LN_DISTINCT] = &ln_distinct_ops, [LN_FOLD] = &ln_fold_ops,       [LN_DISTINCT_APPROX] = &ln_distinct_approx_ops,
    [LN_QUANTILE] = &ln_quantile_ops, [LN_TOP] = &ln_top_ops,         [LN_MIN_BY] = &ln_min_by_ops,
    [LN_MAX_BY] = &ln_max_by_ops,     [LN_COLLECT] = &ln_collect_ops, [LN_HISTOGRAM] = &ln_histogram_ops,
    [LN_RATE] = &ln_rate_ops,         [LN_RATIO] = &ln_ratio_ops,
};
_Static_assert(sizeof table / sizeof *table == LN_AGGREGATE_KINDS, "each kind has its functions");

const ln_aggregate_ops *ln_aggregate_find(int kind) { return table[kind]; }

enum { VERSION = 1 };

static int is_identity(const ln_aggregate_ops *ops, const void *state) {
    const uint8_t *bytes = state;
    for (uint32_t i = 0; i < ops->size; i++)
        if (bytes[i]) return 0;
    return 1;
}

void ln_aggregate_save(const ln_aggregate_ops *ops, const void *state, ln_buf *out) {
    if (is_identity(ops, state)) return;
    ln_buf_byte(out, VERSION);
    if (ops->save) ops->save(state, out);
}

int ln_aggregate_load(const ln_aggregate_ops *ops, ln_tally *t, void *state, const uint8_t *bytes, size_t len) {
    ln_saved saved = {bytes, bytes + len, 0};
    int err;
    if (len == 0) return LN_OK;
    if (*saved.at++ != VERSION || !ops->load) return LN_EINVALID;
    err = ops->load(t, state, &saved);
    if (err == LN_OK && (saved.bad || ln_saved_left(&saved) || is_identity(ops, state))) err = LN_EINVALID;
    if (err == LN_OK) return LN_OK;
    if (ops->clear) ops->clear(t, state);
    else memset(state, 0, ops->size);
    return err;
}
