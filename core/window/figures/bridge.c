/* A session that bridges two windows with a million different values each: the time of filling them, of joining them,
 * and of showing the result, and the memory before and after. */
#include "window/figures/figures.h"

#include <time.h>

static double now_ms(void) { return 1e3 * (double)clock() / CLOCKS_PER_SEC; }

static void one_row(const char *name, int kind, uint32_t n, uint64_t most, int64_t values) {
    figure f;
    figure_state s[2] = {{{0}}, {{0}}};
    ln_value v;
    double from, filled, joined;
    size_t before;
    figure_init(&f, kind);
    f.spec.n = n;
    f.tally.distinct_max = most;
    from = now_ms();
    for (int64_t i = 0; i < values; i++) {
        for (int w = 0; w < 2; w++) {
            v = figure_int(w * values + i);
            figure_add(&f, &s[w], &v, NULL);
        }
    }
    filled = now_ms();
    before = f.mem.used;
    if (ln_aggregate_merge(f.ops, &f.tally, &s[0], &s[1]) != LN_OK) fprintf(stderr, "out of memory\n");
    figure_clear(&f, &s[1]);
    joined = now_ms();
    figure_value(&f, &s[0], &v);
    printf("| %s | %.0f | %.1f | %.3f | %.3f | %" PRId64 " |\n", name, filled - from, joined - filled,
           (double)before / 1e6, (double)f.mem.used / 1e6, v.i);
    figure_clear(&f, &s[0]);
    figure_free(&f);
}

void figures_bridge(int quick) {
    int64_t values = quick ? 20000 : 1000000;
    printf("| two windows of %" PRId64
           " values each | filling both, ms | joining them, ms | MB before | after | shown |\n"
           "|---|---|---|---|---|---|\n",
           values);
    one_row("distinct", LN_DISTINCT, 0, UINT64_MAX, values);
    one_row("distinct, with a limit between", LN_DISTINCT, 0, (uint64_t)values * 3 / 2, values);
    one_row("distinct, approx", LN_DISTINCT_APPROX, 12, 0, values);
}
