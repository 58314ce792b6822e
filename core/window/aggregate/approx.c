/* distinct with approx: how many different values, from a sketch of them. */
#include "window/aggregate/aggregate.h"
#include "window/aggregate/sketch.h"
#include "window/key.h"

typedef struct approx {
    ln_sketch *sketch;
} approx;

static void clear(ln_tally *t, void *state) { ln_sketch_free(&((approx *)state)->sketch, t->mem); }

static int add(ln_tally *t, void *state, const ln_value *v) {
    approx *a = state;
    ln_buf_clear(&t->scratch);
    if (ln_key_encode(&t->scratch, v) < 0) {
        t->skipped++;
        return LN_OK;
    }
    if (t->scratch.failed) return LN_ENOMEM;
    return ln_sketch_add(&a->sketch, t->mem, t->spec->n, ln_sketch_hash(t->scratch.data, t->scratch.len));
}

static int take(ln_tally *t, void *into, const void *from) {
    return ln_sketch_take(&((approx *)into)->sketch, t->mem, ((const approx *)from)->sketch);
}

static void result(const void *state, ln_value *out) {
    double estimate = ln_sketch_estimate(((const approx *)state)->sketch);
    *out = (ln_value){.type = LN_INT, .i = (int64_t)(estimate + 0.5)};
}

static void save(const void *state, ln_buf *out) { ln_sketch_save(((const approx *)state)->sketch, out); }

static int load(ln_tally *t, void *state, ln_saved *saved) {
    return ln_sketch_load(&((approx *)state)->sketch, t->mem, t->spec->n, saved);
}

const ln_aggregate_ops ln_distinct_approx_ops = {.size = sizeof(approx),
                                                 .align = 8,
                                                 .add = add,
                                                 .take = take,
                                                 .result = result,
                                                 .clear = clear,
                                                 .save = save,
                                                 .load = load};
