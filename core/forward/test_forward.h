/* What the tests of Fluent Forward share: a connection that is fed in pieces, and all that comes out of it as one text,
 * so that two ways of feeding can be compared. Records are shown by msgpack-c, and each must pass a reader with the
 * limits of the connection. */
#ifndef LN_FORWARD_TEST_FORWARD_H
#define LN_FORWARD_TEST_FORWARD_H

#include "base/buf.h"
#include "base/test.h"
#include "forward/forward.h"
#include "forward/gzip.h"

#include <msgpack.h>
#include <stdarg.h>

#define BYTES(literal) (const uint8_t *)(literal), sizeof(literal) - 1

/* Names of options, with their heads. */
#define CHUNK \
    "\xa5"    \
    "chunk"
#define COMPRESSED \
    "\xaa"         \
    "compressed"
#define SIGNAL \
    "\xad"     \
    "fluent_signal"

static const uint8_t test_noise[LN_FORWARD_RANDOM] = "0123456789abcdef0123456789ABCDE";

typedef struct wire {
    test_mem mem;
    ln_mem heap;
    ln_forward *f;
    ln_reader *reader;
    ln_buf said;
    ln_buf record;
    int accepts; /* messages are accepted as they come */
    int shows;   /* records are shown */
    int closed;
    uint64_t rows;
    int again; /* calls in the middle of a message */
} wire;

