/* histogram: how many numbers lie below the first bound, from each bound up to the next, and from the last one on. */
#include "base/number.h"
#include "base/pack.h"
#include "window/aggregate/aggregate.h"

typedef struct counts {
    uint64_t classes; /* bounds + 1 */
    uint64_t count[];
} counts;

typedef struct histogram {
    counts *counts;
} histogram;

static size_t size_of(uint64_t classes) { return sizeof(counts) + classes * sizeof(uint64_t); }

static void clear(ln_tally *t, void *state) {
    histogram *h = state;
    if (h->counts) ln_mem_free(t->mem, h->counts, size_of(h->counts->classes));
    h->counts = NULL;
}

static int ensure(ln_tally *t, histogram *h, uint64_t classes) {
    if (h->counts) return LN_OK;
    h->counts = ln_mem_zero(t->mem, size_of(classes));
    if (!h->counts) return LN_ENOMEM;
    h->counts->classes = classes;
    return LN_OK;
}

/* How many bounds are not above the number. */
static uint32_t class_of(const ln_aggregate *a, const ln_value *v) {
    uint32_t low = 0, high = a->numbers;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        ln_value bound = {.type = LN_DOUBLE, .d = a->number[middle]};
        if (ln_number_compare(&bound, v) <= 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int add(ln_tally *t, void *state, const ln_value *v) {
    histogram *h = state;
    if (!ln_is_number(v)) {
        t->skipped++;
        return LN_OK;
    }
    if (ensure(t, h, t->spec->numbers + UINT64_C(1)) != LN_OK) return LN_ENOMEM;
    h->counts->count[class_of(t->spec, v)]++;
    return LN_OK;
}

static int take(ln_tally *t, void *into, const void *from) {
    const counts *b = ((const histogram *)from)->counts;
    histogram *a = into;
    if (!b) return LN_OK;
    if (ensure(t, a, b->classes) != LN_OK) return LN_ENOMEM;
    for (uint64_t i = 0; i < b->classes; i++) a->counts->count[i] += b->count[i];
    return LN_OK;
}

static int show(ln_tally *t, const void *state, ln_value *out) {
    const counts *c = ((const histogram *)state)->counts;
    size_t from = t->shown.len;
    ln_pack_put_head(&t->shown, LN_ARRAY, t->spec->numbers + 1);
    for (uint64_t i = 0; i <= t->spec->numbers; i++)
        ln_pack_put(&t->shown, &(ln_value){.type = LN_INT, .i = c ? (int64_t)c->count[i] : 0});
    return ln_aggregate_shown(t, LN_ARRAY, from, out);
}

/* The bounds are the plan's; how many there are must be the same when it is loaded. */
static void save(const void *state, ln_buf *out) {
    const counts *c = ((const histogram *)state)->counts;
    ln_save_uint(out, c->classes);
    for (uint64_t i = 0; i < c->classes; i++) ln_save_uint(out, c->count[i]);
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    histogram *h = state;
    if (ln_saved_uint(saved) != t->spec->numbers + UINT64_C(1)) return LN_EINVALID;
    if (ensure(t, h, t->spec->numbers + UINT64_C(1)) != LN_OK) return LN_ENOMEM;
    for (uint64_t i = 0; i < h->counts->classes; i++) h->counts->count[i] = ln_saved_uint(saved);
    return LN_OK;
}

const ln_aggregate_ops ln_histogram_ops = {.size = sizeof(histogram),
                                           .align = 8,
                                           .add = add,
                                           .take = take,
                                           .show = show,
                                           .clear = clear,
                                           .save = save,
                                           .load = load};
