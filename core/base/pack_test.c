/* The packer against that of msgpack-c, byte for byte: every width, and each number on both sides of where one ends. */
#include "base/pack.h"
#include "base/test.h"
#include "base/test_random.h"

#include <math.h>
#include <msgpack.h>

typedef struct bench {
    ln_mem mem;
    ln_buf out;
    msgpack_sbuffer want;
    msgpack_packer packer;
} bench;

static void bench_init(bench *b) {
    ln_mem_init(&b->mem);
    ln_buf_init(&b->out, &b->mem);
    msgpack_sbuffer_init(&b->want);
    msgpack_packer_init(&b->packer, &b->want, msgpack_sbuffer_write);
}

static void bench_free(bench *b) {
    msgpack_sbuffer_destroy(&b->want);
    ln_buf_free(&b->out);
    CHECK_INT(b->mem.used, 0);
}

/* Both wrote the same; both begin anew. */
static int same(bench *b) {
    int ok = CHECK_INT(b->out.len, b->want.size) && CHECK(memcmp(b->out.data, b->want.data, b->out.len) == 0);
    ok &= CHECK(!b->out.failed);
    ln_buf_clear(&b->out);
    msgpack_sbuffer_clear(&b->want);
    return ok;
}

static int same_int(bench *b, int64_t i) {
    msgpack_pack_int64(&b->packer, i);
    ln_pack_put(&b->out, &(ln_value){.type = LN_INT, .i = i});
    return same(b);
}

static int same_uint(bench *b, uint64_t u) {
    msgpack_pack_uint64(&b->packer, u);
    ln_pack_put(&b->out, &(ln_value){.type = LN_UINT, .u = u});
    return same(b);
}

static void whole_numbers(void) {
    test_random r = {1};
    bench b;
    bench_init(&b);
    for (int bits = 0; bits < 64; bits++) {
        for (uint64_t near = 0; near < 5; near++) {
            uint64_t u = (UINT64_C(1) << bits) + near - 2;
            if (!same_uint(&b, u) || !same_int(&b, (int64_t)u) || !same_int(&b, (int64_t)(0 - u)))
                fprintf(stderr, "  for %" PRIu64 "\n", u);
        }
    }
    for (int i = -40; i < 300; i++) CHECK(same_int(&b, i));
    for (int i = 0; i < 20000; i++) CHECK(same_int(&b, test_random_wide(&r)));
    same_int(&b, INT64_MIN);
    same_uint(&b, UINT64_MAX);
    bench_free(&b);
}

static void doubles(void) {
    static const double some[] = {0.0, -0.0, 1, -1.5, 1e308, 5e-324, INFINITY, -INFINITY, NAN, 0x1p63};
    bench b;
    bench_init(&b);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        msgpack_pack_double(&b.packer, some[i]);
        ln_pack_put(&b.out, &(ln_value){.type = LN_DOUBLE, .d = some[i]});
        same(&b);
    }
    bench_free(&b);
}

static void plain_words(void) {
    bench b;
    bench_init(&b);
    msgpack_pack_nil(&b.packer);
    msgpack_pack_nil(&b.packer);
    msgpack_pack_true(&b.packer);
    msgpack_pack_false(&b.packer);
    ln_pack_put(&b.out, &(ln_value){.type = LN_NULL});
    ln_pack_put(&b.out, &(ln_value){.type = LN_MISSING});
    ln_pack_put(&b.out, &(ln_value){.type = LN_BOOL, .i = 1});
    ln_pack_put(&b.out, &(ln_value){.type = LN_BOOL, .i = 0});
    same(&b);
    bench_free(&b);
}

static const uint32_t sizes[] = {0,   1,   2,   3,   4,   5,   7,   8,   9,   15,  16,  17,    30,    31,    32,   33,
                                 127, 128, 129, 254, 255, 256, 257, 511, 512, 513, 999, 65534, 65535, 65536, 65537};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void heads(void) {
    bench b;
    bench_init(&b);
    for (int i = 0; i < SIZES + 3; i++) {
        uint32_t n = i < SIZES ? sizes[i] : UINT32_MAX - (uint32_t)(i - SIZES);
        msgpack_pack_str(&b.packer, n);
        msgpack_pack_bin(&b.packer, n);
        msgpack_pack_array(&b.packer, n);
        msgpack_pack_map(&b.packer, n);
        ln_pack_put_head(&b.out, LN_TEXT, n);
        ln_pack_put_head(&b.out, LN_BYTES, n);
        ln_pack_put_head(&b.out, LN_ARRAY, n);
        ln_pack_put_head(&b.out, LN_MAP, n);
        if (!same(&b)) fprintf(stderr, "  for %" PRIu32 "\n", n);
    }
    bench_free(&b);
}

