/* ratio: the share of the records of which something is true. */
#include "window/aggregate/aggregate.h"

typedef struct ratio {
    uint64_t yes, all;
} ratio;

static int add(ln_tally *t, void *state, const ln_value *v) {
    ratio *r = state;
    if (v->type != LN_BOOL) {
        t->skipped++;
        return LN_OK;
    }
    r->yes += v->i != 0;
    r->all++;
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from) {
    ratio *a = into;
    const ratio *b = from;
    (void)t;
    a->yes += b->yes;
    a->all += b->all;
    return LN_OK;
}

static void result(const void *state, ln_value *out) {
    const ratio *r = state;
    *out = (ln_value){.type = LN_NULL};
    if (r->all) *out = (ln_value){.type = LN_DOUBLE, .d = (double)r->yes / (double)r->all};
}

static void save(const void *state, ln_buf *out) {
    const ratio *r = state;
    ln_save_uint(out, r->yes);
    ln_save_uint(out, r->all);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    ratio *r = state;
    (void)t;
    r->yes = ln_saved_uint(saved);
    r->all = ln_saved_uint(saved);
    return r->yes <= r->all ? LN_OK : LN_EINVALID;
}

const ln_aggregate_ops ln_ratio_ops = {
    .size = sizeof(ratio), .align = 8, .add = add, .take = take, .result = result, .save = save, .load = load};
