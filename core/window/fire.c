/* Makes panes: asks a window's trigger, works out its values, hands what is withdrawn and the pane itself to the sink,
 * and starts the window's counts anew. */
#include "window/state.h"

#include <stdlib.h>
#include <string.h>

enum { ASKED_EVERY = 16 }; /* panes: how often the output is asked what waits there */

void ln_kept_free(ln_engine *e, ln_kept *kept) {
    ln_pane_free(&e->mem, kept->pane);
    if (kept->handle) {
        ln_engine_op(e, LN_OP_FORGET, kept->handle, 0);
        ln_ids_give(&e->handles, &e->mem, kept->handle);
    }
    *kept = (ln_kept){0};
}

static int fill(ln_engine *e, ln_cell *c, ln_pane *pane) {
    *pane = (ln_pane){
        .key = ln_key_bytes(&c->key->key),
        .key_len = c->key->key.len,
        .index = c->index,
        .start_us = c->start_us,
        .end_us = c->end_us,
        .final = ln_engine_expiry(e, c->end_us) <= e->now_us,
    };
    return ln_values_fill(e, ln_cell_run(e, c), &c->over, pane);
}

/* Stages a pane for the driver, with the operation that finishes it. */
static int stage(ln_engine *e, const ln_pane *pane, uint32_t slot, uint32_t handle) {
    uint32_t begin = (uint32_t)e->staged.len, places = (uint32_t)(e->places.len / sizeof begin), end;
    int err = e->sink->stage(e->sink->ctx, &e->shape, pane, &e->staged);
    if (err != LN_OK) return err;
    end = (uint32_t)e->staged.len;
    ln_buf_append(&e->places, &begin, sizeof begin);
    ln_buf_append(&e->places, e->shape.fold_at, (size_t)e->folds * sizeof *e->shape.fold_at);
    ln_buf_append(&e->places, &end, sizeof end);
    if (e->places.failed) return LN_ENOMEM;
    ln_engine_op(e, LN_OP_PANE, slot, handle);
    if (!e->failed) e->op[e->op_count - 1].at = (int32_t)places;
    if (end > e->waiting_max) e->pause = 1;
    return LN_OK;
}

/* Sends a pane on: to the driver, or to the output. */
static int send_pane(ln_engine *e, const ln_pane *pane, uint32_t slot, uint32_t handle) {
    int err;
    if (e->plan.staged) {
        err = stage(e, pane, slot, handle);
    } else {
        err = e->sink->pane(e->sink->ctx, &e->shape, pane);
        if (++e->sent % ASKED_EVERY == 0 && e->sink->waiting(e->sink->ctx) > e->waiting_max) e->pause = 1;
    }
    return err == LN_OK ? 0 : ln_engine_fail(e, err, "a pane");
}

static int withdraw(ln_engine *e, ln_kept *kept) {
    e->stats.withdrawals++;
    if (kept->handle) {
        ln_engine_op(e, LN_OP_WITHDRAW, kept->handle, 0);
        ln_ids_give(&e->handles, &e->mem, kept->handle);
        *kept = (ln_kept){0};
        return 0;
    }
    kept->pane->retract = 1;
    if (e->tracing) ln_trace_pane(e, kept->pane);
    if (send_pane(e, kept->pane, 0, 0) < 0) return -1;
    ln_kept_free(e, kept);
    return 0;
}

static int by_start(const void *a, const void *b) {
    int64_t x = ((const ln_kept *)a)->start_us, y = ((const ln_kept *)b)->start_us;
    return (x > y) - (x < y);
}

/* Discarding: what absorbed windows have shown stands, and the pane names their starts, each once. */
static int name_absorbed(ln_engine *e, const ln_rare *past, ln_pane *pane) {
    if (ln_mem_grow(&e->mem, &e->absorbed_us, &e->absorbed_cap, past->absorbed_count, sizeof(int64_t)) < 0) return -1;
    for (size_t i = 0; i < past->absorbed_count; i++) {
        int64_t start_us = past->absorbed[i].start_us;
        if (pane->absorbed_count && e->absorbed_us[pane->absorbed_count - 1] == start_us) continue;
        e->absorbed_us[pane->absorbed_count++] = start_us;
    }
    pane->absorbed_us = e->absorbed_us;
    return 0;
}

static int settle_absorbed(ln_engine *e, ln_rare *past, ln_pane *pane) {
    if (past->absorbed_count == 0) return 0;
    qsort(past->absorbed, past->absorbed_count, sizeof *past->absorbed, by_start);
    if (e->plan.panes == LN_DISCARDING && name_absorbed(e, past, pane) < 0) return -1;
    for (size_t i = 0; e->plan.panes != LN_DISCARDING && i < past->absorbed_count; i++)
        if (withdraw(e, &past->absorbed[i]) < 0) return -1;
    ln_mem_free(&e->mem, past->absorbed, past->absorbed_cap * sizeof *past->absorbed);
    past->absorbed = NULL;
    past->absorbed_count = past->absorbed_cap = 0;
    return 0;
}

/* Keeps the pane where it may be withdrawn, or named: always when retracting, and where another window may absorb this
 * one. A final pane stands: its window is on its way out. */
static int keep(ln_engine *e, ln_cell *c, const ln_pane *pane, uint32_t *handle) {
    int withdrawn = e->plan.panes == LN_RETRACTING || (e->plan.merging && e->plan.panes == LN_ACCUMULATING);
    ln_rare *past = ln_cell_rare(e, c);
    *handle = 0;
    if (pane->final || !(withdrawn || e->plan.merging)) return 0;
    c->has_past = 1;
    ln_kept_free(e, &past->last);
    past->last.start_us = c->start_us;
    if (!withdrawn) return 0;
    if (e->plan.staged) {
        *handle = past->last.handle = ln_ids_take(&e->handles, &e->mem);
        return *handle ? 0 : -1;
    }
    past->last.pane = ln_pane_copy(&e->mem, pane, e->plan.aggregates);
    return past->last.pane ? 0 : -1;
}

