/* Messages that are right: all modes, in any split; times, options, heartbeats, acknowledgements. */
#include "forward/test_forward.h"
#include "forward/test_golden.h"

/* A record's added pairs: the time as a timestamp of 64 bits. */
#define TAG ", \"$tag\"=>\"app.x\"}\n"
#define FIRST "  {\"a\"=>1, \"$time\"=>(ext: -1)\"\\x00\\x00\\x00\\x14eS\\xf1\\x00\"" TAG
#define SECOND "  {\"a\"=>2, \"$time\"=>(ext: -1)\"\\x00\\x00\\x00\\x00km\\xdf\\x93\"" TAG

static const struct {
    const char *name;
    const uint8_t *bytes;
    size_t len;
    const char *says;
} modes[] = {
    {"message", BYTES(GOLDEN_MESSAGE), "message 1 app.x \n" FIRST},
    {"forward", BYTES(GOLDEN_FORWARD), "message 1 app.x \n" FIRST SECOND},
    {"packed", BYTES(GOLDEN_PACKED), "message 1 app.x " GOLDEN_CHUNK "\n" FIRST SECOND},
    {"gzip", BYTES(GOLDEN_GZIP), "message 1 app.x " GOLDEN_CHUNK "\n" FIRST SECOND},
};
enum { MODES = sizeof modes / sizeof *modes };

static void every_mode_in_every_split(void) {
    for (size_t m = 0; m < MODES; m++) {
        for (size_t cut = 0; cut <= modes[m].len; cut++) {
            wire w;
            wire_open(&w, &plain);
            wire_feed(&w, modes[m].bytes, cut);
            CHECK_INT(ln_forward_pending(w.f), cut == modes[m].len ? 0 : cut);
            wire_feed(&w, modes[m].bytes + cut, modes[m].len - cut);
            if (!CHECK_TEXT(wire_said(&w), modes[m].says)) fprintf(stderr, "%s cut at %zu\n", modes[m].name, cut);
            CHECK_INT(ln_forward_pending(w.f), 0);
            wire_close(&w);
        }
    }
}

static void byte_by_byte_all_in_a_row(void) {
    static const char all[] = GOLDEN_MESSAGE "\xc0" GOLDEN_FORWARD GOLDEN_PACKED "\xc0" GOLDEN_GZIP GOLDEN_MESSAGE;
    static char whole[1 << 13];
    for (size_t piece = sizeof all; piece > 0; piece = piece > 8 ? piece / 2 : piece - 1) {
        wire w;
        wire_open(&w, &plain);
        CHECK_INT(wire_feed_pieces(&w, BYTES(all), piece), LN_FORWARD_MORE);
        if (piece == sizeof all) snprintf(whole, sizeof whole, "%s", wire_said(&w));
        CHECK_TEXT(wire_said(&w), whole);
        CHECK_INT(w.rows, 8);
        CHECK_INT(ln_forward_counted(w.f)->heartbeats, 2);
        CHECK_INT(ln_forward_counted(w.f)->messages, 5);
        CHECK_INT(ln_forward_counted(w.f)->records, 8);
        CHECK_INT(ln_forward_counted(w.f)->bytes, sizeof all - 3);
        wire_close(&w);
    }
}

#define ONE(time) "\x93\xa1t" time "\x80"
#define STAMP(stamp) "message 1 t \n  {\"$time\"=>" stamp ", \"$tag\"=>\"t\"}\n"
#define EXT(bytes) STAMP("(ext: -1)\"" bytes "\"")
#define ZERO4 "\\x00\\x00\\x00\\x00"

static void times(void) {
    SAYS(ONE("\x05"), EXT(ZERO4 "\\x00\\x00\\x00\\x05"));
    SAYS(ONE("\x00"), EXT(ZERO4 ZERO4));
    SAYS(ONE("\xd7\x00\x00\x00\x00\x05\x3b\x9a\xc9\xff"), EXT("\\xeek'\\xfc\\x00\\x00\\x00\\x05"));
    SAYS(ONE("\xc7\x08\x00\x00\x00\x00\x05\x00\x00\x00\x01"), EXT("\\x00\\x00\\x00\\x04\\x00\\x00\\x00\\x05"));
    /* seconds as doubles go to the nearest microsecond: 5.000001 */
    SAYS(ONE("\xcb\x40\x14\x00\x00\x43\x18\x37\x0a"), EXT("\\x00\\x00\\x0f\\xa0\\x00\\x00\\x00\\x05"));
    SAYS(ONE("\xca\x40\xa0\x00\x00"), EXT(ZERO4 "\\x00\\x00\\x00\\x05"));
    /* before 1970, and after 2514 */
    SAYS(ONE("\xff"), EXT(ZERO4 "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"));
    SAYS(ONE("\xcb\xbf\xe0\x00\x00\x00\x00\x00\x00"), EXT("\\x1d\\xcde\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"));
    SAYS(ONE("\xcf\x00\x00\x00\x04\x00\x00\x00\x00"), EXT(ZERO4 "\\x00\\x00\\x00\\x04" ZERO4));
    /* msgpack's own timestamp */
    SAYS(ONE("\xd6\xff\x00\x00\x00\x05"), EXT(ZERO4 "\\x00\\x00\\x00\\x05"));
}

