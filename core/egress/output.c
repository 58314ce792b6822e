/* The output: panes and rejects encoded into buffers until they are taken. Everything is msgpack inside; JSON is made
 * of it when it is taken. */
#include "base/assert.h"
#include "base/pack.h"
#include "egress/encode.h"
#include "egress/json.h"
#include "egress/trace.h"

typedef struct stream {
    ln_buf packed;  /* whole msgpack values, but for one being built */
    ln_buf text;    /* the same as JSON lines */
    size_t written; /* bytes of `packed` that are in `text`, or have left otherwise */
    size_t skipped; /* of those the latter */
} stream;

struct ln_output {
    ln_mem mem;
    int format;
    int want_rejects;
    stream panes, rejects;
    ln_trace trace; /* JSON lines, whatever the format */
    size_t mark;    /* where the value being built begins */
    ln_encoded_bounds bounds;
    struct ln_sink sink;
};

static stream *stream_of(ln_output *o, int which) { return which == LN_STREAM_PANES ? &o->panes : &o->rejects; }

int ln_output_status(const ln_output *o) {
    return o->panes.packed.failed || o->rejects.packed.failed || o->panes.text.failed || o->rejects.text.failed
               ? LN_ENOMEM
               : ln_trace_status(&o->trace);
}

static int take_pane(void *ctx, const ln_pane_shape *shape, const ln_pane *pane) {
    ln_output *o = ctx;
    ln_encode_pane(&o->panes.packed, shape, pane, &o->bounds);
    return ln_output_status(o);
}

static int stage_pane(void *ctx, const ln_pane_shape *shape, const ln_pane *pane, ln_buf *into) {
    ln_output *o = ctx;
    ln_encode_pane(into, shape, pane, &o->bounds);
    return into->failed ? LN_ENOMEM : LN_OK;
}

static int take_reject(void *ctx, const ln_pane_shape *shape, int reason, const uint8_t *record, uint32_t record_len,
                       const char *message, size_t message_len) {
    ln_output *o = ctx;
    if (!o->want_rejects) return LN_OK;
    ln_encode_reject(&o->rejects.packed, shape, reason, record, record_len, message, message_len);
    return ln_output_status(o);
}

static int take_trace(void *ctx, const ln_pane_shape *shape, const ln_trace_event *event) {
    ln_output *o = ctx;
    return o->trace.bytes_max ? ln_trace_put(&o->trace, shape, event) : LN_OK;
}

static size_t waiting(void *ctx) { return ln_output_size(ctx); }

ln_output *ln_output_new_in(const ln_allocator *allocator, int format) {
    ln_mem mem;
    ln_output *o;
    ln_mem_init_in(&mem, allocator);
    o = ln_mem_zero(&mem, sizeof *o);
    if (!o) return NULL;
    o->mem = mem;
    o->format = format;
    ln_buf_init(&o->panes.packed, &o->mem);
    ln_buf_init(&o->panes.text, &o->mem);
    ln_buf_init(&o->rejects.packed, &o->mem);
    ln_buf_init(&o->rejects.text, &o->mem);
    ln_trace_init(&o->trace, &o->mem);
    o->sink = (struct ln_sink){.ctx = o,
                               .pane = take_pane,
                               .stage = stage_pane,
                               .reject = take_reject,
                               .trace = take_trace,
                               .waiting = waiting};
    return o;
}

ln_output *ln_output_new(int format) { return ln_output_new_in(NULL, format); }

void ln_output_delete(ln_output *o) {
    ln_mem mem;
    if (!o) return;
    ln_buf_free(&o->panes.packed);
    ln_buf_free(&o->panes.text);
    ln_buf_free(&o->rejects.packed);
    ln_buf_free(&o->rejects.text);
    ln_trace_release(&o->trace);
    mem = o->mem;
    ln_mem_free(&mem, o, sizeof *o);
}

