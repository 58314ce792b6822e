/* The reader from bytes to rows: msgpack, formats, every error, and memory that runs out. */
#include "ingest/test_rows.h"

/* ---- msgpack ---- */

static void msgpack_records(void) {
    EXPECT(&plain, "", "");
    EXPECT(&plain, "\x81\xa1p\x01\x82\xa1p\xa2hi\xa1q\x81\xa1r\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00",
           "1 - \n'hi' 1d \n");
    EXPECT(&plain, "\x80\x05\x81\xa1p\x92\x01\x02\xde\x00\x00\xdf\x00\x00\x00\x00",
           "- - \n!2 - - \\05\n#8:\\92\\01\\02 - \n- - \n- - \n");
    EXPECT(&plain, "\xc0\x80", "!2 - - \\c0\n- - \n");
}

static void msgpack_in_small_batches(void) {
    for (uint32_t rows = 1; rows < 4; rows++) {
        setup s = {.rows_max = rows, .fields = {"p"}};
        EXPECT(&s, "\x81\xa1p\x01\x81\xa1p\x02\x81\xa1p\x03\x05\x81\xa1p\x04", "1 \n2 \n3 \n!2 - \\05\n4 \n");
    }
}

static void msgpack_errors(void) {
    setup s = plain;
    EXPECT(&s, "\x81\xa1p\x01\x81\xc1\x01", "1 - \nbyte 5: these bytes are not msgpack: mend the sender\n");
    EXPECT(&s, "\x81\xa1p\x01\x81\xa1p",
           "1 - \nbyte 4: the input ends in the middle of the record that begins here: send it whole\n");
    s.limits.nesting = 2;
    EXPECT(&s, "\x80\x81\xa1p\x91\x91\x01",
           "- - \nbyte 5: a record is nested deeper than limits.nesting (2) allows: "
           "raise limits.nesting in the script, or mend the sender\n");
    s.limits.elements = 2;
    EXPECT(&s, "\x80\x81\xa1p\x91\x01",
           "- - \nbyte 4: a record has more values than limits.elements (2) allows: "
           "raise limits.elements in the script, or mend the sender\n");
    s.limits.elements = 0;
    s.limits.record_bytes = 8;
    EXPECT(&s, "\x80\x81\xa1p\xa4wxyz\x81\xa1p\xa5vwxyz",
           "- - \n'wxyz' - \nbyte 12: a record is larger than limits.record_bytes (8) allows: "
           "raise limits.record_bytes in the script, or mend the sender\n");
}

/* The limit that the error names, for bytes that pass every one. */
static void names_limit(const ln_limits *limits, const char *bytes, size_t len, const char *limit) {
    ln_reader *r = ln_reader_new(LN_FORMAT_MSGPACK, limits, 0);
    const ln_batch *b;
    CHECK_INT(ln_reader_push(r, bytes, len), LN_OK);
    CHECK(ln_reader_next(r, &b) != LN_OK);
    if (!CHECK(strstr(ln_reader_error(r), limit))) fprintf(stderr, "  %s\n", ln_reader_error(r));
    ln_reader_delete(r);
}

static void limits_have_defaults_and_ends(void) {
    static const ln_limits huge = {.record_bytes = UINT64_MAX, .nesting = UINT32_MAX, .elements = UINT32_MAX};
    char deep[LN_NESTING_MAX + 1];
    memset(deep, '\x91', sizeof deep);
    names_limit(NULL, deep, sizeof deep, "limits.nesting (32)");
    names_limit(NULL, "\xdf\xff\xff\xff\xff", 5, "limits.elements (65536)");
    names_limit(NULL, "\xdb\xff\xff\xff\xff", 5, "limits.record_bytes (4194304)");
    names_limit(&huge, deep, sizeof deep, "limits.nesting (128)");
    names_limit(&huge, "\xdf\xff\xff\xff\xff", 5, "limits.elements (2147483647)");
    names_limit(&huge, "\xdb\xff\xff\xff\xff", 5, "limits.record_bytes (1073741824)");
}

