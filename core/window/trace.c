/* Tells the sink what happens inside of an engine that is traced. Told as it happens, but for what the watermark did:
 * that runs ahead to the end of a batch, and is told row by row as the windows come to know of it. */
#include "window/trace.h"

#include "window/state.h"

enum { SOURCES_MAX = 256 }; /* told at the end */

static void tell(ln_engine *e, ln_trace_event *event) {
    int err;
    event->clock_us = e->clock_us;
    event->watermark_us = e->now_us;
    event->streams = e->plan.source_column < 0;
    err = e->sink->trace(e->sink->ctx, &e->shape, event);
    if (err != LN_OK) (void)ln_engine_fail(e, err, "the trace");
}

/* The number of the record that is being worked on; it is counted as read once its fate is known. */
static uint64_t record_at(const ln_engine *e) {
    switch (e->phase == LN_PHASE_RELEASE || e->phase == LN_PHASE_MOVING ? e->next : e->phase) {
    case LN_PHASE_NONE:
    case LN_PHASE_TICK: return 0;
    case LN_PHASE_AFTER:
    case LN_PHASE_NEXT: return e->stats.read;
    default: return e->stats.read + 1;
    }
}

static void put_key(ln_trace_event *event, const ln_key *key) {
    event->key = ln_key_bytes(key);
    event->key_len = key->len;
}

static void put_source(ln_trace_event *event, const ln_source *s) {
    if (!s) return;
    event->source = s->name;
    event->source_len = s->len;
}

static void on_idle(void *ctx, const ln_source *s) {
    ln_engine *e = ctx;
    ln_tracing *t = e->tracing;
    uint32_t row = e->phase == LN_PHASE_ROW ? e->rows.stamping : UINT32_MAX;
    if (ln_mem_grow(&e->rows.mem, &t->idled, &t->idled_cap, t->idled_count + 1, sizeof *t->idled) < 0)
        (void)ln_engine_fail(e, LN_ENOMEM, "the trace");
    else t->idled[t->idled_count++] = (struct ln_idled){row, s};
}

int ln_engine_trace(ln_engine *e) {
    e->tracing = ln_mem_zero(&e->rows.mem, sizeof *e->tracing);
    if (!e->tracing) return LN_ENOMEM;
    e->plain = 1;
    e->rows.traced = 1;
    e->watermark.on_idle = on_idle;
    e->watermark.on_idle_ctx = e;
    return LN_OK;
}

