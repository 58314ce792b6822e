/* Figures of the page on aggregates, measured: how far what a pane shows is from the truth, over many seeds and sizes,
 * and what an aggregate costs. Printed as the tables of that page. Errors are the same on every run; where one is
 * beyond what the page promises the program fails. */
#ifndef LN_WINDOW_FIGURES_H
#define LN_WINDOW_FIGURES_H

#include "base/test_random.h"
#include "window/aggregate/aggregate.h"

#include <inttypes.h>
#include <stdio.h>

/* One aggregate and what it works with. */
typedef struct figure {
    ln_mem mem;
    ln_tally tally;
    ln_aggregate spec;
    const ln_aggregate_ops *ops;
} figure;

typedef union figure_state {
    uint64_t words[8];
    uint8_t bytes[64];
} figure_state;

void figure_init(figure *f, int kind);
void figure_free(figure *f);
/* Each of these ends the program where memory is short. */
void figure_add(figure *f, figure_state *s, const ln_value *v, const ln_value *by);
void figure_take(figure *f, figure_state *into, const figure_state *from);
void figure_value(figure *f, const figure_state *s, ln_value *out);
void figure_clear(figure *f, figure_state *s);

static inline ln_value figure_int(int64_t i) { return (ln_value){.type = LN_INT, .i = i}; }
static inline ln_value figure_double(double d) { return (ln_value){.type = LN_DOUBLE, .d = d}; }

/* The tables; `quick` for fewer seeds and sizes. Returns whether all is within what is promised. */
int figures_distinct(int quick);
int figures_quantile(int quick);
int figures_top(int quick);
void figures_costs(int quick);
void figures_bridge(int quick);

#endif
