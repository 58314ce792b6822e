/* The reader from bytes to rows: both formats, every split, every error, and memory that runs out. */
#include "base/test.h"
#include "ingest/reader.h"

/* What a reader made of a stream, as text: a line for each row, then the error. */
typedef struct dump {
    char *text;
    size_t len, cap;
} dump;

static void say(dump *d, const char *bytes, size_t len) {
    if (d->cap - d->len <= len) {
        d->cap = 2 * (d->cap + len + 64);
        d->text = realloc(d->text, d->cap);
        if (!d->text) abort();
    }
    memcpy(d->text + d->len, bytes, len);
    d->len += len;
    d->text[d->len] = '\0';
}

static void say_text(dump *d, const char *text) { say(d, text, strlen(text)); }

static void say_number(dump *d, const char *format, uint64_t n) {
    char text[64];
    snprintf(text, sizeof text, format, n);
    say_text(d, text);
}

/* Printable characters as they are, all others as \xx. */
static void say_bytes(dump *d, const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] >= 0x20 && bytes[i] < 0x7f && bytes[i] != '\\') say(d, (const char *)bytes + i, 1);
        else say_number(d, "\\%02" PRIx64, bytes[i]);
    }
}

static void say_value(dump *d, const ln_value *v) {
    char number[40];
    switch (v->type) {
    case LN_MISSING: say_text(d, "-"); return;
    case LN_NULL: say_text(d, "null"); return;
    case LN_BOOL: say_text(d, v->i ? "true" : "false"); return;
    case LN_INT: snprintf(number, sizeof number, "%" PRId64, v->i); break;
    case LN_UINT: snprintf(number, sizeof number, "%" PRIu64 "u", v->u); break;
    case LN_DOUBLE: snprintf(number, sizeof number, "%.17gd", v->d); break;
    case LN_TEXT: snprintf(number, sizeof number, "'"); break;
    default: snprintf(number, sizeof number, "#%d:", v->type); break;
    }
    say_text(d, number);
    if (v->type >= LN_TEXT) say_bytes(d, v->at, v->len);
    if (v->type == LN_TEXT) say_text(d, "'");
}

static void say_batch(dump *d, const ln_batch *b) {
    for (uint32_t row = 0; row < b->rows; row++) {
        if (b->malformed[row]) say_number(d, "!%" PRIu64 " ", b->malformed[row]);
        for (uint32_t c = 0; c < b->columns; c++) {
            say_value(d, &b->column[c][row]);
            say_text(d, " ");
        }
        if (b->malformed[row]) say_bytes(d, b->record[row], b->record_bytes[row]);
        say_text(d, "\n");
    }
}

/* Takes all batches that are ready; what the last call returned. */
static int drain(ln_reader *r, dump *d) {
    const ln_batch *b;
    int err;
    while ((err = ln_reader_next(r, &b)) == LN_OK && b->rows) say_batch(d, b);
    return err;
}

static void finish(ln_reader *r, dump *d) {
    ln_reader_end(r);
    if (drain(r, d) != LN_OK) say_text(d, ln_reader_error(r)), say_text(d, "\n");
}

typedef struct setup {
    int format;
    ln_limits limits;
    uint32_t rows_max;
    const char *fields[6];
} setup;

static ln_reader *reader_of(const setup *s, ln_mem *mem) {
    ln_reader *r = ln_reader_new_with(mem, s->format, &s->limits, s->rows_max);
    if (!r) abort();
    for (int i = 0; s->fields[i]; i++) CHECK_INT(ln_reader_column(r, s->fields[i], strlen(s->fields[i])), i);
    return r;
}

