/* The reader: takes bytes in, recognises the format, hands out batches, and remembers its one error. */
#include "ingest/reader.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>

enum { ROWS_DEFAULT = 1024, IN_BYTES_MIN = 4096 };

ln_reader *ln_reader_new_with(ln_mem *mem, int format, const ln_limits *limits, uint32_t rows_max) {
    ln_reader *r = ln_mem_zero(mem, sizeof *r);
    if (!r) return NULL;
    r->mem = mem;
    r->limits = ln_limits_stated(limits);
    r->format_stated = format;
    r->rows_max = rows_max ? rows_max : ROWS_DEFAULT;
    ln_fields_init(&r->fields, mem);
    ln_buf_init(&r->made, mem);
    r->record = ln_mem_new(mem, r->rows_max * sizeof *r->record);
    r->record_bytes = ln_mem_new(mem, r->rows_max * sizeof *r->record_bytes);
    r->malformed = ln_mem_new(mem, r->rows_max * sizeof *r->malformed);
    if (!r->record || !r->record_bytes || !r->malformed) {
        ln_reader_delete(r);
        return NULL;
    }
    ln_reader_restart(r);
    return r;
}

ln_reader *ln_reader_new(int format, const ln_limits *limits, uint32_t rows_max) {
    ln_mem heap;
    ln_reader *r;
    ln_mem_init(&heap);
    r = ln_reader_new_with(&heap, format, limits, rows_max);
    if (!r) return NULL;
    r->heap = heap;
    r->mem = r->fields.mem = r->made.mem = &r->heap;
    return r;
}

void ln_reader_delete(ln_reader *r) {
    ln_mem *mem, heap;
    if (!r) return;
    mem = r->mem;
    ln_mem_free(mem, r->in, r->in_bytes);
    for (int i = 0; i < LN_FIELDS_MAX; i++) {
        ln_mem_free(mem, r->column[i], r->rows_max * sizeof **r->column);
        if (r->strings[i]) ln_strings_free(r->strings[i]);
        ln_mem_free(mem, r->strings[i], sizeof **r->strings);
    }
    ln_mem_free(mem, r->record, r->rows_max * sizeof *r->record);
    ln_mem_free(mem, r->record_bytes, r->rows_max * sizeof *r->record_bytes);
    ln_mem_free(mem, r->malformed, r->rows_max * sizeof *r->malformed);
    ln_fields_free(&r->fields);
    ln_buf_free(&r->made);
    ln_json_delete(r->json, mem);
    if (mem == &r->heap) {
        heap = r->heap; /* the reader's own: it must outlive the block that holds it */
        mem = &heap;
    }
    ln_mem_free(mem, r, sizeof *r);
}

int ln_reader_column(ln_reader *r, const char *path, size_t len) {
    uint32_t next = r->fields.columns;
    if (next < LN_FIELDS_MAX && !r->column[next]) {
        r->column[next] = ln_mem_new(r->mem, r->rows_max * sizeof **r->column);
        if (!r->column[next]) return -1;
    }
    return ln_fields_add(&r->fields, path, len);
}

const ln_strings *ln_reader_strings(ln_reader *r, int column, uint32_t most, uint64_t seed) {
    ln_string_table *t;
    LN_ASSERT(column >= 0 && (uint32_t)column < r->fields.columns);
    if (r->strings[column]) return &r->strings[column]->shown;
    t = ln_mem_new(r->mem, sizeof *t);
    if (t && ln_strings_init(t, r->mem, r->rows_max, most, seed) == 0) {
        r->strings[column] = t;
        if ((uint32_t)column < r->batch.columns) ln_strings_look(t, r->column[column], r->batch.rows);
        return &t->shown;
    }
    ln_mem_free(r->mem, t, sizeof *t);
    return NULL;
}

static void number_texts(ln_reader *r, uint32_t rows) {
    for (uint32_t c = 0; c < r->fields.columns; c++)
        if (r->strings[c]) ln_strings_batch(r->strings[c], r->column[c], rows);
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
    r->error_offset = 0;
    r->error[0] = '\0';
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
    uint32_t rows = 0;
    while (rows < r->rows_max && r->start < r->end) {
        const uint8_t *p = r->in + r->start, *stop;
        int whole = r->framing && frame(r);
        if (r->framing || r->err) break;
        stop = ln_scan_project(&r->fields, &r->limits, p, r->in + r->end, r->column, rows, &r->malformed[rows]);
        if (!stop) {
            LN_ASSERT(!whole);
            whole = frame(r);
            LN_ASSERT(!whole);
            break;
        }
        r->record[rows] = p;
        r->record_bytes[rows++] = (uint32_t)(stop - p);
        ln_reader_consume(r, (size_t)(stop - p));
    }
    return rows;
}

int ln_reader_columns(const ln_reader *r) { return (int)r->fields.columns; }

int ln_reader_next(ln_reader *r, const ln_batch **batch) {
    uint32_t rows = 0;
    r->batch = (ln_batch){.columns = r->fields.columns};
    *batch = &r->batch;
    if (r->err) return r->err;
    if (!r->begun && !begin(r)) return LN_OK;
    memset(r->in + r->end, 0, LN_READER_PAD); /* it is read, though nothing comes of it */
    if (r->format == LN_FORMAT_MSGPACK) {
        rows = records_next(r);
    } else {
        if (!r->json) r->json = ln_json_new(r->mem);
        if (r->json) rows = ln_lines_next(r);
        if (!r->json || r->err) fail(r, LN_ENOMEM, r->offset);
    }
    number_texts(r, rows);
    r->batch = (ln_batch){
        .rows = rows,
        .columns = r->fields.columns,
        .column = (ln_value *const *)r->column,
        .record = r->record,
        .record_bytes = r->record_bytes,
        .malformed = r->malformed,
    };
    return rows ? LN_OK : r->err;
}
