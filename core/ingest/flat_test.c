/* Flat lines against the plain way, which is ln_json_convert: what is accepted, what is not, and random lines, whole,
 * cut, damaged, and with too little room. */
#include "base/buf.h"
#include "base/test.h"
#include "base/test_random.h"
#include "ingest/flat.h"
#include "ingest/json.h"

enum { LINE_MAX = 1500, GUARD = 0x5a, GUARDS = 32 };

typedef struct twin {
    ln_mem mem;
    ln_json *json;
    ln_buf plain;
    uint8_t line[LINE_MAX + LN_JSON_PAD];
    size_t len;
} twin;

static const ln_limits limits = {.record_bytes = 1 << 20, .nesting = 64, .elements = 1 << 20};

static void twin_init(twin *t) {
    ln_mem_init(&t->mem);
    t->json = ln_json_new(&t->mem);
    ln_buf_init(&t->plain, &t->mem);
    t->len = 0;
}

static void twin_free(twin *t) {
    ln_json_delete(t->json, &t->mem);
    ln_buf_free(&t->plain);
    CHECK_INT(t->mem.used, 0);
}

static void add(twin *t, const char *bytes, size_t len) {
    if (t->len + len <= LINE_MAX) t->len = test_put(t->line, t->len, bytes, len);
}

static void add_text(twin *t, const char *text) { add(t, text, strlen(text)); }

static void set(twin *t, const char *text) {
    t->len = 0;
    add_text(t, text);
}

/* 1 where the line, which ends with its end of line, is accepted; it is then what the plain way makes of it. */
static int accepts(twin *t, size_t room) {
    uint8_t made[LN_FLAT_ROOM + GUARDS], *end;
    const uint8_t *next;
    uint32_t fields;
    size_t len;
    memset(t->line + t->len, 0, LN_JSON_PAD);
    memset(made + room, GUARD, GUARDS);
    end = ln_flat_convert(t->line, made, made + room, &fields, &len, &next);
    for (int i = 0; i < GUARDS; i++) CHECK_INT(made[room + (size_t)i], GUARD);
    if (!end) return 0;
    ln_buf_clear(&t->plain);
    CHECK(next <= t->line + t->len && next[-1] == '\n');
    CHECK(memchr(t->line, '\n', len) == NULL && next <= t->line + len + 2);
    CHECK_INT(ln_json_convert(t->json, &limits, t->line, len, &t->plain), LN_OK);
    CHECK_INT(end - made, t->plain.len);
    if (!CHECK(memcmp(made, t->plain.data, t->plain.len) == 0)) fprintf(stderr, "  %.*s", (int)t->len, t->line);
    CHECK_INT(made[0], 0x80 | fields);
    return 1;
}

static const char *const flat[] = {
    "{\"ts\":1699999999410,\"user\":\"u235\",\"value\":17190.25,\"region\":\"eu-west\"}\n",
    "{\"a\": true, \"b\": false, \"c\": null, \"\": \"\"}\r\n",
    "{\"a\":0,\"a\":-1,\"a\":0.0,\"a\":-0.0,\"a\":999999999999999999,\"a\":-999999999999999999}\n",
    "{\"a\":9007199254740.992,\"b\":0.00000000000000001,\"c\":0.1,\"d\":22696.00}\n",
    "{\"1234567\":\"1234567\",\"12345678\":\"12345678\",\"123456789\":\"1234567890123456\"}\n",
    "{\"a\":\"1234567890123456789012345678901\",\"b\":\"12345678901234567890123456789012\"}\n",
    "{\"a\":\"{}[],: ~\"}\n",
};

/* Each of these is left to the plain way, be it JSON or not. */
static const char *const not_flat[] = {
    "\n",
    "{}\n",
    "[]\n",
    "5\n",
    " {\"a\":1}\n",
    "{\"a\":1} \n",
    "{\"a\":1}",
    "{\"a\":1}\r",
    "{\"a\":1}\r\r\n",
    "{\"a\":1\n}\n",
    "{\"a\":\"\n\"}\n",
    "{\"a\":\"\t\"}\n",
    "{\"a\" :1}\n",
    "{\"a\":  1}\n",
    "{,\"a\":1}\n",
    "{\"a\":1,}\n",
    "{\"a\":1,,\"b\":1}\n",
    "{\"a\"}\n",
    "{\"a\":}\n",
    "{a:1}\n",
    "{\"a\":{}}\n",
    "{\"a\":[1]}\n",
    "{\"a\":\"\\n\"}\n",
    "{\"a\":\"12345678\\n\"}\n",
    "{\"\\u0061\":1}\n",
    "{\"a\":\"\x7f\"}\n",
    "{\"a\":\"\xc3\xa9\"}\n",
    "{\"a\":\"12345678\xff\"}\n",
    "{\"a\":-0}\n",
    "{\"a\":-00}\n",
    "{\"a\":01}\n",
    "{\"a\":-01.5}\n",
    "{\"a\":+1}\n",
    "{\"a\":.5}\n",
    "{\"a\":1.}\n",
    "{\"a\":-}\n",
    "{\"a\":1e2}\n",
    "{\"a\":1.5e2}\n",
    "{\"a\":1.5.5}\n",
    "{\"a\":1000000000000000000}\n",
    "{\"a\":18446744073709551617}\n",
    "{\"a\":100000000000000000000000001}\n",
    "{\"a\":9007199254740.993}\n",
    "{\"a\":1.23456789012345678901234567890}\n",
    "{\"a\":tru}\n",
    "{\"a\":trues}\n",
    "{\"a\":nul}\n",
    "{\"a\":falsy}\n",
    "{\"a\":1}{\"b\":1}\n",
    "{\"a\":1}}\n",
    "{\"a\":\"x\n",
    "{\"a\":\"1234567890\n",
};