const ln_sink *ln_output_sink(ln_output *o) { return &o->sink; }
void ln_output_format(ln_output *o, int format) { o->format = format; }
int ln_output_format_used(const ln_output *o) { return o->format; }
void ln_output_want_rejects(ln_output *o, int wanted) { o->want_rejects = wanted; }
size_t ln_output_size(const ln_output *o) { return o->panes.packed.len + o->rejects.packed.len + o->trace.text.len; }

const uint8_t *ln_output_take(ln_output *o, int which, size_t *len) {
    stream *s = stream_of(o, which);
    const ln_buf *b = which == LN_STREAM_TRACE ? &o->trace.text : &s->packed;
    if (which != LN_STREAM_TRACE && o->format == LN_FORMAT_JSON) {
        ln_json_lines(&s->text, s->packed.data + s->written, s->packed.len - s->written);
        s->written = s->packed.len;
        b = &s->text;
    }
    if (b == &s->packed && s->skipped) {
        *len = b->len - s->skipped;
        return b->data + s->skipped;
    }
    *len = b->len;
    return b->data;
}

void ln_output_skip(ln_output *o, size_t len) {
    stream *s = &o->panes;
    LN_ASSERT(s->written == s->skipped && len <= s->packed.len - s->skipped);
    s->written = s->skipped += len;
}

void ln_output_clear(ln_output *o, int which) {
    stream *s = stream_of(o, which);
    if (which == LN_STREAM_TRACE) {
        o->trace.text.len = 0;
        return;
    }
    s->packed.len = s->text.len = s->written = s->skipped = 0;
    if (which == LN_STREAM_PANES) o->mark = 0;
}

/* ---- the trace -------------------------------------------------------------------------------------------------- */

void ln_output_want_trace(ln_output *o, uint64_t bytes_max) { o->trace.bytes_max = bytes_max; }

int ln_output_trace_key(ln_output *o, const char *bytes, size_t len) {
    return ln_trace_want_key(&o->trace, bytes, len);
}

void ln_output_trace_line(ln_output *o, const char *text, size_t len) { ln_trace_put_line(&o->trace, text, len); }
void ln_output_trace_event(ln_output *o, const char *text, size_t len) { ln_trace_put_event(&o->trace, text, len); }

const uint8_t *ln_output_packed(const ln_output *o, size_t *len) {
    *len = o->panes.packed.len;
    return o->panes.packed.data;
}

/* ---- values by hand --------------------------------------------------------------------------------------------- */

static void put(ln_output *o, ln_value v) { ln_pack_put(&o->panes.packed, &v); }

void ln_output_nil(ln_output *o) { put(o, (ln_value){.type = LN_NULL}); }
void ln_output_bool(ln_output *o, int b) { put(o, (ln_value){.type = LN_BOOL, .i = b != 0}); }
void ln_output_int(ln_output *o, int64_t i) { put(o, (ln_value){.type = LN_INT, .i = i}); }
void ln_output_uint(ln_output *o, uint64_t u) { put(o, (ln_value){.type = LN_UINT, .u = u}); }
void ln_output_double(ln_output *o, double d) { put(o, (ln_value){.type = LN_DOUBLE, .d = d}); }

void ln_output_number(ln_output *o, double d) {
    if (d >= -9007199254740992.0 && d <= 9007199254740992.0 && (double)(int64_t)d == d) ln_output_int(o, (int64_t)d);
    else ln_output_double(o, d);
}

void ln_output_text(ln_output *o, const char *text, size_t len) { ln_pack_put_text(&o->panes.packed, text, len); }
void ln_output_array(ln_output *o, uint32_t n) { ln_pack_put_head(&o->panes.packed, LN_ARRAY, n); }
void ln_output_map(ln_output *o, uint32_t n) { ln_pack_put_head(&o->panes.packed, LN_MAP, n); }

void ln_output_raw(ln_output *o, const char *bytes, size_t len) { ln_buf_append(&o->panes.packed, bytes, len); }

void ln_output_mark(ln_output *o) { o->mark = o->panes.packed.len; }

void ln_output_rewind(ln_output *o) {
    LN_ASSERT(o->mark <= o->panes.packed.len);
    o->panes.packed.len = o->mark;
}
