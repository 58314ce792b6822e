/* The coordinator: leads one batch after the other from row to row, each through the order of the semantics: the clock
 * moves, sources become idle, the record is judged and joins its windows, W moves. Every pause is between two of these
 * or inside a firing, and the next step goes on exactly there. */
#include "base/assert.h"
#include "window/state.h"

#include <stdio.h>
#include <string.h>

enum { OPS_MAX = 4096 }; /* operations after which the engine wants to pause */

int ln_engine_fail(ln_engine *e, int err, const char *what) {
    if (e->failed) return -1;
    e->failed = err;
    snprintf(e->error, sizeof e->error, "%s: %s", what, ln_strerror(err));
    return -1;
}

void ln_engine_op(ln_engine *e, uint32_t kind, uint32_t a, uint32_t b) {
    if (ln_mem_grow(&e->rows.mem, &e->op, &e->op_cap, e->op_count + 1, sizeof *e->op) < 0) {
        (void)ln_engine_fail(e, LN_ENOMEM, "an operation");
        return;
    }
    e->op[e->op_count++] = (ln_op){.kind = (int32_t)kind, .a = (int32_t)a, .b = (int32_t)b};
    if (e->op_count >= OPS_MAX) e->pause = 1;
}

/* ---- one row ---------------------------------------------------------------------------------------------------- */

static int reject(ln_engine *e, int reason) {
    const ln_batch *b = e->rows.batch;
    const ln_note *note = &e->rows.note[e->row];
    const char *message = NULL;
    size_t len = 0;
    int err;
    if (reason == LN_REASON_SCRIPT_ERROR) {
        message = note->text;
        len = note->len;
    }
    if (reason == LN_REASON_MALFORMED && b->malformed[e->row] != LN_EINVALID) {
        message = ln_strerror(b->malformed[e->row]);
        len = strlen(message);
    }
    e->stats.read++;
    e->stats.rejected[reason]++;
    if (e->tracing) ln_trace_record(e, LN_FATE_REJECTED, reason, message, len);
    err = e->sink->reject(e->sink->ctx, &e->shape, reason, b->record[e->row], b->record_bytes[e->row], message, len);
    return err == LN_OK ? 0 : ln_engine_fail(e, err, "a reject");
}

/* The record is ahead of W, and its session depends on what is still to come in between. */
static int wait(ln_engine *e, ln_cell_key *key) {
    if (ln_store_full(e, e->rows.batch->record_bytes[e->row])) {
        ln_store_rest(e, key);
        return reject(e, LN_REASON_LIMIT);
    }
    e->stats.read++;
    e->stats.aggregated++;
    if (e->tracing) ln_trace_record(e, LN_FATE_WAITING, 0, NULL, 0);
    return ln_hold(e, key);
}

/* The row's key, made where there is none; NULL where memory is short, or where *refused says that there is too little
 * for another. */
static ln_cell_key *key_of(ln_engine *e, const ln_key_of_row *own, int *refused) {
    uint32_t id = ln_row_key_find(e);
    if (id != LN_KEY_NONE) {
        ln_keys_wake(&e->keys, ln_keys_at(&e->keys, id));
    } else {
        *refused = ln_store_full(e, own->len);
        if (*refused) return NULL;
        id = ln_keys_add(&e->keys, own->hash, own->bytes, own->len);
        if (id == LN_KEY_NONE) return NULL;
        ((ln_cell_key *)(void *)ln_keys_at(&e->keys, id))->id = id;
    }
    return (ln_cell_key *)(void *)ln_keys_at(&e->keys, id);
}

