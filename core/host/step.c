/* The functions of lunette.h that push, step and take. A step is a row of small pieces of work, each one call of
 * lunette.host: go on with what is under way, and take a batch. Between two of them the budget is looked at, and how
 * much is done in one follows from how long the last took, so that a budget is passed by little. */
#include "host/host.h"

#include "base/instant.h"

#include <stdio.h>
#include <string.h>

enum {
    SLICE = 64 * 1024, /* bytes that a reader is given at once */
    ROWS_MIN = 4,
    ROWS_FIRST = 64,
    ROWS_MAX = 1024,
    WORK_MIN = 8,
    WORK_FIRST = 128,
    WORK_MAX = 2048,
    FORGOTTEN = 64,
    SHARE = 16 /* a piece of work should take no more than this part of a budget */
};
#define TIME_MOST 9007199254740992 /* 2^53 */

static const char NO_SCRIPT[] = "no script is open: call lunette_open first",
                  INSIDE[] = "called from inside of what the lunette tells: do it when its call has returned",
                  SHORT[] = "memory is short", ENDED[] = "the input has been ended by lunette_end",
                  RECORD_OPEN[] = "a record is being built: end it first",
                  RANGE[] = "a time is further from 0 than 2^53 microseconds";

/* LUNETTE_OK where the lunette can be used; `input`: more input may come. */
static int usable(lunette *l, int input) {
    if (l->closed) return LUNETTE_FAILED; /* the reason stays */
    if (l->inside) return ln_host_say(l, LUNETTE_REFUSED, INSIDE);
    if (!l->reader) return ln_host_say(l, LUNETTE_REFUSED, NO_SCRIPT);
    if (input && l->record.open) return ln_host_say(l, LUNETTE_REFUSED, RECORD_OPEN);
    if (input && l->ended) return ln_host_say(l, LUNETTE_REFUSED, ENDED);
    return LUNETTE_OK;
}

/* ---- what goes in ------------------------------------------------------------------------------------------------ */

static int pushed(lunette *l, int result) {
    switch (result) {
    case LN_INPUT_TAKEN: return LUNETTE_OK;
    case LN_INPUT_FULL: return ln_host_say(l, LUNETTE_FULL, "config.input_bytes_max would be passed");
    case LN_INPUT_SHORT: return ln_host_say(l, LUNETTE_REFUSED, SHORT);
    default: return ln_host_say(l, LUNETTE_REFUSED, l->record.wrong);
    }
}

int lunette_push(lunette *l, const void *bytes, size_t len) {
    int code = usable(l, 1);
    if (code) return code;
    if (len > l->input.bytes_max)
        return ln_host_say(l, LUNETTE_REFUSED, "more bytes than config.input_bytes_max: push them in pieces");
    return pushed(l, ln_input_push(&l->input, bytes, len));
}

void lunette_record_begin(lunette *l) {
    static const ln_limits none;
    ln_record_begin(&l->record, &l->input, l->reader ? ln_reader_limits(l->reader) : &none);
}

static void put(lunette *l, const char *name, ln_value v) { ln_record_put(&l->record, name, &v); }

void lunette_record_null(lunette *l, const char *name) { put(l, name, (ln_value){.type = LN_NULL}); }
void lunette_record_bool(lunette *l, const char *name, int b) { put(l, name, (ln_value){.type = LN_BOOL, .i = !!b}); }
void lunette_record_int(lunette *l, const char *name, int64_t i) { put(l, name, (ln_value){.type = LN_INT, .i = i}); }
void lunette_record_uint(lunette *l, const char *name, uint64_t u) {
    put(l, name, (ln_value){.type = LN_UINT, .u = u});
}
void lunette_record_double(lunette *l, const char *name, double d) {
    put(l, name, (ln_value){.type = LN_DOUBLE, .d = d});
}

static void put_run(lunette *l, const char *name, int type, const void *at, size_t len) {
    put(l, name, (ln_value){.type = (uint8_t)type, .len = len < UINT32_MAX ? (uint32_t)len : UINT32_MAX, .at = at});
}

void lunette_record_text(lunette *l, const char *name, const char *text, size_t len) {
    put_run(l, name, LN_TEXT, text, len);
}
void lunette_record_bytes(lunette *l, const char *name, const void *bytes, size_t len) {
    put_run(l, name, LN_BYTES, bytes, len);
}
void lunette_record_map(lunette *l, const char *name) { ln_record_enter(&l->record, name, 1); }
void lunette_record_array(lunette *l, const char *name) { ln_record_enter(&l->record, name, 0); }
void lunette_record_close(lunette *l) { ln_record_leave(&l->record); }

