/* The reader: takes bytes in, recognises the format, hands out batches, and remembers its one error. */
#include "ingest/reader.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROWS_DEFAULT = 1024, IN_BYTES_MIN = 4096 };

static void init(ln_reader *r, ln_mem *mem, int format, const ln_limits *limits, ln_table *table) {
    r->mem = mem;
    r->limits = *limits;
    r->format_stated = format;
    r->table = table;
    ln_reader_restart(r);
}

ln_reader *ln_reader_new_with(ln_mem *mem, int format, const ln_limits *limits, uint32_t rows_max) {
    ln_reader *r = ln_mem_zero(mem, sizeof *r);
    ln_limits stated = ln_limits_stated(limits);
    if (!r) return NULL;
    init(r, mem, format, &stated, ln_table_new(mem, rows_max ? rows_max : ROWS_DEFAULT));
    if (r->table) return r;
    ln_mem_free(mem, r, sizeof *r);
    return NULL;
}

/* A reader that holds its own heap. */
static void settle(ln_reader *r, const ln_mem *heap) {
    r->heap = *heap;
    r->mem = &r->heap;
}

ln_reader *ln_reader_new_in(const ln_allocator *allocator, int format, const ln_limits *limits, uint32_t rows_max) {
    ln_mem heap;
    ln_reader *r;
    ln_mem_init_in(&heap, allocator);
    r = ln_reader_new_with(&heap, format, limits, rows_max);
    if (!r) return NULL;
    settle(r, &heap);
    ln_table_settle(r->table, r->mem);
    return r;
}

ln_reader *ln_reader_new(int format, const ln_limits *limits, uint32_t rows_max) {
    return ln_reader_new_in(NULL, format, limits, rows_max);
}

ln_reader *ln_reader_beside(ln_reader *first, uint64_t source) {
    ln_mem heap = {.resize = first->mem->resize, .ctx = first->mem->ctx};
    ln_reader *r;
    r = ln_mem_zero(&heap, sizeof *r);
    if (!r) return NULL;
    init(r, &heap, first->format_stated, &first->limits, first->table);
    settle(r, &heap);
    r->borrows = 1;
    r->source = source;
    return r;
}

void ln_reader_delete(ln_reader *r) {
    ln_mem *mem, heap;
    if (!r) return;
    mem = r->mem;
    ln_mem_free(mem, r->in, r->in_bytes);
    if (!r->borrows) ln_table_delete(r->table);
    if (mem == &r->heap) {
        heap = r->heap; /* the reader's own: it must outlive the block that holds it */
        mem = &heap;
    }
    ln_mem_free(mem, r, sizeof *r);
}

void ln_reader_speak(ln_reader *r, int format) {
    r->format_stated = format;
    ln_reader_restart(r);
}

void ln_reader_rows(ln_reader *r, uint32_t rows) {
    uint32_t most = r->table->rows_max;
    r->table->rows_wanted = rows < 1 ? 1 : rows < most ? rows : most;
}

const ln_limits *ln_reader_limits(const ln_reader *r) { return &r->limits; }

int ln_reader_column(ln_reader *r, const char *path, size_t len) { return ln_table_column(r->table, path, len); }

const ln_strings *ln_reader_strings(ln_reader *r, int column, uint32_t most, uint64_t seed) {
    return ln_table_strings(r->table, column, most, seed);
}

void ln_reader_adopt(ln_reader *r, ln_reader *from) {
    ln_table *own = r->table;
    r->table = from->table;
    from->table = own;
    ln_table_settle(r->table, r->mem);
    ln_table_settle(from->table, from->mem);
    r->limits = from->limits;
    r->batch = (ln_batch){0};
}

void ln_reader_follow(ln_reader *beside, ln_reader *first) {
    beside->table = first->table;
    beside->limits = first->limits;
    beside->batch = (ln_batch){0};
}

/* ---- input ---- */

