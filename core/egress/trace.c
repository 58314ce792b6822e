/* See trace.h. An event is packed as a msgpack map whose size is known at the end, and made JSON at once. */
#include "egress/trace.h"

#include "base/instant.h"
#include "base/pack.h"
#include "base/time.h"
#include "egress/json.h"

#include <string.h>

/* A map that is being built: its head has room for 65,535 fields. */
typedef struct map {
    ln_buf *to;
    size_t at; /* of the head */
    uint16_t fields;
    int unit;
} map;

static map map_begin(ln_buf *to, int unit) {
    map m = {to, to->len, 0, unit};
    ln_buf_append(to, "\xde\0", 3);
    return m;
}

static void map_end(const map *m) {
    if (m->to->failed) return;
    m->to->data[m->at + 1] = (uint8_t)(m->fields >> 8);
    m->to->data[m->at + 2] = (uint8_t)m->fields;
}

static void name(map *m, const char *field) {
    m->fields++;
    ln_pack_put_text(m->to, field, strlen(field));
}

static void put_text(map *m, const char *field, const char *text) {
    name(m, field);
    ln_pack_put_text(m->to, text, strlen(text));
}

static void put_uint(map *m, const char *field, uint64_t u) {
    ln_value v = {.type = u > INT64_MAX ? LN_UINT : LN_INT, .u = u};
    name(m, field);
    ln_pack_put(m->to, &v);
}

static void put_true(map *m, const char *field) {
    static const ln_value yes = {.type = LN_BOOL, .i = 1};
    name(m, field);
    ln_pack_put(m->to, &yes);
}

static void time_value(map *m, int64_t us) {
    ln_value v;
    ln_time_show(us, m->unit, &v);
    ln_pack_put(m->to, &v);
}

/* The infinite ones are null. */
static void put_time(map *m, const char *field, int64_t us) {
    name(m, field);
    time_value(m, us);
}

static void put_bounds(map *m, int64_t start_us, int64_t end_us) {
    put_time(m, "start", start_us);
    put_time(m, "end", end_us);
}

static void put_raw(map *m, const char *field, const uint8_t *bytes, size_t len) {
    name(m, field);
    ln_buf_append(m->to, bytes, len);
}

/* Input that is one source needs no name. */
static void put_source(map *m, const uint8_t *bytes, uint32_t len, int streams) {
    uint64_t number;
    if (!bytes || !len) return;
    if (!streams) {
        put_raw(m, "source", bytes, len);
        return;
    }
    memcpy(&number, bytes, sizeof number);
    put_uint(m, "source", number);
}

/* ---- records ---------------------------------------------------------------------------------------------------- */

static void put_windows(map *m, const char *field, const ln_trace_window *w, uint32_t count) {
    if (!count) return;
    name(m, field);
    ln_pack_put_head(m->to, LN_ARRAY, count);
    for (uint32_t i = 0; i < count; i++) {
        ln_pack_put_head(m->to, LN_ARRAY, 2);
        time_value(m, w[i].start_us);
        time_value(m, w[i].end_us);
    }
}

/* How far behind W, and what lateness would have been too little for the window that was nearest to taking it. */
static void put_lateness(map *m, const ln_trace_event *event) {
    int64_t over_us = event->refused[0].over_us;
    for (uint32_t i = 1; i < event->refused_count; i++)
        if (event->refused[i].over_us < over_us) over_us = event->refused[i].over_us;
    if (event->fate == LN_FATE_REJECTED) put_time(m, "late_by", ln_time_sub(event->watermark_us, event->time_us));
    put_time(m, "lateness_over", over_us);
}

static void put_record(map *m, const ln_trace_event *event) {
    static const char *const fates[] = {"taken", "waiting", "filtered", "rejected"};
    if (event->time_us > LN_PAST) put_time(m, "time", event->time_us);
    if (event->kind == LN_TRACE_RECORD) {
        put_source(m, event->source, event->source_len, event->streams);
        put_text(m, "fate", fates[event->fate]);
        if (event->fate == LN_FATE_REJECTED) put_text(m, "reason", ln_reason_name(event->reason));
    }
    if (event->message) {
        name(m, "message");
        ln_pack_put_text(m->to, event->message, event->message_len);
    }
    put_windows(m, "windows", event->taken, event->taken_count);
    put_windows(m, "late_windows", event->refused, event->refused_count);
    if (event->refused_count) put_lateness(m, event);
}