int lunette_record_end(lunette *l) {
    int code = usable(l, 0);
    if (!code && l->ended) code = ln_host_say(l, LUNETTE_REFUSED, ENDED);
    if (code) {
        if (l->record.open) ln_record_undo(&l->record);
        return code;
    }
    return pushed(l, ln_record_end(&l->record));
}

int lunette_advance(lunette *l, int64_t watermark_us) {
    int code = usable(l, 1);
    if (code) return code;
    if (watermark_us < -TIME_MOST || watermark_us > TIME_MOST) return ln_host_say(l, LUNETTE_REFUSED, RANGE);
    return pushed(l, ln_input_promise(&l->input, watermark_us));
}

int lunette_end(lunette *l) {
    int code = usable(l, 1);
    if (!code) l->ended = 1;
    return code;
}

size_t lunette_waiting(const lunette *l) { return ln_input_waiting(&l->input); }

/* ---- one piece of work ------------------------------------------------------------------------------------------- */

/* A call of lunette.host; *result is the second thing that it returns. After a failure the lunette is closed. */
static int turn(lunette *l, const char *function, double a, double b, double *result) {
    ln_request q = {.l = l, .function = function, .a = a, .b = b};
    int code = ln_host_turn(&q);
    if (code == LUNETTE_FAILED) l->closed = 1;
    if (result) *result = q.result;
    return code;
}

/* Readers of what is pushed: one of the bytes, one of the records, both one source. */
static int open_streams(lunette *l) {
    if (!l->stepped && turn(l, "step_shortly", (double)l->config.output_bytes_max, 0, NULL)) return LUNETTE_FAILED;
    l->stepped = 1;
    for (int i = 0; i < 2; i++) {
        ln_reader *reader;
        if (l->input.stream[i]) continue;
        l->input.stream[i] = ln_host_open_stream(l, 1, 0, &reader);
        l->input.reader[i] = reader;
        if (l->input.stream[i]) continue;
        l->closed = 1;
        return LUNETTE_FAILED;
    }
    return LUNETTE_OK;
}

/* The stream that is read can't be read on. The first time it is told its rest has become a malformed record, which has
 * still to be worked on; the second time it is done with, and begins anew. */
static int mend(lunette *l) {
    ln_reader *r = l->input.reader[l->input.reading];
    if (!l->broken) {
        snprintf(l->trouble, sizeof l->trouble, "%s", ln_reader_error(r));
        l->broken = 1;
        return LUNETTE_MORE;
    }
    l->broken = 0;
    ln_reader_restart(r);
    ln_input_drop(&l->input, l->input.reading);
    return ln_host_say(l, LUNETTE_BROKEN, l->trouble);
}

/* The reader has nothing more, and nothing is under way: the next piece of the input, then its end, then the clock.
 * LUNETTE_OK where all is done; LUNETTE_MORE or LUNETTE_DRAIN: go on. */
static int go_further(lunette *l, int64_t now_us, int *ticked) {
    const ln_piece *p = ln_input_first(&l->input);
    const uint8_t *bytes;
    size_t len;
    int code;
    if (p && p->kind == LN_PIECE_PROMISE) {
        code = turn(l, "advance", (double)p->upto, 0, NULL);
        ln_input_pass(&l->input, 0);
        return code == LUNETTE_OK ? LUNETTE_MORE : code;
    }
    if (p) {
        l->input.reading = p->kind;
        bytes = ln_input_slice(&l->input, SLICE, &len);
        if (ln_reader_push(l->input.reader[p->kind], bytes, len) == LN_ENOMEM) {
            l->closed = 1;
            return ln_host_say(l, LUNETTE_FAILED, SHORT);
        }
        ln_input_pass(&l->input, len);
        return LUNETTE_MORE;
    }
    if (l->ended == 1) {
        /* What the stream of bytes ends with must be whole. */
        l->ended = 2;
        l->input.reading = LN_PIECE_BYTES;
        ln_reader_end(l->input.reader[LN_PIECE_BYTES]);
        return LUNETTE_MORE;
    }
    if (l->ended == 2) {
        code = turn(l, "finish", 0, 0, NULL);
        if (code == LUNETTE_OK) l->ended = 3;
        return code == LUNETTE_OK ? LUNETTE_MORE : code;
    }
    if (*ticked || l->ended) return ln_host_drain(l, now_us);
    *ticked = 1;
    code = turn(l, "tick", (double)now_us, 0, NULL);
    return code == LUNETTE_OK ? LUNETTE_MORE : code;
}

/* ---- the budget -------------------------------------------------------------------------------------------------- */