uint8_t *ln_reader_space(ln_reader *r, size_t want) {
    size_t pending = r->end - r->start, need, to;
    uint8_t *grown;
    if (want > SIZE_MAX / 4) return NULL;
    need = pending + want + LN_READER_PAD;
    if (r->in_bytes >= r->end + want + LN_READER_PAD) return r->in + r->end;
    if (r->start) {
        memmove(r->in, r->in + r->start, pending);
        r->start = 0;
        r->end = pending;
    }
    if (r->in_bytes < need) {
        /* Twice as much, but no more than one unfinished record can need. */
        size_t most = (size_t)r->limits.record_bytes + want + LN_READER_PAD;
        to = 2 * r->in_bytes < most ? 2 * r->in_bytes : most;
        if (to < need) to = need;
        if (to < IN_BYTES_MIN) to = IN_BYTES_MIN;
        grown = ln_mem_resize(r->mem, r->in, r->in_bytes, to);
        if (!grown) return NULL;
        r->in = grown;
        r->in_bytes = to;
    }
    return r->in + r->end;
}

int ln_reader_commit(ln_reader *r, size_t len) {
    if (r->err || r->ended) return LN_ECLOSED;
    if (len == 0) return LN_OK;
    if (r->in_bytes < LN_READER_PAD || len > r->in_bytes - LN_READER_PAD - r->end) return LN_EINVALID;
    r->end += len;
    return LN_OK;
}

int ln_reader_push(ln_reader *r, const void *bytes, size_t len) {
    uint8_t *to;
    if (r->err || r->ended) return LN_ECLOSED;
    if (len == 0) return LN_OK;
    to = ln_reader_space(r, len);
    if (!to) return LN_ENOMEM;
    memcpy(to, bytes, len);
    return ln_reader_commit(r, len);
}

void ln_reader_end(ln_reader *r) { r->ended = 1; }

void ln_reader_restart(ln_reader *r) {
    r->format = r->format_stated;
    r->start = r->end = 0;
    r->offset = 0;
    r->ended = r->begun = 0;
    r->err = LN_OK;
    r->framing = 0;
    r->searched = 0;
    r->dropping = 0;
    r->wild = 0;
    r->batch = (ln_batch){0};
    if (r->table) r->table->made_columns = 0;
    r->error_offset = 0;
    r->error[0] = '\0';
}

void ln_reader_trim(ln_reader *r) {
    size_t pending = r->end - r->start, to = pending ? pending + LN_READER_PAD : 0;
    uint8_t *kept;
    if (r->in_bytes - to < IN_BYTES_MIN) return;
    if (r->start) memmove(r->in, r->in + r->start, pending);
    r->start = 0;
    r->end = pending;
    r->batch = (ln_batch){0};
    r->table->made_columns = 0;
    kept = ln_mem_resize(r->mem, r->in, r->in_bytes, to);
    if (!kept && to) return;
    r->in = kept;
    r->in_bytes = to;
}

size_t ln_reader_pending(const ln_reader *r) { return r->end - r->start; }

int ln_reader_format(const ln_reader *r) { return r->format; }

/* ---- errors ---- */

const char *ln_reader_error(const ln_reader *r) { return r->error; }

uint64_t ln_reader_error_offset(const ln_reader *r) { return r->error_offset; }

/* Remembers an error at a byte of the stream. The texts name limits as scripts do. */
static void fail(ln_reader *r, int err, uint64_t offset) {
    const ln_limits *l = &r->limits;
    char text[160];
    switch (err) {
    case LN_EMSGPACK: snprintf(text, sizeof text, "these bytes are not msgpack: mend the sender"); break;
    case LN_ETRUNCATED:
        snprintf(text, sizeof text, "the input ends in the middle of the record that begins here: send it whole");
        break;
    case LN_EDEPTH:
        snprintf(text, sizeof text,
                 "a record is nested deeper than limits.nesting (%" PRIu32 ") allows: raise "
                 "limits.nesting in the script, or mend the sender",
                 l->nesting);
        break;
    case LN_ERECORD:
        snprintf(text, sizeof text,
                 "a record is larger than limits.record_bytes (%" PRIu64 ") allows: raise "
                 "limits.record_bytes in the script, or mend the sender",
                 l->record_bytes);
        break;
    case LN_EELEMENTS:
        snprintf(text, sizeof text,
                 "a record has more values than limits.elements (%" PRIu32 ") allows: raise "
                 "limits.elements in the script, or mend the sender",
                 l->elements);
        break;
    default: snprintf(text, sizeof text, "%s", ln_strerror(err)); break;
    }
    r->err = err;
    r->error_offset = offset;
    snprintf(r->error, sizeof r->error, "byte %" PRIu64 ": %s", offset, text);
}

