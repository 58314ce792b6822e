/* The scanner's two faces and the slow readers: golden bytes of every msgpack type, cut at every place, and limits. */
#include "ingest/test_scan.h"

static const golden values[] = {
    {"zero", BYTES("\x00"), "int 0"},
    {"positive fixint", BYTES("\x7f"), "int 127"},
    {"negative fixint", BYTES("\xe0"), "int -32"},
    {"minus one", BYTES("\xff"), "int -1"},
    {"nil", BYTES("\xc0"), "null"},
    {"false", BYTES("\xc2"), "bool 0"},
    {"true", BYTES("\xc3"), "bool 1"},
    {"uint8", BYTES("\xcc\xff"), "int 255"},
    {"uint16", BYTES("\xcd\xff\xfe"), "int 65534"},
    {"uint32", BYTES("\xce\xff\xff\xff\xff"), "int 4294967295"},
    {"uint64 that is an int64", BYTES("\xcf\x7f\xff\xff\xff\xff\xff\xff\xff"), "int 9223372036854775807"},
    {"uint64", BYTES("\xcf\x80\x00\x00\x00\x00\x00\x00\x00"), "uint 9223372036854775808"},
    {"largest uint64", BYTES("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"), "uint 18446744073709551615"},
    {"int8", BYTES("\xd0\x80"), "int -128"},
    {"int16", BYTES("\xd1\x80\x00"), "int -32768"},
    {"int32", BYTES("\xd2\x80\x00\x00\x00"), "int -2147483648"},
    {"int64", BYTES("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"), "int -9223372036854775808"},
    {"int64, positive", BYTES("\xd3\x00\x00\x00\x00\x00\x00\x00\x05"), "int 5"},
    {"float32", BYTES("\xca\x3f\xc0\x00\x00"), "double 1.5"},
    {"float64", BYTES("\xcb\xbf\xf0\x00\x00\x00\x00\x00\x00"), "double -1"},
    {"minus zero", BYTES("\xcb\x80\x00\x00\x00\x00\x00\x00\x00"), "double -0"},
    {"infinity", BYTES("\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00"), "double inf"},
    {"empty text", BYTES("\xa0"), "text 0:"},
    {"fixstr", BYTES("\xa3xyz"), "text 3:xyz"},
    {"longest fixstr", BYTES("\xbf" X31), "text 31:" X31},
    {"str8", BYTES("\xd9\x20" X32), "text 32:" X32},
    {"str16", BYTES("\xda\x00\x03xyz"), "text 3:xyz"},
    {"str32", BYTES("\xdb\x00\x00\x00\x03xyz"), "text 3:xyz"},
    {"bin8", BYTES("\xc4\x02\x00\xff"), "bytes 2:00ff"},
    {"bin16", BYTES("\xc5\x00\x02\x00\xff"), "bytes 2:00ff"},
    {"bin32", BYTES("\xc6\x00\x00\x00\x02\x00\xff"), "bytes 2:00ff"},
    {"empty bin", BYTES("\xc4\x00"), "bytes 0:"},
    {"fixext1", BYTES("\xd4\x05\x61"), "ext 5 1:61"},
    {"fixext2", BYTES("\xd5\x05\x61\x62"), "ext 5 2:6162"},
    {"timestamp 32", BYTES("\xd6\xff\x00\x00\x00\x01"), "ext -1 4:00000001"},
    {"timestamp 64", BYTES("\xd7\xff\x00\x00\x00\x01\x00\x00\x00\x02"), "ext -1 8:0000000100000002"},
    {"timestamp 96", BYTES("\xc7\x0c\xff\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff"),
     "ext -1 12:00000001ffffffffffffffff"},
    {"event time", BYTES("\xd7\x00\x65\x53\xf1\x00\x00\x00\x00\x05"), "ext 0 8:6553f10000000005"},
    {"fixext16", BYTES("\xd8\x7f" X16), "ext 127 16:30313233343536373839616263646566"},
    {"ext8", BYTES("\xc7\x01\x80\x61"), "ext -128 1:61"},
    {"ext16", BYTES("\xc8\x00\x01\x05\x61"), "ext 5 1:61"},
    {"ext32", BYTES("\xc9\x00\x00\x00\x01\x05\x61"), "ext 5 1:61"},
    {"empty ext", BYTES("\xc7\x00\x05"), "ext 5 0:"},
    {"empty array", BYTES("\x90"), "array 1:90"},
    {"fixarray", BYTES("\x92\x01\x92\xc0\xa1\x61"), "array 6:920192c0a161"},
    {"array16", BYTES("\xdc\x00\x01\x07"), "array 4:dc000107"},
    {"array32", BYTES("\xdd\x00\x00\x00\x01\x07"), "array 6:dd0000000107"},
    {"empty map", BYTES("\x80"), "map 1:80"},
    {"fixmap", BYTES("\x81\xa1\x78\x81\xc0\x90"), "map 6:81a17881c090"},
    {"map16", BYTES("\xde\x00\x01\xa1\x78\x07"), "map 6:de0001a17807"},
    {"map32", BYTES("\xdf\x00\x00\x00\x01\xa1\x78\x07"), "map 8:df00000001a17807"},
};
enum { VALUES = sizeof values / sizeof *values };

