/* first and last: the value at the edge of a window in event time; among equal times the first or last to arrive. */
#include "base/number.h"
#include "window/aggregate/aggregate.h"
#include "window/aggregate/kept.h"

typedef struct edge {
    ln_value v; /* LN_MISSING: none yet */
    int64_t time_us;
    uint64_t arrival;
} edge;

static void clear(ln_tally *t, void *state) {
    edge *e = state;
    ln_kept_free_value(&e->v, t->mem);
    memset(e, 0, sizeof *e);
}

/* Is the place (time, arrival) beyond that of e? sign is 1 for the last, -1 for the first. */
static int beyond(const edge *e, int64_t time_us, uint64_t arrival, int sign) {
    if (e->v.type == LN_MISSING) return 1;
    if (time_us != e->time_us) return sign > 0 ? time_us > e->time_us : time_us < e->time_us;
    return sign > 0 ? arrival > e->arrival : arrival < e->arrival;
}

static int offer(ln_tally *t, edge *e, const ln_value *v, int64_t time_us, uint64_t arrival, int sign) {
    if (!beyond(e, time_us, arrival, sign)) return LN_OK;
    if (ln_kept_set(&e->v, t->mem, v) != LN_OK) return LN_ENOMEM;
    e->time_us = time_us;
    e->arrival = arrival;
    return LN_OK;
}

static int add(ln_tally *t, void *state, const ln_value *v, int sign) {
    return offer(t, state, v, t->time_us, t->arrival, sign);
}

static int take(ln_tally *t, void *into, const void *from, int sign) {
    const edge *b = from;
    return b->v.type == LN_MISSING ? LN_OK : offer(t, into, &b->v, b->time_us, b->arrival, sign);
}

static void result(const void *state, ln_value *out) {
    *out = ((const edge *)state)->v;
    if (out->type == LN_MISSING) out->type = LN_NULL;
}

static void save(const void *state, ln_buf *out) {
    const edge *e = state;
    ln_kept_save(&e->v, out);
    ln_save_int(out, e->time_us);
    ln_save_uint(out, e->arrival);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    edge *e = state;
    ln_value v;
    ln_kept_load(saved, &v);
    e->time_us = ln_saved_int(saved);
    e->arrival = ln_saved_uint(saved);
    return saved->bad || ln_is_nan(&v) ? LN_EINVALID : ln_kept_set(&e->v, t->mem, &v);
}

static int first_add(ln_tally *t, void *state, const ln_value *v) { return add(t, state, v, -1); }
static int last_add(ln_tally *t, void *state, const ln_value *v) { return add(t, state, v, 1); }
static int first_take(ln_tally *t, void *into, const void *from) { return take(t, into, from, -1); }
static int last_take(ln_tally *t, void *into, const void *from) { return take(t, into, from, 1); }

const ln_aggregate_ops ln_first_ops = {.size = sizeof(edge),
                                       .align = 8,
                                       .add = first_add,
                                       .take = first_take,
                                       .result = result,
                                       .clear = clear,
                                       .save = save,
                                       .load = load};
const ln_aggregate_ops ln_last_ops = {.size = sizeof(edge),
                                      .align = 8,
                                      .add = last_add,
                                      .take = last_take,
                                      .result = result,
                                      .clear = clear,
                                      .save = save,
                                      .load = load};
