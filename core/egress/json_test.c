/* JSON lines: values by hand, and random ones written alone, where each value goes the plain way because too little
 * follows it, against the same ones with more behind them, where the simple values take the short way. */
#include "base/pack.h"
#include "base/test.h"
#include "base/test_random.h"
#include "egress/json.h"

#include <math.h>

enum { BEHIND = 64 }; /* bytes after which no value is the last of its buffer */

typedef struct twin {
    ln_mem mem;
    ln_buf packed, alone, followed;
} twin;

static void twin_init(twin *t) {
    ln_mem_init(&t->mem);
    ln_buf_init(&t->packed, &t->mem);
    ln_buf_init(&t->alone, &t->mem);
    ln_buf_init(&t->followed, &t->mem);
}

static void twin_free(twin *t) {
    ln_buf_free(&t->packed);
    ln_buf_free(&t->alone);
    ln_buf_free(&t->followed);
    CHECK_INT(t->mem.used, 0);
}

/* Both ways write the packed value alike; the text ends in t->alone. */
static void same(twin *t) {
    static const uint8_t nulls[BEHIND] = {[0 ... BEHIND - 1] = 0xc0};
    size_t len = t->packed.len;
    uint8_t *exact = malloc(len ? len : 1); /* nothing beyond it may be read */
    memcpy(exact, t->packed.data, len);
    ln_buf_clear(&t->alone);
    ln_buf_clear(&t->followed);
    ln_json_lines(&t->alone, exact, len);
    free(exact);
    ln_buf_append(&t->packed, nulls, BEHIND);
    ln_json_lines(&t->followed, t->packed.data, t->packed.len);
    CHECK(!t->alone.failed && !t->followed.failed);
    CHECK_INT(t->followed.len, t->alone.len + BEHIND * 5);
    if (!CHECK(memcmp(t->alone.data, t->followed.data, t->alone.len) == 0))
        fprintf(stderr, "  %.*s  %.*s", (int)t->alone.len, t->alone.data, (int)t->alone.len, t->followed.data);
    ln_buf_clear(&t->packed);
}

#define EXPECT(t, bytes, text) expect(t, bytes, sizeof(bytes) - 1, text)

static void expect(twin *t, const char *bytes, size_t len, const char *text) {
    ln_buf_append(&t->packed, bytes, len);
    same(t);
    ln_buf_byte(&t->alone, '\0');
    CHECK_TEXT((char *)t->alone.data, text);
}