/* The framer's word on bytes that come one at a time; it must be the same for bytes that come at once. */
static int frame(const ln_limits *limits, const uint8_t *bytes, size_t len, uint64_t *at) {
    ln_framer whole, slow;
    int err = LN_FRAME_MORE, at_once;
    ln_framer_init(&whole);
    at_once = ln_framer_run(&whole, limits, bytes, len);
    ln_framer_init(&slow);
    for (size_t have = 0; have <= len && err == LN_FRAME_MORE; have++) err = ln_framer_run(&slow, limits, bytes, have);
    CHECK_INT(err, at_once);
    if (err != LN_FRAME_MORE) CHECK_INT(slow.at, whole.at);
    *at = slow.at;
    return err;
}

/* {"p": value, "q": 1} */
static size_t wrap(const golden *g, uint8_t *to) {
    size_t at = 0;
    test_put(to, 0, "\x82\xa1p", 3);
    at = 3;
    at = test_put(to, at, g->bytes, g->len);
    test_put(to, at, "\xa1q\x01", 3);
    return at + 3;
}

static void every_type_into_a_column(void) {
    bench b;
    bench_init(&b);
    int a = bench_field(&b, "p"), one = bench_field(&b, "q");
    for (int i = 0; i < VALUES; i++) {
        uint8_t record[256];
        size_t len = wrap(&values[i], record);
        test_name = values[i].name;
        CHECK_INT(bench_project(&b, &roomy, record, len, 0), len);
        CHECK_INT(b.malformed, LN_OK);
        shows(&b.value[a], values[i].shown);
        shows(&b.value[one], "int 1");
    }
    bench_free(&b);
}

static void every_type_passed_over(void) {
    bench b;
    bench_init(&b);
    int one = bench_field(&b, "q");
    for (int i = 0; i < VALUES; i++) {
        uint8_t record[256];
        size_t len = wrap(&values[i], record);
        test_name = values[i].name;
        CHECK_INT(bench_project(&b, &roomy, record, len, 0), len);
        shows(&b.value[one], "int 1");
    }
    bench_free(&b);
}

static void every_type_cut_everywhere(void) {
    static const int pads[] = {0x00, 0x81, 0xa1, 0xc1, 0xff};
    for (int asked = 0; asked < 2; asked++) {
        bench b;
        bench_init(&b);
        bench_field(&b, asked ? "p" : "q");
        for (int i = 0; i < VALUES; i++) {
            uint8_t record[256];
            size_t len = wrap(&values[i], record);
            uint64_t at;
            test_name = values[i].name;
            for (size_t cut = 0; cut < len; cut++) {
                CHECK_INT(frame(&roomy, record, cut, &at), LN_FRAME_MORE);
                for (size_t pad = 0; pad < sizeof pads / sizeof *pads; pad++)
                    CHECK_INT(bench_project(&b, &roomy, record, cut, pads[pad]), -1);
            }
            CHECK_INT(frame(&roomy, record, len, &at), LN_OK);
            CHECK_INT(at, len);
        }
        bench_free(&b);
    }
}