/* The record's fate but for its windows: its phase then is JOIN, or AFTER where it has none to join. */
static int judge(ln_engine *e) {
    const ln_key_of_row *own = &e->row_key[e->row];
    int refused = 0;
    ln_cell_key *key;
    e->phase = LN_PHASE_AFTER;
    switch (e->rows.row[e->row]) {
    case LN_ROW_MALFORMED: return reject(e, LN_REASON_MALFORMED);
    case LN_ROW_ERROR_TIME:
    case LN_ROW_ERROR: return reject(e, LN_REASON_SCRIPT_ERROR);
    case LN_ROW_NO_TIME: return reject(e, LN_REASON_NO_TIME);
    case LN_ROW_FUTURE: return reject(e, LN_REASON_FUTURE);
    case LN_ROW_FILTERED:
        e->stats.read++;
        e->stats.filtered++;
        if (e->tracing) ln_trace_record(e, LN_FATE_FILTERED, 0, NULL, 0);
        return 0;
    default: break;
    }
    if (!own->bytes) return reject(e, LN_REASON_BAD_KEY);
    if (e->rows.row[e->row] == LN_ROW_ERROR_FIELD) return reject(e, LN_REASON_SCRIPT_ERROR);
    if (e->sliced) {
        e->join.back = LN_PHASE_AFTER;
        return ln_engine_settle(e, ln_grid_join(e));
    }
    key = key_of(e, own, &refused);
    if (!key) return refused ? reject(e, LN_REASON_LIMIT) : ln_engine_fail(e, LN_ENOMEM, "a key");
    ln_keys_touch(&e->keys, &key->key, key->id);
    e->arrivals++;
    if (e->plan.max_us >= 0 && e->rows.time_us[e->row] > e->now_us) return wait(e, key);
    e->phase = LN_PHASE_JOIN;
    if (e->tracing) ln_trace_begin(e);
    ln_join_begin(e, key, e->rows.time_us[e->row], e->arrivals, NULL);
    return 0;
}

static void count_late(ln_engine *e) {
    int64_t by_us = ln_time_sub(e->now_us, e->rows.time_us[e->row]), bound_us = e->plan.unit == LN_UNIT_TICK ? 1 : 1000;
    ln_lateness *l = &e->lateness;
    int last = sizeof l->records / sizeof *l->records - 1, i = 0;
    for (; i < last && by_us > bound_us; i++) bound_us *= 10;
    l->records[i]++;
    l->sum_us += (uint64_t)by_us;
    if (l->sum_us < (uint64_t)by_us) l->sum_us = UINT64_MAX;
}

int ln_engine_settle(ln_engine *e, int refused) {
    switch (refused) {
    case LN_TAKEN:
        e->stats.read++;
        e->stats.aggregated++;
        e->stats.refusals_late += e->join.late;
        if (e->tracing) ln_trace_record(e, LN_FATE_TAKEN, 0, NULL, 0);
        return 0;
    case LN_REFUSED_LATE: count_late(e); return reject(e, LN_REASON_LATE);
    case LN_REFUSED_LIMIT: return reject(e, LN_REASON_LIMIT);
    case LN_REFUSED_ALL: return reject(e, LN_REASON_NO_WINDOW);
    default: return -1;
    }
}

/* The record has met all its windows. */
static int settle(ln_engine *e) {
    ln_joining *j = &e->join;
    ln_cell_key *key = j->key;
    e->phase = LN_PHASE_AFTER;
    j->key = NULL;
    ln_store_rest(e, key);
    return ln_engine_settle(e, j->taken     ? LN_TAKEN
                               : j->limited ? LN_REFUSED_LIMIT
                               : j->late    ? LN_REFUSED_LATE
                                            : LN_REFUSED_ALL);
}

static void begin_row(ln_engine *e) {
    int64_t clock_us = e->rows.clock_us[e->row];
    e->phase = LN_PHASE_JUDGE;
    if (e->rows.row[e->row] == LN_ROW_MALFORMED) return;
    e->phase = LN_PHASE_IDLE;
    if (clock_us <= e->clock_us) return;
    e->phase = LN_PHASE_CLOCK;
    ln_advance_clock_begin(e, clock_us);
}

