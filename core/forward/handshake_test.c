/* The handshake, from both sides: who is let in, who is not, and what neither side believes of the other. */
#include "forward/handshake.h"
#include "forward/test_pair.h"

static const ln_forward_user users[] = {{"bob", "word"}, {"ann", "pass"}};
static const ln_forward_config keyed = {.host = "server", .shared_key = "secret"};
static const ln_forward_config keyed_users = {.host = "server", .shared_key = "secret", .user = users, .users = 2};
static const ln_forward_config only_users = {.host = "server", .user = users, .users = 2};

/* By another program's SHA-512. */
#define SALT "30313233343536373839616263646566"
#define NONCE "0123456789abcdef"
#define KEY_DIGEST                                                     \
    "a6b6906a6f8c171ab46e5f52f83cd5395492a6eebb8c60ca1db71697668e998d" \
    "a6f91253bb59db4869c26defed9bc0df603e728156f2f72ea7e325b31ac6234a"
#define PASSWORD_DIGEST                                                \
    "c061c2134d0325eafb82277cb312e7ad6cfe4c6bf1b9d265d6a64ad4cfef2ee1" \
    "2d9299caa070fa386f5458fbdc2eae56b9d641a8bc312f5480536e348bb9c7ac"
#define PONG_DIGEST                                                    \
    "bc68b7fe762dbd680d99e3c27e5489b595f06adadb25429c5ee6ad1b6e270a92" \
    "d9937f845588d559f514e1dc3dd38fff0614541b5c913c293c6a41e6e74d2ae0"

#define PING           \
    "\x96\xa4PING\xa6" \
    "client\xd9\x20" SALT "\xd9\x80"

static void the_bytes_are_those_of_the_protocol(void) {
    const ln_forward_client_config config = {
        .host = "client", .shared_key = "secret", .user = "ann", .password = "pass"};
    static const char ping[] = PING KEY_DIGEST "\xa3"
                                               "ann\xd9\x80" PASSWORD_DIGEST;
    const uint8_t *bytes;
    size_t len;
    pair p;
    pair_open(&p, &config, &keyed_users);
    ln_forward_client_connected(p.c, (const uint8_t *)NONCE);
    bytes = ln_forward_replies(p.w.f, &len);
    ln_forward_client_feed(p.c, bytes, len);
    CHECK_TEXT(wire_replies(&p.w), "  [\"HELO\", {\"nonce\"=>\"" NONCE "\", \"auth\"=>\"0123456789ABCDE\\x00\", "
                                   "\"keepalive\"=>true}]\n");
    bytes = ln_forward_client_output(p.c, &len);
    CHECK(len == sizeof ping - 1 && memcmp(bytes, ping, len) == 0);
    wire_feed(&p.w, bytes, len);
    ln_forward_client_sent(p.c, len, 0);
    CHECK_INT(ln_forward_admitted(p.w.f), 1);
    bytes = ln_forward_replies(p.w.f, &len);
    CHECK_INT(ln_forward_client_feed(p.c, bytes, len), LN_OK);
    CHECK_INT(ln_forward_client_established(p.c), 1);
    CHECK_TEXT(wire_replies(&p.w), "  [\"PONG\", true, \"\", \"server\", \"" PONG_DIGEST "\"]\n");
    pair_close(&p);
}

/* Tries a connection: whether it is admitted, and what the client says to it. */
static void try(int line, const ln_forward_config *server, const char *key, const char *user, const char *password,
                const char *error) {
    const ln_forward_client_config config = {.shared_key = key, .user = user, .password = password};
    int good = !error;
    pair p;
    pair_open(&p, &config, server);
    p.w.shows = 0;
    ln_forward_client_connected(p.c, test_noise);
    ln_forward_client_add(p.c, BYTES("\x81\xa1k\x01"), 0);
    ln_forward_client_flush(p.c);
    pair_settle(&p, 7);
    test_int(__FILE__, line, "admitted", ln_forward_admitted(p.w.f), good);
    test_int(__FILE__, line, "established", ln_forward_client_established(p.c), good);
    test_int(__FILE__, line, "rows", (int64_t)p.w.rows, good);
    test_int(__FILE__, line, "pending", ln_forward_client_pending(p.c) == 0, good);
    test_text(__FILE__, line, "error", ln_forward_client_error(p.c), error ? error : "");
    pair_close(&p);
}
#define TRY(...) try(__LINE__, __VA_ARGS__)

