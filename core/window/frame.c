/* The rows of one batch as a pipeline sees them. */
#include "window/frame.h"

#include "base/instant.h"
#include "base/time.h"
#include "window/key.h"

#include <string.h>

void ln_rows_init(ln_rows *f, const ln_plan *plan) {
    *f = (ln_rows){.plan = plan, .clock_now_us = LN_PAST};
    ln_mem_init(&f->mem);
    ln_arena_init(&f->texts, &f->mem);
    ln_buf_init(&f->scratch, &f->mem);
}

static void free_rows(ln_rows *f) {
    ln_mem_free(&f->mem, f->row, f->cap);
    ln_mem_free(&f->mem, f->note, f->cap * sizeof *f->note);
    ln_mem_free(&f->mem, f->time_us, f->cap * sizeof(int64_t));
    ln_mem_free(&f->mem, f->clock_us, f->cap * sizeof(int64_t));
    ln_mem_free(&f->mem, f->judged_us, f->cap * sizeof(int64_t));
    ln_mem_free(&f->mem, f->after_us, f->cap * sizeof(int64_t));
    for (uint32_t c = 0; f->computed && c < f->plan->computed_columns; c++)
        ln_mem_free(&f->mem, f->computed[c], f->cap * sizeof(ln_value));
    f->row = NULL;
    f->note = NULL;
    f->time_us = f->clock_us = f->judged_us = f->after_us = NULL;
    if (f->computed) memset(f->computed, 0, f->plan->computed_columns * sizeof(ln_value *));
    f->cap = 0;
}

void ln_rows_free(ln_rows *f) {
    free_rows(f);
    ln_mem_free(&f->mem, f->computed, (f->plan->computed_columns + 1) * sizeof(ln_value *));
    ln_mem_free(&f->mem, f->bounds, f->bounds_cap * sizeof *f->bounds);
    ln_mem_free(&f->mem, f->sources, f->sources_cap * sizeof *f->sources);
    ln_arena_free(&f->texts);
    ln_buf_free(&f->scratch);
    f->computed = NULL;
    f->bounds = NULL;
}

static int widen(ln_rows *f, uint32_t rows) {
    int ok = 1;
    if (!f->computed) f->computed = ln_mem_zero(&f->mem, (f->plan->computed_columns + 1) * sizeof(ln_value *));
    if (!f->computed) return LN_ENOMEM;
    if (rows <= f->cap) return LN_OK;
    free_rows(f);
    ok &= (f->row = ln_mem_new(&f->mem, rows)) != NULL;
    ok &= (f->note = ln_mem_new(&f->mem, rows * sizeof *f->note)) != NULL;
    ok &= (f->time_us = ln_mem_new(&f->mem, rows * sizeof(int64_t))) != NULL;
    ok &= (f->clock_us = ln_mem_new(&f->mem, rows * sizeof(int64_t))) != NULL;
    ok &= (f->judged_us = ln_mem_new(&f->mem, rows * sizeof(int64_t))) != NULL;
    ok &= (f->after_us = ln_mem_new(&f->mem, rows * sizeof(int64_t))) != NULL;
    for (uint32_t c = 0; c < f->plan->computed_columns; c++)
        ok &= (f->computed[c] = ln_mem_new(&f->mem, rows * sizeof(ln_value))) != NULL;
    f->cap = rows;
    return ok ? LN_OK : LN_ENOMEM;
}

int ln_rows_begin(ln_rows *f, const ln_batch *batch, int64_t now_us) {
    if (widen(f, batch->rows) != LN_OK) return LN_ENOMEM;
    f->batch = batch;
    f->column = batch->column;
    f->bounds_count = 0;
    f->stamped = 0;
    ln_arena_reset(&f->texts);
    memset(f->note, 0, batch->rows * sizeof *f->note);
    if (f->plan->clock_column < 0 && now_us > f->clock_now_us) f->clock_now_us = now_us;
    for (uint32_t r = 0; r < batch->rows; r++) f->row[r] = batch->malformed[r] ? LN_ROW_MALFORMED : LN_ROW_TAKE;
    for (uint32_t c = 0; c < f->plan->computed_columns; c++) memset(f->computed[c], 0, batch->rows * sizeof(ln_value));
    f->shown = (ln_frame){.rows = batch->rows, .row = f->row, .time_us = f->time_us, .computed = f->computed};
    return LN_OK;
}