/* Reads the stream whole, cut in two at every place, and in pieces of one, two, three ... bytes. */
static void expect(const setup *s, const void *bytes, size_t len, const char *want) {
    test_mem t;
    ln_reader *r = reader_of(s, test_mem_init(&t, SIZE_MAX / 2));
    dump d = {0};
    size_t limit = s->limits.record_bytes ? (size_t)s->limits.record_bytes : 4 << 20;
    for (size_t piece = 1; piece <= len + 1; piece++) {
        d.len = 0;
        say_text(&d, "");
        ln_reader_restart(r);
        for (size_t at = 0; at < len; at += piece) {
            int err = ln_reader_push(r, (const uint8_t *)bytes + at, piece < len - at ? piece : len - at);
            if (err) break;
            drain(r, &d);
            CHECK(ln_reader_pending(r) <= limit + 1);
        }
        finish(r, &d);
        if (!CHECK_TEXT(d.text, want)) fprintf(stderr, "  in pieces of %zu\n", piece);
    }
    for (size_t cut = 0; cut <= len; cut++) {
        d.len = 0;
        say_text(&d, "");
        ln_reader_restart(r);
        if (ln_reader_push(r, bytes, cut) == LN_OK) drain(r, &d);
        if (ln_reader_push(r, (const uint8_t *)bytes + cut, len - cut) == LN_OK) drain(r, &d);
        finish(r, &d);
        if (!CHECK_TEXT(d.text, want)) fprintf(stderr, "  cut at %zu\n", cut);
    }
    ln_reader_delete(r);
    CHECK_INT(t.held, 0);
    CHECK_INT(t.mem.used, 0);
    free(d.text);
}

#define EXPECT(s, literal, want) expect(s, literal, sizeof(literal) - 1, want)

/* ---- msgpack ---- */

static const setup plain = {.fields = {"a", "b.c"}};

static void msgpack_records(void) {
    EXPECT(&plain, "", "");
    EXPECT(&plain, "\x81\xa1" "a\x01\x82\xa1" "a\xa2hi\xa1" "b\x81\xa1" "c\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00",
           "1 - \n'hi' 1d \n");
    EXPECT(&plain, "\x80\x05\x81\xa1" "a\x92\x01\x02\xde\x00\x00\xdf\x00\x00\x00\x00",
           "- - \n!2 - - \\05\n#8:\\92\\01\\02 - \n- - \n- - \n");
    EXPECT(&plain, "\xc0\x80", "!2 - - \\c0\n- - \n");
}

static void msgpack_in_small_batches(void) {
    for (uint32_t rows = 1; rows < 4; rows++) {
        setup s = {.rows_max = rows, .fields = {"a"}};
        EXPECT(&s, "\x81\xa1" "a\x01\x81\xa1" "a\x02\x81\xa1" "a\x03\x05\x81\xa1" "a\x04",
               "1 \n2 \n3 \n!2 - \\05\n4 \n");
    }
}

static void msgpack_errors(void) {
    setup s = plain;
    EXPECT(&s, "\x81\xa1" "a\x01\x81\xc1\x01",
           "1 - \nbyte 5: these bytes are not msgpack: mend the sender\n");
    EXPECT(&s, "\x81\xa1" "a\x01\x81\xa1" "a",
           "1 - \nbyte 4: the input ends in the middle of the record that begins here: send it whole\n");
    s.limits.nesting = 2;
    EXPECT(&s, "\x80\x81\xa1" "a\x91\x91\x01",
           "- - \nbyte 5: a record is nested deeper than limits.nesting (2) allows: "
           "raise limits.nesting in the script, or mend the sender\n");
    s.limits.elements = 2;
    EXPECT(&s, "\x80\x81\xa1" "a\x91\x01",
           "- - \nbyte 4: a record has more values than limits.elements (2) allows: "
           "raise limits.elements in the script, or mend the sender\n");
    s.limits.elements = 0;
    s.limits.record_bytes = 8;
    EXPECT(&s, "\x80\x81\xa1" "a\xa4" "1234" "\x81\xa1" "a\xa5" "12345",
           "- - \n'1234' - \nbyte 12: a record is larger than limits.record_bytes (8) allows: "
           "raise limits.record_bytes in the script, or mend the sender\n");
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
        "\xdd\x02\xfa\xf0\x80", "\xdf\x0f\xff\xff\xff", "\xdb\x7f\xff\xff\xff", "\xc6\x7f\xff\xff\xff",
    };
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        test_mem t;
        ln_reader *r = ln_reader_new_with(test_mem_init(&t, 64 << 10), LN_FORMAT_AUTO, NULL, 1);
        const ln_batch *b;
        CHECK_INT(ln_reader_push(r, "\x81\xa1" "a", 3), LN_OK);
        CHECK_INT(ln_reader_push(r, bombs[i], 5), LN_OK);
        CHECK_INT(ln_reader_next(r, &b), bombs[i][0] == '\xdd' || bombs[i][0] == '\xdf' ? LN_EELEMENTS : LN_ERECORD);
        CHECK_INT(ln_reader_error_offset(r), 3);
        ln_reader_delete(r);
        CHECK(t.peak < 16 << 10);
    }
}

