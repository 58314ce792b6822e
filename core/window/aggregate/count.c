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

static void save(const void *state, ln_buf *out) {
    const ln_count *a = state;
    ln_save_uint(out, a->n);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    ln_count *a = state;
    (void)t;
    a->n = ln_saved_uint(saved);
    return LN_OK;
}

const ln_aggregate_ops ln_count_ops = {
    .size = sizeof(ln_count), .align = 1, .add = add, .take = take, .result = result, .save = save, .load = load};
