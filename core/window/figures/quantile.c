/* quantile: the greatest relative error of any share, over kinds of numbers, sizes and seeds. */
#include "window/figures/figures.h"

#include "base/msgpack.h"

#include <math.h>
#include <stdlib.h>

enum { SHARES = 9, NUMBERS = 100000 };
static const double shares[SHARES] = {0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.99, 0.999, 1};

static double uniform(test_random *r) { return ((double)test_random_below(r, 1u << 30) + 0.5) / (1u << 30); }
static double even(test_random *r) { return 1000 * uniform(r); }
static double tail(test_random *r) { return pow(uniform(r), -1 / 1.1); }
static double narrow(test_random *r) { return 1000 + uniform(r); }
static double around_zero(test_random *r) { return test_random_below(r, 10) ? uniform(r) - 0.5 : 0; }
/* Log-normal, from the sum of twelve. */
static double bell(test_random *r) {
    double sum = -6;
    for (int i = 0; i < 12; i++) sum += uniform(r);
    return exp(2 * sum);
}

static const struct {
    const char *name;
    double (*make)(test_random *r);
} kinds[] = {{"even, 0 to 1000", even},
             {"log-normal", bell},
             {"heavy tail (Pareto 1.1)", tail},
             {"1000 to 1001", narrow},
             {"both signs, and zeros", around_zero}};

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One window of n numbers: its greatest error, and the bytes that it held. */
static double one_window(double (*make)(test_random *r), double accuracy, uint64_t seed, int n, size_t *bytes) {
    static double all[NUMBERS];
    test_random r = {seed};
    figure f;
    figure_state s = {{0}};
    ln_value list, v;
    const uint8_t *p;
    double most = 0;
    figure_init(&f, LN_QUANTILE);
    f.spec.accuracy = accuracy;
    f.spec.number = shares;
    f.spec.numbers = SHARES;
    for (int i = 0; i < n; i++) {
        v = figure_double(all[i] = make(&r));
        figure_add(&f, &s, &v, NULL);
    }
    *bytes = f.mem.used;
    qsort(all, (size_t)n, sizeof *all, by_size);
    figure_value(&f, &s, &list);
    p = list.at + 1; /* behind the head of a short array */
    for (int i = 0; i < SHARES; i++) {
        double want = all[(int)floor(shares[i] * (n - 1))];
        (void)ln_msgpack_head(p, list.at + list.len, &v, &p);
        if (v.d != want && fabs(v.d / want - 1) > most) most = fabs(v.d / want - 1);
    }
    figure_clear(&f, &s);
    figure_free(&f);
    return most;
}

int figures_quantile(int quick) {
    static const double accuracies[] = {0.001, 0.01, 0.05};
    int well = 1;
    printf("| numbers | accuracy | greatest error of 10 | 1,000 | 100,000 | bytes of 1,000 | 100,000 |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t a = 0; a < 3; a++) {
            size_t bytes[3] = {0};
            printf("| %s | %g %% |", kinds[k].name, 100 * accuracies[a]);
            for (int size = 0; size < 3; size++) {
                static const int sizes[] = {10, 1000, NUMBERS};
                int seeds = quick ? (size == 2 ? 1 : 20) : (size == 2 ? 20 : 1000);
                double most = 0, error;
                for (int seed = 0; seed < seeds; seed++) {
                    error = one_window(kinds[k].make, accuracies[a], (uint64_t)seed, sizes[size], &bytes[size]);
                    if (error > most) most = error;
                }
                well &= most <= accuracies[a] + 1e-12;
                printf(" %.3f %% |", 100 * most);
            }
            printf(" %zu | %zu |\n", bytes[1], bytes[2]);
        }
    }
    return well;
}
