/* count: how many records, or how many values. */
#include "window/aggregate/basic.h"

static int add(ln_tally *t, void *state, const ln_value *v) {
    ln_count *a = state;
    (void)t;
    (void)v;
    a->n++;
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from) {
    ln_count *a = into;
    const ln_count *b = from;
    (void)t;
    a->n += b->n;
    return LN_OK;
}

static void result(const void *state, ln_value *out) {
    const ln_count *a = state;
    *out = (ln_value){.type = LN_INT, .i = (int64_t)a->n};
}

const ln_aggregate_ops ln_count_ops = {
    .size = sizeof(ln_count), .align = 1, .add = add, .take = take, .result = result};
