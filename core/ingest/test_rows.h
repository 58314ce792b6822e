/* What the tests of the reader share: a reader's rows as text, for any split of its bytes. */
#ifndef LN_INGEST_TEST_ROWS_H
#define LN_INGEST_TEST_ROWS_H

#include "base/test.h"
#include "ingest/reader.h"

/* What a reader made of a stream, as text: a line for each row, then the error. */
typedef struct dump {
    char *text;
    size_t len, cap;
} dump;

static inline void say(dump *d, const char *bytes, size_t len) {
    if (d->cap - d->len <= len) {
        d->cap = 2 * (d->cap + len + 64);
        d->text = realloc(d->text, d->cap);
        if (!d->text) abort();
    }
    memcpy(d->text + d->len, bytes, len);
    d->len += len;
    d->text[d->len] = '\0';
}

static inline void say_text(dump *d, const char *text) { say(d, text, strlen(text)); }

static inline void say_number(dump *d, const char *format, uint64_t n) {
    char text[64];
    snprintf(text, sizeof text, format, n);
    say_text(d, text);
}

/* Printable characters as they are, all others as \xx. */
static inline void say_bytes(dump *d, const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '\\') say(d, (const char *)bytes + i, 1);
        else say_number(d, "\\%02" PRIx64, bytes[i]);
    }
}

static inline void say_value(dump *d, const ln_value *v) {
    char number[40];
    switch (v->type) {
    case LN_MISSING: say_text(d, "-"); return;
    case LN_NULL: say_text(d, "null"); return;
    case LN_BOOL: say_text(d, v->i ? "true" : "false"); return;
    case LN_INT: snprintf(number, sizeof number, "%" PRId64, v->i); break;
    case LN_UINT: snprintf(number, sizeof number, "%" PRIu64 "u", v->u); break;
    case LN_DOUBLE: snprintf(number, sizeof number, "%.17gd", v->d); break;
    case LN_TEXT: snprintf(number, sizeof number, "'"); break;
    default: snprintf(number, sizeof number, "#%d:", v->type); break;
    }
    say_text(d, number);
    if (v->type >= LN_TEXT) say_bytes(d, v->at, v->len);
    if (v->type == LN_TEXT) say_text(d, "'");
}

static inline void say_batch(dump *d, const ln_batch *b) {
    for (uint32_t row = 0; row < b->rows; row++) {
        if (b->malformed[row]) say_number(d, "!%" PRIu64 " ", b->malformed[row]);
        for (uint32_t c = 0; c < b->columns; c++) {
            say_value(d, &b->column[c][row]);
            say_text(d, " ");
        }
        if (b->malformed[row]) say_bytes(d, b->record[row], b->record_bytes[row]);
        say_text(d, "\n");
    }
}

/* Takes all batches that are ready; what the last call returned. */
static inline int drain(ln_reader *r, dump *d) {
    const ln_batch *b;
    int err;
    while ((err = ln_reader_next(r, &b)) == LN_OK && b->rows) say_batch(d, b);
    return err;
}

static inline void finish(ln_reader *r, dump *d) {
    ln_reader_end(r);
    if (drain(r, d) != LN_OK) say_text(d, ln_reader_error(r)), say_text(d, "\n");
}

typedef struct setup {
    int format;
    ln_limits limits;
    uint32_t rows_max;
    const char *fields[6];
} setup;

static inline ln_reader *reader_of(const setup *s, ln_mem *mem) {
    ln_reader *r = ln_reader_new_with(mem, s->format, &s->limits, s->rows_max);
    if (!r) abort();
    for (int i = 0; s->fields[i]; i++) CHECK_INT(ln_reader_column(r, s->fields[i], strlen(s->fields[i])), i);
    return r;
}

/* Reads the stream whole, cut in two at every place, and in pieces of one, two, three ... bytes. */
static inline void expect(const setup *s, const void *bytes, size_t len, const char *want) {
    test_mem t;
    ln_reader *r = reader_of(s, test_mem_init(&t, SIZE_MAX / 2));
    dump d = {0};
    size_t limit = s->limits.record_bytes ? (size_t)s->limits.record_bytes : 4 << 20;
    for (size_t piece = 1; piece <= len + 1; piece++) {
        d.len = 0;
        say_text(&d, "");
        ln_reader_restart(r);
        for (size_t at = 0; at < len; at += piece) {
            int err = ln_reader_push(r, (const uint8_t *)bytes + at, piece < len - at ? piece : len - at);
            if (err) break;
            drain(r, &d);
            CHECK(ln_reader_pending(r) <= limit + 1);
        }
        finish(r, &d);
        if (!CHECK_TEXT(d.text, want)) fprintf(stderr, "  in pieces of %zu\n", piece);
    }
    for (size_t cut = 0; cut <= len; cut++) {
        d.len = 0;
        say_text(&d, "");
        ln_reader_restart(r);
        if (ln_reader_push(r, bytes, cut) == LN_OK) drain(r, &d);
        if (ln_reader_push(r, (const uint8_t *)bytes + cut, len - cut) == LN_OK) drain(r, &d);
        finish(r, &d);
        if (!CHECK_TEXT(d.text, want)) fprintf(stderr, "  cut at %zu\n", cut);
    }
    ln_reader_delete(r);
    CHECK_INT(t.held, 0);
    CHECK_INT(t.mem.used, 0);
    free(d.text);
}

#define EXPECT(s, literal, want) expect(s, literal, sizeof(literal) - 1, want)

static const setup plain = {.fields = {"p", "q.r"}};

#endif