/* A record of n bytes that comes in small pieces costs about n, not n squared, and fits the limit exactly. */
static void a_large_record_in_small_pieces(void) {
    setup s = {.limits = {.record_bytes = 1 << 20}, .rows_max = 1, .fields = {"a"}};
    test_mem t;
    ln_reader *r = reader_of(&s, test_mem_init(&t, SIZE_MAX / 2));
    static uint8_t record[1 << 20];
    const ln_batch *b;
    memset(record, 'x', sizeof record);
    memcpy(record, "\x81\xa1" "a\xdb\x00\x0f\xff\xf8", 8);
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
    static const struct { const char *bytes; int format; } first[] = {
        {"{", LN_FORMAT_JSON}, {" ", LN_FORMAT_JSON}, {"\t", LN_FORMAT_JSON}, {"\n", LN_FORMAT_JSON},
        {"x", LN_FORMAT_JSON}, {"[", LN_FORMAT_JSON}, {"\xef\xbb\xbf", LN_FORMAT_JSON}, {"\x80", LN_FORMAT_MSGPACK},
        {"\xde", LN_FORMAT_MSGPACK}, {"\xdf", LN_FORMAT_MSGPACK}, {"\xa1", LN_FORMAT_MSGPACK},
        {"\x01", LN_FORMAT_MSGPACK}, {"\x7f", LN_FORMAT_MSGPACK}, {"\xef", LN_FORMAT_AUTO}, {"", LN_FORMAT_AUTO},
        {"\xef\xbb\xbe", LN_FORMAT_MSGPACK}, {"\xef\xbb", LN_FORMAT_AUTO},
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
    setup json = {.format = LN_FORMAT_JSON, .fields = {"a"}}, msgpack = {.format = LN_FORMAT_MSGPACK, .fields = {"a"}};
    EXPECT(&json, "\x81\xa1" "a\x01\n{\"a\":1}", "!8 - \\a4\\81\\a1a\\01\n1 \n");
    EXPECT(&json, "\xef\xbb\xbf{\"a\":1}", "1 \n");
    EXPECT(&msgpack, "{\x80", "!2 - {\n- \n");
    EXPECT(&msgpack, "\xef\xbb" "123456789012345678901234567", "!2 - \\ef\n!2 - \\bb123456789012345678901234567\n");
}

/* ---- JSON lines ---- */

static void json_records(void) {
    EXPECT(&plain, "{\"a\":1}\n", "1 - \n");
    EXPECT(&plain, "{\"a\":1}", "1 - \n");
    EXPECT(&plain, "\xef\xbb\xbf{\"a\":1}\r\n\n  \t\r\n\r\n{\"b\":{\"c\":[1,{}]}}\n \n", "1 - \n- #8:\\92\\01\\80 \n");
    EXPECT(&plain, " { \"a\" : null , \"b\" : { \"c\" : true, \"c\" : false } } \n", "null false \n");
    EXPECT(&plain, "{\"a\":\"\\u00e9\\ud83d\\ude00\\n\\\"\\\\\\/\"}", "'\\c3\\a9\\f0\\9f\\98\\80\\0a\"\\5c/' - \n");
    EXPECT(&plain, "{\"\\u0061\":\"\\u0000\"}", "'\\00' - \n");
    EXPECT(&plain, "{\"a\":{\"b\":1},\"a\":7,\"b\":{\"c\":1},\"b\":2}", "7 - \n");
}

static void json_numbers(void) {
    EXPECT(&plain, "{\"a\":9223372036854775807}\n{\"a\":-9223372036854775808}\n{\"a\":9007199254740993}\n",
           "9223372036854775807 - \n-9223372036854775808 - \n9007199254740993 - \n");
    EXPECT(&plain, "{\"a\":9223372036854775808}\n{\"a\":18446744073709551615}\n",
           "9223372036854775808u - \n18446744073709551615u - \n");
    EXPECT(&plain, "{\"a\":1.0}\n{\"a\":1e2}\n{\"a\":0}\n{\"a\":-1}", "1d - \n100d - \n0 - \n-1 - \n");
    EXPECT(&plain, "{\"a\":-0}\n{\"a\":-0.0}\n{\"a\":[0,\"-0\",-0,\"\\\"-0\"]}\n",
           "-0d - \n-0d - \n#8:\\94\\00\\a2-0\\cb\\80\\00\\00\\00\\00\\00\\00\\00\\a3\"-0 - \n");
    EXPECT(&plain, "[-1,-32,-33,-128,-129,-32768,-32769,-2147483648,-2147483649]",
           "!2 - - \\99\\ff\\e0\\d0\\df\\d0\\80\\d1\\ff\\7f\\d1\\80\\00\\d2\\ff\\ff\\7f\\ff\\d2\\80\\00\\00\\00"
           "\\d3\\ff\\ff\\ff\\ff\\7f\\ff\\ff\\ff\n");
    EXPECT(&plain, "[127,128,255,256,65535,65536,4294967295,4294967296]",
           "!2 - - \\98\\7f\\cc\\80\\cc\\ff\\cd\\01\\00\\cd\\ff\\ff\\ce\\00\\01\\00\\00\\ce\\ff\\ff\\ff\\ff"
           "\\cf\\00\\00\\00\\01\\00\\00\\00\\00\n");
}

static void json_numbers_too_large(void) {
    EXPECT(&plain, "{\"a\":18446744073709551616}", "!9 - - \\ba{\"a\":18446744073709551616}\n");
    EXPECT(&plain, "{\"a\":-9223372036854775809}", "!9 - - \\ba{\"a\":-9223372036854775809}\n");
    EXPECT(&plain, "{\"a\":1e999}", "!9 - - \\ab{\"a\":1e999}\n");
    EXPECT(&plain, "18446744073709551616", "!9 - - \\b418446744073709551616\n");
    /* Broken as well: it is no JSON. */
    EXPECT(&plain, "{\"a\":18446744073709551616,}", "!8 - - \\bb{\"a\":18446744073709551616,}\n");
    EXPECT(&plain, "[18446744073709551616,01]", "!8 - - \\b9[18446744073709551616,01]\n");
    EXPECT(&plain, "[\"18446744073709551616\"]", "!2 - - \\91\\b418446744073709551616\n");
    EXPECT(&plain, "[\"\\\"1\",1.]", "!8 - - \\aa[\"\\5c\"1\",1.]\n");
}

static void json_lines_that_are_broken(void) {
    EXPECT(&plain, "not json\n{\"a\":1}\n", "!8 - - \\a8not json\n1 - \n");
    EXPECT(&plain, "{\"a\":1\n{\"a\":1}}\n{\"a\":1,\"z\":tru}\n{\"a\":1} x\n{a:1}",
           "!8 - - \\a6{\"a\":1\n!8 - - \\a8{\"a\":1}}\n!8 - - \\af{\"a\":1,\"z\":tru}\n!8 - - \\a9{\"a\":1} x\n"
           "!8 - - \\a5{a:1}\n");
    EXPECT(&plain, "{\"a\":\"\xff\"}\r\n{\"a\":1}{\"a\":2}\n", "!8 - - \\a9{\"a\":\"\\ff\"}\n!8 - - \\ae{\"a\":1}{\"a\":2}\n");
    EXPECT(&plain, "{\"a\":\"\\ud83d\"}\n\"\n{\"a\":\"\x01\"}\n",
           "!8 - - \\ae{\"a\":\"\\5cud83d\"}\n!8 - - \\a1\"\n!8 - - \\a9{\"a\":\"\\01\"}\n");
    EXPECT(&plain, "{\"a\":1}\0\n", "!8 - - \\a8{\"a\":1}\\00\n");
    EXPECT(&plain, "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "!8 - - \\d9({\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
}

static void json_values_that_are_no_map(void) {
    EXPECT(&plain, "[1,2]\n5\n\"x\"\nnull\ntrue\n1.5\n-0\n[]",
           "!2 - - \\92\\01\\02\n!2 - - \\05\n!2 - - \\a1x\n!2 - - \\c0\n!2 - - \\c3\n"
           "!2 - - \\cb?\\f8\\00\\00\\00\\00\\00\\00\n!2 - - \\cb\\80\\00\\00\\00\\00\\00\\00\\00\n!2 - - \\90\n");
}

static void json_limits(void) {
    setup s = plain;
    s.limits.nesting = 2;
    EXPECT(&s, "{\"a\":[1]}\n{\"a\":[[]]}\n{\"a\":2}", "#8:\\91\\01 - \n!5 - - \\aa{\"a\":[[]]}\n2 - \n");
    s.limits.elements = 3;
    EXPECT(&s, "{\"a\":[1]}\n{\"a\":[1,2]}\n", "#8:\\91\\01 - \n!7 - - \\ab{\"a\":[1,2]}\n");
    /* The limit holds for the line and for what it becomes. */
    s = (setup){.limits = {.record_bytes = 14}, .fields = {"a"}};
    EXPECT(&s, "{\"a\":12345678}\n{\"a\":\"1234567\"}\n{\"a\":2}\n", "12345678 \n!6 - \\ae{\"a\":\"1234567\"\n2 \n");
    EXPECT(&s, "{\"a\":1.5,\"b\":1.5}\n[1e1,1e1]\n{\"a\":2}\n", "!6 - \\ae{\"a\":1.5,\"b\":1\n!6 - \\a9[1e1,1e1]\n2 \n");
    s.limits.record_bytes = 8;
    EXPECT(&s, "1e1\n[1,1e1]\n[]", "!6 - \\a31e1\n!6 - \\a7[1,1e1]\n!2 - \\90\n");
    s.limits.record_bytes = 14;
    EXPECT(&s, "{\"a\":1234567 }\r\n{\"a\":1234567 }\r", "1234567 \n1234567 \n");
}

static void json_deeper_than_the_parser_goes(void) {
    static char deep[3001];
    ln_reader *r = ln_reader_new(LN_FORMAT_JSON, NULL, 0);
    const ln_batch *b;
    memset(deep, '[', 1500);
    memset(deep + 1500, ']', 1500);
    CHECK_INT(ln_reader_push(r, deep, 3000), LN_OK);
    ln_reader_end(r);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 1);
    CHECK_INT(b->malformed[0], LN_EDEPTH);
    ln_reader_delete(r);
}

/* A line past the limit is one row, cut between two characters, and is not kept. */
static void json_lines_that_are_too_long(void) {
    setup s = {.limits = {.record_bytes = 1000}, .fields = {"a"}};
    test_mem t;
    for (size_t piece = 1; piece < 3000; piece = piece * 3 + 1) {
        ln_reader *r = reader_of(&s, test_mem_init(&t, SIZE_MAX / 2));
        dump d = {0}, want = {0};
        for (size_t i = 0; i < 100000; i += piece) {
            char x[3000];
            memset(x, 'x', sizeof x);
            if (i == 0) x[0] = '"';
            for (size_t k = 0; k < piece; k++)
                if (i + k >= 254 && i + k < 257) x[k] = "\xe2\x82\xac"[i + k - 254];
            CHECK_INT(ln_reader_push(r, x, piece), LN_OK);
            CHECK_INT(drain(r, &d), LN_OK);
            CHECK(ln_reader_pending(r) <= 1001);
        }
        CHECK_INT(ln_reader_push(r, "\"\n{\"a\":1}\n", 10), LN_OK);
        finish(r, &d);
        say_text(&want, "!6 - \\d9\\fe\"");
        for (int i = 0; i < 253; i++) say_text(&want, "x");
        say_text(&want, "\n1 \n");
        CHECK_TEXT(d.text, want.text);
        CHECK(t.peak < 150 << 10);
        ln_reader_delete(r);
        free(d.text);
        free(want.text);
    }
}

static void json_long_texts(void) {
    static const size_t lengths[] = {31, 32, 255, 256, 65535, 65536, 70000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ln_reader *r = ln_reader_new(LN_FORMAT_JSON, NULL, 0);
        static char line[70010];
        const ln_batch *b;
        memset(line, 'x', sizeof line);
        memcpy(line, "{\"a\":\"", 6);
        memcpy(line + 6 + lengths[i], "\"}\n", 3);
        ln_reader_column(r, "a", 1);
        CHECK_INT(ln_reader_push(r, line, lengths[i] + 9), LN_OK);
        CHECK_INT(ln_reader_next(r, &b), LN_OK);
        CHECK_INT(b->rows, 1);
        CHECK_INT(b->column[0][0].len, lengths[i]);
        CHECK(memcmp(b->column[0][0].at, line + 6, lengths[i]) == 0);
        ln_reader_delete(r);
    }
}

/* What JSON makes ends a batch before rows_max does. */
static void json_batches_have_a_size(void) {
    ln_reader *r = ln_reader_new(LN_FORMAT_JSON, NULL, 0);
    static char line[300000];
    const ln_batch *b;
    memset(line, 'x', sizeof line);
    memcpy(line, "{\"a\":\"", 6);
    memcpy(line + sizeof line - 3, "\"}\n", 3);
    for (int i = 0; i < 10; i++) CHECK_INT(ln_reader_push(r, line, sizeof line), LN_OK);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 4);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 4);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 2);
    ln_reader_delete(r);
}

