/* variance and stddev of a sample: count, mean and the sum of squared distances from it, kept as Welford does and
 * joined as Chan does, which never subtracts two large squares. */
#include "base/number.h"
#include "window/aggregate/aggregate.h"

#include <math.h>

typedef struct moments {
    uint64_t count;
    double mean, squares;
} moments;

static int add(ln_tally *t, void *state, const ln_value *v) {
    moments *m = state;
    double x, distance;
    if (!ln_is_number(v)) {
        t->skipped++;
        return LN_OK;
    }
    x = ln_number_double(v);
    distance = x - m->mean;
    m->count++;
    m->mean += distance / (double)m->count;
    m->squares += distance * (x - m->mean);
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from) {
    moments *a = into;
    const moments *b = from;
    (void)t;
    if (a->count == 0) {
        *a = *b;
    } else if (b->count) {
        double n = (double)(a->count + b->count), distance = b->mean - a->mean;
        a->squares += b->squares + distance * distance * ((double)a->count * ((double)b->count / n));
        a->mean += distance * ((double)b->count / n);
        a->count += b->count;
    }
    return LN_OK;
}

static void variance_result(const void *state, ln_value *out) {
    const moments *m = state;
    *out = (ln_value){.type = LN_NULL};
    if (m->count > 1) *out = (ln_value){.type = LN_DOUBLE, .d = m->squares / (double)(m->count - 1)};
}

static void stddev_result(const void *state, ln_value *out) {
    variance_result(state, out);
    if (out->type == LN_DOUBLE) out->d = sqrt(out->d);
}

static void save(const void *state, ln_buf *out) {
    const moments *m = state;
    ln_save_uint(out, m->count);
    ln_save_double(out, m->mean);
    ln_save_double(out, m->squares);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    moments *m = state;
    (void)t;
    m->count = ln_saved_uint(saved);
    m->mean = ln_saved_double(saved);
    m->squares = ln_saved_double(saved);
    return LN_OK;
}

const ln_aggregate_ops ln_variance_ops = {.size = sizeof(moments),
                                          .align = 8,
                                          .add = add,
                                          .take = take,
                                          .result = variance_result,
                                          .save = save,
                                          .load = load};
const ln_aggregate_ops ln_stddev_ops = {
    .size = sizeof(moments), .align = 8, .add = add, .take = take, .result = stddev_result, .save = save, .load = load};
