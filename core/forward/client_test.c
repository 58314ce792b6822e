/* The sending side: chunks, acknowledgements, connections that break, and a queue that is full. What it sends is read
 * by the receiving side. */
#include "base/test_random.h"
#include "forward/test_pair.h"

static const uint8_t three[] = "\x81\xa1k\x01\x81\xa1k\x02\x81\xa1k\x03";

static void panes_become_records(void) {
    const ln_forward_client_config config = {.tag = "app.x"};
    pair p;
    pair_open(&p, &config, &plain);
    CHECK_INT(ln_forward_client_add(p.c, BYTES("\x81\xa1k\x01\x05"), INT64_C(1700000000000005)), 5);
    ln_forward_client_connected(p.c, test_noise);
    pair_settle(&p, 1000);
    CHECK_TEXT(wire_said(&p.w), "");
    CHECK_INT(ln_forward_client_pending(p.c), 11 + 4 + 11 + 8);
    CHECK_INT(ln_forward_client_flush(p.c), LN_OK);
    pair_settle(&p, 1000);
    CHECK_TEXT(wire_said(&p.w),
               "message 1 app.x MDEyMzQ1NjcAAAAAAAAAAA==\n"
               "  {\"k\"=>1, \"$time\"=>(ext: -1)\"\\x00\\x00N eS\\xf1\\x00\", \"$tag\"=>\"app.x\"}\n"
               "  {\"value\"=>5, \"$time\"=>(ext: -1)\"\\x00\\x00N eS\\xf1\\x00\", \"$tag\"=>\"app.x\"}\n");
    CHECK_INT(ln_forward_client_pending(p.c), 0);
    CHECK_INT(ln_forward_client_counted(p.c)->acknowledged, 1);
    pair_close(&p);
}

static void the_bytes_are_those_of_the_protocol(void) {
    static const char plain_bytes[] =
        "\x93\xa1t\xc6\x00\x00\x00\x0f\x92\xd7\x00\x00\x00\x00\x05\x00\x00\x00\x00\x81\xa1k\x01"
        "\x82\xa4size\x01" CHUNK "\xb8MDEyMzQ1NjcAAAAAAAAAAA==";
    const ln_forward_client_config config = {.tag = "t"};
    const uint8_t *bytes;
    size_t len;
    pair p;
    pair_open(&p, &config, &plain);
    ln_forward_client_connected(p.c, test_noise);
    ln_forward_client_add(p.c, three, 4, 5000000);
    ln_forward_client_flush(p.c);
    bytes = ln_forward_client_output(p.c, &len);
    CHECK(len == sizeof plain_bytes - 1 && memcmp(bytes, plain_bytes, len) == 0);
    pair_close(&p);
}

/* Event times have 32 bits of seconds: what lies outside is cut to them. */
static void times_at_the_ends(void) {
    static const struct {
        int64_t us;
        const char *stamp;
    } times[] = {
        {-1, "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"},
        {INT64_MIN, "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"},
        {999999, "\\xeek\\x18`\\x00\\x00\\x00\\x00"}, /* 999,999,000 ns */
        {INT64_MAX, "\\xeek'\\xfc\\xff\\xff\\xff\\xff"},
    };
    const ln_forward_client_config config = {.tag = "t", .fast = 1};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        char want[160];
        pair p;
        pair_open(&p, &config, &plain);
        ln_forward_client_connected(p.c, test_noise);
        ln_forward_client_add(p.c, BYTES("\x80"), times[i].us);
        ln_forward_client_flush(p.c);
        pair_settle(&p, 1000);
        snprintf(want, sizeof want, "message 1 t \n  {\"$time\"=>(ext: -1)\"%s\", \"$tag\"=>\"t\"}\n", times[i].stamp);
        CHECK_TEXT(wire_said(&p.w), want);
        pair_close(&p);
    }
}

/* Every setting carries every value once, in order, over any size of pieces. */
static void round_trips(void) {
    const ln_forward_config keyed = {.shared_key = "secret"};
    for (int setting = 0; setting < 8; setting++) {
        for (size_t piece = 1; piece < 100000; piece *= 7) {
            const ln_forward_client_config config = {
                .tag = "t",
                .gzip = setting & 1,
                .fast = (setting & 2) != 0,
                .shared_key = setting & 4 ? "secret" : NULL,
                .chunk_bytes = 60,
            };
            pair p;
            pair_open(&p, &config, setting & 4 ? &keyed : &plain);
            p.w.shows = 0;
            for (int i = 0; i < 5; i++) CHECK_INT(ln_forward_client_add(p.c, three, sizeof three - 1, 0), 12);
            ln_forward_client_flush(p.c);
            ln_forward_client_connected(p.c, test_noise);
            pair_settle(&p, piece);
            CHECK_INT(p.w.rows, 15);
            CHECK_INT(ln_forward_counted(p.w.f)->messages, 4);
            CHECK_INT(ln_forward_client_counted(p.c)->chunks, 4);
            CHECK_INT(ln_forward_client_counted(p.c)->acknowledged, setting & 2 ? 0 : 4);
            CHECK_INT(ln_forward_client_pending(p.c), 0);
            CHECK_INT(ln_forward_client_waits_since(p.c), INT64_MAX);
            pair_close(&p);
        }
    }
}