/* Moves W to `to_us`, if that is ahead, and then goes on with the phase `next`. */
static void begin_move(ln_engine *e, int64_t to_us, int next) {
    e->phase = next;
    if (to_us <= e->now_us) return;
    if (e->tracing) ln_trace_move(e, to_us);
    if (!ln_advance_concerns(e, to_us)) { /* most moves concern none */
        e->now_us = to_us;
        return;
    }
    e->phase = LN_PHASE_RELEASE;
    e->aim_us = to_us;
    e->next = next;
}

/* Lets the records join that W is about to reach, judged by W as it stands, and then moves it. */
static int release(ln_engine *e) {
    ln_joining *j = &e->join;
    for (;;) {
        const ln_held *held = j->held;
        if (held) {
            int done = ln_join_next(e);
            if (done != 1) return done;
            (void)ln_engine_worked(e);
            if (e->tracing) ln_trace_joined(e, held);
            j->key = NULL;
            j->held = NULL;
            if (ln_hold_done(e, held) < 0) return -1;
        }
        held = ln_hold_next(e, e->aim_us);
        if (e->failed) return -1;
        if (!held) break;
        ln_join_begin(e, held->key, held->time_us, held->arrival, held);
    }
    ln_advance_begin(e, e->aim_us);
    e->phase = LN_PHASE_MOVING;
    return 1;
}

static void next_row(ln_engine *e) {
    e->row++;
    e->phase = LN_PHASE_ROW;
}

/* The record has met all its windows; W may move, and if that concerns none the row is done. */
static int leave_row(ln_engine *e) {
    if (e->tracing) ln_trace_after(e);
    begin_move(e, e->rows.after_us[e->row], LN_PHASE_NEXT);
    if (e->phase == LN_PHASE_NEXT) next_row(e);
    return 1;
}

static int join_on(ln_engine *e) {
    int done = ln_join_next(e);
    if (done != 1) return done;
    return settle(e) < 0 ? -1 : leave_row(e);
}

/* One phase: 1 when it is done, 0 when the step must end here, -1 when the engine has failed. */
static int work(ln_engine *e) {
    int done;
    switch (e->phase) {
    case LN_PHASE_ROW:
        done = e->sliced && !e->plain ? ln_grid_go(e) : LN_RUN_NONE;
        if (done == LN_RUN_OVER) return leave_row(e);
        if (done == LN_RUN_NONE) begin_row(e);
        return done < 0 ? -1 : done != LN_RUN_STOPPED;
    case LN_PHASE_CLOCK:
        done = ln_advance_clock(e);
        if (done == 1) e->phase = LN_PHASE_IDLE;
        return done;
    case LN_PHASE_IDLE:
        if (e->tracing) ln_trace_before(e);
        begin_move(e, e->rows.judged_us[e->row], LN_PHASE_JUDGE);
        return 1;
    case LN_PHASE_JUDGE: return judge(e) < 0 ? -1 : e->phase != LN_PHASE_ANSWER;
    case LN_PHASE_ANSWER: return ln_join_answered(e) < 0 ? -1 : e->phase == LN_PHASE_JOIN ? join_on(e) : 1;
    case LN_PHASE_JOIN: return join_on(e);
    case LN_PHASE_AFTER: return leave_row(e);
    case LN_PHASE_NEXT: next_row(e); return 1;
    case LN_PHASE_TICK:
        done = ln_advance_clock(e);
        if (done != 1) return done;
        if (e->tracing) ln_trace_tick(e);
        begin_move(e, e->watermark.now_us, LN_PHASE_NONE);
        return 1;
    case LN_PHASE_RELEASE: return release(e);
    default:
        done = ln_advance(e);
        if (done != 1) return done;
        e->phase = e->next;
        e->caught_up = 0;
        return 1;
    }
}

static int is_over(ln_engine *e) {
    if (e->phase == LN_PHASE_NONE) return 1;
    if (e->phase != LN_PHASE_ROW) return 0;
    if (e->row < e->rows.batch->rows) return e->row >= e->until;
    e->phase = LN_PHASE_NONE;
    return 1;
}

