/* The values of a pane, worked out from a window's states, and what they say of themselves. */
#include "window/state.h"

/* The length of a window; 0 for one without bounds. */
static int64_t span_of(int64_t start_us, int64_t end_us) {
    return start_us == LN_PAST || end_us == LN_FUTURE ? 0 : ln_time_sub(end_us, start_us);
}

static void begin(ln_engine *e, int64_t start_us, int64_t end_us) {
    e->tally.span_us = span_of(start_us, end_us);
    e->tally.marks = 0;
    ln_buf_clear(&e->tally.shown);
}

/* Counts a window at the first of its panes that has a mark; `over` are those it had. */
static void count(ln_engine *e, uint8_t *over) {
    uint32_t fresh = e->tally.marks & (LN_MARK_APPROX | LN_MARK_REFUSED) & ~(uint32_t)*over;
    if (!fresh) return;
    e->stats.distinct_over += (fresh & LN_MARK_APPROX) != 0;
    e->stats.distinct_refused += (fresh & LN_MARK_REFUSED) != 0;
    *over |= (uint8_t)fresh;
}

int ln_values_one(ln_engine *e, const ln_window *w, uint32_t i, ln_value *out) {
    begin(e, w->start_us, w->end_us);
    if (ln_states_result(&e->states, &e->tally, w->run, i, out) < 0) return -1;
    ln_aggregate_settle(e->states.part[i].ops, &e->tally, out);
    count(e, w->over);
    return 0;
}

int ln_values_fill(ln_engine *e, const uint8_t *run, uint8_t *over, ln_pane *pane) {
    const ln_states *s = &e->states;
    begin(e, pane->start_us, pane->end_us);
    pane->value = e->values;
    for (uint32_t i = 0; i < s->count; i++)
        if (ln_states_result(s, &e->tally, run, i, &e->values[i]) < 0) return -1;
    if (!s->shows) return 0;
    for (uint32_t i = 0; i < s->count; i++) ln_aggregate_settle(s->part[i].ops, &e->tally, &e->values[i]);
    pane->approx = (e->tally.marks & LN_MARK_APPROX) != 0;
    pane->cut = (e->tally.marks & LN_MARK_CUT) != 0;
    count(e, over);
    return 0;
}

void ln_values_fill_two(ln_engine *e, const uint8_t *one, const uint8_t *other, ln_pane *pane) {
    pane->value = e->values;
    for (uint32_t i = 0; i < e->states.count; i++)
        ln_states_result_of_two(&e->states, &e->tally, one, other, i, &e->values[i]);
}
