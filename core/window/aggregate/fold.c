/* fold: the accumulator lives in Lua, under the window's slot; the engine only tells the driver what to do with it. */
#include "window/aggregate/aggregate.h"

static int add(ln_tally *t, void *state, const ln_value *v) {
    (void)t;
    (void)state;
    (void)v;
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from) {
    (void)t;
    (void)into;
    (void)from;
    return LN_OK;
}

static void result(const void *state, ln_value *out) {
    (void)state;
    *out = (ln_value){.type = LN_MISSING};
}

const ln_aggregate_ops ln_fold_ops = {.size = 0, .align = 8, .add = add, .take = take, .result = result};