static void gzip_is_smaller(void) {
    ln_forward_client_config config = {.tag = "t", .chunk_bytes = 1 << 20};
    size_t len[2];
    for (int gzip = 0; gzip < 2; gzip++) {
        pair p;
        config.gzip = gzip;
        pair_open(&p, &config, &plain);
        p.w.shows = 0;
        for (int i = 0; i < 1000; i++) ln_forward_client_add(p.c, three, sizeof three - 1, 0);
        ln_forward_client_flush(p.c);
        len[gzip] = ln_forward_client_pending(p.c);
        CHECK(p.mem.held < len[gzip] + 8192); /* a chunk that waits holds its bytes and no more */
        ln_forward_client_connected(p.c, test_noise);
        pair_settle(&p, 1 << 20);
        CHECK_INT(p.w.rows, 3000);
        pair_close(&p);
    }
    CHECK(len[1] * 20 < len[0]);
}

/* ---- acknowledgements ------------------------------------------------------------------------------------------ */

/* A client with three chunks on their way, of which nothing has come back. */
static void open_three(pair *p) {
    const ln_forward_client_config config = {.tag = "t"};
    size_t len;
    pair_open(p, &config, &plain);
    ln_forward_client_connected(p->c, test_noise);
    for (size_t i = 0; i < 3; i++) {
        ln_forward_client_add(p->c, three + 4 * i, 4, 0);
        ln_forward_client_flush(p->c);
    }
    for (int i = 0; i < 3; i++) {
        ln_forward_client_output(p->c, &len);
        ln_forward_client_sent(p->c, len, 100 + i);
    }
    ln_forward_client_output(p->c, &len);
    CHECK_INT(len, 0);
}

#define ACK(number) \
    "\x81\xa3"      \
    "ack\xb8MDEyMzQ1Njc" number "AAAAAAAAAA=="

static void acknowledgements_in_any_order(void) {
    pair p;
    open_three(&p);
    CHECK_INT(ln_forward_client_waits_since(p.c), 100);
    CHECK_INT(ln_forward_client_feed(p.c, BYTES(ACK("B"))), LN_OK);
    CHECK_INT(ln_forward_client_waits_since(p.c), 100);
    CHECK_INT(ln_forward_client_feed(p.c, BYTES(ACK("A"))), LN_OK);
    CHECK_INT(ln_forward_client_waits_since(p.c), 102);
    CHECK(ln_forward_client_pending(p.c) > 0);
    CHECK_INT(ln_forward_client_feed(p.c, BYTES(ACK("C"))), LN_OK);
    CHECK_INT(ln_forward_client_pending(p.c), 0);
    CHECK_INT(ln_forward_client_counted(p.c)->acknowledged, 3);
    CHECK_INT(ln_forward_client_counted(p.c)->strange, 0);
    pair_close(&p);
}

static void strange_acknowledgements_count_and_change_nothing(void) {
    pair p;
    size_t pending;
    open_three(&p);
    pending = ln_forward_client_pending(p.c);
    CHECK_INT(ln_forward_client_feed(p.c, BYTES(ACK("z") "\x81\xa3"
                                                         "ack\xa0\x82\xa1x\x90\xa3"
                                                         "ack\xa2no")),
              LN_OK);
    CHECK_INT(ln_forward_client_counted(p.c)->strange, 3);
    CHECK_INT(ln_forward_client_pending(p.c), pending);
    CHECK_INT(ln_forward_client_feed(p.c, BYTES(ACK("A") ACK("A"))), LN_OK);
    CHECK_INT(ln_forward_client_counted(p.c)->strange, 4);
    CHECK_INT(ln_forward_client_counted(p.c)->acknowledged, 1);
    pair_close(&p);
}