typedef struct meter {
    lunette *l;
    int64_t begun_us, looked_us, stop_us; /* by the host's clock */
    int64_t share_us;                     /* that a piece of work should take; 0: no matter */
    uint64_t rows, rows_max;
} meter;

static int64_t read_clock(const lunette *l) { return l->config.clock_us(l->config.clock_ctx); }

static void begin_meter(meter *m, lunette *l, const lunette_budget *budget) {
    *m = (meter){.l = l, .rows_max = budget && budget->records ? budget->records : UINT64_MAX};
    if (!budget || !budget->us) return;
    m->begun_us = m->looked_us = read_clock(l);
    m->stop_us = m->begun_us + budget->us;
    m->share_us = budget->us / SHARE;
}

/* Half as much where it took too long, twice as much where it took little. */
static uint32_t adapt(uint32_t n, int64_t took_us, int64_t share_us, uint32_t least, uint32_t most) {
    if (took_us > share_us) n /= 2;
    else if (took_us < share_us / 4) n *= 2;
    return n < least ? least : n > most ? most : n;
}

/* The next piece may take as long as the longest of late: pages that are touched for the first time, a table that
 * grows, make one several times as long as the others, in stretches. One whose budget is too small for that is done all
 * the same. */
static int has_time(const meter *m, int64_t took_us) {
    ln_pace *pace = &m->l->pace;
    int64_t most_us = (m->stop_us - m->begun_us) / 2, expected_us;
    pace->longest_us -= pace->longest_us / FORGOTTEN;
    if (took_us > pace->longest_us) pace->longest_us = took_us;
    expected_us = pace->longest_us < most_us ? pace->longest_us : most_us;
    return m->looked_us + expected_us < m->stop_us;
}

/* A piece of work has been done: was it the last that the budget allows? */
static int is_spent(meter *m, int code, double rows) {
    lunette *l = m->l;
    int64_t took_us;
    m->rows += (uint64_t)rows;
    if (!m->stop_us) return m->rows >= m->rows_max;
    took_us = -m->looked_us;
    m->looked_us = read_clock(l);
    took_us += m->looked_us;
    if (rows >= l->pace.rows && (code == LUNETTE_MORE || took_us > m->share_us)) {
        uint32_t to = adapt(l->pace.rows, took_us, m->share_us, ROWS_MIN, ROWS_MAX);
        l->pace.set &= to == l->pace.rows;
        l->pace.rows = to;
    }
    if (code == LUNETTE_DRAIN) {
        uint32_t to = adapt(l->pace.work, took_us, m->share_us, WORK_MIN, WORK_MAX);
        l->pace.set &= to == l->pace.work;
        l->pace.work = to;
    }
    return !has_time(m, took_us) || m->rows >= m->rows_max;
}

