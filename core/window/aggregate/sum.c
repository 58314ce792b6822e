/* sum, avg and rate. */
#include "window/aggregate/basic.h"

#include <math.h>

static int sum_add(ln_tally *t, void *state, const ln_value *v) {
    t->skipped += !ln_sum_add(state, v);
    return LN_OK;
}

static int sum_take(ln_tally *t, void *into, const void *from) {
    (void)t;
    ln_sum_take(into, from);
    return LN_OK;
}

static int avg_add(ln_tally *t, void *state, const ln_value *v) {
    ln_avg *a = state;
    int taken = ln_sum_add(&a->sum, v);
    a->n += (uint64_t)taken;
    t->skipped += !taken;
    return LN_OK;
}

static int avg_take(ln_tally *t, void *into, const void *from) {
    ln_avg *a = into;
    const ln_avg *b = from;
    (void)t;
    ln_sum_take(&a->sum, &b->sum);
    a->n += b->n;
    return LN_OK;
}

/* Both parts together, with what is lost when they are added put back before the last rounding. */
static double total(const ln_sum *a) {
    __int128 n = ln_sum_whole(a);
    ln_sum both = *a;
    if (!isfinite(a->s)) return a->s;
    if (n) {
        ln_sum_add_double(&both, (double)n);
        ln_sum_add_double(&both, (double)(n - (__int128)(double)n)); /* what one double cannot hold of it */
    }
    return both.s + both.c;
}

static void sum_result(const void *state, ln_value *out) {
    const ln_sum *a = state;
    __int128 n = ln_sum_whole(a);
    if (a->doubles) *out = (ln_value){.type = LN_DOUBLE, .d = total(a)};
    else if (n >= INT64_MIN && n <= INT64_MAX) *out = (ln_value){.type = LN_INT, .i = (int64_t)n};
    else if (n > 0 && n <= UINT64_MAX) *out = (ln_value){.type = LN_UINT, .u = (uint64_t)n};
    else *out = (ln_value){.type = LN_DOUBLE, .d = (double)n};
}

static void avg_result(const void *state, ln_value *out) {
    const ln_avg *a = state;
    *out = (ln_value){.type = LN_NULL};
    if (a->n) *out = (ln_value){.type = LN_DOUBLE, .d = total(&a->sum) / (double)a->n};
}

/* Without a field each record is one. */
static int rate_add(ln_tally *t, void *state, const ln_value *v) {
    static const ln_value one = {.type = LN_INT, .i = 1};
    return sum_add(t, state, t->spec->column < 0 ? &one : v);
}

static int rate_show(ln_tally *t, const void *state, ln_value *out) {
    *out = (ln_value){.type = LN_NULL};
    if (t->span_us)
        *out = (ln_value){.type = LN_DOUBLE, .d = total(state) / ((double)t->span_us / (double)t->spec->per_us)};
    return LN_OK;
}

static void sum_save(const void *state, ln_buf *out) {
    const ln_sum *a = state;
    ln_save_word(out, a->low);
    ln_save_int(out, a->high);
    ln_save_double(out, a->s);
    ln_save_double(out, a->c);
    ln_buf_byte(out, a->doubles);
}

static int sum_load(ln_tally *t, void *state, ln_saved *saved) {
    ln_sum *a = state;
    const uint8_t *doubles;
    (void)t;
    a->low = ln_saved_word(saved);
    a->high = ln_saved_int(saved);
    a->s = ln_saved_double(saved);
    a->c = ln_saved_double(saved);
    doubles = ln_saved_run(saved, 1);
    a->doubles = doubles ? *doubles : 0;
    return a->doubles <= 1 && isfinite(a->c) ? LN_OK : LN_EINVALID;
}

static void avg_save(const void *state, ln_buf *out) {
    const ln_avg *a = state;
    sum_save(&a->sum, out);
    ln_save_uint(out, a->n);
}

static int avg_load(ln_tally *t, void *state, ln_saved *saved) {
    ln_avg *a = state;
    int err = sum_load(t, &a->sum, saved);
    a->n = ln_saved_uint(saved);
    return err;
}

const ln_aggregate_ops ln_sum_ops = {.size = sizeof(ln_sum),
                                     .align = 1,
                                     .add = sum_add,
                                     .take = sum_take,
                                     .result = sum_result,
                                     .save = sum_save,
                                     .load = sum_load};
const ln_aggregate_ops ln_avg_ops = {.size = sizeof(ln_avg),
                                     .align = 1,
                                     .add = avg_add,
                                     .take = avg_take,
                                     .result = avg_result,
                                     .save = avg_save,
                                     .load = avg_load};
const ln_aggregate_ops ln_rate_ops = {.size = sizeof(ln_sum),
                                      .align = 1,
                                      .add = rate_add,
                                      .take = sum_take,
                                      .show = rate_show,
                                      .save = sum_save,
                                      .load = sum_load};
