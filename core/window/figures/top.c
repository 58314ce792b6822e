/* top: how much too high a count is at most, and how many of the truly heaviest are found, past the capacity. */
#include "window/figures/figures.h"

#include "base/msgpack.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>

enum { NAMES = 200000, K = 10, PIECES = 100 };

/* Name i with a probability like 1 / i^skew. */
static int64_t draw(test_random *r, double skew) {
    double u = ((double)test_random_below(r, 1u << 30) + 0.5) / (1u << 30), top;
    if (skew == 0) return (int64_t)(u * NAMES);
    if (skew == 1) return (int64_t)exp(u * log(NAMES)) - 1;
    top = pow(NAMES, 1 - skew);
    return (int64_t)pow(1 + u * (top - 1), 1 / (1 - skew)) - 1;
}

typedef struct outcome {
    double too_high, bound; /* shares of all records */
    int found, shown;
} outcome;

static int by_count(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static double next_number(const uint8_t **p, const uint8_t *end) {
    ln_value v;
    (void)ln_msgpack_head(*p, end, &v, p); /* the name */
    *p += v.len;
    (void)ln_msgpack_head(*p, end, &v, p);
    return ln_number_double(&v);
}

static int judge(const ln_value *list, const int64_t *count, int64_t n, outcome *o) {
    static int64_t sorted[NAMES];
    const uint8_t *p = list->at + 1, *end = list->at + list->len; /* behind the head of a short array */
    int well = 1;
    memcpy(sorted, count, sizeof sorted);
    qsort(sorted, NAMES, sizeof *sorted, by_count);
    for (o->shown = 0; p < end; o->shown++) {
        double name, shown, error, real;
        p++; /* the head of a map */
        name = next_number(&p, end);
        shown = next_number(&p, end);
        error = next_number(&p, end);
        real = (double)count[(int64_t)name];
        well &= shown - error <= real && real <= shown;
        if ((shown - real) / (double)n > o->too_high) o->too_high = (shown - real) / (double)n;
        if (error / (double)n > o->bound) o->bound = error / (double)n;
        o->found += real >= (double)sorted[K - 1];
    }
    return well;
}

/* A window of n records, in one pass or joined from pieces. */
static int one_window(double skew, uint64_t capacity, int pieces, int64_t n, uint64_t seed, outcome *o) {
    static int64_t count[NAMES];
    test_random r = {seed};
    figure f;
    figure_state s[PIECES] = {{{0}}};
    ln_value v;
    int well;
    memset(count, 0, sizeof count);
    figure_init(&f, LN_TOP);
    f.spec.n = K;
    f.spec.limit = capacity;
    for (int64_t i = 0; i < n; i++) {
        v = figure_int(draw(&r, skew));
        count[v.i]++;
        figure_add(&f, &s[i % pieces], &v, NULL);
    }
    for (int i = 1; i < pieces; i++) figure_take(&f, &s[0], &s[i]);
    figure_value(&f, &s[0], &v);
    well = judge(&v, count, n, o);
    for (int i = 0; i < pieces; i++) figure_clear(&f, &s[i]);
    figure_free(&f);
    return well;
}

int figures_top(int quick) {
    static const double skews[] = {1.5, 1, 0.5, 0};
    static const uint64_t capacities[] = {256, 1024, 4096};
    int64_t n = quick ? 50000 : 1000000;
    int seeds = quick ? 1 : 10, well = 1;
    printf(
        "| skew | capacity | joined from | promised | greatest bound shown | truly too high by | of the top %d shown | "
        "right |\n|---|---|---|---|---|---|---|---|\n",
        K);
    for (int k = 0; k < 4; k++) {
        for (int c = 0; c < 3; c++) {
            for (int pieces = 1; pieces <= PIECES; pieces *= PIECES) {
                outcome o = {0};
                double shown = 0;
                for (int seed = 0; seed < seeds; seed++) {
                    well &= one_window(skews[k], capacities[c], pieces, n, (uint64_t)seed, &o);
                    shown += o.shown;
                }
                well &= o.bound <= 2.0 / (double)capacities[c];
                printf("| %g | %d | %d | %.3f %% | %.3f %% | %.3f %% | %.1f | %.1f |\n", skews[k], (int)capacities[c],
                       pieces, 200.0 / (double)capacities[c], 100 * o.bound, 100 * o.too_high, shown / seeds,
                       (double)o.found / seeds);
            }
        }
    }
    return well;
}
