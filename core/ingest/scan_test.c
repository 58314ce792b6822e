/* The scanner's two faces and the slow readers, on golden bytes of every msgpack type. */
#include "base/test.h"
#include "ingest/scan.h"

static const ln_limits roomy = {.record_bytes = 1 << 20, .nesting = 32, .elements = 65536};

#define BYTES(literal) (const uint8_t *)(literal), sizeof(literal) - 1

typedef struct golden {
    const char *name;
    const uint8_t *bytes;
    size_t len;
    const char *shown;
} golden;

#define X16 "0123456789abcdef"
#define X31 X16 "0123456789abcde"
#define X32 X16 X16

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
    {"fixstr", BYTES("\xa3" "abc"), "text 3:abc"},
    {"longest fixstr", BYTES("\xbf" X31), "text 31:" X31},
    {"str8", BYTES("\xd9\x20" X32), "text 32:" X32},
    {"str16", BYTES("\xda\x00\x03" "abc"), "text 3:abc"},
    {"str32", BYTES("\xdb\x00\x00\x00\x03" "abc"), "text 3:abc"},
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

static void show(const ln_value *v, char *to, size_t room) {
    size_t at = 0;
    switch (v->type) {
    case LN_MISSING: snprintf(to, room, "missing"); return;
    case LN_NULL: snprintf(to, room, "null"); return;
    case LN_BOOL: snprintf(to, room, "bool %d", (int)v->i); return;
    case LN_INT: snprintf(to, room, "int %" PRId64, v->i); return;
    case LN_UINT: snprintf(to, room, "uint %" PRIu64, v->u); return;
    case LN_DOUBLE: snprintf(to, room, "double %.17g", v->d); return;
    case LN_TEXT: snprintf(to, room, "text %" PRIu32 ":%.*s", v->len, (int)v->len, (const char *)v->at); return;
    case LN_BYTES: at = (size_t)snprintf(to, room, "bytes %" PRIu32 ":", v->len); break;
    case LN_EXT: at = (size_t)snprintf(to, room, "ext %d %" PRIu32 ":", v->ext, v->len); break;
    case LN_ARRAY: at = (size_t)snprintf(to, room, "array %" PRIu32 ":", v->len); break;
    case LN_MAP: at = (size_t)snprintf(to, room, "map %" PRIu32 ":", v->len); break;
    default: snprintf(to, room, "type %d", v->type); return;
    }
    for (uint32_t i = 0; i < v->len && at + 3 < room; i++) at += (size_t)snprintf(to + at, room - at, "%02x", v->at[i]);
}

static int shows(const ln_value *v, const char *want) {
    char got[512];
    show(v, got, sizeof got);
    return CHECK_TEXT(got, want);
}

/* ---- a projector with its columns, for one row ---- */

typedef struct bench {
    ln_mem mem;
    ln_fields fields;
    ln_value value[LN_FIELDS_MAX];
    ln_value *column[LN_FIELDS_MAX];
    uint8_t malformed;
    uint8_t *copy; /* the record, ending where its allocation less the pad ends */
    size_t copy_bytes;
} bench;

static void bench_init(bench *b) {
    ln_mem_init(&b->mem);
    ln_fields_init(&b->fields, &b->mem);
    for (int i = 0; i < LN_FIELDS_MAX; i++) b->column[i] = &b->value[i];
    b->copy = NULL;
}

static void bench_free(bench *b) {
    ln_fields_free(&b->fields);
    free(b->copy);
    CHECK_INT(b->mem.used, 0);
}

static int bench_field(bench *b, const char *path) { return ln_fields_add(&b->fields, path, strlen(path)); }

/* Projects from a fresh copy whose pad is filled with `pad`; the record's length, or -1 where it was not accepted. */
static int64_t bench_project(bench *b, const ln_limits *limits, const uint8_t *bytes, size_t len, int pad) {
    const uint8_t *end;
    free(b->copy);
    b->copy = malloc(len + LN_SCAN_PAD);
    if (!b->copy) abort();
    memset(b->copy, pad, len + LN_SCAN_PAD);
    memcpy(b->copy, bytes, len);
    end = ln_scan_project(&b->fields, limits, b->copy, b->copy + len, b->column, 0, &b->malformed);
    return end ? end - b->copy : -1;
}

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

/* {"a": value, "b": 1} */
static size_t wrap(const golden *g, uint8_t *to) {
    size_t at = 0;
    memcpy(to, "\x82\xa1" "a", 3);
    at = 3;
    memcpy(to + at, g->bytes, g->len);
    at += g->len;
    memcpy(to + at, "\xa1" "b\x01", 3);
    return at + 3;
}

