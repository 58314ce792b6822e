/* What goes in: bytes in any pieces, records by calls, promises, and what is refused. */
#include "host/test_host.h"

static void test_pieces_of_bytes(void) {
    static const char text[] = "{\"t\":1,\"k\":1,\"x\":2}\n{\"t\":1500,\"k\":1,\"x\":2}\n";
    host h;
    char out[512], whole[512];
    for (size_t cut = 0; cut <= sizeof text - 1; cut++) {
        host_init(&h);
        if (!host_open(&h, COUNTING, NULL)) {
            CHECK_INT(lunette_push(h.l, text, cut), LUNETTE_OK);
            if (cut % 2) CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
            CHECK_INT(lunette_push(h.l, text + cut, sizeof text - 1 - cut), LUNETTE_OK);
            host_run(&h, 0, NULL, out, sizeof out);
            if (cut == 0) memcpy(whole, out, sizeof out);
            CHECK(out[0] == '{');
            CHECK_TEXT(out, whole);
        }
        host_close(&h);
    }
}

static void add(lunette *l, int64_t t, const char *k, double x) {
    lunette_record_begin(l);
    lunette_record_int(l, "t", t);
    lunette_record_text(l, "k", k, strlen(k));
    lunette_record_double(l, "x", x);
}

static void test_records_by_calls(void) {
    host h;
    char out[1024];
    lunette_options options = LUNETTE_OPTIONS_INIT;
    options.out_format = LN_FORMAT_JSON;
    host_init(&h);
    if (!host_open(&h, COUNTING, &options)) {
        add(h.l, 1, "a", 0.5);
        CHECK_INT(lunette_record_end(h.l), LUNETTE_OK);
        add(h.l, 2, "a", 2);
        CHECK_INT(lunette_record_end(h.l), LUNETTE_OK);
        CHECK_INT(lunette_advance(h.l, 1000000), LUNETTE_OK);
        add(h.l, 3, "a", 1); /* behind the promise: late */
        CHECK_INT(lunette_record_end(h.l), LUNETTE_OK);
        host_push(&h, "{\"t\":1100,\"k\":\"b\",\"x\":1}\n");
        CHECK_INT(lunette_end(h.l), LUNETTE_OK);
        host_run(&h, 0, NULL, out, sizeof out);
        CHECK_TEXT(out, "{\"key\":\"a\",\"start\":0,\"end\":1000,\"pane\":0,\"timing\":\"on_time\",\"final\":true,"
                        "\"value\":{\"n\":2,\"sum\":2.5}}\n"
                        "{\"key\":\"b\",\"start\":1000,\"end\":2000,\"pane\":0,\"timing\":\"on_time\",\"final\":true,"
                        "\"value\":{\"n\":1,\"sum\":1}}\n");
        CHECK(strstr(lunette_stats(h.l), "\"late\":1") != NULL);
    }
    host_close(&h);
}

static const char NESTED[] = "local ln = require 'lunette'\n"
                             "return ln.pipeline { time = { field = 't' }, key = 'who.name', window = ln.global(),\n"
                             "  trigger = ln.each(), limits = { nesting = 3, elements = 16, record_bytes = 200 },\n"
                             "  aggregate = { l = ln.last(function(r) return r.list[2] + (r.none and 1 or 0) end),\n"
                             "    u = ln.max 'u', b = ln.last 'b' } }\n";

static void test_nested_records(void) {
    host h;
    char out[1024];
    lunette_options options = LUNETTE_OPTIONS_INIT;
    options.out_format = LN_FORMAT_JSON;
    host_init(&h);
    if (!host_open(&h, NESTED, &options)) {
        lunette_record_begin(h.l);
        lunette_record_int(h.l, "t", 1);
        lunette_record_map(h.l, "who");
        lunette_record_text(h.l, "name", "ann", 3);
        lunette_record_close(h.l);
        lunette_record_array(h.l, "list");
        lunette_record_int(h.l, NULL, -7);
        lunette_record_int(h.l, NULL, 40);
        lunette_record_close(h.l);
        lunette_record_uint(h.l, "u", UINT64_MAX);
        lunette_record_null(h.l, "none");
        lunette_record_bool(h.l, "b", 3);
        CHECK_INT(lunette_record_end(h.l), LUNETTE_OK);
        host_run(&h, 0, NULL, out, sizeof out);
        CHECK(strstr(out, "\"key\":\"ann\"") != NULL);
        CHECK(strstr(out, "\"value\":{\"b\":true,\"l\":40,\"u\":18446744073709551615}") != NULL);
    }
    host_close(&h);
}

