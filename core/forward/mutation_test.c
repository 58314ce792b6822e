/* Good messages, changed at random: what comes out, if only an error, is the same however the bytes are split, and a
 * reader takes every record. The same bytes every time. */
#include "base/test_random.h"
#include "forward/test_forward.h"
#include "forward/test_golden.h"

static size_t mutate(test_random *r, uint8_t *bytes, size_t len, size_t room) {
    for (uint32_t n = 1 + test_random_below(r, 6); n && len; n--) {
        size_t at = test_random_below(r, (uint32_t)len), count = 1 + test_random_below(r, 6);
        switch (test_random_below(r, 5)) {
        case 0: bytes[at] = (uint8_t)test_random_next(r); break;
        case 1: bytes[at] ^= (uint8_t)(1u << test_random_below(r, 8)); break;
        case 2: bytes[at] = (uint8_t) "\xc0\xc1\xc6\xdb\xdd\xdf\xff\x00\x92\x80"[test_random_below(r, 10)]; break;
        case 3:
            if (count > len - at) count = len - at;
            memmove(bytes + at, bytes + at + count, len - at - count);
            len -= count;
            break;
        default:
            if (len + count > room) break;
            memmove(bytes + at + count, bytes + at, len - at);
            len += count;
            break;
        }
    }
    return len;
}

/* The same bytes at once and in pieces of random sizes: the same comes out, whatever they are. */
static int agrees(test_random *r, const uint8_t *bytes, size_t len) {
    wire whole, split;
    int ok;
    wire_open(&whole, &plain);
    wire_open(&split, &plain);
    wire_feed(&whole, bytes, len);
    for (size_t at = 0, n; at < len && !split.closed; at += n) {
        n = 1 + test_random_below(r, 40);
        if (n > len - at) n = len - at;
        wire_feed(&split, bytes + at, n);
    }
    ok = CHECK_TEXT(wire_said(&split), wire_said(&whole));
    wire_close(&whole);
    wire_close(&split);
    return ok;
}

static void mutations_of_good_messages(void) {
    static const char good[] =
        GOLDEN_MESSAGE "\xc0" GOLDEN_FORWARD GOLDEN_PACKED GOLDEN_GZIP "\x92\xa1t\x91\x92\x92\x05\x81\xa1k\x01\x81\xa1"
                       "a\x92\xa1x\x80";
    test_random r = {.state = 20261201};
    uint8_t bytes[2 * sizeof good];
    for (int i = 0; i < 20000; i++) {
        size_t from = test_random_below(&r, 2) ? 0 : test_random_below(&r, sizeof good - 1),
               len = sizeof good - 1 - from;
        memcpy(bytes, good + from, len);
        if (!agrees(&r, bytes, mutate(&r, bytes, len, sizeof bytes))) return;
    }
}

/* Compressed entries are mutated before they are compressed: else all would fail at their sum. */
static void mutations_inside_of_gzip(void) {
    static const char good[] = "\x92\xd7\x00"
                               "eS\xf1\x00\x00\x00\x00\x05\x81\xa1"
                               "a\x01"
                               "\x92\x92\x05\x81\xa1k\xa1v\x83\xa1"
                               "a\x92\x01\x02\xa1"
                               "b\xc4\x02zz\xa1"
                               "c\xcb\x40\x00\x00\x00\x00\x00\x00\x00";
    test_random r = {.state = 7};
    ln_mem heap;
    ln_buf message;
    ln_mem_init(&heap);
    ln_buf_init(&message, &heap);
    for (int i = 0; i < 3000; i++) {
        uint8_t bytes[2 * sizeof good];
        size_t len;
        memcpy(bytes, good, sizeof good - 1);
        len = mutate(&r, bytes, sizeof good - 1, sizeof bytes);
        ln_buf_clear(&message);
        put_gzip(&message, &heap, bytes, len, 1 + test_random_below(&r, 3));
        if (!agrees(&r, message.data, message.len)) break;
    }
    ln_buf_free(&message);
}

static const test_case cases[] = {
    {"mutations of good messages", mutations_of_good_messages},
    {"mutations inside of gzip", mutations_inside_of_gzip},
};

TEST_MAIN(cases)