/* ---- tests ---- */

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
        memcpy(record + at, name, 31);
        record[at] = (uint8_t)('0' + field);
        at += 31;
        if (field % 4 == 0) record[at++] = 0xbf, memset(record + at, 'x', 31), at += 31;
        else if (field % 4 == 1) record[at++] = 0xcb, memset(record + at, 1, 8), at += 8;
        else if (field % 4 == 2) record[at++] = 0xd8, memset(record + at, 1, 17), at += 17;
        else memcpy(record + at, "\xdb\x00\x00\x00\x01x", 6), at += 6;
    }
    memcpy(record, "\xde\x00\x10", 3);
    for (uint8_t field = 0; field < 16; field += 3) {
        char asked[32];
        memcpy(asked, name, 31);
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

static void every_type_into_a_column(void) {
    bench b;
    bench_init(&b);
    int a = bench_field(&b, "a"), one = bench_field(&b, "b");
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
    int one = bench_field(&b, "b");
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
        bench_field(&b, asked ? "a" : "b");
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

static void every_type_as_a_record(void) {
    bench b;
    bench_init(&b);
    int a = bench_field(&b, "a");
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
        ln_record_get(record, (uint32_t)len, "a", 1, &v);
        shows(&v, values[i].shown);
        ln_record_get(record, (uint32_t)len, "b", 1, &v);
        shows(&v, "int 1");
        for (const uint8_t *cut = values[i].bytes; cut < end; cut++) {
            CHECK(ln_value_read(values[i].bytes, cut, 1, &v) == cut);
            shows(&v, "missing");
        }
    }
}

static void a_value_read_by_its_head(void) {
    static const uint8_t map[] = "\x82\xa1" "a\x92\x01\x02\xa1" "b\xc0";
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
    bench_field(&b, "a");
    CHECK_INT(frame(&roomy, BYTES("\xc1"), &at), LN_EMSGPACK);
    CHECK_INT(at, 0);
    CHECK_INT(frame(&roomy, BYTES("\x82\xa1" "a\xc1"), &at), LN_EMSGPACK);
    CHECK_INT(at, 3);
    CHECK_INT(frame(&roomy, BYTES("\x82\xa1" "a\x92\x01\xc1"), &at), LN_EMSGPACK);
    CHECK_INT(at, 5);
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xc1\x01"), 0), -1);
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xa1" "a\xc1"), 0), -1);
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xa1" "x\xc1"), 0), -1);
    bench_free(&b);
}

/* What stands for no name yet is 0xc1 with zeros behind it. */
static void a_guess_of_nothing(void) {
    bench b;
    bench_init(&b);
    bench_field(&b, "a");
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
    bench_field(&b, "a.b");
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
    CHECK_INT(limited(&one, BYTES("\x81\xa1" "a\x01"), &at), LN_OK);
    CHECK_INT(limited(&one, BYTES("\x81\xa1" "a\x80"), &at), LN_EDEPTH);
    CHECK_INT(at, 3);
    CHECK_INT(limited(&one, BYTES("\x81\xa1" "x\x90"), &at), LN_EDEPTH);
    CHECK_INT(limited(&one, BYTES("\x05"), &at), LN_OK);
    CHECK_INT(limited(&two, BYTES("\x83\xa1" "a\x80\xa1" "b\x91\x01\xa1" "a\x81\xa1" "b\x01"), &at), LN_OK);
    CHECK_INT(limited(&two, BYTES("\x82\xa1" "b\x91\x01\xa1" "a\x81\xa1" "b\x90"), &at), LN_EDEPTH);
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
    for (int i = 0; i <= LN_NESTING_MAX; i++) {
        memcpy(chain + 3 * i, "\x81\xa1" "a", 3);
        memcpy(path + 2 * i, "a.", 2);
        CHECK_INT(ln_fields_add(&b.fields, path, (size_t)(2 * i) + 1), i);
    }
    chain[3 * LN_NESTING_MAX] = 7;
    CHECK_INT(bench_project(&b, &most, chain, 3 * LN_NESTING_MAX + 1, 0), 3 * LN_NESTING_MAX + 1);
    shows(&b.value[LN_NESTING_MAX - 1], "int 7");
    shows(&b.value[LN_NESTING_MAX], "missing");
    shows(&b.value[LN_NESTING_MAX - 2], "map 4:81a16107");
    chain[3 * LN_NESTING_MAX] = 0x81;
    CHECK_INT(bench_project(&b, &most, chain, 3 * LN_NESTING_MAX + 4, 0), -1);
    bench_free(&b);
}

static void limit_of_elements(void) {
    ln_limits few = roomy;
    uint64_t at;
    few.elements = 4;
    CHECK_INT(limited(&few, BYTES("\x82\xa1" "a\x01\xa1" "b\x01"), &at), LN_OK);
    CHECK_INT(limited(&few, BYTES("\x81\xa1" "a\x92\x01\x02"), &at), LN_OK);
    CHECK_INT(limited(&few, BYTES("\x81\xa1" "a\x93\x01\x02\x03"), &at), LN_EELEMENTS);
    CHECK_INT(at, 3);
    CHECK_INT(limited(&few, BYTES("\x81\xa1" "a\x81\xa1" "b\x90"), &at), LN_OK);
    CHECK_INT(limited(&few, BYTES("\x81\xa1" "a\x81\xa1" "b\x91\x00"), &at), LN_EELEMENTS);
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
    CHECK_INT(limited(&ten, BYTES("\x81\xa1" "a\xa6" "123456"), &at), LN_OK);
    CHECK_INT(limited(&ten, BYTES("\x81\xa1" "a\xa7" "1234567"), &at), LN_ERECORD);
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
    CHECK_INT(limited(&roomy, BYTES("\x81\xa1" "a\xc9\x7f\xff\xff\xff\x05"), &at), LN_ERECORD);
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

/* Checks field by field against expectations "path=shown", and against the slow reader. */
static void expect(bench *b, const uint8_t *bytes, size_t len, const char *const *paths, const char *const *shown) {
    CHECK_INT(bench_project(b, &roomy, bytes, len, 0), len);
    for (int i = 0; paths[i]; i++) {
        ln_value slow;
        shows(&b->value[bench_field(b, paths[i])], shown[i]);
        ln_record_get(b->copy, (uint32_t)len, paths[i], strlen(paths[i]), &slow);
        shows(&slow, shown[i]);
    }
}

static void names_that_repeat(void) {
    static const char *const paths[] = {"a", "a.b", "a.c", "x", NULL};
    bench b;
    bench_init(&b);
    for (int i = 0; paths[i]; i++) bench_field(&b, paths[i]);
    expect(&b, BYTES("\x82\xa1" "x\x01\xa1" "x\x02"), paths,
           (const char *[]){"missing", "missing", "missing", "int 2"});
    expect(&b, BYTES("\x82\xa1" "a\x81\xa1" "b\x01\xa1" "a\x81\xa1" "c\x02"), paths,
           (const char *[]){"map 4:81a16302", "missing", "int 2", "missing"});
    expect(&b, BYTES("\x82\xa1" "a\x81\xa1" "b\x01\xa1" "a\x05"), paths,
           (const char *[]){"int 5", "missing", "missing", "missing"});
    expect(&b, BYTES("\x82\xa1" "a\x81\xa1" "b\x01\xa1" "a\xa3" "abc"), paths,
           (const char *[]){"text 3:abc", "missing", "missing", "missing"});
    expect(&b, BYTES("\x82\xa1" "a\x91\x01\xa1" "a\x82\xa1" "b\x03\xa1" "b\x04"), paths,
           (const char *[]){"map 7:82a16203a16204", "int 4", "missing", "missing"});
    bench_free(&b);
}

static void names_that_are_no_text(void) {
    static const char *const paths[] = {"a", "", "1", NULL};
    bench b;
    bench_init(&b);
    for (int i = 0; paths[i]; i++) bench_field(&b, paths[i]);
    expect(&b, BYTES("\x85\x01\x02\xc4\x01" "a\x03\x91\xa1" "a\x04\xc0\x05\xa1" "a\x06"), paths,
           (const char *[]){"int 6", "missing", "missing"});
    expect(&b, BYTES("\x82\xa0\x07\x81\xa1" "a\x01\x08"), paths, (const char *[]){"missing", "int 7", "missing"});
    bench_free(&b);
}

static void names_with_dots(void) {
    static const char *const paths[] = {"a.b.c", "a.b", ".", "a.", NULL};
    bench b;
    bench_init(&b);
    for (int i = 0; paths[i]; i++) CHECK_INT(bench_field(&b, paths[i]), i);
    for (int i = 0; paths[i]; i++) CHECK_INT(bench_field(&b, paths[i]), i);
    expect(&b, BYTES("\x82\xa1" "a\x82\xa1" "b\x81\xa1" "c\x01\xa0\x02\xa0\x81\xa0\x03"), paths,
           (const char *[]){"int 1", "map 4:81a16301", "int 3", "int 2"});
    /* A name that holds a dot is not reached by a path. */
    expect(&b, BYTES("\x81\xa3" "a.b\x01"), paths, (const char *[]){"missing", "missing", "missing", "missing"});
    bench_free(&b);
}

static void names_of_every_length(void) {
    bench b;
    bench_init(&b);
    for (int len = 0; len < 70; len++) {
        uint8_t record[256];
        char name[71];
        memset(name, 'n', sizeof name);
        int column = ln_fields_add(&b.fields, name, (size_t)len);
        for (int round = 0; round < 3; round++) {
            /* Twice the name itself, with a guess the second time, then one that differs in its last byte. */
            size_t at = 1;
            record[0] = 0x81;
            if (len < 32) record[at++] = (uint8_t)(0xa0 | len);
            else record[at++] = 0xd9, record[at++] = (uint8_t)len;
            memcpy(record + at, name, (size_t)len);
            at += (size_t)len;
            if (round == 2 && len) record[at - 1] ^= 1;
            record[at++] = 9;
            CHECK_INT(bench_project(&b, &roomy, record, at, 0), at);
            shows(&b.value[column], round == 2 && len ? "missing" : "int 9");
        }
    }
    bench_free(&b);
}

/* A short name may come with a long head, again and again. */
static void names_with_longer_heads(void) {
    bench b;
    bench_init(&b);
    bench_field(&b, "hello");
    for (int round = 0; round < 3; round++) {
        b.value[0].type = LN_MISSING;
        CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xd9\x05hello\x07"), 0), 9);
        shows(&b.value[0], "int 7");
        CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xda\x00\x05hello\x07"), 0), 10);
        shows(&b.value[0], "int 7");
        CHECK_INT(bench_project(&b, &roomy, BYTES("\x81\xdb\x00\x00\x00\x05hello\x07"), 0), 12);
        shows(&b.value[0], "int 7");
    }
    bench_free(&b);
}

static void fields_to_the_last(void) {
    bench b;
    char name[8];
    bench_init(&b);
    for (int i = 0; i < LN_FIELDS_MAX; i++) {
        snprintf(name, sizeof name, "f%d", i);
        CHECK_INT(bench_field(&b, name), i);
    }
    CHECK_INT(bench_field(&b, "more"), -1);
    CHECK_INT(bench_field(&b, "f255"), 255);
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x83\xa4" "f255\x01\xa4" "more\x02\xa2" "f0\x03"), 0), 17);
    shows(&b.value[255], "int 1");
    shows(&b.value[0], "int 3");
    shows(&b.value[1], "missing");
    bench_free(&b);
}

/* A field asked for late must not be hidden by the guess that nobody wants it. */
static void a_field_asked_for_late(void) {
    bench b;
    bench_init(&b);
    bench_field(&b, "a");
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x82\xa1" "a\x01\xa1" "b\x81\xa1" "c\x02"), 0), 10);
    int whole = bench_field(&b, "b"), inside = bench_field(&b, "b.c");
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x82\xa1" "a\x01\xa1" "b\x81\xa1" "c\x02"), 0), 10);
    shows(&b.value[whole], "map 4:81a16302");
    shows(&b.value[inside], "int 2");
    bench_free(&b);
}

/* Records of changing layouts, against the slow reader. */
static void layouts_that_change(void) {
    static const char *const names[] = {"a", "ab", "value", "a_name_of_19_letters", "temperature", "b", "", "ts"};
    bench b;
    uint32_t seed = 1;
    bench_init(&b);
    for (int i = 0; i < 8; i += 2) bench_field(&b, names[i]);
    bench_field(&b, "b.value");
    for (int round = 0; round < 2000; round++) {
        static const char *const asked[] = {"a", "value", "temperature", "", "b.value"};
        uint8_t record[1024], pairs = 0;
        size_t at = 1, open = 0;
        for (int i = 0; i < 12; i++) {
            seed = seed * 1664525 + 1013904223;
            const char *name = names[(seed >> 24) & 7];
            size_t len = strlen(name);
            if ((seed >> 20) % 5 == 0) continue;
            record[at++] = (uint8_t)(0xa0 | len);
            memcpy(record + at, name, len);
            at += len;
            pairs++;
            if (name == names[5]) memcpy(record + at, "\x81\xa5value", 7), at += 7, open++;
            record[at++] = (uint8_t)i;
        }
        record[0] = (uint8_t)(0x80 | pairs);
        CHECK_INT(bench_project(&b, &roomy, record, at, 0), at);
        for (int i = 0; i < 5; i++) {
            ln_value slow;
            char text[64];
            ln_record_get(record, (uint32_t)at, asked[i], strlen(asked[i]), &slow);
            show(&slow, text, sizeof text);
            if (!shows(&b.value[i], text)) break;
        }
    }
    bench_free(&b);
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
    {"names that repeat", names_that_repeat},
    {"names that are no text", names_that_are_no_text},
    {"names with dots", names_with_dots},
    {"names of every length", names_of_every_length},
    {"names with longer heads", names_with_longer_heads},
    {"fields to the last", fields_to_the_last},
    {"a field asked for late", a_field_asked_for_late},
    {"layouts that change", layouts_that_change},
};
TEST_MAIN(cases)