static void refused(host *h, const char *why) {
    CHECK_INT(lunette_record_end(h->l), LUNETTE_REFUSED);
    if (!CHECK(strstr(lunette_error(h->l), why) != NULL)) fprintf(stderr, "  %s\n", lunette_error(h->l));
    CHECK_INT(lunette_waiting(h->l), 0);
}

static void test_records_that_are_none(void) {
    static const char long_text[300] = "";
    host h;
    host_init(&h);
    if (!host_open(&h, NESTED, NULL)) {
        refused(&h, "no record has been begun");
        lunette_record_begin(h.l);
        lunette_record_int(h.l, NULL, 1);
        refused(&h, "has no name");
        lunette_record_begin(h.l);
        lunette_record_array(h.l, "a");
        lunette_record_int(h.l, "x", 1);
        refused(&h, "has a name");
        lunette_record_begin(h.l);
        lunette_record_array(h.l, "a");
        refused(&h, "still open");
        lunette_record_begin(h.l);
        lunette_record_close(h.l);
        refused(&h, "nothing is open");
        lunette_record_begin(h.l);
        lunette_record_map(h.l, "a");
        lunette_record_map(h.l, "b");
        lunette_record_map(h.l, "c");
        refused(&h, "limits.nesting");
        lunette_record_begin(h.l);
        for (int i = 0; i < 9; i++) lunette_record_int(h.l, "x", 1);
        refused(&h, "limits.elements");
        lunette_record_begin(h.l);
        lunette_record_text(h.l, "x", long_text, sizeof long_text);
        refused(&h, "limits.record_bytes");
        lunette_record_begin(h.l);
        for (int i = 0; i < 3; i++) lunette_record_bytes(h.l, "x", long_text, 90);
        refused(&h, "limits.record_bytes");
        lunette_record_begin(h.l);
        lunette_record_int(h.l, "t", 1);
        CHECK_INT(host_push(&h, "{}"), LUNETTE_REFUSED);
        CHECK(strstr(lunette_error(h.l), "being built") != NULL);
        lunette_record_begin(h.l); /* forgets the one before */
        lunette_record_int(h.l, "t", 1);
        CHECK_INT(lunette_record_end(h.l), LUNETTE_OK);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
        CHECK(strstr(lunette_stats(h.l), "\"read\":1,") != NULL);
    }
    host_close(&h);
}

static void test_a_full_engine_takes_nothing(void) {
    static char text[600];
    host h;
    host_init(&h);
    h.config.input_bytes_max = 1000;
    memset(text, 'k', sizeof text);
    (void)test_put(text, 0, "{\"t\":1,\"k\":\"", 12);
    (void)test_put(text, sizeof text - 3, "\"}\n", 3);
    if (!host_open(&h, COUNTING, NULL)) {
        CHECK_INT(lunette_push(h.l, text, sizeof text), LUNETTE_OK);
        CHECK_INT(lunette_push(h.l, text, sizeof text), LUNETTE_FULL);
        CHECK_INT(lunette_waiting(h.l) >= sizeof text && lunette_waiting(h.l) <= 700, 1);
        add(h.l, 1, "a", 1);
        for (int i = 0; i < 40; i++) lunette_record_double(h.l, "more", 0.1);
        CHECK_INT(lunette_record_end(h.l), LUNETTE_FULL);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
        CHECK_INT(lunette_waiting(h.l), 0);
        CHECK_INT(lunette_push(h.l, text, sizeof text), LUNETTE_OK);
        CHECK_INT(lunette_push(h.l, text, 2000), LUNETTE_REFUSED);
        CHECK(strstr(lunette_error(h.l), "in pieces") != NULL);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
        CHECK(strstr(lunette_stats(h.l), "\"read\":2,") != NULL);
        for (int i = 0; i < 1000; i++) { /* promises are bounded, too */
            if (lunette_advance(h.l, i) || lunette_push(h.l, " ", 1)) break;
        }
        CHECK(lunette_waiting(h.l) <= 1000);
    }
    host_close(&h);
}

