/* Compressed entries: what inflates to too much, in all or in one record, and what is broken. */
#include "forward/test_forward.h"

#define CUT_ENTRY "closed malformed: byte 0: the entries of the message end in the middle of one\n"
#define TOO_LARGE " a record is larger than limits.record_bytes allows, or a message too large\n"

/* Feeds it; the text that comes out, and the records. */
static void says_of_bomb(const ln_forward_config *config, const ln_buf *message, const char *want, uint64_t rows,
                         size_t peak) {
    wire w;
    wire_open(&w, config);
    w.shows = 0;
    wire_feed(&w, message->data, message->len);
    CHECK_TEXT(wire_said(&w), want);
    CHECK_INT(w.rows, rows);
    if (!CHECK(w.mem.peak <= peak)) fprintf(stderr, "  peak %zu\n", w.mem.peak);
    wire_close(&w);
}

#define BOMB "closed inflate: byte 0: the compressed entries inflate to more than is allowed\n"

static void decompression_bombs(void) {
    ln_mem heap;
    ln_buf small, huge;
    ln_forward_config config = {.inflated_bytes = 1 << 20, .inflated_ratio = 10000};
    ln_mem_init(&heap);
    ln_buf_init(&small, &heap);
    ln_buf_init(&huge, &heap);
    put_gzip(&small, &heap, "\x92\x05\x80", 3, 20000); /* 60,000 bytes: free of the ratio */
    put_gzip(&huge, &heap, "\x92\x05\x80", 3, 10 << 20);
    says_of_bomb(&plain, &small, "message 1 t \n", 20000, 1 << 20);
    /* 30 MiB of 30 KB: beyond the ratio of 200 after some 6 MB; a window, and no more, is held meanwhile */
    CHECK(huge.len < 40000);
    says_of_bomb(&plain, &huge, BOMB, 0, 4 << 20);
    says_of_bomb(&config, &huge, BOMB, 0, 4 << 20);
    config.inflated_bytes = 0;
    ln_buf_clear(&huge);
    put_gzip(&huge, &heap, "\x92\x05\x80", 3, 1 << 20);
    says_of_bomb(&config, &huge, "message 1 t \n", 1 << 20, 4 << 20);
    ln_buf_free(&small);
    ln_buf_free(&huge);
}

/* One record that promises to be long inside of what is compressed. */
static void a_bomb_of_one_record(void) {
    enum { LEN = 8 << 20 };
    ln_mem heap;
    ln_buf entry, message;
    ln_mem_init(&heap);
    ln_buf_init(&entry, &heap);
    ln_buf_init(&message, &heap);
    ln_buf_append(&entry, BYTES("\x92\x05\x81\xa1"
                                "a\xc6\x00\x80\x00\x00"));
    for (int i = 0; i < LEN; i++) ln_buf_byte(&entry, 'x');
    put_gzip(&message, &heap, entry.data, entry.len, 1);
    says_of_bomb(&plain, &message, "closed limit: byte 0:" TOO_LARGE, 0, 1 << 20);
    ln_buf_free(&entry);
    ln_buf_free(&message);
}

static void broken_gzip(void) {
    ln_mem heap;
    ln_buf good;
    static const char *const why = "closed inflate: byte 0: the compressed entries are no whole gzip\n";
    ln_mem_init(&heap);
    ln_buf_init(&good, &heap);
    put_gzip(&good, &heap, "\x92\x05\x80", 3, 100);
    for (size_t i = 8; i + 17 < good.len; i++) {
        wire w;
        if (i >= 12 && i < 18) continue; /* flags, time and system of the header: read over, or as something else */
        good.data[i] ^= 0x55;
        wire_open(&w, &plain);
        wire_feed(&w, good.data, good.len);
        if (!CHECK(w.closed && !w.rows)) fprintf(stderr, "  byte %zu: %s", i, wire_said(&w));
        wire_close(&w);
        good.data[i] ^= 0x55;
    }
    SAYS("\x93\xa1t\xc4\x00\x81" COMPRESSED "\xa4gzip", why);
    SAYS("\x93\xa1t\xc4\x03\x92\x05\x80\x81" COMPRESSED "\xa4gzip", why);
    /* a whole member, and then the beginning of another; then no gzip; then entries cut short */
    SAYS("\x93\xa1t\xc4\x1a\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x9b\xc4\xda\x00\x00\xe9\xc2\x19\x91\x03\x00\x00\x00"
         "\x1f\x8b\x08\x81" COMPRESSED "\xa4gzip",
         why);
    SAYS("\x93\xa1t\xc4\x18\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x9b\xc4\xda\x00\x00\xe9\xc2\x19\x91\x03\x00\x00\x00"
         "\x00\x81" COMPRESSED "\xa4gzip",
         why);
    ln_buf_clear(&good);
    put_gzip(&good, &heap, "\x92\x05", 2, 1);
    says_of_bomb(&plain, &good, CUT_ENTRY, 0, 1 << 20);
    ln_buf_free(&good);
}

static const test_case cases[] = {
    {"decompression bombs", decompression_bombs},
    {"a bomb of one record", a_bomb_of_one_record},
    {"broken gzip", broken_gzip},
};

TEST_MAIN(cases)