/* ---- output ---- */

/* Recognises the format by the first byte: 0 where it is not there yet. Skips the mark of UTF-8 before JSON. */
static int begin(ln_reader *r) {
    const uint8_t *p;
    size_t have = r->end - r->start;
    int mark, text;
    if (have == 0) return 0;
    p = r->in + r->start;
    mark = r->format != LN_FORMAT_MSGPACK && p[0] == 0xef;
    if (mark && have < 3 && !r->ended) return 0;
    mark = mark && have >= 3 && p[1] == 0xbb && p[2] == 0xbf;
    text = mark || (p[0] >= 0x20 && p[0] < 0x7f) || (p[0] >= '\t' && p[0] <= '\r');
    if (r->format == LN_FORMAT_AUTO) r->format = text ? LN_FORMAT_JSON : LN_FORMAT_MSGPACK;
    if (mark) ln_reader_consume(r, 3);
    r->begun = 1;
    return 1;
}

/* The framer's word on the record at `start`, which the projector did not accept. 1 where the record is whole. */
static int frame(ln_reader *r) {
    int err;
    if (!r->framing) ln_framer_init(&r->framer);
    err = ln_framer_run(&r->framer, &r->limits, r->in + r->start, r->end - r->start);
    r->framing = err == LN_FRAME_MORE;
    if (r->framing && r->ended) {
        r->framing = 0;
        fail(r, LN_ETRUNCATED, r->offset);
    } else if (err != LN_OK && !r->framing) {
        fail(r, err, r->offset + r->framer.at);
    }
    return err == LN_OK;
}

/* Rows from msgpack; their number. */
static uint32_t records_next(ln_reader *r) {
    ln_table *t = r->table;
    uint32_t rows = 0;
    while (rows < t->rows_wanted && r->start < r->end) {
        const uint8_t *p = r->in + r->start, *stop;
        int whole = r->framing && frame(r);
        if (r->framing || r->err) break;
        stop = ln_scan_project(&t->fields, &r->limits, p, r->in + r->end, t->column, rows, &t->malformed[rows]);
        if (!stop) {
            LN_ASSERT(!whole);
            whole = frame(r);
            LN_ASSERT(!whole);
            break;
        }
        t->record[rows] = p;
        t->record_bytes[rows++] = (uint32_t)(stop - p);
        ln_reader_consume(r, (size_t)(stop - p));
    }
    return rows;
}

int ln_reader_columns(const ln_reader *r) { return (int)r->table->fields.columns; }

static void hand_out(ln_reader *r, uint32_t rows) {
    ln_table *t = r->table;
    ln_table_made(t, rows);
    r->batch = (ln_batch){
        .rows = rows,
        .columns = t->fields.columns,
        .column = (ln_value *const *)t->column,
        .record = t->record,
        .record_bytes = t->record_bytes,
        .malformed = t->malformed,
        .source = r->source,
    };
}

int ln_reader_next(ln_reader *r, const ln_batch **batch) {
    ln_table *t = r->table;
    uint32_t rows = 0;
    t->made_columns = 0;
    r->batch = (ln_batch){.columns = t->fields.columns};
    *batch = &r->batch;
    if (r->err) return r->err;
    if ((!r->begun && !begin(r)) || !r->in) return LN_OK;
    memset(r->in + r->end, 0, LN_READER_PAD); /* it is read, though nothing comes of it */
    if (r->format == LN_FORMAT_MSGPACK) {
        rows = records_next(r);
    } else {
        if (!t->json) t->json = ln_json_new(t->mem);
        if (t->json) rows = ln_lines_next(r);
        if (!t->json || r->err) fail(r, LN_ENOMEM, r->offset);
    }
    hand_out(r, rows);
    return rows ? LN_OK : r->err;
}

int ln_reader_rest(ln_reader *r, const ln_batch **batch) {
    size_t left = r->end - r->start;
    r->batch = (ln_batch){.columns = r->table->fields.columns};
    *batch = &r->batch;
    if (!r->err || !left) return LN_OK;
    if (ln_table_put_bad(r->table, r->in + r->start, left, r->err) < 0) return LN_ENOMEM;
    ln_reader_consume(r, left);
    hand_out(r, 1);
    return LN_OK;
}