#define REFUSES "the peer refuses the shared key, the user or the password"

static void who_is_let_in(void) {
    TRY(&keyed, "secret", NULL, NULL, NULL);
    TRY(&keyed, "secret", "ann", "whatever", NULL); /* nobody asks for users here */
    TRY(&keyed, "Secret", NULL, NULL, REFUSES);
    TRY(&keyed, "", NULL, NULL, REFUSES);
    TRY(&keyed_users, "secret", "ann", "pass", NULL);
    TRY(&keyed_users, "secret", "bob", "word", NULL);
    TRY(&keyed_users, "secret", "ann", "word", REFUSES);
    TRY(&keyed_users, "secret", "ann", "", REFUSES);
    TRY(&keyed_users, "secret", "eve", "pass", REFUSES);
    TRY(&keyed_users, "secret", "eve", "", REFUSES);
    TRY(&keyed_users, "secret", NULL, NULL, REFUSES);
    TRY(&keyed_users, "wrong", "ann", "pass", REFUSES);
}

/* Where users are given and no key, they must still prove who they are. */
static void users_without_a_key_are_asked_all_the_same(void) {
    TRY(&only_users, "", "ann", "pass", NULL);
    TRY(&only_users, NULL, "ann", "pass", NULL);
    TRY(&only_users, NULL, "ann", "wrong", REFUSES);
    TRY(&only_users, NULL, "", "", REFUSES);
    TRY(&only_users, "secret", "ann", "pass", REFUSES);
    TRY(&only_users, NULL, NULL, NULL, "the peer asks for a handshake: give this side the shared key");
}

/* ---- what comes instead of a PING ------------------------------------------------------------------------------ */

static void forget_helo(wire *w) {
    CHECK(strstr(wire_replies(w), "HELO") != NULL);
    ln_buf_clear(&w->said);
}

static void denied(int line, const ln_forward_config *config, const uint8_t *bytes, size_t len, const char *why,
                   const char *pong) {
    char want[256];
    wire w;
    snprintf(want, sizeof want, "closed denied: byte 0: %s\n", why);
    wire_open(&w, config);
    forget_helo(&w);
    wire_feed_pieces(&w, bytes, len, 1);
    test_text(__FILE__, line, "why", wire_said(&w), want);
    test_int(__FILE__, line, "admitted", ln_forward_admitted(w.f), 0);
    test_text(__FILE__, line, "PONG", wire_replies(&w), pong);
    wire_close(&w);
}

static void a_message_before_the_ping(void) {
    static const char *const first = "a PING must come first";
    static const char *const pong = "  [\"PONG\", false, \"a PING must come first\", \"\", \"\"]\n";
    const ln_forward_config *const configs[] = {&keyed, &keyed_users, &only_users};
    for (int i = 0; i < 3; i++) {
        denied(__LINE__, configs[i], BYTES("\x93\xa1t\x05\xa0"), first, pong);
        denied(__LINE__, configs[i], BYTES("\x92\xa1t\xa0"), first, pong);
        denied(__LINE__, configs[i], BYTES("\x96\xa4PONG\x01\x02\x03\x04\x05"), first, pong);
    }
}

/* Nothing large is even waited for. */
static void a_large_message_before_the_ping(void) {
    static const char closed[] = "a PING must come first: give the sender the shared key or its user\n";
    static const struct {
        const uint8_t *bytes;
        size_t len;
    } messages[] = {{BYTES("\x92\xa1t\xc5\x08\x00")}, {BYTES("\x93\xa1t\x05\x82")}, {BYTES("\x92\xa1t\x95")}};
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        wire w;
        wire_open(&w, &keyed);
        forget_helo(&w);
        wire_feed_pieces(&w, messages[i].bytes, messages[i].len, 1);
        CHECK(strstr(wire_said(&w), closed) != NULL);
        CHECK_TEXT(wire_replies(&w), "");
        wire_close(&w);
    }
}

