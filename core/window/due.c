/* When the clock next has something to do. A time too early costs the host one call for nothing, one too late a pane
 * that is late: where it is not known exactly it is the earlier bound. */
#include "window/state.h"

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* The next multiple of a period after t. */
static int64_t next_multiple(int64_t period, int64_t t) {
    return ln_time_clamp((__int128)(ln_floor_div(t, period) + 1) * period);
}

/* The next multiple, after t, of the periods that count this kind of time. */
static int64_t next_every(const ln_engine *e, int event_time, int64_t t) {
    const ln_trigger *both[] = {&e->plan.early, &e->plan.late};
    int64_t due = LN_FUTURE;
    for (int i = 0; i < 2; i++) {
        for (uint32_t k = 0; k < both[i]->count; k++) {
            const ln_trigger_node *n = &both[i]->node[k];
            if (n->kind == LN_EVERY && n->event_time == event_time) due = earlier(due, next_multiple(n->n, t));
        }
    }
    return due;
}

/* The W from which on a move of it does something. */
static int64_t watermark_due(const ln_engine *e) {
    int64_t due;
    if (e->sliced) return e->grid.slices.count ? e->grid.next_end_us : LN_FUTURE;
    due = earlier(ln_deadlines_next(&e->completing), ln_time_add(ln_deadlines_next(&e->expiring), e->plan.lateness_us));
    due = earlier(due, ln_heap_least(&e->waiting));
    if (e->event_every && e->cells && e->now_us > LN_PAST) due = earlier(due, next_every(e, 1, e->now_us));
    return due;
}

/* The clock at which a silence becomes one, or W, which goes on with the clock, comes to where it has to do. */
static int64_t sources_due(const ln_engine *e) {
    const ln_watermark *w = &e->watermark;
    int64_t due;
    if (w->oldest) {
        if (w->idle_us < 0 || w->oldest->heard_us == LN_PAST) return LN_FUTURE;
        return ln_time_add(ln_time_add(w->oldest->heard_us, w->idle_us), w->apart_us);
    }
    if (!w->advance_on_idle || w->high_us == LN_PAST || w->heard_us == LN_PAST) return LN_FUTURE;
    due = watermark_due(e);
    if (due == LN_FUTURE) return LN_FUTURE;
    return ln_time_add(ln_time_clamp((__int128)w->heard_us + due - w->high_us), w->apart_us);
}

int64_t ln_engine_due(const ln_engine *e) {
    int64_t due;
    if (e->failed || e->plan.clock_column >= 0) return LN_FUTURE;
    if (e->phase != LN_PHASE_NONE) return e->clock_us;
    due = e->plan.time_kind == LN_TIME_PROCESSING ? watermark_due(e) : sources_due(e);
    if (e->alarms.count) due = earlier(due, ln_time_add(ln_heap_least(&e->alarms), e->set_us));
    if (e->clock_every && e->cells && e->clock_us > LN_PAST) due = earlier(due, next_every(e, 0, e->clock_us));
    return due;
}
