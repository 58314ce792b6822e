/* What the fuzz targets share: a text that grows, values written into it, a reader run over bytes that are cut in
 * places which the input itself chooses, and the bound on its memory. */
#ifndef LN_INGEST_FUZZ_DUMP_H
#define LN_INGEST_FUZZ_DUMP_H

#include "base/test.h"
#include "ingest/reader.h"

#define REQUIRE(cond) ((cond) ? (void)0 : broken(__FILE__, __LINE__, #cond))

static inline _Noreturn void broken(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

typedef struct dump {
    char *text;
    size_t len, cap;
} dump;

static inline void say(dump *d, const void *bytes, size_t len) {
    if (!d->text || d->cap - d->len <= len) {
        d->cap = 2 * (d->cap + len + 64);
        d->text = realloc(d->text, d->cap);
        REQUIRE(d->text);
    }
    if (len) memcpy(d->text + d->len, bytes, len);
    d->len += len;
    d->text[d->len] = '\0';
}

static inline void say_number(dump *d, char kind, uint64_t n) {
    char text[32];
    say(d, text, (size_t)snprintf(text, sizeof text, "%c%" PRIx64 " ", kind, n));
}

static inline int same(const dump *a, const dump *b) {
    if (a->len == b->len && (a->len == 0 || memcmp(a->text, b->text, a->len) == 0)) return 1;
    fprintf(stderr, "one: %s\ntwo: %s\n", a->text ? a->text : "", b->text ? b->text : "");
    return 0;
}

/* A value with all that is inside it. */
static inline void say_value(dump *d, const ln_value *v) {
    const uint8_t *p, *end;
    ln_value head, item;
    switch (v->type) {
    case LN_MISSING: say(d, "- ", 2); return;
    case LN_NULL: say(d, "null ", 5); return;
    case LN_BOOL: say_number(d, 'b', (uint64_t)v->i); return;
    case LN_INT: say_number(d, v->i < 0 ? 'n' : 'u', (uint64_t)v->i); return;
    case LN_UINT: say_number(d, 'u', v->u); return;
    case LN_DOUBLE: say_number(d, 'd', v->u); return;
    case LN_TEXT:
        say_number(d, 't', v->len);
        say(d, v->at, v->len);
        return;
    case LN_BYTES:
        say_number(d, 'x', v->len);
        say(d, v->at, v->len);
        return;
    case LN_EXT:
        say_number(d, 'e', (uint8_t)v->ext);
        say_number(d, 'x', v->len);
        say(d, v->at, v->len);
        return;
    default: break;
    }
    end = v->at + v->len;
    p = ln_value_read(v->at, end, 0, &head);
    REQUIRE(head.type == v->type);
    say_number(d, v->type == LN_MAP ? 'm' : 'a', head.len);
    while (p < end) {
        p = ln_value_read(p, end, 1, &item);
        say_value(d, &item);
    }
}

static inline void say_batch(dump *d, const ln_batch *b) {
    for (uint32_t row = 0; row < b->rows; row++) {
        say_number(d, '!', b->malformed[row]);
        for (uint32_t c = 0; c < b->columns; c++) say_value(d, &b->column[c][row]);
        say_number(d, '#', b->record_bytes[row]);
        say(d, b->record[row], b->record_bytes[row]);
        say(d, "\n", 1);
    }
}

/* Runs the reader over one stream; `cuts` gives the length of each piece, one byte each, over and over; none: whole. */
static inline void run_reader(ln_reader *r, const uint8_t *data, size_t len, const uint8_t *cuts, size_t count,
                              dump *d) {
    const ln_batch *b;
    int err = LN_OK;
    ln_reader_restart(r);
    for (size_t at = 0, i = 0; at < len && !err; i++) {
        size_t piece = count ? cuts[i % count] + (size_t)1 : len;
        if (piece > len - at) piece = len - at;
        REQUIRE(ln_reader_push(r, data + at, piece) == LN_OK);
        at += piece;
        while ((err = ln_reader_next(r, &b)) == LN_OK && b->rows) say_batch(d, b);
        REQUIRE(err || ln_reader_pending(r) <= r->limits.record_bytes + 9);
    }
    ln_reader_end(r);
    while (!err && (err = ln_reader_next(r, &b)) == LN_OK && b->rows) say_batch(d, b);
    REQUIRE(err != LN_ENOMEM);
    say_number(d, 'E', (uint64_t)err);
    say_number(d, '@', ln_reader_error_offset(r));
    say(d, ln_reader_error(r), strlen(ln_reader_error(r)));
}

/* The most that a reader may ever hold, both blocks of a growing one counted: its input (an unfinished record and one
 * read), what it makes of JSON (the size that ends a batch and one record more, as msgpack or as the line's text), a
 * rewritten line, and what depends only on its columns and rows. */
static inline size_t memory_bound(const ln_limits *l, size_t piece_max, uint32_t rows, uint32_t columns, int json) {
    size_t record = (size_t)l->record_bytes, in = record + piece_max + LN_READER_PAD + 4096;
    size_t made = json ? LN_READER_MADE + 2 * record + 64 : 0, again = json ? 3 * record + 64 : 0;
    size_t fixed = sizeof(ln_reader) + rows * (columns * sizeof(ln_value) + 16) + columns * 4 * sizeof(ln_level);
    return 3 * in + 3 * made + 3 * again + fixed + (json ? 65536 : 0);
}

#endif
