/* quantile: the numbers below which given shares of all numbers lie, each within a relative error: a DDSketch. The
 * least and the greatest number are kept beside the bins, and are exact. */
#include "base/number.h"
#include "base/pack.h"
#include "window/aggregate/aggregate.h"
#include "window/aggregate/bins.h"

#include <float.h>
#include <math.h>

typedef struct sketch {
    double accuracy;
    ln_bin_scale scale;
    double min, max;
    uint64_t zero, under, over; /* zeros, and infinities of either sign */
    ln_bins below, above;       /* zero; those below by their distance from it */
} sketch;

typedef struct quantile {
    sketch *sketch;
} quantile;

static void clear(ln_tally *t, void *state) {
    quantile *q = state;
    if (!q->sketch) return;
    ln_bins_free(&q->sketch->below, t->mem);
    ln_bins_free(&q->sketch->above, t->mem);
    ln_mem_free(t->mem, q->sketch, sizeof *q->sketch);
    q->sketch = NULL;
}

static int ensure(ln_tally *t, quantile *q, double accuracy) {
    if (q->sketch) return LN_OK;
    q->sketch = ln_mem_zero(t->mem, sizeof *q->sketch);
    if (!q->sketch) return LN_ENOMEM;
    q->sketch->accuracy = accuracy;
    q->sketch->scale = ln_bin_scale_of(accuracy);
    q->sketch->min = INFINITY;
    q->sketch->max = -INFINITY;
    return LN_OK;
}

static int count_number(ln_tally *t, sketch *s, double x) {
    ln_bins *bins = x > 0 ? &s->above : &s->below;
    if (x == 0) s->zero++;
    else if (x == INFINITY) s->over++;
    else if (x == -INFINITY) s->under++;
    else return ln_bins_add(bins, t->mem, &s->scale, ln_bin_of(&s->scale, fabs(x)), 1);
    return LN_OK;
}

static int add(ln_tally *t, void *state, const ln_value *v) {
    quantile *q = state;
    double x;
    if (!ln_is_number(v)) {
        t->skipped++;
        return LN_OK;
    }
    x = ln_number_double(v) + 0.0; /* -0 is 0 */
    if (ensure(t, q, t->spec->accuracy) != LN_OK || count_number(t, q->sketch, x) != LN_OK) return LN_ENOMEM;
    if (x < q->sketch->min) q->sketch->min = x;
    if (x > q->sketch->max) q->sketch->max = x;
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from) {
    const sketch *b = ((const quantile *)from)->sketch;
    quantile *q = into;
    sketch *a;
    if (!b) return LN_OK;
    if (ensure(t, q, b->accuracy) != LN_OK) return LN_ENOMEM;
    a = q->sketch;
    if (ln_bins_take(&a->below, t->mem, &a->scale, &b->below) != LN_OK ||
        ln_bins_take(&a->above, t->mem, &a->scale, &b->above) != LN_OK)
        return LN_ENOMEM;
    a->zero += b->zero;
    a->under += b->under;
    a->over += b->over;
    if (b->min < a->min) a->min = b->min;
    if (b->max > a->max) a->max = b->max;
    return LN_OK;
}

/* ---- its value -------------------------------------------------------------------------------------------------- */

static uint64_t total(const sketch *s) { return s->under + s->below.total + s->zero + s->above.total + s->over; }

static double number_at(const sketch *s, uint64_t rank) {
    if (rank < s->under) return -INFINITY;
    rank -= s->under;
    if (rank < s->below.total) return -ln_bin_value(&s->scale, ln_bins_rank(&s->below, s->below.total - 1 - rank));
    rank -= s->below.total;
    if (rank < s->zero) return 0;
    rank -= s->zero;
    return rank < s->above.total ? ln_bin_value(&s->scale, ln_bins_rank(&s->above, rank)) : INFINITY;
}

/* The number of rank floor(q (n - 1)), counted from 0. */
static double value_at(const sketch *s, double q) {
    uint64_t last = total(s) - 1;
    double at = floor(q * (double)last), x;
    uint64_t rank = at < (double)last ? (uint64_t)at : last;
    if (rank == 0) return s->min;
    if (rank == last) return s->max;
    x = number_at(s, rank);
    return x < s->min ? s->min : x > s->max ? s->max : x;
}

static int show(ln_tally *t, const void *state, ln_value *out) {
    const sketch *s = ((const quantile *)state)->sketch;
    const ln_aggregate *a = t->spec;
    size_t from = t->shown.len;
    *out = (ln_value){.type = LN_NULL};
    if (!a->n) {
        if (s) *out = (ln_value){.type = LN_DOUBLE, .d = value_at(s, a->number[0])};
        return LN_OK;
    }
    ln_pack_put_head(&t->shown, LN_ARRAY, a->numbers);
    for (uint32_t i = 0; i < a->numbers; i++) {
        ln_value v = {.type = LN_NULL};
        if (s) v = (ln_value){.type = LN_DOUBLE, .d = value_at(s, a->number[i])};
        ln_pack_put(&t->shown, &v);
    }
    return ln_aggregate_shown(t, LN_ARRAY, from, out);
}

/* ---- saved ------------------------------------------------------------------------------------------------------ */

static void save(const void *state, ln_buf *out) {
    const sketch *s = ((const quantile *)state)->sketch;
    ln_save_double(out, s->accuracy);
    ln_save_double(out, s->min);
    ln_save_double(out, s->max);
    ln_save_uint(out, s->zero);
    ln_save_uint(out, s->under);
    ln_save_uint(out, s->over);
    ln_bins_save(&s->below, out);
    ln_bins_save(&s->above, out);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    quantile *q = state;
    sketch *s;
    int err;
    if (ln_saved_double(saved) != t->spec->accuracy) return LN_EINVALID;
    if (ensure(t, q, t->spec->accuracy) != LN_OK) return LN_ENOMEM;
    s = q->sketch;
    s->min = ln_saved_double(saved);
    s->max = ln_saved_double(saved);
    s->zero = ln_saved_uint(saved);
    s->under = ln_saved_uint(saved);
    s->over = ln_saved_uint(saved);
    err = ln_bins_load(&s->below, t->mem, &s->scale, saved);
    if (err == LN_OK) err = ln_bins_load(&s->above, t->mem, &s->scale, saved);
    if (err != LN_OK) return err;
    if (!(s->min <= s->max) || (s->zero | s->under | s->over) >> 62 || total(s) == 0) return LN_EINVALID;
    return LN_OK;
}

const ln_aggregate_ops ln_quantile_ops = {.size = sizeof(quantile),
                                          .align = 8,
                                          .add = add,
                                          .take = take,
                                          .show = show,
                                          .clear = clear,
                                          .save = save,
                                          .load = load};
