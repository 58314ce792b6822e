/* min and max: the least and the greatest number, as it came; compared by exact value whatever its kind. */
#include "window/aggregate/basic.h"
#include "window/aggregate/kept.h"

static int add(ln_tally *t, void *state, const ln_value *v, int sign) {
    t->skipped += !ln_best_offer(state, v, sign);
    return LN_OK;
}

static void result(const void *state, ln_value *out) {
    const ln_best *b = state;
    *out = (ln_value){.type = b->type == LN_MISSING ? LN_NULL : b->type, .u = b->bits};
}

static int min_add(ln_tally *t, void *state, const ln_value *v) { return add(t, state, v, -1); }
static int max_add(ln_tally *t, void *state, const ln_value *v) { return add(t, state, v, 1); }

static int min_take(ln_tally *t, void *into, const void *from) {
    (void)t;
    ln_best_take(into, from, -1);
    return LN_OK;
}

static int max_take(ln_tally *t, void *into, const void *from) {
    (void)t;
    ln_best_take(into, from, 1);
    return LN_OK;
}

static void save(const void *state, ln_buf *out) {
    ln_value v;
    result(state, &v);
    ln_kept_save(&v, out);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    ln_value v;
    (void)t;
    ln_kept_load(saved, &v);
    if (saved->bad || ln_is_nan(&v)) return LN_EINVALID;
    return ln_best_offer(state, &v, 1) ? LN_OK : LN_EINVALID;
}

const ln_aggregate_ops ln_min_ops = {.size = sizeof(ln_best),
                                     .align = 1,
                                     .add = min_add,
                                     .take = min_take,
                                     .result = result,
                                     .save = save,
                                     .load = load};
const ln_aggregate_ops ln_max_ops = {.size = sizeof(ln_best),
                                     .align = 1,
                                     .add = max_add,
                                     .take = max_take,
                                     .result = result,
                                     .save = save,
                                     .load = load};