void ln_engine_ops_done(ln_engine *e) {
    if (!e->ops_taken) return;
    e->op_count = 0;
    ln_buf_clear(&e->staged);
    ln_buf_clear(&e->places);
    ln_hold_spent(e);
    for (uint32_t i = 0; i < e->plan.aggregates && !ln_ids_live(&e->slots); i++)
        ln_fold_states_trim(&e->fold_states[i], &e->mem);
    e->ops_taken = 0;
}

int ln_engine_step(ln_engine *e, uint32_t until) {
    ln_engine_ops_done(e);
    e->until = until;
    e->pause = 0;
    e->work = 0;
    if (e->phase == LN_PHASE_ROW && !e->rows.stamped &&
        (ln_rows_stamp(&e->rows, &e->watermark) != LN_OK || ln_row_keys(e) != LN_OK))
        (void)ln_engine_fail(e, LN_ENOMEM, "a batch");
    while (!e->failed && !is_over(e)) {
        if (work(e) == 1) continue;
        if (e->failed) break;
        return e->phase == LN_PHASE_ANSWER ? LN_STEP_ASK : LN_STEP_MORE;
    }
    return e->failed ? LN_STEP_FAILED : LN_STEP_DONE;
}

/* ---- the driver's calls ----------------------------------------------------------------------------------------- */

int ln_engine_begin(ln_engine *e, const ln_batch *batch, int64_t now_us) {
    if (e->failed) return LN_ECLOSED;
    LN_ASSERT(e->phase == LN_PHASE_NONE);
    if (ln_rows_begin(&e->rows, batch, now_us) != LN_OK) {
        (void)ln_engine_fail(e, LN_ENOMEM, "a batch");
        return LN_ENOMEM;
    }
    e->row = 0;
    e->join.bounds = 0;
    e->phase = LN_PHASE_ROW;
    return LN_OK;
}

ln_frame *ln_engine_frame(ln_engine *e) { return &e->rows.shown; }

int ln_engine_judge(ln_engine *e) {
    if (e->failed) return LN_ECLOSED;
    ln_rows_judge(&e->rows);
    return LN_OK;
}

int ln_engine_clock(ln_engine *e, int64_t now_us) {
    if (e->failed) return LN_ECLOSED;
    LN_ASSERT(e->phase == LN_PHASE_NONE);
    if (e->plan.clock_column >= 0 || now_us <= e->clock_us) return LN_OK;
    if (now_us > e->rows.clock_now_us) e->rows.clock_now_us = now_us;
    if (e->plan.time_kind == LN_TIME_PROCESSING) e->watermark.now_us = now_us;
    else ln_watermark_clock(&e->watermark, now_us);
    e->phase = LN_PHASE_TICK;
    ln_advance_clock_begin(e, now_us);
    return LN_OK;
}

int ln_engine_move(ln_engine *e, int64_t to_us, int64_t now_us) {
    if (e->failed) return LN_ECLOSED;
    LN_ASSERT(e->phase == LN_PHASE_NONE);
    if (to_us > e->watermark.now_us) e->watermark.now_us = to_us;
    if (now_us > e->clock_us && e->plan.clock_column < 0) {
        if (now_us > e->rows.clock_now_us) e->rows.clock_now_us = now_us;
        e->phase = LN_PHASE_TICK; /* at its end W moves */
        ln_advance_clock_begin(e, now_us);
        return LN_OK;
    }
    begin_move(e, e->watermark.now_us, LN_PHASE_NONE);
    return LN_OK;
}

int ln_engine_close(ln_engine *e, uint64_t source) {
    const uint8_t *name = (const uint8_t *)&source;
    ln_source *s = NULL;
    if (e->failed) return LN_ECLOSED;
    LN_ASSERT(e->phase == LN_PHASE_NONE);
    if (e->plan.source_column < 0) s = ln_watermark_find(&e->watermark, name, sizeof source);
    if (!s) return LN_OK;
    if (e->tracing) ln_trace_gone(e, s);
    ln_watermark_remove(&e->watermark, s);
    if (e->plan.time_kind != LN_TIME_PROCESSING) ln_watermark_clock(&e->watermark, e->rows.clock_now_us);
    if (e->tracing) ln_trace_tick(e);
    begin_move(e, e->watermark.now_us, LN_PHASE_NONE);
    return LN_OK;
}