/* Tells how much is to be done at once, where that has changed. */
static int set_pace(meter *m) {
    lunette *l = m->l;
    uint64_t left = m->rows_max - m->rows;
    uint32_t rows = m->stop_us ? l->pace.rows : ROWS_MAX, work = m->stop_us ? l->pace.work : WORK_MAX;
    if (rows > left) rows = (uint32_t)left;
    if (l->pace.set && rows == l->pace.told_rows && work == l->pace.told_work) return LUNETTE_OK;
    l->pace.set = 1;
    l->pace.told_rows = rows;
    l->pace.told_work = work;
    return turn(l, "pace", rows, work, NULL);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Panes that have all been read one by one go. */
static void forget_read(lunette *l) {
    size_t len;
    (void)ln_output_packed(l->output, &len);
    if (!l->panes.at || l->panes.at < len) return;
    ln_output_clear(l->output, LN_STREAM_PANES);
    l->panes.at = 0;
}

static int is_full(lunette *l) { return ln_output_size(l->output) > l->config.output_bytes_max; }

static int work(lunette *l, int64_t now_us, meter *m) {
    int ticked = 0;
    for (;;) {
        double rows = 0;
        int code;
        if (is_full(l)) return LUNETTE_DRAIN;
        code = set_pace(m);
        if (!code) code = turn(l, "feed", (double)l->input.stream[l->input.reading], (double)now_us, &rows);
        if (code == LUNETTE_BROKEN) {
            code = mend(l);
            if (code == LUNETTE_BROKEN) return code;
        } else if (code == LUNETTE_OK) {
            rows = 0;
            code = go_further(l, now_us, &ticked);
            if (code == LUNETTE_OK) return code;
        }
        if (code == LUNETTE_FAILED) return code;
        if (is_spent(m, code, rows)) return LUNETTE_MORE;
    }
}

/* The reason of what the step returns stays. */
static void tell_log(lunette *l) {
    const char *text, *said = l->said;
    while (l->config.log && (text = lunette_notice(l))) {
        l->inside = 1;
        l->config.log(l->config.log_ctx, LUNETTE_LOG_WARNING, text);
        l->inside = 0;
    }
    l->said = said;
}

int lunette_step(lunette *l, int64_t now_us, const lunette_budget *budget) {
    int code = usable(l, 0);
    double due;
    meter m;
    if (code) return code;
    if (now_us < -TIME_MOST || now_us > TIME_MOST) return ln_host_say(l, LUNETTE_REFUSED, RANGE);
    if (budget && budget->us && !l->config.clock_us)
        return ln_host_say(l, LUNETTE_REFUSED, "a budget in microseconds takes a config.clock_us");
    if (budget && (budget->us < 0 || (budget->us && budget->us < 50)))
        return ln_host_say(l, LUNETTE_REFUSED, "a budget in microseconds is 50 at least");
    begin_meter(&m, l, budget);
    code = open_streams(l);
    if (code) return code;
    forget_read(l);
    code = work(l, now_us, &m);
    if (!l->closed) tell_log(l);
    l->due_us = now_us;
    if (code != LUNETTE_OK) return code;
    code = turn(l, "due", 0, 0, &due);
    /* What the clock has come to is done: a time that it has passed was a guess. */
    l->due_us = l->ended || due >= (double)TIME_MOST ? INT64_MAX : due <= (double)now_us ? now_us + 1 : (int64_t)due;
    return code;
}

int64_t lunette_due(const lunette *l) { return l->due_us; }

/* ---- what comes out ---------------------------------------------------------------------------------------------- */

static int is_stream(const lunette *l, int stream) { return l->output && stream >= 0 && stream < LN_HOST_STREAMS; }

const void *lunette_peek(lunette *l, int stream, size_t *len) {
    const uint8_t *bytes;
    *len = 0;
    if (!is_stream(l, stream)) return NULL;
    if (stream == LN_STREAM_PANES) forget_read(l);
    bytes = ln_output_take(l->output, stream, len);
    if (ln_output_status(l->output) != LN_OK) {
        *len = 0;
        return (void)ln_host_say(l, LUNETTE_REFUSED, SHORT), NULL;
    }
    if (!bytes) return NULL;
    *len -= l->taken[stream];
    if (stream == LN_STREAM_PANES) l->peeked = *len > 0;
    return bytes + l->taken[stream];
}

void lunette_consume(lunette *l, int stream, size_t len) {
    size_t whole;
    if (!is_stream(l, stream)) return;
    (void)ln_output_take(l->output, stream, &whole);
    whole -= l->taken[stream];
    if (len < whole) {
        l->taken[stream] += len;
        return;
    }
    ln_output_clear(l->output, stream);
    l->taken[stream] = 0;
    if (stream != LN_STREAM_PANES) return;
    l->peeked = 0;
    l->panes.at = 0;
}

const lunette_pane *lunette_pane_next(lunette *l) {
    size_t len;
    const uint8_t *packed, *stop;
    if (usable(l, 0) || l->peeked) return NULL;
    packed = ln_output_packed(l->output, &len);
    if (l->panes.at == len) {
        forget_read(l);
        return NULL;
    }
    stop = ln_panes_read(&l->panes, &l->memory.own, packed + l->panes.at, packed + len);
    if (!stop) return (void)ln_host_say(l, LUNETTE_REFUSED, SHORT), NULL;
    ln_output_skip(l->output, (size_t)(stop - packed) - l->panes.at);
    l->panes.at = (size_t)(stop - packed);
    return &l->panes.pane;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

int lunette_counts(lunette *l, size_t i, ln_stats *out, size_t bytes) {
    ln_stats stats;
    double at;
    int code = usable(l, 0);
    if (code) return code;
    code = turn(l, "counters", (double)i, 0, &at);
    if (code) return code;
    if (at == 0) return ln_host_say(l, LUNETTE_REFUSED, "there is no pipeline of that number");
    memcpy(&stats, (const void *)(uintptr_t)at, sizeof stats);
    memset(out, 0, bytes);
    memcpy(out, &stats, bytes < sizeof stats ? bytes : sizeof stats);
    return LUNETTE_OK;
}

int lunette_usage_get(lunette *l, lunette_usage *out) {
    lunette_usage u = {.size = out->size,
                       .memory_bytes = l->memory.used,
                       .lua_bytes = l->memory.lua_used,
                       .input_bytes = ln_input_waiting(&l->input),
                       .output_bytes = l->output ? ln_output_size(l->output) : 0};
    memset(out, 0, u.size);
    memcpy(out, &u, u.size < sizeof u ? u.size : sizeof u);
    return LUNETTE_OK;
}