static void test_broken_bytes(void) {
    lunette_options options = LUNETTE_OPTIONS_INIT;
    host h;
    char out[512];
    options.in_format = LN_FORMAT_MSGPACK;
    options.out_format = LN_FORMAT_JSON;
    options.rejects = 1;
    host_init(&h);
    if (!host_open(&h, COUNTING, &options)) {
        CHECK_INT(lunette_push(h.l, "\x82\xa1t\x01\xa1k\x05\x81\xa1t\xc1-----", 16), LUNETTE_OK);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_BROKEN);
        if (!CHECK(strstr(lunette_error(h.l), "byte 10") != NULL)) puts(lunette_error(h.l));
        CHECK(strstr(host_take(&h, LN_STREAM_REJECTS, out, sizeof out), "\"malformed\"") != NULL);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
        CHECK_INT(lunette_push(h.l, "\x82\xa1t\x02\xa1k\x05", 7), LUNETTE_OK);
        CHECK_INT(lunette_end(h.l), LUNETTE_OK);
        host_run(&h, 0, NULL, out, sizeof out);
        CHECK(strstr(out, "\"key\":5") != NULL && strstr(out, "\"n\":2") != NULL);
        CHECK(strstr(lunette_stats(h.l), "\"read\":3,\"rejected\"") != NULL ||
              strstr(lunette_stats(h.l), "\"read\":3") != NULL);
    }
    host_close(&h);
}

static void test_calls_that_make_no_sense(void) {
    struct {
        lunette_config known;
        int added;
    } longer = {LUNETTE_CONFIG_INIT, 0};
    host h;
    host_init(&h);
    h.l = lunette_new(&h.config);
    if (CHECK(h.l != NULL)) {
        CHECK_INT(host_push(&h, "{}"), LUNETTE_REFUSED);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_REFUSED);
        CHECK_INT(lunette_advance(h.l, 0), LUNETTE_REFUSED);
        lunette_record_begin(h.l);
        lunette_record_int(h.l, "t", 1);
        CHECK_INT(lunette_record_end(h.l), LUNETTE_REFUSED);
        CHECK(strstr(lunette_error(h.l), "lunette_open") != NULL);
        CHECK(lunette_pane_next(h.l) == NULL);
        CHECK(lunette_stats(h.l) == NULL && lunette_explain(h.l) == NULL);
        CHECK_INT(host_load(&h, "return 1", NULL), LUNETTE_PROBLEMS);
        CHECK(strstr(lunette_problem(h.l, 0), "test.lua:1") != NULL);
        CHECK_INT(host_load(&h, COUNTING, NULL), LUNETTE_OK);
        CHECK_INT(lunette_step(h.l, INT64_MAX, NULL), LUNETTE_REFUSED);
        CHECK_INT(lunette_step(h.l, 0, &(lunette_budget){.us = 10}), LUNETTE_REFUSED);
        CHECK_INT(lunette_advance(h.l, INT64_MAX), LUNETTE_REFUSED);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
    }
    host_close(&h);
    longer.known.size = sizeof longer;
    lunette_delete(lunette_new(&longer.known));
    longer.added = 1;
    CHECK(lunette_new(&longer.known) == NULL);
}

static const test_case cases[] = {
    {"bytes come in any pieces", test_pieces_of_bytes},
    {"records are built by calls", test_records_by_calls},
    {"records hold maps and arrays", test_nested_records},
    {"records that are none are refused", test_records_that_are_none},
    {"a full engine takes nothing", test_a_full_engine_takes_nothing},
    {"broken bytes end at what was pushed", test_broken_bytes},
    {"calls that make no sense are refused", test_calls_that_make_no_sense},
};
TEST_MAIN(cases)