static void what_is_no_acknowledgement_ends_the_connection(void) {
    static const struct {
        const uint8_t *bytes;
        size_t len;
    } wrong[] = {{BYTES("\xc0")},
                 {BYTES("\x80")},
                 {BYTES("\x05")},
                 {BYTES("\xa3"
                        "ack")},
                 {BYTES("\x81\xa3"
                        "ack\x05")},
                 {BYTES("\x81\xa3"
                        "ack\xc4\x01x")},
                 {BYTES("\x92\x01\x02")},
                 {BYTES("\xc1")},
                 {BYTES("\x81\xa3"
                        "ack\xc5\xff\xff")},
                 {BYTES("\xdf\xff\xff\xff\xff")}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t len;
        pair p;
        open_three(&p);
        CHECK(ln_forward_client_feed(p.c, wrong[i].bytes, wrong[i].len) != LN_OK);
        CHECK(*ln_forward_client_error(p.c));
        CHECK_INT(ln_forward_client_established(p.c), 0);
        CHECK_INT(ln_forward_client_feed(p.c, BYTES(ACK("A"))), LN_ECLOSED);
        ln_forward_client_output(p.c, &len);
        CHECK_INT(len, 0);
        ln_forward_client_disconnected(p.c);
        CHECK_INT(ln_forward_client_counted(p.c)->repeated, 3);
        pair_close(&p);
    }
}

/* ---- connections that break ------------------------------------------------------------------------------------ */

static void unacknowledged_chunks_go_again_in_order(void) {
    pair p;
    open_three(&p);
    ln_forward_client_feed(p.c, BYTES(ACK("B")));
    ln_forward_client_disconnected(p.c);
    CHECK_INT(ln_forward_client_waits_since(p.c), INT64_MAX);
    CHECK_INT(ln_forward_client_counted(p.c)->repeated, 2);
    ln_forward_client_connected(p.c, test_noise);
    CHECK_INT(ln_forward_client_counted(p.c)->repeated, 2);
    p.w.shows = 0;
    pair_settle(&p, 5);
    CHECK_TEXT(wire_said(&p.w), "message 1 t MDEyMzQ1NjcAAAAAAAAAAA==\nmessage 2 t MDEyMzQ1NjcCAAAAAAAAAA==\n");
    CHECK_INT(ln_forward_client_pending(p.c), 0);
    pair_close(&p);
}

/* Half of an acknowledgement, and half of a chunk, are worth nothing on the next connection. */
static void halves_are_forgotten(void) {
    const ln_forward_client_config config = {.tag = "t"};
    size_t len;
    pair p;
    pair_open(&p, &config, &plain);
    p.w.shows = 0;
    ln_forward_client_add(p.c, three, sizeof three - 1, 0);
    ln_forward_client_flush(p.c);
    ln_forward_client_connected(p.c, test_noise);
    ln_forward_client_output(p.c, &len);
    ln_forward_client_sent(p.c, len / 2, 0);
    CHECK_INT(ln_forward_client_feed(p.c, BYTES("\x81\xa3"
                                                "ac")),
              LN_OK);
    ln_forward_client_disconnected(p.c);
    CHECK_INT(ln_forward_client_counted(p.c)->repeated, 1);
    ln_forward_client_output(p.c, &len);
    CHECK_INT(len, 0);
    ln_forward_client_connected(p.c, test_noise);
    pair_settle(&p, 1000);
    CHECK_INT(p.w.rows, 3);
    CHECK_INT(ln_forward_client_pending(p.c), 0);
    pair_close(&p);
}

/* Connections break at random moments: each value arrives at least once all the same, for the first time in order. */
static void connections_that_break_at_random(void) {
    test_random r = {.state = 5};
    ln_mem heap;
    ln_mem_init(&heap);
    for (int round = 0; round < 200; round++) {
        const ln_forward_client_config config = {
            .tag = "t", .gzip = round & 1, .chunk_bytes = 100, .queue_bytes = 2000};
        uint64_t next = 0, seen = 0;
        ln_buf all;
        pair p;
        ln_buf_init(&all, &heap);
        pair_open(&p, &config, &plain);
        ln_forward_client_connected(p.c, test_noise);
        while (next < 200 || ln_forward_client_pending(p.c)) {
            uint8_t value[] = {0x81, 0xa1, 'k', 0xcc, (uint8_t)next};
            if (next < 200 && ln_forward_client_add(p.c, value, sizeof value, 0)) next++;
            if (next == 200 || test_random_below(&r, 8) == 0) ln_forward_client_flush(p.c);
            p.w.accepts = test_random_below(&r, 4) != 0;
            if (test_random_below(&r, 3) == 0) pair_carry(&p, 1 + test_random_below(&r, 80));
            if (p.w.accepts) ln_forward_accepted(p.w.f, ln_forward_counted(p.w.f)->messages);
            if (test_random_below(&r, 40) == 0) {
                ln_buf_append(&all, p.w.said.data, p.w.said.len);
                wire_close(&p.w);
                wire_open(&p.w, &plain);
                ln_forward_client_connected(p.c, test_noise);
            }
        }
        ln_buf_append(&all, p.w.said.data, p.w.said.len);
        ln_buf_byte(&all, 0);
        for (const char *at = (const char *)all.data; (at = strstr(at, "{\"k\"=>")) != NULL; at++) {
            uint64_t k = strtoull(at + 6, NULL, 10);
            if (k == seen) seen++;
            else CHECK(k < seen);
        }
        CHECK_INT(seen, 200);
        ln_buf_free(&all);
        pair_close(&p);
    }
}