/* Each part of the PING as each other type, and too long. */
static void types_in_the_ping(void) {
    static const struct {
        const uint8_t *bytes;
        size_t len;
    } parts[] = {
        {BYTES("\xc0")}, {BYTES("\xc3")}, {BYTES("\x05")}, {BYTES("\xc4\x01x")}, {BYTES("\xd4\x01x")}, {BYTES("\xa0")},
    };
    enum { PARTS = sizeof parts / sizeof *parts };
    for (int place = 1; place < 6; place++) {
        for (int i = 0; i < PARTS + 1; i++) {
            uint8_t bytes[1024] = "\x96\xa4PING";
            size_t at = 6;
            wire w;
            for (int part = 1; part < 6; part++) {
                if (part != place) {
                    at = test_put(bytes, at, "\xa1x", 2);
                } else if (i < PARTS) {
                    at = test_put(bytes, at, parts[i].bytes, parts[i].len);
                } else {
                    at = test_put(bytes, at, "\xda\x01\x01", 3);
                    memset(bytes + at, 'x', 257);
                    at += 257;
                }
            }
            wire_open(&w, &only_users);
            forget_helo(&w);
            wire_feed(&w, bytes, at);
            CHECK(strstr(wire_said(&w), "closed denied") != NULL);
            CHECK_INT(ln_forward_admitted(w.f), 0);
            CHECK(strstr(wire_replies(&w), "[\"PONG\", false, ") != NULL);
            wire_close(&w);
        }
    }
}

static void a_ping_cannot_be_played_again(void) {
    static const char ping[] = PING KEY_DIGEST "\xa0\xa0";
    uint8_t other[LN_FORWARD_RANDOM] = {0};
    ln_forward_event e;
    ln_forward *f;
    ln_mem heap;
    wire w;
    wire_open(&w, &keyed);
    wire_feed(&w, BYTES(ping));
    CHECK_INT(ln_forward_admitted(w.f), 1);
    CHECK_INT(wire_feed(&w, BYTES(ping)), LN_FORWARD_CLOSED); /* a second one is no message */
    wire_close(&w);
    ln_mem_init(&heap);
    f = ln_forward_new(&heap, &keyed, other);
    memcpy(ln_forward_space(f, sizeof ping - 1), ping, sizeof ping - 1);
    ln_forward_commit(f, sizeof ping - 1);
    CHECK_INT(ln_forward_next(f, &e), LN_FORWARD_CLOSED);
    CHECK_INT(e.reason, LN_FORWARD_DENIED);
    ln_forward_delete(f);
}

static void a_ping_that_nobody_asked_for(void) {
    wire w;
    wire_open(&w, &plain);
    wire_feed(&w, BYTES(PING KEY_DIGEST "\xa0\xa0"));
    CHECK_TEXT(wire_said(&w), "closed malformed: byte 0: a PING that nobody asked for\n");
    wire_close(&w);
}

/* ---- what a client does not believe ---------------------------------------------------------------------------- */

#define HELO                                     \
    "\x92\xa4HELO\x83\xa5nonce\xb0" NONCE "\xa4" \
    "auth\xa0\xa9keepalive\xc3"

static void client_says(int line, const uint8_t *first, size_t first_len, const uint8_t *then, size_t then_len,
                        const char *want) {
    const ln_forward_client_config config = {.host = "client", .shared_key = "secret"};
    for (size_t piece = 1; piece < 1000; piece += 998) {
        ln_forward_client *c;
        test_mem m;
        int err = LN_OK;
        ln_forward_client_new(test_mem_init(&m, 1 << 16), &config, test_noise, &c);
        ln_forward_client_connected(c, (const uint8_t *)NONCE);
        for (size_t at = 0; at < first_len && !err; at += piece)
            err = ln_forward_client_feed(c, first + at, first_len - at < piece ? first_len - at : piece);
        for (size_t at = 0; at < then_len && !err; at += piece)
            err = ln_forward_client_feed(c, then + at, then_len - at < piece ? then_len - at : piece);
        test_int(__FILE__, line, "failed", err != LN_OK, want != NULL);
        test_int(__FILE__, line, "established", ln_forward_client_established(c), !want);
        test_text(__FILE__, line, "error", ln_forward_client_error(c), want ? want : "");
        ln_forward_client_delete(c);
        test_int(__FILE__, line, "held", (int64_t)m.held, 0);
    }
}
#define CLIENT_SAYS(helo, pong, want) client_says(__LINE__, BYTES(helo), BYTES(pong), want)