/* ---- windows ---------------------------------------------------------------------------------------------------- */

static void put_values(map *m, const ln_pane_shape *shape, const ln_pane *pane) {
    name(m, "value");
    ln_pack_put_head(m->to, LN_MAP, shape->aggregates);
    for (uint32_t i = 0; i < shape->aggregates; i++) {
        ln_pack_put_text(m->to, shape->aggregate[i].name, shape->aggregate[i].name_len);
        ln_pack_put(m->to, &pane->value[i]);
    }
}

static void put_pane(map *m, const ln_pane_shape *shape, const ln_trace_event *event) {
    static const char *const timings[] = {"early", "on_time", "late"}, *const causes[] = {"", "record", "clock",
                                                                                          "watermark"};
    const ln_pane *pane = event->pane;
    put_uint(m, "pane", pane->index);
    put_text(m, "timing", timings[pane->timing]);
    if (pane->final) put_true(m, "final");
    if (pane->retract) put_true(m, "retract");
    if (event->cause) put_text(m, "cause", causes[event->cause]);
    if (pane->absorbed_count) {
        name(m, "absorbed");
        ln_pack_put_head(m->to, LN_ARRAY, pane->absorbed_count);
        for (uint32_t i = 0; i < pane->absorbed_count; i++) time_value(m, pane->absorbed_us[i]);
    }
    put_values(m, shape, pane);
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void put_rejected(map *m, const ln_stats *stats) {
    map inner;
    name(m, "rejected");
    inner = map_begin(m->to, m->unit);
    for (int i = 0; i < LN_REASONS; i++)
        if (stats->rejected[i]) put_uint(&inner, ln_reason_name(i), stats->rejected[i]);
    map_end(&inner);
}

static void put_sources(map *m, const ln_trace_event *event) {
    name(m, "sources");
    ln_pack_put_head(m->to, LN_ARRAY, event->sources_count);
    for (uint32_t i = 0; i < event->sources_count; i++) {
        const ln_trace_source *s = &event->sources[i];
        map inner = map_begin(m->to, m->unit);
        put_source(&inner, s->name, s->len, event->streams);
        put_time(&inner, "promise", s->promise_us);
        put_time(&inner, "heard", s->heard_us);
        if (!s->active) put_true(&inner, "idle");
        map_end(&inner);
    }
    if (event->sources_known > event->sources_count) put_uint(m, "sources_known", event->sources_known);
}

static void put_end(map *m, const ln_trace *t, const ln_trace_event *event) {
    put_uint(m, "left_out", t->left_out);
    put_uint(m, "read", event->stats->read);
    put_uint(m, "aggregated", event->stats->aggregated);
    put_uint(m, "filtered", event->stats->filtered);
    put_rejected(m, event->stats);
    put_uint(m, "late_refusals", event->stats->refusals_late);
    put_uint(m, "windows_open", event->stats->windows);
    put_sources(m, event);
}

/* ---- events ----------------------------------------------------------------------------------------------------- */

static const char *const names[] = {
    [LN_TRACE_RECORD] = "record",   [LN_TRACE_JOINED] = "joined",       [LN_TRACE_WATERMARK] = "watermark",
    [LN_TRACE_IDLE] = "idle",       [LN_TRACE_GONE] = "gone",           [LN_TRACE_OPENED] = "opened",
    [LN_TRACE_MERGED] = "merged",   [LN_TRACE_COMPLETED] = "completed", [LN_TRACE_PANE] = "pane",
    [LN_TRACE_EXPIRED] = "expired", [LN_TRACE_FINISH] = "finish",       [LN_TRACE_END] = "end"};
_Static_assert(sizeof names / sizeof *names == LN_TRACE_KINDS, "each event has a name");

static void put_own(map *m, const ln_trace *t, const ln_pane_shape *shape, const ln_trace_event *event) {
    switch (event->kind) {
    case LN_TRACE_RECORD:
    case LN_TRACE_JOINED: put_record(m, event); break;
    case LN_TRACE_WATERMARK:
    case LN_TRACE_IDLE:
    case LN_TRACE_GONE: put_source(m, event->source, event->source_len, event->streams); break;
    case LN_TRACE_FINISH: break;
    case LN_TRACE_END: put_end(m, t, event); break;
    default:
        put_bounds(m, event->start_us, event->end_us);
        if (event->kind == LN_TRACE_PANE) put_pane(m, shape, event);
        if (event->empty) put_true(m, "empty");
        if (event->kind != LN_TRACE_MERGED) break;
        name(m, "from");
        ln_pack_put_head(m->to, LN_ARRAY, 2);
        time_value(m, event->from_start_us);
        time_value(m, event->from_end_us);
        break;
    }
}

static void pack(ln_trace *t, const ln_pane_shape *shape, const ln_trace_event *event) {
    map m;
    ln_buf_clear(&t->packed);
    m = map_begin(&t->packed, shape->unit);
    put_text(&m, "event", names[event->kind]);
    if (shape->pipeline) {
        name(&m, "pipeline");
        ln_pack_put_text(m.to, shape->pipeline, shape->pipeline_len);
    }
    if (event->record) put_uint(&m, "record", event->record);
    put_time(&m, "clock", event->clock_us);
    put_time(&m, "watermark", event->watermark_us);
    if (event->key) put_raw(&m, "key", event->key, event->key_len);
    put_own(&m, t, shape, event);
    map_end(&m);
}

/* Moves the lines that waited for the record's own to their place. */
static void release(ln_trace *t) {
    t->holding = 0;
    ln_buf_append(&t->text, t->behind.data, t->behind.len);
    t->behind.len = 0;
}

static int is_wanted(const ln_trace *t, const ln_trace_event *event) {
    const uint8_t *at = t->keys.data;
    int of_a_key = event->kind == LN_TRACE_RECORD || event->key;
    if (!t->keys_count || !of_a_key) return 1;
    for (uint32_t i = 0; i < t->keys_count; at += t->key_bytes[i++])
        if (event->key && event->key_len == t->key_bytes[i] && memcmp(event->key, at, event->key_len) == 0) return 1;
    return 0;
}

int ln_trace_put(ln_trace *t, const ln_pane_shape *shape, const ln_trace_event *event) {
    int record = event->kind == LN_TRACE_RECORD;
    ln_buf *to = t->holding && !record ? &t->behind : &t->text;
    size_t had = to->len;
    if (event->kind == LN_TRACE_BEGIN) {
        t->holding = 1;
    } else if (is_wanted(t, event)) {
        if (t->bytes < t->bytes_max || event->kind == LN_TRACE_END) {
            pack(t, shape, event);
            if (t->packed.failed) return LN_ENOMEM;
            ln_json_lines(to, t->packed.data, t->packed.len);
            t->bytes += to->len - had;
        } else {
            t->left_out++;
        }
    }
    if (record && t->holding) release(t);
    return ln_trace_status(t);
}

void ln_trace_put_line(ln_trace *t, const char *text, size_t len) {
    ln_buf_append(&t->text, text, len);
    ln_buf_byte(&t->text, '\n');
}

void ln_trace_put_event(ln_trace *t, const char *text, size_t len) {
    if (t->bytes >= t->bytes_max) {
        t->left_out++;
        return;
    }
    t->bytes += len + 1;
    ln_trace_put_line(t, text, len);
}

/* ---- the trace as a whole --------------------------------------------------------------------------------------- */

void ln_trace_init(ln_trace *t, ln_mem *mem) {
    ln_buf_init(&t->text, mem);
    ln_buf_init(&t->behind, mem);
    ln_buf_init(&t->packed, mem);
    ln_buf_init(&t->keys, mem);
}

void ln_trace_release(ln_trace *t) {
    ln_buf_free(&t->text);
    ln_buf_free(&t->behind);
    ln_buf_free(&t->packed);
    ln_buf_free(&t->keys);
}

int ln_trace_status(const ln_trace *t) { return t->text.failed || t->behind.failed ? LN_ENOMEM : LN_OK; }

int ln_trace_want_key(ln_trace *t, const char *bytes, size_t len) {
    if (t->keys_count == LN_TRACE_KEYS_MAX) return LN_EINVALID;
    ln_buf_append(&t->keys, bytes, len);
    if (t->keys.failed) return LN_ENOMEM;
    t->key_bytes[t->keys_count++] = (uint32_t)len;
    return LN_OK;
}
