/* min_by and max_by: the value of one field where another is least or greatest; among equals that of the earliest
 * record, and then of the first to arrive. */
#include "base/number.h"
#include "window/aggregate/aggregate.h"
#include "window/aggregate/kept.h"

typedef struct best {
    ln_value v;  /* LN_MISSING: none yet */
    ln_value by; /* a number */
    int64_t time_us;
    uint64_t arrival;
} best;

static void clear(ln_tally *t, void *state) {
    best *b = state;
    ln_kept_free_value(&b->v, t->mem);
    memset(b, 0, sizeof *b);
}

/* Is a better than b? sign is 1 for the greatest, -1 for the least. */
static int is_better(const best *a, const best *b, int sign) {
    int by;
    if (b->v.type == LN_MISSING) return 1;
    by = ln_number_compare(&a->by, &b->by);
    if (by) return by == sign;
    return a->time_us != b->time_us ? a->time_us < b->time_us : a->arrival < b->arrival;
}

static int offer(ln_tally *t, best *into, const best *from, int sign) {
    if (!is_better(from, into, sign)) return LN_OK;
    if (ln_kept_set(&into->v, t->mem, &from->v) != LN_OK) return LN_ENOMEM;
    into->by = from->by;
    into->time_us = from->time_us;
    into->arrival = from->arrival;
    return LN_OK;
}

static int add(ln_tally *t, void *state, const ln_value *v, int sign) {
    best one = {*v, *t->by, t->time_us, t->arrival};
    if (ln_is_number(t->by)) return offer(t, state, &one, sign);
    t->skipped++;
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from, int sign) {
    const best *b = from;
    return b->v.type == LN_MISSING ? LN_OK : offer(t, into, b, sign);
}

static void result(const void *state, ln_value *out) {
    *out = ((const best *)state)->v;
    if (out->type == LN_MISSING) out->type = LN_NULL;
}

static void save(const void *state, ln_buf *out) {
    const best *b = state;
    ln_kept_save(&b->v, out);
    ln_kept_save(&b->by, out);
    ln_save_int(out, b->time_us);
    ln_save_uint(out, b->arrival);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    best *b = state;
    ln_value v;
    ln_kept_load(saved, &v);
    ln_kept_load(saved, &b->by);
    b->time_us = ln_saved_int(saved);
    b->arrival = ln_saved_uint(saved);
    if (saved->bad || !ln_is_number(&b->by) || ln_is_nan(&b->by) || ln_is_nan(&v)) return LN_EINVALID;
    return ln_kept_set(&b->v, t->mem, &v);
}

static int min_add(ln_tally *t, void *state, const ln_value *v) { return add(t, state, v, -1); }
static int max_add(ln_tally *t, void *state, const ln_value *v) { return add(t, state, v, 1); }
static int min_take(ln_tally *t, void *into, const void *from) { return take(t, into, from, -1); }
static int max_take(ln_tally *t, void *into, const void *from) { return take(t, into, from, 1); }

const ln_aggregate_ops ln_min_by_ops = {.size = sizeof(best),
                                        .align = 8,
                                        .add = min_add,
                                        .take = min_take,
                                        .result = result,
                                        .clear = clear,
                                        .save = save,
                                        .load = load};
const ln_aggregate_ops ln_max_by_ops = {.size = sizeof(best),
                                        .align = 8,
                                        .add = max_add,
                                        .take = max_take,
                                        .result = result,
                                        .clear = clear,
                                        .save = save,
                                        .load = load};