static void flat_lines(void) {
    twin t;
    twin_init(&t);
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        set(&t, flat[i]);
        if (!CHECK(accepts(&t, LN_FLAT_ROOM))) fprintf(stderr, "  %s", flat[i]);
    }
    twin_free(&t);
}

static void lines_that_are_not_flat(void) {
    twin t;
    twin_init(&t);
    for (size_t i = 0; i < sizeof not_flat / sizeof *not_flat; i++) {
        set(&t, not_flat[i]);
        if (!CHECK(!accepts(&t, LN_FLAT_ROOM))) fprintf(stderr, "  %s", not_flat[i]);
    }
    twin_free(&t);
}

static void fields_and_their_number(void) {
    twin t;
    twin_init(&t);
    for (int n = 1; n < 40; n++) {
        set(&t, "{");
        for (int i = 1; i < n; i++) add_text(&t, "\"a\":1,");
        add_text(&t, "\"b\":2}\n");
        CHECK_INT(accepts(&t, LN_FLAT_ROOM), n <= 15);
    }
    twin_free(&t);
}

/* ---- random lines ---- */

static void add_plain(twin *t, test_random *r) {
    uint32_t len = test_random_below(r, test_random_below(r, 4) ? 20 : 300);
    add_text(t, "\"");
    for (uint32_t i = 0; i < len; i++) {
        char c = (char)test_random_between(r, 0x20, 0x7e);
        add(t, c == '"' || c == '\\' ? "-" : &c, 1);
    }
    add_text(t, "\"");
}

static void add_digits(twin *t, test_random *r, uint32_t most) {
    for (uint32_t i = test_random_below(r, most) + 1; i > 0; i--) add(t, &"0123456789"[test_random_below(r, 10)], 1);
}

static void add_value(twin *t, test_random *r) {
    static const char *const words[] = {"true", "false", "null"};
    char number[40];
    switch (test_random_below(r, 6)) {
    case 0: add_plain(t, r); break;
    case 1: add_text(t, words[test_random_below(r, 3)]); break;
    case 2:
        snprintf(number, sizeof number, "%" PRId64, test_random_wide(r));
        add_text(t, number);
        break;
    case 3:
        snprintf(number, sizeof number, "%.*f", (int)test_random_below(r, 8) + 1, (double)test_random_wide(r) / 1e5);
        add_text(t, number);
        break;
    case 4:
        if (test_random_below(r, 2)) add_text(t, "-");
        add_digits(t, r, 3);
        add_text(t, ".");
        add_digits(t, r, 17);
        break;
    default: add_digits(t, r, 20); break;
    }
}

static void random_line(twin *t, test_random *r) {
    static const char *const spaces[] = {"", "", "", " "};
    set(t, "{");
    for (uint32_t i = test_random_below(r, test_random_below(r, 8) ? 6 : 17) + 1; i > 0; i--) {
        add_plain(t, r);
        add_text(t, ":");
        add_text(t, spaces[test_random_below(r, 4)]);
        add_value(t, r);
        if (i == 1) break;
        add_text(t, ",");
        add_text(t, spaces[test_random_below(r, 4)]);
    }
    add_text(t, test_random_below(r, 8) ? "}\n" : "}\r\n");
}

static void random_lines(void) {
    test_random r = {.state = 1};
    int taken = 0, damaged = 0;
    twin t;
    twin_init(&t);
    for (int i = 0; i < 60000; i++) {
        random_line(&t, &r);
        taken += accepts(&t, LN_FLAT_ROOM);
        t.line[test_random_below(&r, (uint32_t)t.len)] =
            test_random_below(&r, 2) ? (uint8_t) "\"\\,:{}[]-.0e\n\r t"[test_random_below(&r, 16)]
                                     : (uint8_t)test_random_below(&r, 256);
        damaged += accepts(&t, LN_FLAT_ROOM);
    }
    CHECK(taken > 15000 && taken < 55000);
    CHECK(damaged > 5000);
    twin_free(&t);
}

/* However much of a line is in hand, and however little room: the same, or nothing. */
static void lines_in_part(void) {
    test_random r = {.state = 2};
    int taken = 0, roomless = 0;
    twin t;
    twin_init(&t);
    for (int i = 0; i < 300; i++) {
        size_t whole;
        random_line(&t, &r);
        if (!accepts(&t, LN_FLAT_ROOM)) continue;
        for (size_t room = LN_FLAT_ROOM_MIN; room < 400; room++) {
            int fits = accepts(&t, room);
            taken += fits;
            roomless += !fits;
        }
        for (whole = t.len; t.len-- > 0;) CHECK(!accepts(&t, LN_FLAT_ROOM));
        t.len = whole;
    }
    CHECK(taken > 1000 && roomless > 1000);
    twin_free(&t);
}

static const test_case cases[] = {
    {"flat lines", flat_lines},
    {"lines that are not flat", lines_that_are_not_flat},
    {"fields and their number", fields_and_their_number},
    {"random lines", random_lines},
    {"lines in part", lines_in_part},
};
TEST_MAIN(cases)
