/* Messages that are wrong, on purpose or not: what they are refused for, at which byte, and that no more memory goes to
 * them than they have bytes. */
#include "forward/test_forward.h"
#include "forward/test_golden.h"

#define NO_MESSAGE \
    "closed malformed: byte 0: no message of Fluent Forward begins so (JSON, HTTP and TLS are not spoken here)\n"
#define BAD_ENTRY "closed malformed: byte 0: an entry that is no array of a time and a record\n"
#define CUT_ENTRY "closed malformed: byte 0: the entries of the message end in the middle of one\n"
#define TOO_LARGE " a record is larger than limits.record_bytes allows, or a message too large\n"
#define TOO_MANY " a record has more values than limits.elements allows, or a message too many\n"

static void what_is_no_message(void) {
    SAYS("[\"t\",5,{}]", NO_MESSAGE);
    SAYS("{\"a\":1}", NO_MESSAGE);
    SAYS("GET / HTTP/1.1\r\n", NO_MESSAGE);
    SAYS("\x16\x03\x01\x02\x00", NO_MESSAGE);
    SAYS("\x81\xa1t\x05", NO_MESSAGE);
    SAYS("\x90", NO_MESSAGE);
    SAYS("\x91\xa1t", NO_MESSAGE);
    SAYS("\x97\xa1t", NO_MESSAGE);
    SAYS("\xdd\xff\xff\xff\xff", NO_MESSAGE);
    SAYS("\xc1", NO_MESSAGE);
    SAYS(GOLDEN_MESSAGE "\x95\xa1t\x05\x80\x80\x80", "message 1 app.x \n  {\"a\"=>1, \"$time\"=>(ext: -1)\""
                                                     "\\x00\\x00\\x00\\x14eS\\xf1\\x00\", \"$tag\"=>\"app.x\"}\n"
                                                     "closed malformed: byte 22: too many parts\n");
}

/* ---- types ----------------------------------------------------------------------------------------------------- */

