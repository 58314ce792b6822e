/* Which field of a record lands in which column: names that repeat, nest, change places, or are asked for late. */
#include "ingest/test_scan.h"

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
    static const char *const paths[] = {"p", "p.q", "p.r", "x", NULL};
    bench b;
    bench_init(&b);
    for (int i = 0; paths[i]; i++) bench_field(&b, paths[i]);
    expect(&b, BYTES("\x82\xa1x\x01\xa1x\x02"), paths, (const char *[]){"missing", "missing", "missing", "int 2"});
    expect(&b, BYTES("\x82\xa1p\x81\xa1q\x01\xa1p\x81\xa1r\x02"), paths,
           (const char *[]){"map 4:81a17202", "missing", "int 2", "missing"});
    expect(&b, BYTES("\x82\xa1p\x81\xa1q\x01\xa1p\x05"), paths,
           (const char *[]){"int 5", "missing", "missing", "missing"});
    expect(&b, BYTES("\x82\xa1p\x81\xa1q\x01\xa1p\xa3xyz"), paths,
           (const char *[]){"text 3:xyz", "missing", "missing", "missing"});
    expect(&b, BYTES("\x82\xa1p\x91\x01\xa1p\x82\xa1q\x03\xa1q\x04"), paths,
           (const char *[]){"map 7:82a17103a17104", "int 4", "missing", "missing"});
    bench_free(&b);
}

static void names_that_are_no_text(void) {
    static const char *const paths[] = {"p", "", "1", NULL};
    bench b;
    bench_init(&b);
    for (int i = 0; paths[i]; i++) bench_field(&b, paths[i]);
    expect(&b, BYTES("\x85\x01\x02\xc4\x01p\x03\x91\xa1p\x04\xc0\x05\xa1p\x06"), paths,
           (const char *[]){"int 6", "missing", "missing"});
    expect(&b, BYTES("\x82\xa0\x07\x81\xa1p\x01\x08"), paths, (const char *[]){"missing", "int 7", "missing"});
    bench_free(&b);
}

static void names_with_dots(void) {
    static const char *const paths[] = {"p.q.r", "p.q", ".", "p.", NULL};
    bench b;
    bench_init(&b);
    for (int i = 0; paths[i]; i++) CHECK_INT(bench_field(&b, paths[i]), i);
    for (int i = 0; paths[i]; i++) CHECK_INT(bench_field(&b, paths[i]), i);
    expect(&b, BYTES("\x82\xa1p\x82\xa1q\x81\xa1r\x01\xa0\x02\xa0\x81\xa0\x03"), paths,
           (const char *[]){"int 1", "map 4:81a17201", "int 3", "int 2"});
    /* A name that holds a dot is not reached by a path. */
    expect(&b, BYTES("\x81\xa3p.b\x01"), paths, (const char *[]){"missing", "missing", "missing", "missing"});
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
            at = test_put(record, at, name, (size_t)len);
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
    static const golden heads[] = {
        {"str8", BYTES("\x81\xd9\x05hello\x07"), "int 7"},
        {"str16", BYTES("\x81\xda\x00\x05hello\x07"), "int 7"},
        {"str32", BYTES("\x81\xdb\x00\x00\x00\x05hello\x07"), "int 7"},
    };
    bench b;
    bench_init(&b);
    bench_field(&b, "hello");
    for (int i = 0; i < 9; i++) {
        const golden *g = &heads[i / 3];
        CHECK_INT(bench_project(&b, &roomy, g->bytes, g->len, 0), g->len);
        shows(&b.value[0], g->shown);
    }
    bench_free(&b);
}

static void fields_to_the_last(void) {
    bench b;
    char name[8];
    bench_init(&b);
    for (int i = 0; i < LN_FIELDS_MAX; i++) {
        snprintf(name, sizeof name, "u%d", i);
        CHECK_INT(bench_field(&b, name), i);
    }
    CHECK_INT(bench_field(&b, "more"), -1);
    CHECK_INT(bench_field(&b, "u255"), 255);
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x83\xa4u255\x01\xa4more\x02\xa2u0\x03"), 0), 17);
    shows(&b.value[255], "int 1");
    shows(&b.value[0], "int 3");
    shows(&b.value[1], "missing");
    bench_free(&b);
}

/* A field asked for late must not be hidden by the guess that nobody wants it. */
static void a_field_asked_for_late(void) {
    bench b;
    bench_init(&b);
    bench_field(&b, "p");
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x82\xa1p\x01\xa1q\x81\xa1r\x02"), 0), 10);
    int whole = bench_field(&b, "q"), inside = bench_field(&b, "q.r");
    CHECK_INT(bench_project(&b, &roomy, BYTES("\x82\xa1p\x01\xa1q\x81\xa1r\x02"), 0), 10);
    shows(&b.value[whole], "map 4:81a17202");
    shows(&b.value[inside], "int 2");
    bench_free(&b);
}

/* Records of changing layouts, against the slow reader. */
static void layouts_that_change(void) {
    static const char *const names[] = {"p", "ab", "value", "a_name_of_19_letters", "temperature", "q", "", "ts"};
    bench b;
    uint32_t seed = 1;
    bench_init(&b);
    for (int i = 0; i < 8; i += 2) bench_field(&b, names[i]);
    bench_field(&b, "b.value");
    for (int round = 0; round < 2000; round++) {
        static const char *const asked[] = {"p", "value", "temperature", "", "b.value"};
        uint8_t record[1024], pairs = 0;
        size_t at = 1, open = 0;
        for (int i = 0; i < 12; i++) {
            seed = seed * 1664525 + 1013904223;
            const char *name = names[(seed >> 24) & 7];
            size_t len = strlen(name);
            if ((seed >> 20) % 5 == 0) continue;
            record[at++] = (uint8_t)(0xa0 | len);
            at = test_put(record, at, name, len);
            pairs++;
            if (name == names[5]) at = test_put(record, at, "\x81\xa5value", 7), open++;
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
