/* JSON lines to rows: numbers, texts, lines that are broken or too long, and limits. */
#include "ingest/test_rows.h"

static void json_records(void) {
    EXPECT(&plain, "{\"p\":1}\n", "1 - \n");
    EXPECT(&plain, "{\"p\":1}", "1 - \n");
    EXPECT(&plain, "\xef\xbb\xbf{\"p\":1}\r\n\n  \t\r\n\r\n{\"q\":{\"r\":[1,{}]}}\n \n", "1 - \n- #8:\\92\\01\\80 \n");
    EXPECT(&plain, " { \"p\" : null , \"q\" : { \"r\" : true, \"r\" : false } } \n", "null false \n");
    EXPECT(&plain, "{\"p\":\"\\u00e9\\ud83d\\ude00\\n\\\"\\\\\\/\"}", "'\\c3\\a9\\f0\\9f\\98\\80\\0a\"\\5c/' - \n");
    EXPECT(&plain, "{\"\\u0070\":\"\\u0000\"}", "'\\00' - \n");
    EXPECT(&plain, "{\"p\":{\"q\":1},\"p\":7,\"q\":{\"r\":1},\"q\":2}", "7 - \n");
}

static void json_numbers(void) {
    EXPECT(&plain, "{\"p\":9223372036854775807}\n{\"p\":-9223372036854775808}\n{\"p\":9007199254740993}\n",
           "9223372036854775807 - \n-9223372036854775808 - \n9007199254740993 - \n");
    EXPECT(&plain, "{\"p\":9223372036854775808}\n{\"p\":18446744073709551615}\n",
           "9223372036854775808u - \n18446744073709551615u - \n");
    EXPECT(&plain, "{\"p\":1.0}\n{\"p\":1e2}\n{\"p\":0}\n{\"p\":-1}", "1d - \n100d - \n0 - \n-1 - \n");
    EXPECT(&plain, "{\"p\":-0}\n{\"p\":-0.0}\n{\"p\":[0,\"-0\",-0,\"\\\"-0\"]}\n",
           "-0d - \n-0d - \n#8:\\94\\00\\a2-0\\cb\\80\\00\\00\\00\\00\\00\\00\\00\\a3\"-0 - \n");
    EXPECT(&plain, "[-1,-32,-33,-128,-129,-32768,-32769,-2147483648,-2147483649]",
           "!2 - - \\99\\ff\\e0\\d0\\df\\d0\\80\\d1\\ff\\7f\\d1\\80\\00\\d2\\ff\\ff\\7f\\ff\\d2\\80\\00\\00\\00"
           "\\d3\\ff\\ff\\ff\\ff\\7f\\ff\\ff\\ff\n");
    EXPECT(&plain, "[127,128,255,256,65535,65536,4294967295,4294967296]",
           "!2 - - \\98\\7f\\cc\\80\\cc\\ff\\cd\\01\\00\\cd\\ff\\ff\\ce\\00\\01\\00\\00\\ce\\ff\\ff\\ff\\ff"
           "\\cf\\00\\00\\00\\01\\00\\00\\00\\00\n");
}

static void json_numbers_too_large(void) {
    EXPECT(&plain, "{\"p\":18446744073709551616}", "!9 - - \\ba{\"p\":18446744073709551616}\n");
    EXPECT(&plain, "{\"p\":-9223372036854775809}", "!9 - - \\ba{\"p\":-9223372036854775809}\n");
    EXPECT(&plain, "{\"p\":1e999}", "!9 - - \\ab{\"p\":1e999}\n");
    EXPECT(&plain, "18446744073709551616", "!9 - - \\b418446744073709551616\n");
    /* Broken as well: it is no JSON. */
    EXPECT(&plain, "{\"p\":18446744073709551616,}", "!8 - - \\bb{\"p\":18446744073709551616,}\n");
    EXPECT(&plain, "[18446744073709551616,01]", "!8 - - \\b9[18446744073709551616,01]\n");
    EXPECT(&plain, "[1e999.5]\n[9e0.18446744073709551616e-999]\n[1e999\"]\n[1e999\\\"]",
           "!8 - - \\a9[1e999.5]\n!8 - - \\bf[9e0.18446744073709551616e-999]\n"
           "!8 - - \\a8[1e999\"]\n!8 - - \\a9[1e999\\5c\"]\n");
    EXPECT(&plain, "[\"18446744073709551616\"]", "!2 - - \\91\\b418446744073709551616\n");
    EXPECT(&plain, "[\"\\\"1\",1.]", "!8 - - \\aa[\"\\5c\"1\",1.]\n");
}