/* One value of each type, and what it may be in a message. */
enum { TAG = 1, TIME = 2, ENTRIES = 4, OPTIONS = 8 };
static const struct {
    const uint8_t *bytes;
    size_t len;
    int may_be;
} values[] = {
    {BYTES("\xc0"), TIME | OPTIONS},
    {BYTES("\xc3"), 0},
    {BYTES("\x07"), TIME},
    {BYTES("\xe0"), TIME},
    {BYTES("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), TIME},
    {BYTES("\xca\x40\x00\x00\x00"), TIME},
    {BYTES("\xa0"), ENTRIES},
    {BYTES("\xa1k"), TAG},
    {BYTES("\xc4\x01k"), 0},
    {BYTES("\xc4\x00"), ENTRIES},
    {BYTES("\x90"), ENTRIES},
    {BYTES("\x91\x90"), 0},
    {BYTES("\x80"), OPTIONS},
    {BYTES("\x81\xa1k\x01"), OPTIONS},
    {BYTES("\xd7\x00\x00\x00\x00\x05\x00\x00\x00\x00"), TIME},
    {BYTES("\xd4\x05\x00"), TIME},
};
enum { VALUES = sizeof values / sizeof *values };

static int is_message(const int *may_be, uint32_t parts) {
    uint32_t before = may_be[1] == ENTRIES ? 2 : 3;
    if (may_be[0] != TAG || !(may_be[1] & (TIME | ENTRIES))) return 0;
    return parts == before || (parts == before + 1 && (may_be[before] & OPTIONS));
}

/* Every value in every place of messages of every length: taken are those that the protocol knows, and no others. */
static void any_type_in_any_place(void) {
    for (uint32_t parts = 2; parts <= 4; parts++) {
        uint32_t all = 1;
        for (uint32_t i = 0; i < parts; i++) all *= VALUES;
        for (uint32_t code = 0; code < all; code++) {
            uint8_t bytes[64] = {(uint8_t)(0x90 | parts)};
            size_t at = 1;
            uint32_t rest = code;
            int may_be[4];
            wire w;
            for (uint32_t i = 0; i < parts; i++, rest /= VALUES) {
                may_be[i] = values[rest % VALUES].may_be;
                at = test_put(bytes, at, values[rest % VALUES].bytes, values[rest % VALUES].len);
            }
            wire_open(&w, &plain);
            wire_feed(&w, bytes, at);
            CHECK_INT(ln_forward_counted(w.f)->messages, is_message(may_be, parts));
            CHECK(w.said.len);
            wire_close(&w);
        }
    }
}

static void options_of_the_wrong_type(void) {
    SAYS("\x94\xa1t\x05\x80\x90", "closed malformed: byte 0: the options are no map\n");
    SAYS("\x94\xa1t\x05\x80\xa4gzip", "closed malformed: byte 0: the options are no map\n");
    SAYS("\x94\xa1t\x05\x80\x81" CHUNK "\x07", "closed malformed: byte 0: option chunk is no text\n");
    SAYS("\x94\xa1t\x05\x80\x81" CHUNK "\xc4\x01x", "closed malformed: byte 0: option chunk is no text\n");
    SAYS("\x94\xa1t\x05\x80\x81" CHUNK "\xa0", "closed malformed: byte 0: option chunk is no text\n");
    SAYS("\x94\xa1t\x05\x80\x81" CHUNK "\x91\xa1x", "closed malformed: byte 0: option chunk is no text\n");
    SAYS("\x94\xa1t\x05\x80\x82" CHUNK "\xa1x" CHUNK "\xa1y", "closed malformed: byte 0: option chunk stands twice\n");
    SAYS("\x94\xa1t\x05\x80\x81" COMPRESSED "\xc3", "closed malformed: byte 0: option compressed is no text\n");
    SAYS("\x94\xa1t\x05\x80\x81" SIGNAL "\xa1"
         "0",
         "closed malformed: byte 0: option fluent_signal is no number from 0 up\n");
    SAYS("\x94\xa1t\x05\x80\x81" SIGNAL "\xff",
         "closed malformed: byte 0: option fluent_signal is no number from 0 up\n");
}

static void entries_of_the_wrong_type(void) {
    SAYS("\x92\xa1t\x91\x05", BAD_ENTRY);
    SAYS("\x92\xa1t\x91\x91\x05", BAD_ENTRY);
    SAYS("\x92\xa1t\x91\x93\x05\x80\x80", BAD_ENTRY);
    SAYS("\x92\xa1t\x91\x92\x80\x80", BAD_ENTRY);
    SAYS("\x92\xa1t\x91\x92\x91\x05\x80", BAD_ENTRY);
    SAYS("\x92\xa1t\x91\x92\x92\x05\x05\x80", BAD_ENTRY);
    SAYS("\x92\xa1t\x91\x92\x92\x92\x05\x80\x80\x80", BAD_ENTRY);
    SAYS("\x92\xa1t\xa3[1]", BAD_ENTRY);
    SAYS("\x92\xa1t\xc4\x04\x92\x05\x80\xc1", "closed malformed: byte 0: these bytes are not msgpack\n");
    SAYS("\x92\xa1t\xc4\x02\x92\x05", CUT_ENTRY);
    SAYS("\x92\xa1t\xc4\x05\x92\x05\x80\x92\x05", CUT_ENTRY);
    SAYS("\x92\xa1t\xc4\x04\x92\x05\x81\xa1", CUT_ENTRY);
    SAYS("\x92\xa1t\x05", "closed malformed: byte 0: a time without a record\n");
    SAYS("\x93\xa1t\xc3\x80", "closed malformed: byte 0: the second part is a boolean: it must be a time or entries\n");
    SAYS("\x93\xa1t\x80\x80", "closed malformed: byte 0: the second part is a map: it must be a time or entries\n");
    SAYS("\x93\xc4\x01t\x05\x80", "closed malformed: byte 0: the tag is no text\n");
}

/* Marks of groups alone would be work without records. */
static void marks_without_records(void) {
    static const char mark[] = "\x92\x92\xd7\x00\xff\xff\xff\xff\x00\x00\x00\x00\x80\x80";
    enum { MARK = sizeof mark - 1 };
    for (int records = 0; records < 2; records++) {
        ln_mem heap;
        ln_buf message;
        wire w;
        ln_mem_init(&heap);
        ln_buf_init(&message, &heap);
        ln_buf_append(&message, BYTES("\x92\xa1t\xdc\x04\x02"));
        for (int i = 0; i < LN_FORWARD_MARKERS + 1; i++) ln_buf_append(&message, mark, MARK);
        if (records) ln_buf_append(&message, BYTES("\x92\x05\x80"));
        else ln_buf_append(&message, mark, MARK);
        if (records) memmove(message.data + 6 + 3, message.data + 6, message.len - 6 - 3);
        if (records) memcpy(message.data + 6, "\x92\x05\x80", 3);
        wire_open(&w, &plain);
        wire_feed(&w, message.data, message.len);
        CHECK_TEXT(wire_said(&w), records
                                      ? "message 1 t \n  {\"$time\"=>(ext: -1)\"\\x00\\x00\\x00\\x00\\x00\\x00"
                                        "\\x00\\x05\", \"$tag\"=>\"t\"}\n"
                                      : "closed limit: byte 0: a message has far more marks of groups than records\n");
        wire_close(&w);
        ln_buf_free(&message);
    }
}

/* ---- tags ------------------------------------------------------------------------------------------------------ */

static void says_of_tag(const char *tag, size_t len, const char *want) {
    uint8_t bytes[600] = "\x93\xda";
    size_t at = 2;
    wire w;
    bytes[at++] = (uint8_t)(len >> 8);
    bytes[at++] = (uint8_t)len;
    at = test_put(bytes, at, tag, len);
    at = test_put(bytes, at, "\x05\x80", 2);
    wire_open(&w, &plain);
    w.shows = 0;
    wire_feed(&w, bytes, at);
    if (!CHECK_TEXT(wire_said(&w), want)) fprintf(stderr, "  tag %s\n", tag);
    wire_close(&w);
}

static void tags_that_could_become_paths_or_lines(void) {
    static const char *const bad[] = {"../etc/passwd", "/etc", "a/b", "a\\b",    ".",     "..",       "...", "a\nb",
                                      "a\r",           "a\tb", "a b", "\x1b[2J", "a\x7f", "\xc3\xa4", "\xff"};
    static const char *const good[] = {"a", "app.x", "kube.var.log..hidden_1.log", "host:9", "a@b-c", ".a", "$tag"};
    char longest[300], want[300];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) says_of_tag(bad[i], strlen(bad[i]), "refused tag\n");
    says_of_tag("", 0, "refused tag\n");
    says_of_tag("a\0b", 3, "refused tag\n");
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(want, sizeof want, "message 1 %s \n", good[i]);
        says_of_tag(good[i], strlen(good[i]), want);
    }
    memset(longest, 'x', sizeof longest);
    snprintf(want, sizeof want, "message 1 %.256s \n", longest);
    says_of_tag(longest, LN_FORWARD_TAG, want);
    says_of_tag(longest, LN_FORWARD_TAG + 1, "refused tag\n");
}

