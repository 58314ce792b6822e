/* Fluent Forward under fuzzing: what a connection says to any bytes is the same however they are split, a reader takes
 * every record that comes out, and no more memory is held than the limits allow. And a client stands any peer.
 *
 *   scripts/fuzz 600 forward_fuzz
 *
 * An input is one byte of setting, then bytes: a stream for a connection, entries to be compressed for it, or a peer's
 * answer to a client. */
#include "base/test_random.h"
#include "forward/test_pair.h"

enum { MOST = 32 << 20 /* bytes */ };

static const ln_forward_config small = {
    .limits = {.record_bytes = 200, .nesting = 4, .elements = 16},
    .message_bytes = 1000,
    .elements = 60,
    .inflated_bytes = 2000,
    .unaccepted_max = 4,
};
static const ln_forward_config keyed = {.shared_key = "secret"};

static void open_within(wire *w, const ln_forward_config *config) {
    wire_open(w, config);
    w->mem.most = MOST;
}

/* The same bytes at once and in pieces. */
static void to_connection(const ln_forward_config *config, const uint8_t *bytes, size_t len, uint64_t seed) {
    test_random r = {.state = seed};
    wire whole, split;
    open_within(&whole, config);
    open_within(&split, config);
    wire_feed(&whole, bytes, len);
    for (size_t at = 0, n; at < len && !split.closed; at += n) {
        n = 1 + test_random_below(&r, 30);
        if (n > len - at) n = len - at;
        wire_feed(&split, bytes + at, n);
    }
    CHECK_TEXT(wire_said(&split), wire_said(&whole));
    wire_close(&whole);
    wire_close(&split);
}

static void as_entries(const uint8_t *bytes, size_t len) {
    ln_mem heap;
    ln_buf message;
    ln_mem_init(&heap);
    ln_buf_init(&message, &heap);
    put_gzip(&message, &heap, bytes, len, 1);
    to_connection(&plain, message.data, message.len, 1);
    ln_buf_free(&message);
}

static void to_client(const uint8_t *bytes, size_t len, const char *key) {
    const ln_forward_client_config config = {.tag = "t", .shared_key = key};
    pair p;
    pair_open(&p, &config, &plain);
    ln_forward_client_add(p.c, BYTES("\x81\xa1k\x01"), 0);
    ln_forward_client_flush(p.c);
    ln_forward_client_connected(p.c, test_noise);
    for (size_t at = 0; at < len; at++) {
        size_t out;
        if (ln_forward_client_feed(p.c, bytes + at, 1)) break;
        ln_forward_client_output(p.c, &out);
        ln_forward_client_sent(p.c, out, 0);
    }
    CHECK(!key || !ln_forward_client_established(p.c)); /* nobody guesses a digest */
    CHECK(p.mem.held < 1 << 16);
    pair_close(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    if (!len) return 0;
    switch (bytes[0] % 6) {
    case 0: to_connection(&plain, bytes + 1, len - 1, bytes[0]); break;
    case 1: to_connection(&small, bytes + 1, len - 1, bytes[0]); break;
    case 2: to_connection(&keyed, bytes + 1, len - 1, bytes[0]); break;
    case 3: as_entries(bytes + 1, len - 1); break;
    case 4: to_client(bytes + 1, len - 1, NULL); break;
    default: to_client(bytes + 1, len - 1, "secret"); break;
    }
    if (test_failures) abort();
    return 0;
}