static void a_helo_that_is_none(void) {
    static const char *const none = "the peer does not begin with HELO";
    static const char *const nonce = "the nonce of the HELO is no short text";
    CLIENT_SAYS("\x81\xa3"
                "ack\xa1x",
                "", none);
    CLIENT_SAYS("\x92\xa4PONG\x80", "", none);
    CLIENT_SAYS("\x92\xa4HELO\x90", "", none);
    CLIENT_SAYS("\x91\xa4HELO", "", none);
    CLIENT_SAYS("\xc0", "", none);
    CLIENT_SAYS("\x92\xa4HELO\x80", "", nonce);
    CLIENT_SAYS("\x92\xa4HELO\x81\xa5nonce\x05", "", nonce);
    CLIENT_SAYS("\x92\xa4HELO\x81\xa5nonce\x90", "", nonce);
    CLIENT_SAYS("\x92\xa4HELO\x82\xa5nonce\xa1x\xa4"
                "auth\x05",
                "", "the salt for passwords in the HELO is no short text");
    CLIENT_SAYS("\x92\xa4HELO\x81\xa5nonce\xc5\x10\x00", "", "the peer's message is no msgpack, or too large");
    CLIENT_SAYS("\xdd\xff\xff\xff\xff", "", "the peer's message is no msgpack, or too large");
    CLIENT_SAYS("\x91\x91\x91\x91\x91", "", "the peer's message is no msgpack, or too large");
    CLIENT_SAYS("\xc1", "", "the peer's message is no msgpack, or too large");
}

static void a_pong_that_is_none(void) {
    static const char *const none = "the peer does not answer the PING with a PONG";
    static const char *const type = "a part of the PONG has the wrong type";
    CLIENT_SAYS(HELO, "\x95\xa4PONG\xc3\xa0\xa6server\xd9\x80" PONG_DIGEST, NULL);
    CLIENT_SAYS(HELO, "\x95\xa4PONG\xc3\xa0\xa6server\xd9\x80" KEY_DIGEST, "the peer does not know the shared key");
    CLIENT_SAYS(HELO, "\x95\xa4PONG\xc3\xa0\xa6server\xa0", "the peer does not know the shared key");
    CLIENT_SAYS(HELO,
                "\x95\xa4PONG\xc3\xa0\xa6"
                "client\xd9\x80" KEY_DIGEST,
                "the peer has the same host name as this side: give one of them another");
    CLIENT_SAYS(HELO,
                "\x95\xa4PONG\xc2\xa9"
                "go away\r\n\xa0\xa0",
                REFUSES);
    CLIENT_SAYS(HELO, HELO, none);
    CLIENT_SAYS(HELO,
                "\x81\xa3"
                "ack\xa1x",
                none);
    CLIENT_SAYS(HELO, "\x94\xa4PONG\xc3\xa0\xa6server", none);
    CLIENT_SAYS(HELO, "\x96\xa4PONG\xc3\xa0\xa6server\xa0\xa0", none);
    CLIENT_SAYS(HELO, "\x95\xa4PONG\x01\xa0\xa6server\xd9\x80" PONG_DIGEST, type);
    CLIENT_SAYS(HELO, "\x95\xa4PONG\xc3\x05\xa6server\xd9\x80" PONG_DIGEST, type);
    CLIENT_SAYS(HELO, "\x95\xa4PONG\xc3\xa0\x05\xd9\x80" PONG_DIGEST, type);
    CLIENT_SAYS(HELO, "\x95\xa4PONG\xc3\xa0\xa6server\x90", type);
    CLIENT_SAYS(HELO, "\x95\xa4PONG\xc3\xa0\xa6server\xc4\x80" PONG_DIGEST, type);
}

static const test_case cases[] = {
    {"the bytes are those of the protocol", the_bytes_are_those_of_the_protocol},
    {"who is let in", who_is_let_in},
    {"users without a key are asked all the same", users_without_a_key_are_asked_all_the_same},
    {"a message before the PING", a_message_before_the_ping},
    {"a large message before the PING", a_large_message_before_the_ping},
    {"types in the PING", types_in_the_ping},
    {"a PING can't be played again", a_ping_cannot_be_played_again},
    {"a PING that nobody asked for", a_ping_that_nobody_asked_for},
    {"a HELO that is none", a_helo_that_is_none},
    {"a PONG that is none", a_pong_that_is_none},
};

TEST_MAIN(cases)
