/* Fluent Forward where memory is short: every allocation fails once, on either side, and nothing is lost, leaked or
 * acknowledged that has not come through. */
#include "forward/test_golden.h"
#include "forward/test_pair.h"

static const ln_forward_config keyed = {.shared_key = "secret"};

/* Feeds all modes to a connection whose allocation number `n` and all later ones fail; 1 where none was that late. */
static int receive_with(uint64_t n, const ln_forward_config *config) {
    static const uint8_t bytes[] = GOLDEN_MESSAGE GOLDEN_FORWARD GOLDEN_PACKED GOLDEN_GZIP;
    static uint8_t room[1 << 12];
    ln_forward_event e;
    ln_forward *f;
    test_mem m;
    uint64_t whole = 0;
    int kind = LN_FORWARD_MORE;
    test_mem_init(&m, 1 << 30);
    m.fail_at = n;
    f = ln_forward_new(&m.mem, config, test_noise);
    for (size_t at = 0; f && at + 1 < sizeof bytes && kind != LN_FORWARD_CLOSED; at++) {
        uint8_t *to = ln_forward_space(f, 1);
        if (!to) break;
        *to = bytes[at];
        ln_forward_commit(f, 1);
        while ((kind = ln_forward_next(f, &e)) == LN_FORWARD_MESSAGE) {
            const ln_forward_counts *counts = ln_forward_counted(f);
            uint64_t acknowledged = counts->acknowledged;
            size_t len = ln_forward_read(f, room, sizeof room);
            whole += len == 31 * e.records; /* bytes of {a: 1} with what is added */
            CHECK_INT(ln_forward_room(f), 0);
            ln_forward_accepted(f, e.number);
            if (counts->acknowledged > acknowledged) CHECK_INT(whole, e.number);
        }
    }
    if (f && kind == LN_FORWARD_CLOSED) CHECK_INT(e.reason, LN_FORWARD_MEMORY);
    ln_forward_delete(f);
    CHECK_INT(m.held, 0);
    return m.calls < n;
}

static void every_allocation_of_a_connection(void) {
    uint64_t n = 1;
    while (n < 1000 && !receive_with(n, &plain)) n++;
    CHECK(n > 5 && n < 1000);
}

/* A session of a client, whose allocation `n` fails, and once again when there is memory; a handshake comes first. */
static int send_with(uint64_t n, int gzip) {
    const ln_forward_client_config config = {.tag = "t", .shared_key = "secret", .gzip = gzip, .chunk_bytes = 50};
    ln_forward_client *c;
    int err, missed;
    pair p;
    test_mem_init(&p.mem, 1 << 30);
    p.mem.fail_at = n;
    err = ln_forward_client_new(&p.mem.mem, &config, test_noise, &c);
    if (err) {
        CHECK_INT(err, LN_ENOMEM);
        CHECK_INT(p.mem.held, 0);
        return 0;
    }
    p.c = c;
    wire_open(&p.w, &keyed);
    p.w.shows = 0;
    ln_forward_client_connected(c, test_noise);
    pair_settle(&p, 1000);
    for (uint8_t sent = 0; sent < 20;) {
        uint8_t value[] = {0x81, 0xa1, 'k', sent};
        if (ln_forward_client_add(c, value, sizeof value, 0)) {
            sent++;
        } else {
            CHECK(p.mem.fail_at && p.mem.calls >= n);
            p.mem.fail_at = 0; /* there is memory again */
        }
    }
    missed = p.mem.calls < n;
    p.mem.fail_at = 0;
    CHECK_INT(ln_forward_client_flush(c), LN_OK);
    wire_close(&p.w);
    wire_open(&p.w, &keyed);
    p.w.shows = 0;
    ln_forward_client_connected(c, test_noise);
    pair_settle(&p, 1000);
    CHECK(p.w.rows <= 20);
    CHECK_INT(ln_forward_client_pending(c), 0);
    CHECK_INT(ln_forward_client_counted(c)->values, 20);
    pair_close(&p);
    return missed;
}

static void every_allocation_of_a_client(void) {
    for (int gzip = 0; gzip < 2; gzip++) {
        uint64_t n = 1;
        while (n < 1000 && !send_with(n, gzip)) n++;
        CHECK(n > 5 && n < 1000);
    }
}

/* A thousand connections that have gone quiet hold little, whatever went through them. */
static void quiet_connections_hold_little(void) {
    const ln_forward_config config = {.inflated_ratio = 2000};
    ln_mem heap;
    ln_buf message;
    wire w;
    ln_mem_init(&heap);
    ln_buf_init(&message, &heap);
    put_gzip(&message, &heap, "\x92\x05\x80", 3, 100000);
    ln_buf_append(&message, BYTES("\x92\xa1t\xc6\x00\x30\x00\x00"));
    for (int i = 0; i < 1 << 20; i++) ln_buf_append(&message, "\x92\x05\x80", 3);
    wire_open(&w, &config);
    w.shows = 0;
    CHECK_INT(wire_feed_pieces(&w, message.data, message.len, 1 << 16), LN_FORWARD_MORE);
    CHECK_INT(w.rows, 100000 + (1 << 20));
    CHECK(w.again > 10); /* others have their turns while large messages are checked */
    CHECK(w.mem.held < 20000);
    wire_close(&w);
    ln_buf_free(&message);
}

static const test_case cases[] = {
    {"every allocation of a connection", every_allocation_of_a_connection},
    {"every allocation of a client", every_allocation_of_a_client},
    {"quiet connections hold little", quiet_connections_hold_little},
};

TEST_MAIN(cases)