static void json_lines_that_are_broken(void) {
    EXPECT(&plain, "not json\n{\"p\":1}\n", "!8 - - \\a8not json\n1 - \n");
    EXPECT(&plain, "{\"p\":1\n{\"p\":1}}\n{\"p\":1,\"z\":tru}\n{\"p\":1} x\n{p:1}",
           "!8 - - \\a6{\"p\":1\n!8 - - \\a8{\"p\":1}}\n!8 - - \\af{\"p\":1,\"z\":tru}\n!8 - - \\a9{\"p\":1} x\n"
           "!8 - - \\a5{p:1}\n");
    EXPECT(&plain, "{\"p\":\"\xff\"}\r\n{\"p\":1}{\"p\":2}\n",
           "!8 - - \\a9{\"p\":\"\\ff\"}\n!8 - - \\ae{\"p\":1}{\"p\":2}\n");
    EXPECT(&plain, "{\"p\":\"\\ud83d\"}\n\"\n{\"p\":\"\x01\"}\n",
           "!8 - - \\ae{\"p\":\"\\5cud83d\"}\n!8 - - \\a1\"\n!8 - - \\a9{\"p\":\"\\01\"}\n");
    EXPECT(&plain, "{\"p\":1}\0\n", "!8 - - \\a8{\"p\":1}\\00\n");
    EXPECT(&plain, "{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
           "!8 - - \\d9({\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n");
}

static void json_values_that_are_no_map(void) {
    EXPECT(&plain, "[1,2]\n5\n\"x\"\nnull\ntrue\n1.5\n-0\n[]",
           "!2 - - \\92\\01\\02\n!2 - - \\05\n!2 - - \\a1x\n!2 - - \\c0\n!2 - - \\c3\n"
           "!2 - - \\cb?\\f8\\00\\00\\00\\00\\00\\00\n!2 - - \\cb\\80\\00\\00\\00\\00\\00\\00\\00\n!2 - - \\90\n");
}

static void json_limits(void) {
    setup s = plain;
    s.limits.nesting = 2;
    EXPECT(&s, "{\"p\":[1]}\n{\"p\":[[]]}\n{\"p\":2}", "#8:\\91\\01 - \n!5 - - \\aa{\"p\":[[]]}\n2 - \n");
    s.limits.elements = 3;
    EXPECT(&s, "{\"p\":[1]}\n{\"p\":[1,2]}\n", "#8:\\91\\01 - \n!7 - - \\ab{\"p\":[1,2]}\n");
    EXPECT(&s, "{\"p\":1,\"q\":2}\n{\"p\":2}\n", "!7 - - \\ad{\"p\":1,\"q\":2}\n2 - \n");
    /* The limit holds for the line and for what it becomes. */
    s = (setup){.limits = {.record_bytes = 14}, .fields = {"p"}};
    EXPECT(&s, "{\"p\":12345678}\n{\"p\":\"1234567\"}\n{\"p\":2}\n", "12345678 \n!6 - \\ae{\"p\":\"1234567\"\n2 \n");
    EXPECT(&s, "{\"p\":1.5,\"q\":1.5}\n[1e1,1e1]\n{\"p\":2}\n",
           "!6 - \\ae{\"p\":1.5,\"q\":1\n!6 - \\a9[1e1,1e1]\n2 \n");
    s.limits.record_bytes = 8;
    EXPECT(&s, "1e1\n[1,1e1]\n[]", "!6 - \\a31e1\n!6 - \\a7[1,1e1]\n!2 - \\90\n");
    s.limits.record_bytes = 14;
    EXPECT(&s, "{\"p\":1234567 }\r\n{\"p\":1234567 }\r", "1234567 \n1234567 \n");
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
    setup s = {.limits = {.record_bytes = 1000}, .fields = {"p"}};
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
        CHECK_INT(ln_reader_push(r, "\"\n{\"p\":1}\n", 10), LN_OK);
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
        test_put(line, 0, "{\"p\":\"", 6);
        test_put(line, 6 + lengths[i], "\"}\n", 3);
        ln_reader_column(r, "p", 1);
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
    test_put(line, 0, "{\"p\":\"", 6);
    test_put(line, sizeof line - 3, "\"}\n", 3);
    for (int i = 0; i < 10; i++) CHECK_INT(ln_reader_push(r, line, sizeof line), LN_OK);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 4);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 4);
    CHECK_INT(ln_reader_next(r, &b), LN_OK);
    CHECK_INT(b->rows, 2);
    ln_reader_delete(r);
}

static const test_case cases[] = {
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
};
TEST_MAIN(cases)