/* What lies behind the bytes in hand may be the very rest of the record, left there by an earlier one. */
static void cut_before_what_is_stale(void) {
    static const char name[] = X31;
    uint8_t record[2048], *copy;
    size_t at = 3;
    bench b;
    bench_init(&b);
    bench_field(&b, "0");
    for (uint8_t field = 0; field < 16; field++) {
        record[at++] = 0xbf;
        test_put(record, at, name, 31);
        record[at] = (uint8_t)('0' + field);
        at += 31;
        if (field % 4 == 0) record[at++] = 0xbf, memset(record + at, 'x', 31), at += 31;
        else if (field % 4 == 1) record[at++] = 0xcb, memset(record + at, 1, 8), at += 8;
        else if (field % 4 == 2) record[at++] = 0xd8, memset(record + at, 1, 17), at += 17;
        else at = test_put(record, at, "\xdb\x00\x00\x00\x01x", 6);
    }
    test_put(record, 0, "\xde\x00\x10", 3);
    for (uint8_t field = 0; field < 16; field += 3) {
        char asked[32];
        test_put(asked, 0, name, 31);
        asked[0] = (char)('0' + field);
        ln_fields_add(&b.fields, asked, 31);
    }
    CHECK_INT(bench_project(&b, &roomy, record, at, 0), at);
    CHECK_INT(bench_project(&b, &roomy, record, at, 0), at);
    for (size_t cut = 1; cut < at; cut++) {
        copy = malloc(cut + LN_SCAN_PAD);
        if (!copy) abort();
        memset(copy, 0xff, cut + LN_SCAN_PAD);
        memcpy(copy, record, at < cut + LN_SCAN_PAD ? at : cut + LN_SCAN_PAD);
        CHECK(!ln_scan_project(&b.fields, &roomy, copy, copy + cut, b.column, 0, &b.malformed));
        free(copy);
    }
    bench_free(&b);
}

static void every_type_as_a_record(void) {
    bench b;
    bench_init(&b);
    int a = bench_field(&b, "p");
    for (int i = 0; i < VALUES; i++) {
        int map = strncmp(values[i].shown, "map", 3) == 0;
        uint64_t at;
        test_name = values[i].name;
        CHECK_INT(bench_project(&b, &roomy, values[i].bytes, values[i].len, 0), values[i].len);
        CHECK_INT(b.malformed, map ? LN_OK : LN_EINVALID);
        shows(&b.value[a], "missing");
        CHECK_INT(frame(&roomy, values[i].bytes, values[i].len, &at), LN_OK);
        CHECK_INT(at, values[i].len);
    }
    bench_free(&b);
}

static void every_type_read_slowly(void) {
    for (int i = 0; i < VALUES; i++) {
        uint8_t record[256];
        size_t len = wrap(&values[i], record);
        const uint8_t *end = values[i].bytes + values[i].len;
        ln_value v;
        test_name = values[i].name;
        CHECK(ln_value_read(values[i].bytes, end, 1, &v) == end);
        shows(&v, values[i].shown);
        ln_record_get(record, (uint32_t)len, "p", 1, &v);
        shows(&v, values[i].shown);
        ln_record_get(record, (uint32_t)len, "q", 1, &v);
        shows(&v, "int 1");
        for (const uint8_t *cut = values[i].bytes; cut < end; cut++) {
            CHECK(ln_value_read(values[i].bytes, cut, 1, &v) == cut);
            shows(&v, "missing");
        }
    }
}

static void a_value_read_by_its_head(void) {
    static const uint8_t map[] = "\x82\xa1p\x92\x01\x02\xa1q\xc0";
    const uint8_t *end = map + sizeof map - 1, *p;
    ln_value v;
    p = ln_value_read(map, end, 0, &v);
    CHECK_INT(v.type, LN_MAP);
    CHECK_INT(v.len, 2);
    CHECK(p == map + 1);
    p = ln_value_read(map + 3, end, 0, &v);
    CHECK_INT(v.type, LN_ARRAY);
    CHECK_INT(v.len, 2);
    CHECK(p == map + 4);
}

static void a_byte_that_begins_nothing(void) {
    bench b;
    uint64_t at;
    bench_init(&b);
    bench_field(&b, "p");
    CHECK_INT(frame(&roomy, BYTES("\xc1"), &at), LN_EMSGPACK);
    CHECK_INT(at, 0);
    CHECK_INT(frame(&roomy, BYTES("\x82\xa1p\xc1"), &at), LN_EMSGPACK);
    CHECK_INT(at, 3);
    CHECK_INT(frame(&roomy, BYTES("\x82\xa1p\x92\x01\xc1"), &at), LN_EMSGPACK);
    CHECK_INT(at, 5);
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xc1\x01"), 0), -1);
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xa1p\xc1"), 0), -1);
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xa1x\xc1"), 0), -1);
    bench_free(&b);
}