void ln_engine_clock_set(ln_engine *e, int64_t by_us) {
    if (e->plan.clock_column >= 0) return;
    e->set_us = ln_time_add(e->set_us, by_us);
    ln_watermark_unheard(&e->watermark, by_us);
}

void ln_engine_unheard(ln_engine *e, int64_t by_us) {
    if (e->plan.clock_column < 0) ln_watermark_unheard(&e->watermark, by_us);
}

int ln_engine_advance(ln_engine *e, int64_t watermark_us) {
    if (e->failed) return LN_ECLOSED;
    LN_ASSERT(e->phase == LN_PHASE_NONE);
    if (e->plan.time_kind == LN_TIME_PROCESSING || watermark_us <= LN_PAST || watermark_us >= LN_FUTURE)
        return LN_EINVALID;
    if (watermark_us <= e->watermark.now_us) return LN_OK;
    e->watermark.now_us = watermark_us;
    if (e->tracing) ln_trace_tick(e);
    begin_move(e, watermark_us, LN_PHASE_NONE);
    return LN_OK;
}

int ln_engine_finish(ln_engine *e) {
    if (e->failed) return LN_ECLOSED;
    LN_ASSERT(e->phase == LN_PHASE_NONE);
    e->watermark.now_us = LN_FUTURE;
    begin_move(e, LN_FUTURE, LN_PHASE_NONE);
    return LN_OK;
}

const ln_op *ln_engine_ops(ln_engine *e, size_t *count) {
    *count = e->ops_taken ? 0 : e->op_count;
    e->ops_taken = 1;
    return e->op;
}

const uint8_t *ln_engine_staged(ln_engine *e, size_t *len) {
    *len = e->staged.len;
    return e->staged.data;
}

const int32_t *ln_engine_places(ln_engine *e) { return (const int32_t *)(const void *)e->places.data; }

void *ln_engine_fold(ln_engine *e, uint32_t aggregate) { return e->fold_states[aggregate].bytes; }

int ln_engine_message(ln_engine *e, uint32_t row, const char *text, size_t len) {
    const uint8_t *copy = ln_arena_copy(&e->rows.texts, text, len);
    if (!copy) return LN_ENOMEM;
    e->rows.note[row] = (ln_note){(const char *)copy, len};
    return LN_OK;
}

void ln_engine_work(ln_engine *e, uint32_t work_max) { e->work_max = work_max ? work_max : LN_WORK_MAX; }

void ln_engine_plain(ln_engine *e, uint32_t work_max) {
    e->plain = 1;
    if (work_max) e->work_max = work_max;
}

void ln_engine_pace(ln_engine *e, uint32_t work, size_t waiting_bytes) {
    e->work_max = work ? work : LN_WORK_MAX;
    e->waiting_max = waiting_bytes ? waiting_bytes : LN_WAITING_MAX;
}

void ln_engine_stats(const ln_engine *e, ln_stats *out) {
    *out = e->stats;
    out->values_skipped = e->tally.skipped;
    out->windows = e->sliced ? ln_grid_windows(e) : e->cells;
    out->keys = ln_keys_live(&e->keys);
    out->state_bytes = e->mem.used + e->source_mem.used;
    out->watermark_us = e->now_us;
}

const char *ln_engine_error(const ln_engine *e) { return e->error; }

static const char *const reasons[] = {"malformed", "no_time", "future",       "late",
                                      "no_window", "bad_key", "script_error", "limit"};
_Static_assert(sizeof reasons / sizeof *reasons == LN_REASONS, "each reason has a name");

const char *ln_reason_name(int reason) { return reason >= 0 && reason < LN_REASONS ? reasons[reason] : "unknown"; }
