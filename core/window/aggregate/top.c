/* top: the values that come most often, or that weigh most where another field is added up. */
#include "base/number.h"
#include "base/pack.h"
#include "window/aggregate/aggregate.h"
#include "window/aggregate/heavy.h"
#include "window/key.h"

#include <math.h>

typedef struct top {
    ln_heavy *heavy;
} top;

static void clear(ln_tally *t, void *state) {
    top *s = state;
    if (!s->heavy) return;
    ln_heavy_free(s->heavy);
    ln_mem_free(t->mem, s->heavy, sizeof *s->heavy);
    s->heavy = NULL;
}

static int ensure(ln_tally *t, top *s, size_t capacity) {
    if (s->heavy) return LN_OK;
    s->heavy = ln_mem_new(t->mem, sizeof *s->heavy);
    if (!s->heavy) return LN_ENOMEM;
    ln_heavy_init(s->heavy, t->mem, capacity, t->seed);
    return LN_OK;
}

/* What the record adds; below zero where it has no weight that can be added up. */
static double weight_of(const ln_tally *t) {
    double weight;
    if (!t->spec->has_by) return 1;
    if (!ln_is_number(t->by)) return -1;
    weight = ln_number_double(t->by);
    return weight < INFINITY ? weight : -1;
}

static int add(ln_tally *t, void *state, const ln_value *v) {
    top *s = state;
    double weight = weight_of(t);
    ln_buf_clear(&t->scratch);
    if (weight < 0 || ln_key_encode(&t->scratch, v) < 0) {
        t->skipped++;
        return LN_OK;
    }
    if (weight == 0) return LN_OK;
    if (t->scratch.failed || ensure(t, s, t->spec->limit) != LN_OK) return LN_ENOMEM;
    return ln_heavy_add(s->heavy, t->scratch.data, t->scratch.len, weight);
}

static int take(ln_tally *t, void *into, const void *from) {
    const ln_heavy *b = ((const top *)from)->heavy;
    top *a = into;
    if (!b) return LN_OK;
    return ensure(t, a, b->capacity) == LN_OK ? ln_heavy_take(a->heavy, b) : LN_ENOMEM;
}

/* Whole numbers leave as such. */
static void put_number(ln_buf *out, double x) {
    ln_value v = {.type = LN_DOUBLE, .d = x};
    if (x < 0x1p53) ln_number_normalise(&v);
    ln_pack_put(out, &v);
}

static void put_item(ln_buf *out, const ln_heavy *h, const ln_heavy_item *i) {
    ln_pack_put_head(out, LN_MAP, 3);
    ln_pack_put_text(out, "value", 5);
    ln_buf_append(out, h->bytes.data + i->at, i->len);
    ln_pack_put_text(out, "count", 5);
    put_number(out, i->weight);
    ln_pack_put_text(out, "error", 5);
    put_number(out, i->error);
}

static int show(ln_tally *t, const void *state, ln_value *out) {
    const ln_heavy *h = ((const top *)state)->heavy;
    const ln_heavy_item **first;
    size_t from = t->shown.len, n = 0;
    ln_buf_clear(&t->scratch);
    first = (const ln_heavy_item **)(void *)ln_buf_reserve(&t->scratch, (t->spec->n + 1) * sizeof *first);
    if (!first) return LN_ENOMEM;
    if (h) n = ln_heavy_first(h, first, t->spec->n);
    ln_pack_put_head(&t->shown, LN_ARRAY, (uint32_t)n);
    for (size_t i = 0; i < n; i++) put_item(&t->shown, h, first[i]);
    return ln_aggregate_shown(t, LN_ARRAY, from, out);
}

static void save(const void *state, ln_buf *out) { ln_heavy_save(((const top *)state)->heavy, out); }

static int load(ln_tally *t, void *state, ln_saved *saved) {
    top *s = state;
    if (ensure(t, s, t->spec->limit) != LN_OK) return LN_ENOMEM;
    return ln_heavy_load(s->heavy, saved);
}

const ln_aggregate_ops ln_top_ops = {.size = sizeof(top),
                                     .align = 8,
                                     .add = add,
                                     .take = take,
                                     .show = show,
                                     .clear = clear,
                                     .save = save,
                                     .load = load};
