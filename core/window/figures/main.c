/* The figures' command line, and what their tables share. */
#include "window/figures/figures.h"

#include <stdlib.h>

void figure_init(figure *f, int kind) {
    static const double numbers[] = {0.5, 0.9, 0.99};
    ln_mem_init(&f->mem);
    f->ops = ln_aggregate_find(kind);
    f->spec = (ln_aggregate){.kind = kind,
                             .has_by = kind == LN_MIN_BY || kind == LN_MAX_BY,
                             .n = kind == LN_DISTINCT_APPROX ? 12
                                  : kind == LN_TOP           ? 10
                                                             : kind == LN_QUANTILE,
                             .number = numbers,
                             .numbers = 3,
                             .limit = kind == LN_COLLECT ? 1000 : 1024,
                             .accuracy = 0.01,
                             .per_us = 1000000};
    f->tally = (ln_tally){.mem = &f->mem, .distinct_max = UINT64_MAX, .span_us = 60000000};
    ln_buf_init(&f->tally.scratch, &f->mem);
    ln_buf_init(&f->tally.shown, &f->mem);
}

void figure_free(figure *f) {
    ln_buf_free(&f->tally.scratch);
    ln_buf_free(&f->tally.shown);
}

static void need(int err) {
    if (err == LN_OK) return;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

void figure_add(figure *f, figure_state *s, const ln_value *v, const ln_value *by) {
    f->tally.spec = &f->spec;
    f->tally.by = by;
    f->tally.time_us = (int64_t)++f->tally.arrival;
    need(f->ops->add(&f->tally, s, v));
}

void figure_take(figure *f, figure_state *into, const figure_state *from) { need(f->ops->take(&f->tally, into, from)); }

void figure_value(figure *f, const figure_state *s, ln_value *out) {
    f->tally.spec = &f->spec;
    ln_buf_clear(&f->tally.shown);
    need(ln_aggregate_value(f->ops, &f->tally, s, out));
    ln_aggregate_settle(f->ops, &f->tally, out);
}

void figure_clear(figure *f, figure_state *s) {
    if (f->ops->clear) f->ops->clear(&f->tally, s);
    memset(s, 0, sizeof *s);
}

int main(int argc, char **argv) {
    int quick = argc > 1 && strcmp(argv[argc - 1], "--quick") == 0;
    int all = argc - quick < 2, well = 1;
    const char *one = all ? "" : argv[1];
    if (all || strcmp(one, "distinct") == 0) well &= figures_distinct(quick);
    if (all || strcmp(one, "quantile") == 0) well &= figures_quantile(quick);
    if (all || strcmp(one, "top") == 0) well &= figures_top(quick);
    if (all || strcmp(one, "costs") == 0) figures_costs(quick);
    if (all || strcmp(one, "bridge") == 0) figures_bridge(quick);
    if (!well) fprintf(stderr, "an error is beyond what is promised\n");
    return !well;
}