static void judge_row(ln_rows *f, uint32_t r) {
    const ln_plan *p = f->plan;
    int64_t clock_us;
    if (f->row[r] == LN_ROW_MALFORMED) return;
    if (p->clock_column >= 0 && ln_time_read(ln_rows_value(f, p->clock_column, r), p->unit, &clock_us) == 0 &&
        clock_us > f->clock_now_us)
        f->clock_now_us = clock_us;
    f->clock_us[r] = f->clock_now_us;
    if (f->row[r] == LN_ROW_ERROR_TIME) return;
    if (p->time_kind == LN_TIME_PROCESSING) {
        f->time_us[r] = f->clock_now_us;
        if (f->clock_now_us == LN_PAST) f->row[r] = LN_ROW_NO_TIME;
    } else if (ln_time_read(ln_rows_value(f, p->time_column, r), p->unit, &f->time_us[r]) < 0) {
        f->row[r] = LN_ROW_NO_TIME;
    } else if (p->max_ahead_us >= 0 && f->time_us[r] > ln_time_add(f->clock_now_us, p->max_ahead_us)) {
        f->row[r] = LN_ROW_FUTURE;
    }
}

/* Times that are whole numbers, as most are, in a run of rows whose clock does not move: the rows done. Measured:
 * 3 ns a record. */
static uint32_t judge_whole(ln_rows *f, uint32_t r) {
    const ln_plan *p = f->plan;
    const ln_value *v;
    int64_t latest_us = p->max_ahead_us < 0 ? LN_FUTURE : ln_time_add(f->clock_now_us, p->max_ahead_us);
    if (p->clock_column >= 0 || p->time_kind == LN_TIME_PROCESSING) return r;
    v = ln_rows_value(f, p->time_column, 0);
    for (; r < f->batch->rows; r++) {
        if (f->row[r] != LN_ROW_TAKE || v[r].type != LN_INT) break;
        if (ln_time_whole(v[r].i, p->unit, &f->time_us[r]) < 0 || f->time_us[r] > latest_us) break;
        f->clock_us[r] = f->clock_now_us;
    }
    return r;
}

void ln_rows_judge(ln_rows *f) {
    for (uint32_t r = judge_whole(f, 0); r < f->batch->rows; r = judge_whole(f, r + 1)) {
        f->clock_us[r] = f->clock_now_us;
        f->time_us[r] = LN_PAST;
        judge_row(f, r);
    }
}

static int moves_time(uint8_t row) {
    return row == LN_ROW_TAKE || row == LN_ROW_FILTERED || row == LN_ROW_ERROR || row == LN_ROW_ERROR_FIELD;
}

/* The canonical name of the row's source; one whose name can be no key goes under null. Where no field names it, it is
 * the stream that the row came by. */
static int read_source(ln_rows *f, uint32_t r) {
    const uint64_t stream = f->batch->source;
    ln_buf_clear(&f->scratch);
    if (f->plan->source_column < 0) {
        if (stream) ln_buf_append(&f->scratch, &stream, sizeof stream);
        return f->scratch.failed ? LN_ENOMEM : LN_OK;
    }
    if (ln_key_encode(&f->scratch, ln_rows_value(f, f->plan->source_column, r)) < 0) ln_buf_byte(&f->scratch, 0xc0);
    return f->scratch.failed ? LN_ENOMEM : LN_OK;
}

/* What a record that moves time does to W. Where sources alone take limits.state_bytes a new one promises nothing: it
 * could not be remembered. */