static void errors_stay(void) {
    ln_reader *r = ln_reader_new(LN_FORMAT_AUTO, NULL, 0);
    const ln_batch *b;
    CHECK_INT(ln_reader_push(r, "\x80\xc1", 2), LN_OK);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 1);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(ln_reader_next(r, &b), LN_EMSGPACK);
        CHECK_INT(b->rows, 0);
        CHECK_INT(ln_reader_push(r, "\x80", 1), LN_ECLOSED);
        CHECK_INT(ln_reader_error_offset(r), 1);
    }
    ln_reader_restart(r);
    CHECK_TEXT(ln_reader_error(r), "");
    CHECK_INT(ln_reader_format(r), LN_FORMAT_AUTO);
    CHECK_INT(ln_reader_push(r, "{}\n", 3), LN_OK);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 1);
    CHECK_INT(ln_reader_format(r), LN_FORMAT_JSON);
    ln_reader_end(r);
    CHECK_INT(ln_reader_push(r, "{}\n", 3), LN_ECLOSED);
    ln_reader_delete(r);
}

/* Offsets count from the beginning of the stream, also where the bytes before are long gone. */
static void offsets_of_long_streams(void) {
    ln_reader *r = ln_reader_new(LN_FORMAT_AUTO, NULL, 0);
    static uint8_t empty[1000];
    dump d = {0};
    memset(empty, 0x80, sizeof empty);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(ln_reader_push(r, empty, sizeof empty), LN_OK);
        CHECK_INT(drain(r, &d), LN_OK);
    }
    CHECK_INT(r->in_bytes, 4096);
    CHECK_INT(ln_reader_push(r, "\x81\xc1", 2), LN_OK);
    CHECK_INT(drain(r, &d), LN_EMSGPACK);
    CHECK_INT(ln_reader_error_offset(r), 1000001);
    ln_reader_delete(r);
    free(d.text);
}

static void a_declared_length_costs_nothing(void) {
    static const char *const bombs[] = {
        "\xdd\x02\xfa\xf0\x80",
        "\xdf\x0f\xff\xff\xff",
        "\xdb\x7f\xff\xff\xff",
        "\xc6\x7f\xff\xff\xff",
    };
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        test_mem t;
        ln_reader *r = ln_reader_new_with(test_mem_init(&t, 64 << 10), LN_FORMAT_AUTO, NULL, 1);
        const ln_batch *b;
        CHECK_INT(ln_reader_push(r, "\x81\xa1p", 3), LN_OK);
        CHECK_INT(ln_reader_push(r, bombs[i], 5), LN_OK);
        CHECK_INT(ln_reader_next(r, &b), bombs[i][0] == '\xdd' || bombs[i][0] == '\xdf' ? LN_EELEMENTS : LN_ERECORD);
        CHECK_INT(ln_reader_error_offset(r), 3);
        ln_reader_delete(r);
        CHECK(t.peak < 16 << 10);
    }
}

/* A record of n bytes that comes in small pieces costs about n, not n squared, and fits the limit exactly. */
static void a_large_record_in_small_pieces(void) {
    setup s = {.limits = {.record_bytes = 1 << 20}, .rows_max = 1, .fields = {"p"}};
    test_mem t;
    ln_reader *r = reader_of(&s, test_mem_init(&t, SIZE_MAX / 2));
    static uint8_t record[1 << 20];
    const ln_batch *b;
    memset(record, 'x', sizeof record);
    test_put(record, 0, "\x81\xa1p\xdb\x00\x0f\xff\xf8", 8);
    for (size_t at = 0; at < sizeof record; at += 64) {
        CHECK_INT(ln_reader_push(r, record + at, 64), LN_OK);
        CHECK_INT(ln_reader_next(r, &b), LN_OK);
        CHECK_INT(b->rows, at + 64 == sizeof record);
    }
    CHECK_INT(b->column[0][0].len, (1 << 20) - 8);
    CHECK(r->in_bytes <= (1 << 20) + 64 + LN_READER_PAD);
    ln_reader_delete(r);
}

/* ---- formats ---- */