/* ---- lengths --------------------------------------------------------------------------------------------------- */

static void lengths_that_turn_negative(void) {
    static const char *const why = "closed malformed: byte 0: option size is no number from 0 up\n";
    SAYS("\x94\xa1t\x05\x80\x81\xa4size\xff", why);
    SAYS("\x94\xa1t\x05\x80\x81\xa4size\xd3\x80\x00\x00\x00\x00\x00\x00\x00", why);
    SAYS("\x94\xa1t\x05\x80\x81\xa4size\xcf\xff\xff\xff\xff\xff\xff\xff\xff", why);
    SAYS("\x94\xa1t\x05\x80\x81\xa4size\xa1"
         "2",
         why);
    SAYS("\x93\xdb\xff\xff\xff\xff", "closed limit: byte 1:" TOO_LARGE);
    SAYS("\x93\xa1t\xc6\xff\xff\xff\xff", "closed limit: byte 3:" TOO_LARGE);
    SAYS("\x93\xa1t\xc6\x80\x00\x00\x00", "closed limit: byte 3:" TOO_LARGE);
    SAYS("\x93\xa1t\xdd\xff\xff\xff\xff", "closed limit: byte 3:" TOO_MANY);
    SAYS("\x93\xa1t\x05\xdf\x80\x00\x00\x00", "closed limit: byte 4:" TOO_MANY);
    SAYS("\x93\xa1t\xc9\xff\xff\xff\xff\x00", "closed limit: byte 3:" TOO_LARGE);
    /* inside of what is packed, where the message's own length says otherwise */
    SAYS("\x92\xa1t\xc4\x05\xdd\xff\xff\xff\xff", BAD_ENTRY);
    SAYS("\x92\xa1t\xc4\x07\x92\x05\xdf\xff\xff\xff\xff", "closed limit: byte 0:" TOO_MANY);
    SAYS("\x92\xa1t\xc4\x07\x92\x05\xdb\xff\xff\xff\xff", "closed limit: byte 0:" TOO_LARGE);
    SAYS("\x92\xa1t\xc4\x07\x92\xdb\xff\xff\xff\xff\x80", "closed limit: byte 0:" TOO_LARGE);
    SAYS("\x92\xa1t\xc4\x08\x92\x92\x05\xdf\xff\xff\xff\xff", "closed limit: byte 0:" TOO_MANY);
    SAYS("\x92\xa1t\xc4\x07\x92\xc9\x00\x00\x00\xff\x00", CUT_ENTRY);
}