/* ---- the object ---- */

static void columns_between_batches(void) {
    ln_reader *r = ln_reader_new(LN_FORMAT_AUTO, NULL, 1);
    const ln_batch *b;
    CHECK_INT(ln_reader_column(r, "a", 1), 0);
    ln_reader_push(r, "\x82\xa1" "a\x01\xa1" "b\x02", 7);
    ln_reader_push(r, "\x82\xa1" "a\x03\xa1" "b\x04", 7);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    for (int i = 1; i < LN_FIELDS_MAX; i++) {
        char name[8];
        snprintf(name, sizeof name, i == 1 ? "b" : "f%d", i);
        CHECK_INT(ln_reader_column(r, name, strlen(name)), i);
        CHECK_INT(b->columns, 1);
        CHECK_INT(b->column[0][0].i, 1);
    }
    CHECK_INT(ln_reader_column(r, "more", 4), -1);
    CHECK_INT(ln_reader_column(r, "b", 1), 1);
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
    memcpy(to, "\x81\xa1" "a\x01", 4);
    CHECK_INT(ln_reader_commit(r, 100000), LN_EINVALID);
    CHECK_INT(ln_reader_commit(r, 2), LN_OK);
    CHECK_INT(ln_reader_pending(r), 2);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 0);
    to = ln_reader_space(r, 10);
    memcpy(to, "a\x01\x80", 3);
    CHECK_INT(ln_reader_commit(r, 3), LN_OK);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 2);
    CHECK_INT(ln_reader_pending(r), 0);
    ln_reader_delete(r);
    ln_reader_delete(NULL);
}