void ln_trace_free(ln_engine *e) {
    ln_tracing *t = e->tracing;
    if (!t) return;
    ln_mem_free(&e->rows.mem, t->taken, t->taken_cap * sizeof *t->taken);
    ln_mem_free(&e->rows.mem, t->refused, t->refused_cap * sizeof *t->refused);
    ln_mem_free(&e->rows.mem, t->idled, t->idled_cap * sizeof *t->idled);
    ln_mem_free(&e->rows.mem, t, sizeof *t);
    e->tracing = NULL;
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

void ln_trace_begin(ln_engine *e) {
    ln_trace_event event = {.kind = LN_TRACE_BEGIN};
    e->tracing->taken_count = e->tracing->refused_count = 0;
    tell(e, &event);
}

static void note(ln_engine *e, ln_trace_window **list, size_t *count, size_t *cap, ln_trace_window w) {
    if (ln_mem_grow(&e->rows.mem, list, cap, *count + 1, sizeof w) < 0) (void)ln_engine_fail(e, LN_ENOMEM, "the trace");
    else (*list)[(*count)++] = w;
}

void ln_trace_taken(ln_engine *e, const ln_cell *c) {
    ln_tracing *t = e->tracing;
    note(e, &t->taken, &t->taken_count, &t->taken_cap, (ln_trace_window){c->start_us, c->end_us, 0});
}

/* What W must not have passed for the record to be taken: the end of its window or, where that overlaps extents that
 * expired windows have left, the first of their ends. */
void ln_trace_refused(ln_engine *e, const ln_cell_key *key, int64_t start_us, int64_t end_us) {
    ln_tracing *t = e->tracing;
    int64_t open_until_us = end_us;
    for (uint32_t i = e->extents ? key->closed.count : 0; i-- > 0;) {
        const ln_span *x = ln_extents_at(&key->closed, i);
        if (x->start_us < end_us && start_us < x->end_us && x->end_us < open_until_us) open_until_us = x->end_us;
    }
    note(e, &t->refused, &t->refused_count, &t->refused_cap,
         (ln_trace_window){start_us, end_us, ln_time_sub(e->now_us, open_until_us)});
}

void ln_trace_record(ln_engine *e, int fate, int reason, const char *message, size_t len) {
    const ln_key_of_row *own = &e->row_key[e->row];
    const ln_rows *f = &e->rows;
    ln_tracing *t = e->tracing;
    ln_trace_event event = {.kind = LN_TRACE_RECORD,
                            .record = e->stats.read,
                            .fate = (uint8_t)fate,
                            .reason = (int8_t)reason,
                            .message = message,
                            .message_len = len,
                            .key = own->bytes,
                            .key_len = own->len,
                            .time_us = LN_PAST,
                            .taken = t->taken,
                            .refused = t->refused};
    if (f->row[e->row] != LN_ROW_MALFORMED && f->row[e->row] != LN_ROW_ERROR_TIME && f->row[e->row] != LN_ROW_NO_TIME)
        event.time_us = f->time_us[e->row];
    put_source(&event, f->sources[e->row].own);
    event.taken_count = (uint32_t)t->taken_count;
    event.refused_count = (uint32_t)t->refused_count;
    tell(e, &event);
    t->taken_count = t->refused_count = 0;
}

void ln_trace_joined(ln_engine *e, const ln_held *held) {
    ln_tracing *t = e->tracing;
    ln_trace_event event = {.kind = LN_TRACE_JOINED, .time_us = held->time_us, .record = record_at(e)};
    put_key(&event, &held->key->key);
    event.taken = t->taken;
    event.taken_count = (uint32_t)t->taken_count;
    tell(e, &event);
    t->taken_count = t->refused_count = 0;
}

/* ---- the watermark ---------------------------------------------------------------------------------------------- */

static void tell_idled(ln_engine *e, uint32_t row) {
    ln_tracing *t = e->tracing;
    while (t->idled_told < t->idled_count && t->idled[t->idled_told].row <= row) {
        ln_trace_event event = {.kind = LN_TRACE_IDLE, .record = record_at(e)};
        put_source(&event, t->idled[t->idled_told++].source);
        tell(e, &event);
    }
    if (t->idled_told == t->idled_count) t->idled_told = t->idled_count = 0;
}

static void tell_watermark(ln_engine *e, int64_t now_us) {
    int64_t before_us = e->now_us;
    ln_trace_event event = {.kind = LN_TRACE_WATERMARK, .record = record_at(e)};
    put_source(&event, e->tracing->holder);
    e->now_us = now_us;
    tell(e, &event);
    e->now_us = before_us;
}

/* Another source may hold W without moving it, which is told by itself. */
static void hold_by(ln_engine *e, const ln_source *holder, int64_t to_us) {
    int other = holder != e->tracing->holder;
    e->tracing->holder = holder;
    if (other && to_us <= e->now_us) tell_watermark(e, e->now_us);
}

void ln_trace_before(ln_engine *e) {
    tell_idled(e, e->row);
    hold_by(e, e->rows.sources[e->row].before, e->rows.judged_us[e->row]);
}

void ln_trace_after(ln_engine *e) {
    if (e->rows.row[e->row] == LN_ROW_MALFORMED) return;
    tell_idled(e, e->row);
    hold_by(e, e->rows.sources[e->row].after, e->rows.after_us[e->row]);
}

void ln_trace_tick(ln_engine *e) {
    tell_idled(e, UINT32_MAX);
    hold_by(e, e->plan.time_kind == LN_TIME_PROCESSING ? NULL : ln_watermark_holder(&e->watermark),
            e->watermark.now_us);
}

void ln_trace_move(ln_engine *e, int64_t to_us) {
    ln_trace_event event = {.kind = LN_TRACE_FINISH};
    if (to_us == LN_FUTURE) tell(e, &event);
    else tell_watermark(e, to_us);
}

void ln_trace_gone(ln_engine *e, const ln_source *s) {
    ln_trace_event event = {.kind = LN_TRACE_GONE};
    put_source(&event, s);
    tell(e, &event);
    if (e->tracing->holder == s) e->tracing->holder = NULL;
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

void ln_trace_of_window(ln_engine *e, int kind, const ln_cell *c) {
    ln_trace_event event = {
        .kind = (uint8_t)kind, .record = record_at(e), .start_us = c->start_us, .end_us = c->end_us};
    event.empty = kind == LN_TRACE_OPENED && e->phase == LN_PHASE_MOVING;
    put_key(&event, &c->key->key);
    tell(e, &event);
}

void ln_trace_merged(ln_engine *e, const ln_cell *from, int64_t start_us, int64_t end_us) {
    ln_trace_event event = {.kind = LN_TRACE_MERGED,
                            .record = record_at(e),
                            .start_us = start_us,
                            .end_us = end_us > from->end_us ? end_us : from->end_us,
                            .from_start_us = from->start_us,
                            .from_end_us = from->end_us};
    put_key(&event, &from->key->key);
    tell(e, &event);
}

void ln_trace_pane(ln_engine *e, const ln_pane *pane) {
    ln_trace_event event = {.kind = LN_TRACE_PANE,
                            .record = record_at(e),
                            .start_us = pane->start_us,
                            .end_us = pane->end_us,
                            .key = pane->key,
                            .key_len = pane->key_len,
                            .pane = pane};
    switch (e->phase) {
    case LN_PHASE_JOIN:
    case LN_PHASE_ANSWER:
    case LN_PHASE_RELEASE: event.cause = LN_CAUSE_RECORD; break;
    case LN_PHASE_CLOCK:
    case LN_PHASE_TICK: event.cause = LN_CAUSE_CLOCK; break;
    default: event.cause = LN_CAUSE_WATERMARK; break;
    }
    tell(e, &event);
}

void ln_engine_trace_end(ln_engine *e) {
    ln_trace_source sources[SOURCES_MAX];
    const ln_watermark *w = &e->watermark;
    ln_stats stats;
    ln_trace_event event = {.kind = LN_TRACE_END, .stats = &stats, .sources = sources, .sources_known = w->count};
    if (!e->tracing) return;
    ln_engine_stats(e, &stats);
    for (size_t i = 0; i < w->slots && event.sources_count < SOURCES_MAX; i++) {
        const ln_source *s = w->table[i];
        if (!s) continue;
        sources[event.sources_count++] = (ln_trace_source){s->name, s->len, s->promise_us, s->heard_us, s->active};
    }
    tell(e, &event);
}