static void formats_are_recognised(void) {
    static const struct {
        const char *bytes;
        int format;
    } first[] = {
        {"{", LN_FORMAT_JSON},
        {" ", LN_FORMAT_JSON},
        {"\t", LN_FORMAT_JSON},
        {"\n", LN_FORMAT_JSON},
        {"x", LN_FORMAT_JSON},
        {"[", LN_FORMAT_JSON},
        {"\xef\xbb\xbf", LN_FORMAT_JSON},
        {"\x80", LN_FORMAT_MSGPACK},
        {"\xde", LN_FORMAT_MSGPACK},
        {"\xdf", LN_FORMAT_MSGPACK},
        {"\xa1", LN_FORMAT_MSGPACK},
        {"\x01", LN_FORMAT_MSGPACK},
        {"\x7f", LN_FORMAT_MSGPACK},
        {"\xef", LN_FORMAT_AUTO},
        {"", LN_FORMAT_AUTO},
        {"\xef\xbb\xbe", LN_FORMAT_MSGPACK},
        {"\xef\xbb", LN_FORMAT_AUTO},
    };
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        ln_reader *r = ln_reader_new(LN_FORMAT_AUTO, NULL, 0);
        const ln_batch *b;
        ln_reader_push(r, first[i].bytes, strlen(first[i].bytes));
        ln_reader_next(r, &b);
        CHECK_INT(ln_reader_format(r), first[i].format);
        ln_reader_delete(r);
    }
    EXPECT(&plain, "\xef", "!2 - - \\ef\n");
    EXPECT(&plain, "\xef\x80", "!2 - - \\ef\n- - \n");
}

static void a_stated_format_is_kept(void) {
    setup json = {.format = LN_FORMAT_JSON, .fields = {"p"}}, msgpack = {.format = LN_FORMAT_MSGPACK, .fields = {"p"}};
    EXPECT(&json, "\x81\xa1p\x01\n{\"p\":1}", "!8 - \\a4\\81\\a1p\\01\n1 \n");
    EXPECT(&json, "\xef\xbb\xbf{\"p\":1}", "1 \n");
    EXPECT(&msgpack, "{\x80", "!2 - {\n- \n");
    EXPECT(&msgpack, "\xef\xbbz23456789012345678901234567", "!2 - \\ef\n!2 - \\bbz23456789012345678901234567\n");
}

/* ---- the object ---- */

static void columns_between_batches(void) {
    ln_reader *r = ln_reader_new(LN_FORMAT_AUTO, NULL, 1);
    const ln_batch *b;
    CHECK_INT(ln_reader_column(r, "p", 1), 0);
    ln_reader_push(r, "\x82\xa1p\x01\xa1q\x02", 7);
    ln_reader_push(r, "\x82\xa1p\x03\xa1q\x04", 7);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    for (int i = 1; i < LN_FIELDS_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, i == 1 ? "q" : "f%d", i);
        CHECK_INT(ln_reader_column(r, name, strlen(name)), i);
        CHECK_INT(b->columns, 1);
        CHECK_INT(b->column[0][0].i, 1);
    }
    CHECK_INT(ln_reader_column(r, "more", 4), -1);
    CHECK_INT(ln_reader_column(r, "q", 1), 1);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->columns, LN_FIELDS_MAX);
    CHECK_INT(b->column[0][0].i, 3);
    CHECK_INT(b->column[1][0].i, 4);
    CHECK_INT(b->column[255][0].type, LN_MISSING);
    ln_reader_delete(r);
}

static void space_and_commit(void) {
    ln_reader *r = ln_reader_new(LN_FORMAT_AUTO, NULL, 0);
    const ln_batch *b;
    uint8_t *to;
    CHECK_INT(ln_reader_commit(r, 0), LN_OK);
    CHECK_INT(ln_reader_commit(r, 1), LN_EINVALID);
    CHECK(!ln_reader_space(r, SIZE_MAX));
    to = ln_reader_space(r, 10);
    test_put(to, 0, "\x81\xa1p\x01", 4);
    CHECK_INT(ln_reader_commit(r, 100000), LN_EINVALID);
    CHECK_INT(ln_reader_commit(r, 2), LN_OK);
    CHECK_INT(ln_reader_pending(r), 2);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 0);
    to = ln_reader_space(r, 10);
    test_put(to, 0, "a\x01\x80", 3);
    CHECK_INT(ln_reader_commit(r, 3), LN_OK);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 2);
    CHECK_INT(ln_reader_pending(r), 0);
    ln_reader_delete(r);
    ln_reader_delete(NULL);
}

