/* count: how many records, or how many values. */
#include "window/aggregate/aggregate.h"

static int add(ln_tally *t, void *state, const ln_value *v) {
    (void)t;
    (void)v;
    ++*(uint64_t *)state;
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from) {
    (void)t;
    *(uint64_t *)into += *(const uint64_t *)from;
    return LN_OK;
}

static void result(const void *state, ln_value *out) {
    *out = (ln_value){.type = LN_INT, .i = (int64_t) * (const uint64_t *)state};
}

const ln_aggregate_ops ln_count_ops = {.size = sizeof(uint64_t), .add = add, .take = take, .result = result};
