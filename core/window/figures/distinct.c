/* distinct with approx: the error of the estimate, over many seeds. */
#include "window/figures/figures.h"

#include <math.h>

enum { SIZES = 5 };
static const uint64_t sizes[SIZES] = {100, 1000, 10000, 100000, 1000000};

typedef struct errors {
    double sum, squares, most;
} errors;

static void one_seed(uint32_t precision, uint64_t seed, int count, errors *e) {
    test_random r = {seed * 1000003 + precision};
    figure f;
    figure_state s = {{0}};
    uint64_t n = 0;
    figure_init(&f, LN_DISTINCT_APPROX);
    f.spec.n = precision;
    for (int k = 0; k < count; k++) {
        ln_value v;
        double error;
        for (; n < sizes[k]; n++) {
            v = figure_int((int64_t)test_random_next(&r));
            figure_add(&f, &s, &v, NULL);
        }
        figure_value(&f, &s, &v);
        error = (double)v.i / (double)n - 1;
        e[k].sum += error;
        e[k].squares += error * error;
        if (fabs(error) > e[k].most) e[k].most = fabs(error);
    }
    figure_clear(&f, &s);
    figure_free(&f);
}

/* Within the promise: a root of the mean square of 0.78 / sqrt(2^p), a bias that cannot be told from none, and no
 * single error beyond five times as much. */
static int is_well(const errors *e, int seeds, double promised) {
    double rms = sqrt(e->squares / seeds);
    return rms <= promised && fabs(e->sum / seeds) <= 4 * promised / sqrt(seeds) && e->most <= 5 * promised;
}

int figures_distinct(int quick) {
    int seeds = quick ? 40 : 1000, count = quick ? 3 : SIZES, well = 1;
    printf("| precision | bytes | exact up to | standard error | at 1,000 | 10,000 | 100,000 | 1,000,000 | "
           "bias | greatest |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (uint32_t p = 10; p <= 16; p++) {
        errors e[SIZES] = {{0}};
        double promised = 0.78 / sqrt(ldexp(1, (int)p)), bias = 0, most = 0;
        for (int seed = 0; seed < seeds; seed++) one_seed(p, (uint64_t)seed, count, e);
        printf("| %u | %.0f | %d | %.2f %% |", p, ldexp(1, (int)p), 3 << p >> 5, 100 * promised);
        for (int k = 0; k < count; k++) {
            well &= is_well(&e[k], seeds, promised * (quick ? 1.3 : 1));
            if (fabs(e[k].sum / seeds) > fabs(bias)) bias = e[k].sum / seeds;
            if (e[k].most > most) most = e[k].most;
            if (k > 0) printf(" %.2f %% |", 100 * sqrt(e[k].squares / seeds));
        }
        for (int k = count; k < SIZES; k++) printf(" - |");
        printf(" %+.3f %% | %.1f |\n", 100 * bias, most / promised);
    }
    return well;
}