static inline void say(wire *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void say(wire *w, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ln_buf_append(&w->said, text, strlen(text));
}

static inline void wire_open(wire *w, const ln_forward_config *config) {
    *w = (wire){.accepts = 1, .shows = 1};
    ln_mem_init(&w->heap);
    ln_buf_init(&w->said, &w->heap);
    ln_buf_init(&w->record, &w->heap);
    w->f = ln_forward_new(test_mem_init(&w->mem, 1 << 30), config, test_noise);
    w->reader = ln_reader_new(LN_FORMAT_MSGPACK, &config->limits, 0);
    if (!w->f || !w->reader) abort();
}

static inline void wire_close(wire *w) {
    ln_forward_delete(w->f);
    ln_reader_delete(w->reader);
    CHECK_INT(w->mem.held, 0);
    ln_buf_free(&w->said);
    ln_buf_free(&w->record);
    CHECK_INT(w->heap.used, 0);
}

static inline void show_record(wire *w, const uint8_t *bytes, size_t len, size_t *at) {
    static char text[1 << 16];
    msgpack_unpacked u;
    msgpack_unpacked_init(&u);
    if (msgpack_unpack_next(&u, (const char *)bytes, len, at) == MSGPACK_UNPACK_SUCCESS) {
        msgpack_object_print_buffer(text, sizeof text, u.data);
        ln_buf_append(&w->said, "  ", 2);
        ln_buf_append(&w->said, text, strlen(text));
        ln_buf_byte(&w->said, '\n');
    } else {
        say(w, "  no msgpack\n");
        *at = len;
    }
    msgpack_unpacked_destroy(&u);
}

/* Reads what is left of a message, each record in a block of its own size, and gives it to the reader. */
static inline uint64_t read_records(wire *w) {
    uint64_t records = 0;
    for (size_t room; (room = ln_forward_room(w->f)) != 0;) {
        uint8_t *to = malloc(room);
        const ln_batch *batch;
        size_t at = 0;
        if (!to) abort();
        CHECK_INT(ln_forward_read(w->f, to, room - 1), 0);
        CHECK_INT(ln_forward_read(w->f, to, room), room);
        if (w->shows) show_record(w, to, room, &at);
        CHECK_INT(ln_reader_push(w->reader, to, room), LN_OK);
        CHECK_INT(ln_reader_next(w->reader, &batch), LN_OK);
        CHECK_INT(batch->rows, 1);
        records++;
        free(to);
    }
    w->rows += records;
    return records;
}

/* All that can come out now; the last kind. */
static inline int wire_drain(wire *w) {
    ln_forward_event e;
    int kind;
    for (;;) {
        kind = ln_forward_next(w->f, &e);
        w->again += kind == LN_FORWARD_AGAIN;
        if (kind == LN_FORWARD_AGAIN) continue;
        if (kind != LN_FORWARD_MESSAGE && kind != LN_FORWARD_REFUSED) break;
        if (kind == LN_FORWARD_REFUSED) {
            say(w, "refused %s\n", ln_forward_reason_name(e.reason));
            continue;
        }
        say(w, "message %" PRIu64 " %.*s %.*s\n", e.number, (int)e.tag_bytes, e.tag, (int)e.chunk_bytes,
            e.chunk ? e.chunk : "");
        CHECK_INT(read_records(w), e.records);
        if (w->accepts) ln_forward_accepted(w->f, e.number);
    }
    if (kind == LN_FORWARD_CLOSED && !w->closed) say(w, "closed %s: %s\n", ln_forward_reason_name(e.reason), e.text);
    w->closed = kind == LN_FORWARD_CLOSED;
    return kind;
}

static inline int wire_feed(wire *w, const uint8_t *bytes, size_t len) {
    uint8_t *to = ln_forward_space(w->f, len ? len : 1);
    if (!to) abort();
    if (len) memcpy(to, bytes, len);
    ln_forward_commit(w->f, len);
    return wire_drain(w);
}

/* In pieces of `piece` bytes; stops where the connection is over, or waits. */
static inline int wire_feed_pieces(wire *w, const uint8_t *bytes, size_t len, size_t piece) {
    int kind = LN_FORWARD_MORE;
    for (size_t at = 0; at < len && kind == LN_FORWARD_MORE; at += piece)
        kind = wire_feed(w, bytes + at, len - at < piece ? len - at : piece);
    return kind;
}

static inline const char *wire_said(wire *w) {
    ln_buf_byte(&w->said, 0);
    w->said.len--;
    return (const char *)w->said.data;
}

/* The replies as msgpack-c shows them, one a line; they count as sent. */
static inline const char *wire_replies(wire *w) {
    size_t len, at = 0;
    const uint8_t *bytes = ln_forward_replies(w->f, &len);
    ln_buf_clear(&w->said);
    while (at < len) show_record(w, bytes, len, &at);
    ln_forward_replied(w->f, len);
    return wire_said(w);
}

static const ln_forward_config plain = {0};

/* What one connection says to these bytes, given at once and byte by byte. */
static inline void says_with(const ln_forward_config *config, const char *file, int line, const uint8_t *bytes,
                             size_t len, const char *want) {
    wire whole, split;
    wire_open(&whole, config);
    wire_open(&split, config);
    wire_feed(&whole, bytes, len);
    wire_feed_pieces(&split, bytes, len, 1);
    test_text(file, line, "what comes out", wire_said(&whole), want);
    test_text(file, line, "byte by byte", wire_said(&split), want);
    if (split.mem.peak > (64 << 10)) test_fail(file, line, "more memory than bytes");
    wire_close(&whole);
    wire_close(&split);
}

#define SAYS(literal, want) says_with(&plain, __FILE__, __LINE__, BYTES(literal), want)
#define SAYS_WITH(config, literal, want) says_with(config, __FILE__, __LINE__, BYTES(literal), want)

/* A message whose compressed entries are `count` times `unit`. */
static inline void put_gzip(ln_buf *out, ln_mem *mem, const void *unit, size_t len, size_t count) {
    ln_buf entries, packed;
    ln_buf_init(&entries, mem);
    ln_buf_init(&packed, mem);
    for (size_t i = 0; len && i < count; i++) ln_buf_append(&entries, unit, len);
    CHECK_INT(ln_gzip(&packed, mem, entries.data, entries.len, 0), LN_OK);
    ln_buf_append(out, BYTES("\x93\xa1t\xc6"));
    for (int i = 3; i >= 0; i--) ln_buf_byte(out, (uint8_t)(packed.len >> 8 * i));
    ln_buf_append(out, packed.data, packed.len);
    ln_buf_append(out, BYTES("\x81" COMPRESSED "\xa4gzip"));
    ln_buf_free(&entries);
    ln_buf_free(&packed);
}

#endif