/* ---- bounds ---------------------------------------------------------------------------------------------------- */

static void a_full_queue_takes_no_more(void) {
    const ln_forward_client_config config = {.tag = "t", .chunk_bytes = 100, .queue_bytes = 1000};
    size_t taken = 0, n;
    pair p;
    pair_open(&p, &config, &plain);
    p.w.shows = 0;
    while ((n = ln_forward_client_add(p.c, three, sizeof three - 1, 0)) == sizeof three - 1) taken += n;
    CHECK_INT(n % 4, 0);
    taken += n;
    CHECK(ln_forward_client_pending(p.c) <= 1000);
    CHECK(ln_forward_client_pending(p.c) > 900);
    CHECK_INT(ln_forward_client_add(p.c, three, sizeof three - 1, 0), 0);
    CHECK_INT(ln_forward_client_counted(p.c)->values, taken / 4);
    ln_forward_client_connected(p.c, test_noise);
    pair_settle(&p, 1000);
    CHECK_INT(ln_forward_client_add(p.c, three, sizeof three - 1, 0), sizeof three - 1);
    ln_forward_client_flush(p.c);
    pair_settle(&p, 1000);
    CHECK_INT(p.w.rows, taken / 4 + 3);
    pair_close(&p);
}

static void a_value_larger_than_the_queue_goes_alone(void) {
    const ln_forward_client_config config = {.tag = "t", .chunk_bytes = 100, .queue_bytes = 200};
    static uint8_t large[1006] = "\x81\xa1k\xc5\x03\xe8";
    pair p;
    pair_open(&p, &config, &plain);
    p.w.shows = 0;
    CHECK_INT(ln_forward_client_add(p.c, three, 4, 0), 4);
    CHECK_INT(ln_forward_client_add(p.c, large, sizeof large, 0), 0);
    ln_forward_client_flush(p.c);
    ln_forward_client_connected(p.c, test_noise);
    pair_settle(&p, 100);
    CHECK_INT(ln_forward_client_add(p.c, large, sizeof large, 0), sizeof large);
    CHECK_INT(ln_forward_client_add(p.c, three, 4, 0), 0);
    pair_settle(&p, 100);
    CHECK_INT(ln_forward_client_pending(p.c), 0);
    CHECK_INT(p.w.rows, 2);
    pair_close(&p);
}

static void names_that_no_peer_could_take(void) {
    char name[300];
    const ln_forward_client_config wrong[] = {
        {.tag = ""},   {.tag = "a/b"}, {.tag = "a b"}, {.tag = "t", .host = name}, {.tag = "t", .user = name},
        {.tag = name},
    };
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ln_forward_client *c;
        test_mem m;
        CHECK_INT(ln_forward_client_new(test_mem_init(&m, 1 << 20), &wrong[i], test_noise, &c), LN_EINVALID);
        CHECK(!c);
        CHECK_INT(m.held, 0);
    }
}

static const test_case cases[] = {
    {"panes become records", panes_become_records},
    {"the bytes are those of the protocol", the_bytes_are_those_of_the_protocol},
    {"times at the ends", times_at_the_ends},
    {"round trips", round_trips},
    {"gzip is smaller", gzip_is_smaller},
    {"acknowledgements in any order", acknowledgements_in_any_order},
    {"strange acknowledgements count and change nothing", strange_acknowledgements_count_and_change_nothing},
    {"what is no acknowledgement ends the connection", what_is_no_acknowledgement_ends_the_connection},
    {"unacknowledged chunks go again in order", unacknowledged_chunks_go_again_in_order},
    {"halves are forgotten", halves_are_forgotten},
    {"connections that break at random", connections_that_break_at_random},
    {"a full queue takes no more", a_full_queue_takes_no_more},
    {"a value larger than the queue goes alone", a_value_larger_than_the_queue_goes_alone},
    {"names that no peer could take", names_that_no_peer_could_take},
};

TEST_MAIN(cases)