/* A record without a time goes on, for the pipeline to reject it. */
static void times_that_are_none(void) {
    SAYS(ONE("\xc0"), STAMP("nil"));
    SAYS(ONE("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), STAMP("nil"));
    SAYS(ONE("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), STAMP("nil"));
    SAYS(ONE("\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00"), STAMP("nil"));
    SAYS(ONE("\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00"), STAMP("nil"));
    SAYS(ONE("\xcb\x7f\xef\xff\xff\xff\xff\xff\xff"), STAMP("nil"));
    SAYS(ONE("\xd7\x00\x00\x00\x00\x05\x3b\x9a\xca\x00"), STAMP("nil")); /* 10^9 nanoseconds */
    SAYS(ONE("\xd7\x07\x00\x00\x00\x05\x00\x00\x00\x00"), STAMP("nil"));
    SAYS(ONE("\xd6\x00\x00\x00\x00\x05"), STAMP("nil"));
    SAYS("\x92\xa1t\x91\x92\xa1x\x80", STAMP("nil"));
}

static void records_keep_their_bytes(void) {
    /* whatever head the map had; a sender's own fields of our names stand first and do not count */
    SAYS("\x93\xa1t\x05\xdf\x00\x00\x00\x01\xa1"
         "a\xdc\x00\x01\xcd\x00\x01",
         "message 1 t \n  {\"a\"=>[1], \"$time\"=>(ext: -1)\"" ZERO4 "\\x00\\x00\\x00\\x05\", \"$tag\"=>\"t\"}\n");
    SAYS("\x93\xa1t\x05\x81\xa4$tag\xa1x",
         "message 1 t \n  {\"$tag\"=>\"x\", \"$time\"=>(ext: -1)\"" ZERO4 "\\x00\\x00\\x00\\x05\", \"$tag\"=>\"t\"}\n");
    /* what is no map is handed on alone: the pipeline rejects it */
    SAYS("\x93\xa1t\x05\x92\x01\x02", "message 1 t \n  [1, 2]\n");
    SAYS("\x93\xa1t\x05\xc0", "message 1 t \n  nil\n");
}

static void a_map_of_fifteen_gets_a_longer_head(void) {
    static const char head[] = "\x93\xa1t\x05\x8e";
    uint8_t bytes[128];
    for (uint8_t n = 13; n <= 15; n++) {
        size_t at = test_put(bytes, 0, head, 5);
        wire w;
        bytes[4] = (uint8_t)(0x80 | n);
        for (uint8_t i = 0; i < n; i++) at = test_put(bytes, at, (uint8_t[]){0xa1, (uint8_t)('a' + i), i}, 3);
        wire_open(&w, &plain);
        wire_feed(&w, bytes, at);
        CHECK(strstr(wire_said(&w), "\"m\"=>12"));
        CHECK(strstr(wire_said(&w), "\"$tag\"=>\"t\"}"));
        CHECK_INT(w.rows, 1);
        wire_close(&w);
    }
}

#define META "\x82\xa3sev\x09\xa2id\xc4\x02\x00\x01"

static void metadata_beside_the_time(void) {
    static const char *const both =
        "message 1 t \n  {\"$time\"=>(ext: -1)\"" ZERO4 "\\x00\\x00\\x00\\x05\", \"$tag\"=>\"t\"}\n";
    SAYS("\x92\xa1t\x91\x92\x92\x05" META "\x80", both);
    SAYS("\x92\xa1t\xc4\x05\x92\x92\x05\x80\x80", both);
    SAYS("\x92\xa1t\xc4\x05\x92\x92\x05\xc0\x80", both);
}

/* Group markers have the seconds -1 and -2: they are no records. */
static void markers_of_groups(void) {
    static const char bytes[] = "\x92\xa1t\x93"
                                "\x92\x92\xd7\x00\xff\xff\xff\xff\x00\x00\x00\x00\x80\x81\xa1k\x01"
                                "\x92\x92\x05\x80\x80"
                                "\x92\x92\xd7\x00\xff\xff\xff\xfe\x00\x00\x00\x00\x80\x80";
    wire w;
    wire_open(&w, &plain);
    wire_feed(&w, BYTES(bytes));
    CHECK_INT(w.rows, 1);
    CHECK_INT(ln_forward_counted(w.f)->markers, 2);
    CHECK_INT(ln_forward_counted(w.f)->records, 1);
    wire_close(&w);
    /* without metadata it is a time far ahead */
    SAYS(ONE("\xd7\x00\xff\xff\xff\xff\x00\x00\x00\x00"), EXT(ZERO4 "\\xff\\xff\\xff\\xff"));
}

static void options_that_clients_send(void) {
    static const char *const five = EXT(ZERO4 "\\x00\\x00\\x00\\x05");
    SAYS("\x94\xa1t\x05\x80\xc0", five);
    SAYS("\x94\xa1t\x05\x80\x81" CHUNK "\xc0", five);
    /* the npm package fluent-logger counts bytes in `size`, and says "text" where nothing is compressed */
    SAYS("\x93\xa1t\xa3\x92\x05\x80\x83\xa4size\x03" COMPRESSED "\xa4text\xb2"
         "eventEntryDataSize\x03",
         five);
    SAYS("\x93\xa1t\xc4\x03\x92\x05\x80\x82" SIGNAL "\x00\xa8metadata\x81\xa1k\x91\x01", five);
    SAYS("\x92\xa1t\x90", "message 1 t \n");
    SAYS("\x92\xa1t\xc4\x00", "message 1 t \n");
    SAYS("\x93\xa1t\x90\x81" COMPRESSED "\xa4gzip", "message 1 t \n");
}

static void gzip_of_several_members(void) {
    /* [5, {}] and, in a member of its own, [6, {}]; an empty member between them */
    static const char bytes[] =
        "\x93\xa1t\xc4\x42"
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x9b\xc4\xda\x00\x00\xe9\xc2\x19\x91\x03\x00\x00\x00"
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x9b\xc4\xd6\x00\x00\x2a\x91\x34\xba\x03\x00\x00\x00"
        "\x81" COMPRESSED "\xa4gzip";
    wire w;
    wire_open(&w, &plain);
    wire_feed(&w, BYTES(bytes));
    CHECK_TEXT(wire_said(&w), "message 1 t \n"
                              "  {\"$time\"=>(ext: -1)\"" ZERO4 "\\x00\\x00\\x00\\x05\", \"$tag\"=>\"t\"}\n"
                              "  {\"$time\"=>(ext: "
                              "-1)\"" ZERO4 "\\x00\\x00\\x00\\x06\", "
                              "\"$tag\"=>\"t\"}"
                              "\n");
    wire_close(&w);
}

static void chunks_are_acknowledged_when_accepted(void) {
    const uint8_t *replies;
    size_t len;
    wire w;
    wire_open(&w, &plain);
    w.accepts = 0;
    wire_feed(&w, BYTES("\x94\xa1t\x05\x80\x81" CHUNK "\xa1x"
                        "\x93\xa1t\x05\x80"
                        "\x94\xa1t\x05\x80\x81" CHUNK "\xa3y\x00z"));
    CHECK_TEXT(wire_replies(&w), "");
    ln_forward_accepted(w.f, 0);
    CHECK_TEXT(wire_replies(&w), "");
    ln_forward_accepted(w.f, 1);
    CHECK_TEXT(wire_replies(&w), "  {\"ack\"=>\"x\"}\n");
    ln_forward_accepted(w.f, 2);
    CHECK_TEXT(wire_replies(&w), "");
    ln_forward_accepted(w.f, 1);
    ln_forward_accepted(w.f, 3);
    replies = ln_forward_replies(w.f, &len); /* the id comes back byte for byte */
    CHECK(len == 9 && memcmp(replies,
                             "\x81\xa3"
                             "ack\xa3"
                             "y\0z",
                             9) == 0);
    CHECK_INT(ln_forward_counted(w.f)->acknowledged, 2);
    wire_close(&w);
}

static void what_is_not_for_us_is_left_out(void) {
    SAYS("\x93\xa1t\xc4\x02\xff\xff\x81" SIGNAL "\x01" GOLDEN_MESSAGE, "refused signal\nmessage 1 app.x \n" FIRST);
    SAYS("\x93\xa1t\xc4\x02\xff\xff\x82" SIGNAL "\x02" CHUNK "\xa1x", "refused signal\n");
    SAYS("\x93\xa1t\xc4\x02\xff\xff\x81" COMPRESSED "\xa4zstd", "refused compression\n");
}

static const test_case cases[] = {
    {"every mode in every split", every_mode_in_every_split},
    {"byte by byte, all in a row", byte_by_byte_all_in_a_row},
    {"times", times},
    {"times that are none", times_that_are_none},
    {"records keep their bytes", records_keep_their_bytes},
    {"a map of fifteen gets a longer head", a_map_of_fifteen_gets_a_longer_head},
    {"metadata beside the time", metadata_beside_the_time},
    {"markers of groups", markers_of_groups},
    {"options that clients send", options_that_clients_send},
    {"gzip of several members", gzip_of_several_members},
    {"chunks are acknowledged when accepted", chunks_are_acknowledged_when_accepted},
    {"what is not for us is left out", what_is_not_for_us_is_left_out},
};

TEST_MAIN(cases)