static int hear(ln_rows *f, ln_watermark *w, uint32_t r) {
    int64_t mark_us;
    ln_source *source;
    if (read_source(f, r) != LN_OK) return LN_ENOMEM;
    source = ln_watermark_find(w, f->scratch.data, (uint32_t)f->scratch.len);
    if (!source) {
        if (w->count && w->mem->used > f->plan->limits.state_bytes) return LN_OK;
        source = ln_watermark_add(w, f->scratch.data, (uint32_t)f->scratch.len);
        if (!source) return LN_ENOMEM;
    }
    if (ln_time_read(ln_rows_value(f, f->plan->mark_column, r), f->plan->unit, &mark_us) < 0) mark_us = LN_PAST;
    if (f->traced) f->sources[r].own = source;
    f->after_us[r] = ln_watermark_record(w, source, f->time_us[r], mark_us, f->clock_us[r]);
    return LN_OK;
}

static int stamp_row(ln_rows *f, ln_watermark *w, uint32_t r) {
    if (f->plan->time_kind == LN_TIME_PROCESSING) {
        if (f->clock_us[r] > w->now_us) w->now_us = f->clock_us[r];
        f->judged_us[r] = f->after_us[r] = w->now_us;
        return LN_OK;
    }
    f->judged_us[r] = f->row[r] == LN_ROW_MALFORMED ? w->now_us : ln_watermark_clock(w, f->clock_us[r]);
    f->after_us[r] = f->judged_us[r];
    return moves_time(f->row[r]) ? hear(f, w, r) : LN_OK;
}

/* Rows that promise nothing new and come at the clock of the one before leave W where it is; the end of a run of them.
 * Measured: 8 ns a record. */
static uint32_t stamp_quiet(ln_rows *f, const ln_watermark *w, uint32_t r) {
    const ln_plan *p = f->plan;
    const ln_source *s = w->newest;
    const uint64_t stream = f->batch->source;
    int64_t clock_us, highest_us;
    if (r == 0 || !s || p->time_kind == LN_TIME_PROCESSING || p->source_column >= 0 || p->mark_column >= 0) return r;
    if (s->len != (stream ? sizeof stream : 0) || memcmp(s->name, &stream, s->len) != 0) return r;
    clock_us = f->clock_us[r - 1];
    highest_us = w->delay_us == LN_FUTURE ? LN_FUTURE : ln_time_add(s->promise_us, w->delay_us);
    if (s != w->recent || s->heard_us != ln_time_sub(clock_us, w->apart_us)) return r;
    for (; r < f->batch->rows; r++) {
        if (!moves_time(f->row[r]) || f->clock_us[r] != clock_us || f->time_us[r] > highest_us) break;
        f->judged_us[r] = f->after_us[r] = w->now_us;
    }
    return r;
}

/* The same as stamp_row, with the names of those who hold W. */
static int stamp_traced(ln_rows *f, ln_watermark *w, uint32_t r) {
    ln_row_sources *s = &f->sources[r];
    *s = (ln_row_sources){0};
    f->stamping = r;
    if (f->plan->time_kind == LN_TIME_PROCESSING) return stamp_row(f, w, r);
    if (f->row[r] != LN_ROW_MALFORMED) (void)ln_watermark_clock(w, f->clock_us[r]);
    s->before = ln_watermark_holder(w);
    if (stamp_row(f, w, r) != LN_OK) return LN_ENOMEM;
    s->after = ln_watermark_holder(w);
    return LN_OK;
}

static int stamp_all_traced(ln_rows *f, ln_watermark *w) {
    int err = LN_OK;
    if (ln_mem_grow(&f->mem, &f->sources, &f->sources_cap, f->batch->rows, sizeof *f->sources) < 0) return LN_ENOMEM;
    for (uint32_t r = 0; r < f->batch->rows && err == LN_OK; r++) err = stamp_traced(f, w, r);
    return err;
}

int ln_rows_stamp(ln_rows *f, ln_watermark *w) {
    int err = LN_OK;
    if (f->stamped) return LN_OK;
    if (f->traced) {
        f->stamped = 1;
        return stamp_all_traced(f, w);
    }
    for (uint32_t r = 0; r < f->batch->rows && err == LN_OK; r = stamp_quiet(f, w, r + 1)) err = stamp_row(f, w, r);
    f->stamped = 1;
    return err;
}