/* What stands for no name yet is 0xc1 with zeros behind it. */
static void a_guess_of_nothing(void) {
    bench b;
    bench_init(&b);
    bench_field(&b, "p");
    for (int n = 1; n < 40; n++) {
        uint8_t record[41] = {0x81, 0xc1};
        CHECK_INT(bench_project(&b, &roomy, record, (size_t)n + 1, 0), -1);
    }
    bench_free(&b);
}

static int limited(const ln_limits *limits, const uint8_t *bytes, size_t len, uint64_t *at) {
    bench b;
    int64_t end;
    int err = frame(limits, bytes, len, at);
    bench_init(&b);
    bench_field(&b, "p.q");
    end = bench_project(&b, limits, bytes, len, 0);
    CHECK_INT(end, err == LN_OK ? (int64_t)*at : -1);
    bench_free(&b);
    return err;
}

static void limit_of_nesting(void) {
    ln_limits two = roomy, one = roomy;
    uint64_t at;
    two.nesting = 2;
    one.nesting = 1;
    CHECK_INT(limited(&one, BYTES("\x81\xa1p\x01"), &at), LN_OK);
    CHECK_INT(limited(&one, BYTES("\x81\xa1p\x80"), &at), LN_EDEPTH);
    CHECK_INT(at, 3);
    CHECK_INT(limited(&one, BYTES("\x81\xa1x\x90"), &at), LN_EDEPTH);
    CHECK_INT(limited(&one, BYTES("\x05"), &at), LN_OK);
    CHECK_INT(limited(&two, BYTES("\x83\xa1p\x80\xa1q\x91\x01\xa1p\x81\xa1q\x01"), &at), LN_OK);
    CHECK_INT(limited(&two, BYTES("\x82\xa1q\x91\x01\xa1p\x81\xa1q\x90"), &at), LN_EDEPTH);
    CHECK_INT(at, 10);
    CHECK_INT(limited(&two, BYTES("\x91\x91\x91"), &at), LN_EDEPTH);
    CHECK_INT(at, 2);
}

static void limit_of_nesting_at_its_most(void) {
    ln_limits most = roomy;
    uint8_t deep[LN_NESTING_MAX + 2];
    bench b;
    char path[2 * LN_NESTING_MAX + 2];
    uint8_t chain[3 * LN_NESTING_MAX + 8];
    uint64_t at;
    most.nesting = LN_NESTING_MAX;
    memset(deep, 0x91, sizeof deep);
    deep[LN_NESTING_MAX] = 0;
    CHECK_INT(limited(&most, deep, LN_NESTING_MAX + 1, &at), LN_OK);
    deep[LN_NESTING_MAX] = 0x91;
    CHECK_INT(limited(&most, deep, LN_NESTING_MAX + 2, &at), LN_EDEPTH);
    CHECK_INT(at, LN_NESTING_MAX);
    /* The same through maps whose fields are asked for, one level more than there may be. */
    bench_init(&b);
    for (size_t i = 0; i <= LN_NESTING_MAX; i++) {
        test_put(chain, 3 * i, "\x81\xa1p", 3);
        test_put(path, 2 * i, "p.", 2);
        CHECK_INT(ln_fields_add(&b.fields, path, 2 * i + 1), i);
    }
    chain[3 * LN_NESTING_MAX] = 7;
    CHECK_INT(bench_project(&b, &most, chain, 3 * LN_NESTING_MAX + 1, 0), 3 * LN_NESTING_MAX + 1);
    shows(&b.value[LN_NESTING_MAX - 1], "int 7");
    shows(&b.value[LN_NESTING_MAX], "missing");
    shows(&b.value[LN_NESTING_MAX - 2], "map 4:81a17007");
    chain[3 * LN_NESTING_MAX] = 0x81;
    CHECK_INT(bench_project(&b, &most, chain, 3 * LN_NESTING_MAX + 4, 0), -1);
    bench_free(&b);
}