/* Texts, bytes and ext with what they hold. */
static void payloads(void) {
    static uint8_t bytes[65537];
    test_random r = {2};
    bench b;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)test_random_next(&r);
    bench_init(&b);
    for (int i = 0; i < SIZES; i++) {
        uint32_t n = sizes[i];
        int8_t kind = (int8_t)test_random_next(&r);
        msgpack_pack_str_with_body(&b.packer, bytes, n);
        msgpack_pack_bin_with_body(&b.packer, bytes, n);
        msgpack_pack_str_with_body(&b.packer, bytes, n);
        msgpack_pack_ext_with_body(&b.packer, bytes, n, kind);
        msgpack_pack_nil(&b.packer);
        ln_pack_put(&b.out, &(ln_value){.type = LN_TEXT, .len = n, .at = bytes});
        ln_pack_put(&b.out, &(ln_value){.type = LN_BYTES, .len = n, .at = bytes});
        ln_pack_put_text(&b.out, bytes, n);
        ln_pack_put(&b.out, &(ln_value){.type = LN_EXT, .ext = kind, .len = n, .at = bytes});
        ln_pack_put(&b.out, &(ln_value){.type = LN_NULL});
        if (!same(&b)) fprintf(stderr, "  for %" PRIu32 "\n", n);
    }
    bench_free(&b);
}

static void containers_are_encoded_already(void) {
    static const uint8_t array[] = {0x92, 0x01, 0x02}, map[] = {0x81, 0xa1, 'x', 0xc0};
    bench b;
    bench_init(&b);
    ln_pack_put(&b.out, &(ln_value){.type = LN_ARRAY, .len = sizeof array, .at = array});
    ln_pack_put(&b.out, &(ln_value){.type = LN_MAP, .len = sizeof map, .at = map});
    CHECK_INT(b.out.len, sizeof array + sizeof map);
    CHECK(memcmp(b.out.data, array, sizeof array) == 0);
    CHECK(memcmp(b.out.data + sizeof array, map, sizeof map) == 0);
    bench_free(&b);
}

static void put_some(ln_buf *out) {
    static const uint8_t text[100];
    ln_pack_put(out, &(ln_value){.type = LN_INT, .i = INT64_MIN});
    ln_pack_put(out, &(ln_value){.type = LN_TEXT, .len = sizeof text, .at = text});
    ln_pack_put(out, &(ln_value){.type = LN_EXT, .len = 3, .at = text});
    ln_pack_put_head(out, LN_MAP, 70000);
    ln_pack_put(out, &(ln_value){.type = LN_BYTES, .len = sizeof text, .at = text});
}

/* Memory that is short leaves a mark, and nothing after it gets in. */
static void memory_runs_out(void) {
    test_mem t;
    ln_buf out;
    uint64_t calls = UINT64_MAX;
    size_t len;
    for (uint64_t fail_at = 1; fail_at <= calls; fail_at++) {
        ln_buf_init(&out, test_mem_init(&t, SIZE_MAX / 2));
        put_some(&out);
        calls = t.calls;
        ln_buf_free(&out);
        t.calls = 0;
        t.fail_at = fail_at;
        put_some(&out);
        CHECK(out.failed);
        len = out.len;
        t.fail_at = 0;
        ln_pack_put(&out, &(ln_value){.type = LN_NULL});
        CHECK_INT(out.len, len);
        ln_buf_clear(&out);
        ln_pack_put(&out, &(ln_value){.type = LN_NULL});
        CHECK_INT(out.len, 1);
        CHECK(!out.failed);
        ln_buf_free(&out);
        CHECK_INT(t.held, 0);
    }
    CHECK(calls > 2);
}

static const test_case cases[] = {
    {"whole numbers", whole_numbers},
    {"doubles", doubles},
    {"plain words", plain_words},
    {"heads", heads},
    {"payloads", payloads},
    {"containers are encoded already", containers_are_encoded_already},
    {"memory runs out", memory_runs_out},
};
TEST_MAIN(cases)
