/* min and max: the least and the greatest number, as it came; compared by exact value whatever its kind. */
#include "base/number.h"
#include "window/aggregate/aggregate.h"

static void offer(ln_value *best, const ln_value *v, int sign) {
    if (best->type == LN_MISSING || sign * ln_number_compare(v, best) > 0) *best = *v;
}

static int add(ln_tally *t, void *state, const ln_value *v, int sign) {
    if (ln_is_number(v)) offer(state, v, sign);
    else t->skipped++;
    return LN_OK;
}

static int take(void *into, const void *from, int sign) {
    const ln_value *b = from;
    if (b->type != LN_MISSING) offer(into, b, sign);
    return LN_OK;
}

static void result(const void *state, ln_value *out) {
    *out = *(const ln_value *)state;
    if (out->type == LN_MISSING) out->type = LN_NULL;
}

static int min_add(ln_tally *t, void *state, const ln_value *v) { return add(t, state, v, -1); }
static int max_add(ln_tally *t, void *state, const ln_value *v) { return add(t, state, v, 1); }

static int min_take(ln_tally *t, void *into, const void *from) {
    (void)t;
    return take(into, from, -1);
}

static int max_take(ln_tally *t, void *into, const void *from) {
    (void)t;
    return take(into, from, 1);
}

const ln_aggregate_ops ln_min_ops = {.size = sizeof(ln_value), .add = min_add, .take = min_take, .result = result};
const ln_aggregate_ops ln_max_ops = {.size = sizeof(ln_value), .add = max_add, .take = max_take, .result = result};