static void limit_of_elements(void) {
    ln_limits few = roomy;
    uint64_t at;
    few.elements = 4;
    CHECK_INT(limited(&few, BYTES("\x82\xa1p\x01\xa1q\x01"), &at), LN_OK);
    CHECK_INT(limited(&few, BYTES("\x81\xa1p\x92\x01\x02"), &at), LN_OK);
    CHECK_INT(limited(&few, BYTES("\x81\xa1p\x93\x01\x02\x03"), &at), LN_EELEMENTS);
    CHECK_INT(at, 3);
    CHECK_INT(limited(&few, BYTES("\x81\xa1p\x81\xa1q\x90"), &at), LN_OK);
    CHECK_INT(limited(&few, BYTES("\x81\xa1p\x81\xa1q\x91\x00"), &at), LN_EELEMENTS);
    CHECK_INT(at, 6);
    /* Declared lengths count at once. */
    CHECK_INT(limited(&roomy, BYTES("\xdd\x02\xfa\xf0\x80"), &at), LN_EELEMENTS);
    CHECK_INT(limited(&roomy, BYTES("\xdf\xff\xff\xff\xff"), &at), LN_EELEMENTS);
    CHECK_INT(limited(&roomy, BYTES("\xde\xff\xff"), &at), LN_EELEMENTS);
    CHECK_INT(limited(&roomy, BYTES("\xde\x80\x00"), &at), LN_FRAME_MORE);
    CHECK_INT(limited(&roomy, BYTES("\x92\xdd\x00\x00\xff\xff"), &at), LN_EELEMENTS);
    CHECK_INT(at, 1);
}

static void limit_of_bytes(void) {
    ln_limits ten = roomy;
    uint64_t at;
    ten.record_bytes = 10;
    CHECK_INT(limited(&ten, BYTES("\x81\xa1p\xa6tuvwxy"), &at), LN_OK);
    CHECK_INT(limited(&ten, BYTES("\x81\xa1p\xa7tuvwxyz"), &at), LN_ERECORD);
    CHECK_INT(at, 3);
    CHECK_INT(limited(&ten, BYTES("\xcb\x00\x00\x00\x00\x00\x00\x00\x00"), &at), LN_OK);
    CHECK_INT(limited(&ten, BYTES("\x92\x00\xcb\x00\x00\x00\x00\x00\x00\x00\x00"), &at), LN_ERECORD);
    CHECK_INT(at, 2);
    /* Each value that is owed is a byte at least. */
    CHECK_INT(limited(&ten, BYTES("\x99"), &at), LN_FRAME_MORE);
    CHECK_INT(limited(&ten, BYTES("\x9a"), &at), LN_ERECORD);
    CHECK_INT(limited(&ten, BYTES("\x84\x00\xa5"), &at), LN_ERECORD);
    CHECK_INT(at, 2);
    /* Declared lengths count at once. */
    CHECK_INT(limited(&roomy, BYTES("\xdb\x00\x10\x00\x00"), &at), LN_ERECORD);
    CHECK_INT(limited(&roomy, BYTES("\xdb\x00\x0f\xff\xfb"), &at), LN_FRAME_MORE);
    CHECK_INT(limited(&roomy, BYTES("\xc6\xff\xff\xff\xff"), &at), LN_ERECORD);
    CHECK_INT(limited(&roomy, BYTES("\x81\xa1p\xc9\x7f\xff\xff\xff\x05"), &at), LN_ERECORD);
    CHECK_INT(at, 3);
}

static void a_long_text_is_not_looked_at(void) {
    ln_framer f;
    static uint8_t bytes[5 + 1000] = {0xdb, 0, 0, 0x03, 0xe8};
    ln_framer_init(&f);
    CHECK_INT(ln_framer_run(&f, &roomy, bytes, 5), LN_FRAME_MORE);
    CHECK_INT(f.at, 1005);
    CHECK_INT(ln_framer_run(&f, &roomy, bytes, 1004), LN_FRAME_MORE);
    CHECK_INT(ln_framer_run(&f, &roomy, bytes, 1005), LN_OK);
}

static const test_case cases[] = {
    {"every type into a column", every_type_into_a_column},
    {"every type passed over", every_type_passed_over},
    {"every type cut everywhere", every_type_cut_everywhere},
    {"cut before what is stale", cut_before_what_is_stale},
    {"every type as a record", every_type_as_a_record},
    {"every type read slowly", every_type_read_slowly},
    {"a value read by its head", a_value_read_by_its_head},
    {"a byte that begins nothing", a_byte_that_begins_nothing},
    {"a guess of nothing", a_guess_of_nothing},
    {"limit of nesting", limit_of_nesting},
    {"limit of nesting at its most", limit_of_nesting_at_its_most},
    {"limit of elements", limit_of_elements},
    {"limit of bytes", limit_of_bytes},
    {"a long text is not looked at", a_long_text_is_not_looked_at},
};
TEST_MAIN(cases)
