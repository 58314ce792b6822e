/* What each aggregate costs: the time of one value, of joining two windows, of a value that is shown, and the memory of
 * a window. CPU time of this process; numbers from 0 up to 10,000 in no order, 10,000 of them a window. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#include "window/figures/figures.h"

#include <time.h>

enum { VALUES = 10000, WINDOWS = 16 };

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static const struct {
    const char *name;
    int kind;
    double parameter;
} rows[] = {
    {"count", LN_COUNT, 0},
    {"sum", LN_SUM, 0},
    {"min, max", LN_MIN, 0},
    {"avg", LN_AVG, 0},
    {"variance, stddev", LN_VARIANCE, 0},
    {"first, last", LN_LAST, 0},
    {"rate", LN_RATE, 0},
    {"ratio", LN_RATIO, 0},
    {"min_by, max_by", LN_MAX_BY, 0},
    {"histogram of 3 bounds", LN_HISTOGRAM, 0},
    {"collect, 1000 at most", LN_COLLECT, 0},
    {"distinct", LN_DISTINCT, 0},
    {"distinct, approx, 10 bits", LN_DISTINCT_APPROX, 10},
    {"distinct, approx, 12 bits", LN_DISTINCT_APPROX, 12},
    {"distinct, approx, 14 bits", LN_DISTINCT_APPROX, 14},
    {"distinct, approx, 16 bits", LN_DISTINCT_APPROX, 16},
    {"quantile, 5 %", LN_QUANTILE, 0.05},
    {"quantile, 1 %", LN_QUANTILE, 0.01},
    {"quantile, 0.1 %", LN_QUANTILE, 0.001},
    {"top, capacity 1024", LN_TOP, 1024},
    {"top, capacity 16384", LN_TOP, 16384},
};

static double median(double *list, int n) {
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && list[k] < list[k - 1]; k--) {
            double t = list[k];
            list[k] = list[k - 1];
            list[k - 1] = t;
        }
    return list[n / 2];
}

static void fill(figure *f, figure_state *s, const ln_value *v) {
    for (int i = 0; i < VALUES; i++) figure_add(f, s, &v[i], &v[VALUES - 1 - i]);
}

/* Windows are filled and joined in pairs, many times; what is printed are medians. */
static void one_row(size_t row, int rounds) {
    static ln_value v[VALUES];
    static double add[1000], take[1000], show[1000];
    test_random r = {row};
    figure f;
    size_t bytes = 0;
    figure_init(&f, rows[row].kind);
    if (f.spec.kind == LN_DISTINCT_APPROX) f.spec.n = (uint32_t)rows[row].parameter;
    if (f.spec.kind == LN_QUANTILE) f.spec.accuracy = rows[row].parameter;
    if (f.spec.kind == LN_TOP) f.spec.limit = (uint64_t)rows[row].parameter;
    for (int i = 0; i < VALUES; i++) v[i] = figure_int((int64_t)test_random_below(&r, VALUES));
    for (int i = 0; i < VALUES && f.spec.kind == LN_RATIO; i++) v[i].type = LN_BOOL;
    for (int round = 0; round < rounds; round++) {
        figure_state s[WINDOWS] = {{{0}}};
        ln_value shown;
        double from = now_ns();
        for (int w = 0; w < WINDOWS; w++) fill(&f, &s[w], v);
        add[round] = (now_ns() - from) / VALUES / WINDOWS;
        bytes = (f.mem.used - f.tally.scratch.cap - f.tally.shown.cap) / WINDOWS + f.ops->size;
        from = now_ns();
        for (int w = 1; w < WINDOWS; w++)
            for (int again = 0; again < 4; again++) figure_take(&f, &s[0], &s[w]);
        take[round] = (now_ns() - from) / (4 * (WINDOWS - 1));
        from = now_ns();
        for (int w = 1; w < WINDOWS; w++) figure_value(&f, &s[w], &shown);
        show[round] = (now_ns() - from) / (WINDOWS - 1);
        for (int w = 0; w < WINDOWS; w++) figure_clear(&f, &s[w]);
    }
    figure_free(&f);
    printf("| %s | %.1f | %.2f | %.2f | %zu |\n", rows[row].name, median(add, rounds), median(take, rounds) / 1000,
           median(show, rounds) / 1000, bytes);
}

void figures_costs(int quick) {
    printf("| aggregate | one value, ns | joining two windows, us | showing one, us | bytes of a window |\n"
           "|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) one_row(i, quick ? 3 : 101);
}