static void limits_of_a_record_hold_with_what_is_added(void) {
    ln_forward_config config = {.limits = {.record_bytes = 40, .elements = 6, .nesting = 2}, .message_bytes = 100};
    static const char *const fits = "message 1 t \n  {\"a\"=>\"0123456789\", \"$time\"=>nil, \"$tag\"=>\"t\"}\n";
    /* 1 + 2 + 11 + 6 + 1 + 5 + 2 bytes, and 6 values */
    config.limits.record_bytes = 28;
    SAYS_WITH(&config,
              "\x93\xa1t\xc0\x81\xa1"
              "a\xaa"
              "0123456789",
              fits);
    config.limits.record_bytes = 27;
    SAYS_WITH(&config,
              "\x93\xa1t\xc0\x81\xa1"
              "a\xaa"
              "0123456789",
              "closed limit: byte 0:" TOO_LARGE);
    config.limits.record_bytes = 40;
    config.limits.elements = 5;
    SAYS_WITH(&config,
              "\x93\xa1t\xc0\x81\xa1"
              "a\xaa"
              "0123456789",
              "closed limit: byte 0:" TOO_MANY);
    config.limits.elements = 100;
    SAYS_WITH(&config,
              "\x93\xa1t\xc0\x81\xa1"
              "a\x90",
              "message 1 t \n  {\"a\"=>[], \"$time\"=>nil, \"$tag\"=>\"t\"}\n");
    SAYS_WITH(&config,
              "\x93\xa1t\xc0\x81\xa1"
              "a\x91\x90",
              "closed limit: byte 0: a record is nested deeper than limits.nesting allows\n");
    SAYS_WITH(&config,
              "\x92\xa1t\x91\x92\xc0\x81\xa1"
              "a\x91\x90",
              "closed limit: byte 10: a record is nested deeper than limits.nesting allows\n");
    SAYS_WITH(&config, "\x92\xa1t\x91\x92\x91\x91\x91\x91\x91\x91\x91",
              "closed limit: byte 7: a record is nested deeper than limits.nesting allows\n");
    SAYS_WITH(&config, "\x92\xa1t\xc5\x00\xff", "closed limit: byte 3:" TOO_LARGE);
}

static void no_more_than_so_many_wait(void) {
    ln_forward_config config = {.unaccepted_max = 3};
    wire w;
    wire_open(&w, &config);
    w.accepts = 0;
    w.shows = 0;
    CHECK_INT(wire_feed(&w, BYTES("\x93\xa1t\x05\x80\x93\xa1t\x05\x80\x93\xa1t\x05\x80\x93\xa1t\x05\x80")),
              LN_FORWARD_WAIT);
    CHECK_INT(w.rows, 3);
    ln_forward_accepted(w.f, 1);
    CHECK_INT(wire_drain(&w), LN_FORWARD_WAIT);
    CHECK_INT(w.rows, 4);
    ln_forward_accepted(w.f, 4);
    CHECK_INT(wire_drain(&w), LN_FORWARD_MORE);
    wire_close(&w);
}

/* A client that never reads what it asked for. */
static void replies_do_not_pile_up(void) {
    static const uint8_t ask[] = "\x94\xa1t\x05\x80\x81" CHUNK "\xb8" GOLDEN_CHUNK;
    size_t len, most = LN_FORWARD_REPLIES + 32;
    int kind = LN_FORWARD_MORE;
    wire w;
    wire_open(&w, &plain);
    w.shows = 0;
    for (int i = 0; i < 10000 && kind == LN_FORWARD_MORE; i++) kind = wire_feed(&w, ask, sizeof ask - 1);
    CHECK_INT(kind, LN_FORWARD_WAIT);
    ln_forward_replies(w.f, &len);
    CHECK(len >= LN_FORWARD_REPLIES && len < most);
    ln_forward_replied(w.f, len);
    CHECK_INT(wire_drain(&w), LN_FORWARD_MORE);
    wire_close(&w);
}

static const test_case cases[] = {
    {"what is no message", what_is_no_message},
    {"any type in any place", any_type_in_any_place},
    {"options of the wrong type", options_of_the_wrong_type},
    {"entries of the wrong type", entries_of_the_wrong_type},
    {"marks without records", marks_without_records},
    {"tags that could become paths or lines", tags_that_could_become_paths_or_lines},
    {"lengths that turn negative", lengths_that_turn_negative},
    {"limits of a record hold with what is added", limits_of_a_record_hold_with_what_is_added},
    {"no more than so many wait", no_more_than_so_many_wait},
    {"replies do not pile up", replies_do_not_pile_up},
};

TEST_MAIN(cases)