/* Each call for memory fails in turn: the reader says so, or does without, and leaves nothing behind. */
static void memory_that_runs_out(void) {
    static const char json[] = "{\"a\":1,\"b\":{\"c\":-0}}\n[0,-0,\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"]\n";
    static const char msgpack[] = "\x82\xa1" "a\x01\xa1" "b\x81\xa1" "c\x02";
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
                columns += ln_reader_column(r, "a", 1) >= 0;
                columns += ln_reader_column(r, "b.c", 3) >= 0;
                columns += ln_reader_column(r, "b", 1) >= 0;
                err = ln_reader_push(r, bytes, format == LN_FORMAT_JSON ? sizeof json - 1 : sizeof msgpack - 1);
                if (!err) err = drain(r, &d);
                CHECK(err == LN_OK || err == LN_ENOMEM);
                failed = err != LN_OK || columns < 3;
                if (!failed && format == LN_FORMAT_MSGPACK) CHECK_TEXT(d.text, "1 2 #9:\\81\\a1c\\02 \n");
            }
            ln_reader_delete(r);
            CHECK_INT(t.held, 0);
            free(d.text);
        }
    }
}

/* A path half built when memory ran out asks for nothing, and can be asked for again. */
static void a_column_without_memory(void) {
    for (uint64_t n = 1; n < 12; n++) {
        test_mem t;
        setup s = {.rows_max = 4, .fields = {"x"}};
        ln_reader *r = reader_of(&s, test_mem_init(&t, SIZE_MAX / 2));
        dump d = {0};
        t.fail_at = t.calls + n;
        int column = ln_reader_column(r, "a.b.c", 5);
        t.fail_at = 0;
        CHECK_INT(ln_reader_push(r, "\x81\xa1" "a\x81\xa1" "b\x81\xa1" "c\x07", 10), LN_OK);
        CHECK_INT(drain(r, &d), LN_OK);
        CHECK_TEXT(d.text, column < 0 ? "- \n" : "- 7 \n");
        CHECK_INT(ln_reader_column(r, "a.b.c", 5), 1);
        CHECK_INT(ln_reader_push(r, "\x81\xa1" "a\x81\xa1" "b\x81\xa1" "c\x07", 10), LN_OK);
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
    {"errors stay", errors_stay},
    {"offsets of long streams", offsets_of_long_streams},
    {"a declared length costs nothing", a_declared_length_costs_nothing},
    {"a large record in small pieces", a_large_record_in_small_pieces},
    {"formats are recognised", formats_are_recognised},
    {"a stated format is kept", a_stated_format_is_kept},
    {"json records", json_records},
    {"json numbers", json_numbers},
    {"json numbers too large", json_numbers_too_large},
    {"json lines that are broken", json_lines_that_are_broken},
    {"json values that are no map", json_values_that_are_no_map},
    {"json limits", json_limits},
    {"json deeper than the parser goes", json_deeper_than_the_parser_goes},
    {"json lines that are too long", json_lines_that_are_too_long},
    {"json long texts", json_long_texts},
    {"json batches have a size", json_batches_have_a_size},
    {"columns between batches", columns_between_batches},
    {"space and commit", space_and_commit},
    {"memory that runs out", memory_that_runs_out},
    {"a column without memory", a_column_without_memory},
};
TEST_MAIN(cases)