void ln_fire_empty(ln_engine *e, ln_cell *c) {
    ln_states_clear(&e->states, &e->tally, ln_cell_run(e, c));
    if (c->slot) ln_engine_op(e, LN_OP_CLEAR, c->slot, 0);
}

int ln_fire(ln_engine *e, ln_cell *c, int timing) {
    ln_pane pane;
    uint32_t handle;
    if (fill(e, c, &pane) < 0) return ln_engine_fail(e, LN_ENOMEM, "a pane");
    pane.timing = (uint8_t)timing;
    if (c->has_past && settle_absorbed(e, ln_cell_rare(e, c), &pane) < 0) return ln_engine_fail(e, LN_ENOMEM, "a pane");
    if (e->plan.panes == LN_RETRACTING && c->shown && withdraw(e, &ln_cell_rare(e, c)->last) < 0) return -1;
    if (keep(e, c, &pane, &handle) < 0) return ln_engine_fail(e, LN_ENOMEM, "a pane");
    if (e->tracing) ln_trace_pane(e, &pane);
    if (send_pane(e, &pane, c->slot, handle) < 0) return -1;
    if (e->plan.panes == LN_DISCARDING) ln_fire_empty(e, c);
    e->stats.panes[timing]++;
    c->index++;
    c->shown = 1;
    c->last_final = pane.final;
    c->since = (ln_since){0};
    if (e->stateful) {
        ln_trigger_restart(ln_cell_early(c));
        ln_trigger_restart(ln_cell_late(c));
    }
    return 0;
}

int ln_fire_window(ln_engine *e, const ln_window *w, int timing) {
    ln_pane pane = {
        .key = ln_key_bytes(w->key),
        .key_len = w->key->len,
        .index = w->index,
        .start_us = w->start_us,
        .end_us = w->end_us,
        .timing = (uint8_t)timing,
        .final = timing != LN_EARLY,
    };
    if (ln_values_fill(e, w->run, w->over, &pane) < 0) return ln_engine_fail(e, LN_ENOMEM, "a pane");
    e->stats.panes[timing]++;
    return send_pane(e, &pane, w->slot, 0);
}

int ln_fire_run(ln_engine *e, const ln_key *key, int64_t start_us, int64_t end_us, const uint8_t *run,
                const uint8_t *more) {
    ln_pane pane = {
        .key = ln_key_bytes(key),
        .key_len = key->len,
        .start_us = start_us,
        .end_us = end_us,
        .timing = LN_ON_TIME,
        .final = 1,
    };
    uint8_t over = 0;
    if (more) ln_values_fill_two(e, run, more, &pane);
    else if (ln_values_fill(e, run, &over, &pane) < 0) return ln_engine_fail(e, LN_ENOMEM, "a pane");
    e->stats.panes[LN_ON_TIME]++;
    return send_pane(e, &pane, 0, 0);
}

/* ---- triggers --------------------------------------------------------------------------------------------------- */

static int is_late_phase(const ln_engine *e, const ln_cell *c) {
    return e->plan.at_watermark && c->end_us <= e->now_us;
}

const ln_trigger *ln_offer_trigger(const ln_engine *e, const ln_cell *c) {
    return is_late_phase(e, c) ? &e->plan.late : &e->plan.early;
}

/* The state of the trigger in force; a trigger without state gets a fresh one. */
static ln_trigger_state *state_of(const ln_engine *e, ln_cell *c, ln_trigger_state *fresh) {
    if (e->stateful) return is_late_phase(e, c) ? ln_cell_late(c) : ln_cell_early(c);
    memset(fresh, 0, sizeof *fresh);
    return fresh;
}

uint64_t ln_offer_whens(ln_engine *e, ln_cell *c) {
    ln_trigger_state fresh;
    uint64_t whens = is_late_phase(e, c) ? e->late_whens : e->early_whens;
    if (!whens) return 0;
    return whens & ln_trigger_asked(ln_offer_trigger(e, c), state_of(e, c, &fresh));
}

/* Files the window for that clock. One that is filed for an earlier one stays there, and is filed anew when that
 * comes. */
static int set_alarm(ln_engine *e, ln_cell *c, int64_t at_us) {
    ln_rare *r = ln_cell_rare(e, c);
    int filed = r->alarm_us != LN_FUTURE;
    if (at_us >= r->alarm_us) return 0;
    if (filed) ln_heap_move(&e->alarms, r->alarm_at, at_us);
    else if (ln_heap_add(&e->alarms, at_us, c->age, c) < 0) return ln_engine_fail(e, LN_ENOMEM, "a delay");
    r->alarm_us = at_us;
    return 0;
}

int ln_offer(ln_engine *e, ln_cell *c, const ln_event *event) {
    const ln_trigger *trigger = ln_offer_trigger(e, c);
    ln_trigger_state fresh, *state;
    if (!c->nonempty || !trigger->count) return 0;
    state = state_of(e, c, &fresh);
    if (ln_trigger_ready(trigger, state, &c->since, event)) {
        ln_trigger_consume(trigger, state);
        if (ln_fire(e, c, c->end_us > e->now_us ? LN_EARLY : LN_LATE) < 0) return -1;
    }
    return e->clock_delays ? set_alarm(e, c, ln_trigger_alarm(trigger, state, &c->since)) : 0;
}