static void values_by_hand(void) {
    twin t;
    twin_init(&t);
    EXPECT(&t, "\x00", "0\n");
    EXPECT(&t, "\x7f\xe0\xff", "127\n-32\n-1\n");
    EXPECT(&t, "\xcc\xff\xcd\xff\xff\xce\xff\xff\xff\xff", "255\n65535\n4294967295\n");
    EXPECT(&t, "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615\n");
    EXPECT(&t, "\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "-9223372036854775808\n");
    EXPECT(&t, "\xc0\xc2\xc3", "null\nfalse\ntrue\n");
    EXPECT(&t, "\xcb\x40\xd0\xc9\x90\x00\x00\x00\x00", "17190.25\n");
    EXPECT(&t, "\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00\xcb\xff\xf0\x00\x00\x00\x00\x00\x00", "null\nnull\n");
    EXPECT(&t, "\xa0\xa1x\xa3\"\\\n\xa2\xc3\xa9\xa1\xff\xa1\x7f\xa1\x01",
           "\"\"\n\"x\"\n\"\\\"\\\\\\n\"\n\"\xc3\xa9\"\n\"\xef\xbf\xbd\"\n\"\\u007f\"\n\"\\u0001\"\n");
    EXPECT(&t,
           "\x80\x90\x92\x80\x90\x81\xa1"
           "a\x81\xa1"
           "b\x91\x01",
           "{}\n[]\n[{},[]]\n{\"a\":{\"b\":[1]}}\n");
    EXPECT(&t,
           "\x83\xa1"
           "a\x01\xa1"
           "b\x80\xa1"
           "c\x92\x01\x02",
           "{\"a\":1,\"b\":{},\"c\":[1,2]}\n");
    EXPECT(&t, "\x84\x01\x02\xc0\x03\x91\x01\x04\xc4\x01x\x05", "{\"1\":2,\"null\":3,\"[]\":4,\"eA==\":5}\n");
    EXPECT(&t,
           "\xc4\x02"
           "ab\xd4\x05"
           "a",
           "\"YWI=\"\n{\"ext\":5,\"data\":\"YQ==\"}\n");
    twin_free(&t);
}

static void pack_text(twin *t, test_random *r) {
    uint8_t text[400];
    uint32_t len = test_random_below(r, test_random_below(r, 4) ? 34 : 400);
    for (uint32_t i = 0; i < len; i++) text[i] = (uint8_t)test_random_between(r, 0x20, 0x7e);
    if (len && test_random_below(r, 3) == 0) text[test_random_below(r, len)] = (uint8_t)test_random_next(r);
    ln_pack_put_text(&t->packed, text, len);
}

static void pack_scalar(twin *t, test_random *r) {
    static const double parts[] = {1, 4, 100, 1e4, 7};
    ln_value v = {.type = LN_NULL};
    switch (test_random_below(r, 6)) {
    case 0:
    case 1: pack_text(t, r); return;
    case 2: v = (ln_value){.type = LN_INT, .i = test_random_wide(r)}; break;
    case 3:
        v = (ln_value){.type = LN_DOUBLE};
        v.d = (double)test_random_wide(r) / parts[test_random_below(r, 5)];
        break;
    case 4: v = (ln_value){.type = LN_BOOL, .i = test_random_below(r, 2)}; break;
    default:
        if (test_random_below(r, 2)) v = (ln_value){.type = LN_UINT, .u = test_random_next(r) | UINT64_C(1) << 63};
        break;
    }
    ln_pack_put(&t->packed, &v);
}

static void random_values(void) {
    test_random r = {.state = 1};
    twin t;
    twin_init(&t);
    for (int i = 0; i < 100000; i++) {
        pack_scalar(&t, &r);
        same(&t);
    }
    for (int i = 0; i < 20000; i++) {
        for (uint32_t open = 1; open && t.packed.len < 2000;) {
            open--;
            if (test_random_below(&r, 3)) {
                pack_scalar(&t, &r);
            } else {
                uint32_t n = test_random_below(&r, 4), map = test_random_below(&r, 2);
                ln_pack_put_head(&t.packed, map ? LN_MAP : LN_ARRAY, n);
                open += map ? 2 * n : n;
            }
            if (!open) same(&t);
        }
        ln_buf_clear(&t.packed);
    }
    twin_free(&t);
}

static void memory_that_runs_out(void) {
    static const char packed[] = "\x81\xa3"
                                 "abc\x94\x01\x02\xa3xyz\xcb\x40\xd0\xc9\x90\x00\x00\x00\x00";
    for (int behind = 0; behind < 2; behind++) {
        uint8_t bytes[sizeof packed - 1 + BEHIND];
        test_mem t;
        ln_buf out;
        memset(bytes, 0xc0, sizeof bytes);
        memcpy(bytes, packed, sizeof packed - 1);
        ln_buf_init(&out, test_mem_init(&t, SIZE_MAX / 2));
        t.fail_at = 1;
        ln_json_lines(&out, bytes, behind ? sizeof bytes : sizeof packed - 1);
        CHECK(out.failed);
        ln_buf_free(&out);
        CHECK_INT(t.held, 0);
    }
}

static const test_case cases[] = {
    {"values by hand", values_by_hand},
    {"random values", random_values},
    {"memory that runs out", memory_that_runs_out},
};
TEST_MAIN(cases)