/* Each call for memory fails in turn: the reader says so, or does without, and leaves nothing behind. */
static void memory_that_runs_out(void) {
    static const char json[] = "{\"p\":1,\"q\":{\"r\":-0}}\n[0,-0,\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"]\n";
    static const char msgpack[] = "\x82\xa1p\x01\xa1q\x81\xa1r\x02";
    for (int format = LN_FORMAT_MSGPACK; format <= LN_FORMAT_JSON; format++) {
        int failed = 1;
        for (uint64_t n = 1; failed; n++) {
            test_mem t;
            ln_reader *r;
            dump d = {0};
            int err, columns = 0;
            ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
            t.fail_at = n;
            failed = 1;
            r = ln_reader_new_with(mem, format, NULL, 4);
            if (r) {
                const char *bytes = format == LN_FORMAT_JSON ? json : msgpack;
                columns += ln_reader_column(r, "p", 1) >= 0;
                columns += ln_reader_column(r, "q.r", 3) >= 0;
                columns += ln_reader_column(r, "q", 1) >= 0;
                err = ln_reader_push(r, bytes, format == LN_FORMAT_JSON ? sizeof json - 1 : sizeof msgpack - 1);
                if (!err) err = drain(r, &d);
                CHECK(err == LN_OK || err == LN_ENOMEM);
                failed = err != LN_OK || columns < 3;
                if (!failed && format == LN_FORMAT_MSGPACK) CHECK_TEXT(d.text, "1 2 #9:\\81\\a1r\\02 \n");
            }
            ln_reader_delete(r);
            CHECK_INT(t.held, 0);
            free(d.text);
        }
    }
}

/* Rows made before memory ran out are handed out; then comes the error. */
static void memory_that_runs_out_late(void) {
    static char line[100];
    int late = 0;
    memset(line, 'x', sizeof line);
    test_put(line, 0, "[\"", 2);
    test_put(line, sizeof line - 3, "\"]\n", 3);
    for (uint64_t n = 1; n < 10; n++) {
        test_mem t;
        ln_reader *r = ln_reader_new_with(test_mem_init(&t, SIZE_MAX / 2), LN_FORMAT_JSON, NULL, 0);
        const ln_batch *b;
        uint32_t rows = 0;
        int err;
        for (int i = 0; i < 1000; i++) CHECK_INT(ln_reader_push(r, line, sizeof line), LN_OK);
        t.fail_at = t.calls + n;
        while ((err = ln_reader_next(r, &b)) == LN_OK && b->rows) {
            for (uint32_t row = 0; row < b->rows; row++) CHECK_INT(b->record_bytes[row], 98);
            rows += b->rows;
        }
        CHECK(err == LN_ENOMEM || rows == 1000);
        if (err) CHECK_INT(ln_reader_error_offset(r), rows * sizeof line);
        late += rows > 0 && rows < 1000;
        ln_reader_delete(r);
    }
    CHECK(late > 2);
}

/* A path half built when memory ran out asks for nothing, and can be asked for again. */
static void a_column_without_memory(void) {
    for (uint64_t n = 1; n < 12; n++) {
        test_mem t;
        setup s = {.rows_max = 4, .fields = {"x"}};
        ln_reader *r = reader_of(&s, test_mem_init(&t, SIZE_MAX / 2));
        dump d = {0};
        t.fail_at = t.calls + n;
        int column = ln_reader_column(r, "p.q.r", 5);
        t.fail_at = 0;
        CHECK_INT(ln_reader_push(r, "\x81\xa1p\x81\xa1q\x81\xa1r\x07", 10), LN_OK);
        CHECK_INT(drain(r, &d), LN_OK);
        CHECK_TEXT(d.text, column < 0 ? "- \n" : "- 7 \n");
        CHECK_INT(ln_reader_column(r, "p.q.r", 5), 1);
        CHECK_INT(ln_reader_push(r, "\x81\xa1p\x81\xa1q\x81\xa1r\x07", 10), LN_OK);
        d.len = 0;
        CHECK_INT(drain(r, &d), LN_OK);
        CHECK_TEXT(d.text, "- 7 \n");
        ln_reader_delete(r);
        CHECK_INT(t.held, 0);
        free(d.text);
    }
}

static const test_case cases[] = {
    {"msgpack records", msgpack_records},
    {"msgpack in small batches", msgpack_in_small_batches},
    {"msgpack errors", msgpack_errors},
    {"limits have defaults and ends", limits_have_defaults_and_ends},
    {"errors stay", errors_stay},
    {"offsets of long streams", offsets_of_long_streams},
    {"a declared length costs nothing", a_declared_length_costs_nothing},
    {"a large record in small pieces", a_large_record_in_small_pieces},
    {"formats are recognised", formats_are_recognised},
    {"a stated format is kept", a_stated_format_is_kept},
    {"columns between batches", columns_between_batches},
    {"space and commit", space_and_commit},
    {"memory that runs out", memory_that_runs_out},
    {"memory that runs out late", memory_that_runs_out_late},
    {"a column without memory", a_column_without_memory},
};
TEST_MAIN(cases)
