/* Steps: budgets, what is left of them, when the next is due, and what leaves whatever they are. */
#include "host/test_host.h"

static const char RECORDS[] =
    "{\"t\":1,\"k\":\"a\",\"x\":2}\n{\"t\":2,\"k\":\"b\",\"x\":3}\n{\"t\":999,\"k\":\"a\",\"x\":5}\n"
    "{\"t\":2500,\"k\":\"a\",\"x\":7}\n";

static void test_panes_leave_when_complete(void) {
    host h;
    char out[1024];
    host_init(&h);
    if (!host_open(&h, COUNTING, NULL)) {
        CHECK_INT(host_push(&h, RECORDS), LUNETTE_OK);
        CHECK_INT(host_run(&h, 0, NULL, out, sizeof out), 1);
        CHECK_TEXT(out, "{\"key\":\"a\",\"start\":0,\"end\":1000,\"pane\":0,\"timing\":\"on_time\",\"final\":true,"
                        "\"value\":{\"n\":2,\"sum\":7}}\n"
                        "{\"key\":\"b\",\"start\":0,\"end\":1000,\"pane\":0,\"timing\":\"on_time\",\"final\":true,"
                        "\"value\":{\"n\":1,\"sum\":3}}\n");
        CHECK_INT(lunette_advance(h.l, 3000000), LUNETTE_OK);
        host_run(&h, 0, NULL, out, sizeof out);
        CHECK(strstr(out, "\"start\":2000,\"end\":3000") != NULL);
        CHECK_INT(lunette_end(h.l), LUNETTE_OK);
        host_run(&h, 0, NULL, out, sizeof out);
        CHECK_TEXT(out, "");
        CHECK_INT(host_push(&h, RECORDS), LUNETTE_REFUSED);
        CHECK(strstr(lunette_error(h.l), "lunette_end") != NULL);
    }
    host_close(&h);
}

/* Many records of few keys in windows that all complete at the end. */
static void push_many(host *h, int from, int count) {
    char line[64];
    for (int i = from; i < from + count; i++) {
        snprintf(line, sizeof line, "{\"t\":%d,\"k\":%d,\"x\":%d}\n", i, i % 701, i % 13);
        CHECK_INT(host_push(h, line), LUNETTE_OK);
    }
}

enum { ROOM = 1 << 20, MANY = 5000 };

static int run_with(const lunette_budget *budget, const char *script, char *out, int *steps) {
    host h;
    int ok;
    host_init(&h);
    h.clock_step_us = 10;
    ok = !host_open(&h, script, NULL);
    if (ok) {
        push_many(&h, 0, MANY);
        CHECK_INT(lunette_end(h.l), LUNETTE_OK);
        *steps = host_run(&h, 0, budget, out, ROOM);
    }
    host_close(&h);
    return ok;
}

static const char FOLDING[] =
    "local ln = require 'lunette'\n"
    "return ln.pipeline { time = { field = 't' }, key = 'k', window = ln.session(900),\n"
    "  trigger = ln.at_watermark { early = ln.after_count(3) },\n"
    "  aggregate = { n = ln.count(), f = ln.fold { init = function() return 0 end,\n"
    "    add = function(a, r) return a + r.x end, merge = function(a, b) return a + b end } },\n"
    "  emit = function(p) p.twice = p.value.n * 2; return p end }\n";

static void test_budgets_change_nothing_that_leaves(void) {
    static const lunette_budget budgets[] = {{0, 1}, {0, 100}, {50, 0}, {400, 333}};
    const char *const scripts[] = {COUNTING, FOLDING};
    char *whole = malloc(ROOM), *cut = malloc(ROOM);
    for (size_t s = 0; whole && cut && s < 2; s++) {
        int steps = 0;
        if (!run_with(NULL, scripts[s], whole, &steps)) break;
        CHECK(strlen(whole) > 10000);
        for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
            if (!run_with(&budgets[i], scripts[s], cut, &steps)) break;
            CHECK(steps > 10);
            CHECK(strcmp(whole, cut) == 0);
        }
    }
    free(whole);
    free(cut);
}

static void test_records_are_counted_exactly(void) {
    host h;
    lunette_budget three = {.records = 3};
    ln_stats stats;
    host_init(&h);
    if (!host_open(&h, COUNTING, NULL)) {
        push_many(&h, 0, 10);
        for (uint64_t read = 3; read <= 9; read += 3) {
            CHECK_INT(lunette_step(h.l, 0, &three), LUNETTE_MORE);
            CHECK_INT(lunette_counts(h.l, 0, &stats, sizeof stats), LUNETTE_OK);
            CHECK_INT(stats.read, read);
        }
        CHECK_INT(lunette_step(h.l, 0, &three), LUNETTE_OK);
        CHECK_INT(lunette_counts(h.l, 1, &stats, sizeof stats), LUNETTE_REFUSED);
    }
    host_close(&h);
}

/* A clock that moves by 10 us at each look: a budget of 200 us takes no more than some 20 of them. */
static void test_microseconds_are_looked_at(void) {
    host h;
    lunette_budget short_one = {.us = 200};
    int64_t from, most = 0;
    int code;
    host_init(&h);
    h.clock_step_us = 10;
    if (!host_open(&h, COUNTING, NULL)) {
        push_many(&h, 0, MANY);
        do {
            from = h.clock_us;
            code = lunette_step(h.l, 0, &short_one);
            if (h.clock_us - from > most) most = h.clock_us - from;
            host_take(&h, LN_STREAM_PANES, (char[8]){0}, 8);
        } while (code == LUNETTE_MORE || code == LUNETTE_DRAIN);
        CHECK_INT(code, LUNETTE_OK);
        CHECK(most >= 200 && most <= 220);
        h.config.clock_us = NULL;
    }
    host_close(&h);
    if (!host_open(&h, COUNTING, NULL)) CHECK_INT(lunette_step(h.l, 0, &short_one), LUNETTE_REFUSED);
    host_close(&h);
}

static const char BY_THE_CLOCK[] =
    "local ln = require 'lunette'\n"
    "return ln.pipeline { time = { field = 't' }, key = 'k', window = ln.tumbling '1h',\n"
    "  watermark = { idle = '10s', on_idle = 'advance' },\n"
    "  trigger = ln.at_watermark { early = ln.any { ln.after_delay '5s', ln.every '50s' } },\n"
    "  aggregate = { n = ln.count() } }\n";

static void test_due(void) {
    host h;
    char out[1024];
    const int64_t s = 1000000;
    host_init(&h);
    if (!host_open(&h, BY_THE_CLOCK, NULL)) {
        CHECK_INT(lunette_due(h.l), INT64_MAX);
        CHECK_INT(lunette_step(h.l, 100 * s, NULL), LUNETTE_OK);
        CHECK_INT(lunette_due(h.l), INT64_MAX); /* no window is open */
        host_push(&h, "{\"t\":1000,\"k\":1}\n");
        host_run(&h, 100 * s, NULL, out, sizeof out);
        CHECK_TEXT(out, "");
        CHECK_INT(lunette_due(h.l), 105 * s); /* the delay */
        host_run(&h, 105 * s - 1, NULL, out, sizeof out);
        CHECK_TEXT(out, "");
        host_run(&h, 105 * s, NULL, out, sizeof out);
        CHECK(strstr(out, "early") != NULL);
        CHECK(lunette_due(h.l) > 105 * s && lunette_due(h.l) <= 110 * s); /* the source is silent */
        host_run(&h, 110 * s, NULL, out, sizeof out);
        CHECK_INT(lunette_due(h.l), 150 * s); /* the multiple; later W comes to the hour */
        host_run(&h, 150 * s, NULL, out, sizeof out);
        CHECK(strstr(out, "early") != NULL);
        host_run(&h, (100 + 3599) * s, NULL, out, sizeof out);
        CHECK(strstr(out, "on_time") != NULL);
        CHECK_INT(lunette_due(h.l), INT64_MAX);
    }
    host_close(&h);
}

static void test_processing_time_is_due(void) {
    static const char script[] = "local ln = require 'lunette'\n"
                                 "return ln.pipeline { time = 'processing', window = ln.tumbling '1s',\n"
                                 "  lateness = '2s', closing = 'always', aggregate = { n = ln.count() } }\n";
    host h;
    char out[1024];
    host_init(&h);
    if (!host_open(&h, script, NULL)) {
        host_push(&h, "{\"a\":1}\n");
        host_run(&h, 1500000, NULL, out, sizeof out);
        CHECK_INT(lunette_due(h.l), 2000000);
        host_run(&h, 2000000, NULL, out, sizeof out);
        CHECK(strstr(out, "on_time") != NULL);
        CHECK_INT(lunette_due(h.l), 4000000);
        host_run(&h, 4000000, NULL, out, sizeof out);
        CHECK(strstr(out, "\"final\":true") != NULL);
        CHECK_INT(lunette_due(h.l), INT64_MAX);
    }
    host_close(&h);
}

static void test_two_side_by_side(void) {
    host a, b;
    char out[4096];
    host_init(&a);
    host_init(&b);
    if (!host_open(&a, COUNTING, NULL) && !host_open(&b, FOLDING, NULL)) {
        for (int i = 0; i < 50; i++) {
            push_many(&a, i * 10, 10);
            push_many(&b, i * 10, 10);
            CHECK_INT(lunette_step(a.l, i, NULL), LUNETTE_OK);
            CHECK_INT(lunette_step(b.l, i, NULL), LUNETTE_OK);
        }
        host_close(&a);
        CHECK(strstr(host_take(&b, LN_STREAM_PANES, out, sizeof out), "twice") == NULL);
        CHECK_INT(lunette_end(b.l), LUNETTE_OK);
        CHECK(host_run(&b, 100, NULL, out, sizeof out) > 0);
        CHECK(strstr(out, "twice") != NULL);
    }
    host_close(&b);
}

static void test_scripts_talk_to_the_log(void) {
    static const char script[] = "local ln = require 'lunette'\nprint('loaded', 1)\n"
                                 "return ln.pipeline { time = { field = 't' }, window = ln.tumbling(1000),\n"
                                 "  where = function(r) return r.x > 0 end, aggregate = { n = ln.count() } }\n";
    host h;
    ln_stats stats;
    host_init(&h);
    if (!host_open(&h, script, NULL)) {
        CHECK_TEXT(h.log, "0 loaded\t1");
        host_push(&h, "{\"t\":1,\"x\":\"no\"}\n{\"t\":2,\"x\":\"no\"}\n{\"t\":3,\"x\":1}\n");
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
        CHECK(strstr(h.log, "test.lua:4") != NULL);
        CHECK_INT(h.logged, 2); /* each distinct error once */
        CHECK_INT(lunette_counts(h.l, 0, &stats, sizeof stats), LUNETTE_OK);
        CHECK_INT(stats.aggregated, 1);
        CHECK_INT(stats.rejected[LN_REASON_SCRIPT_ERROR], 2);
        CHECK(strstr(lunette_stats(h.l), "\"script_errors\":2") != NULL);
        CHECK(strstr(lunette_explain(h.l), "tumbling") != NULL || strstr(lunette_explain(h.l), "window") != NULL);
    }
    host_close(&h);
}

static const test_case cases[] = {
    {"panes leave when their windows are complete", test_panes_leave_when_complete},
    {"budgets change nothing that leaves", test_budgets_change_nothing_that_leaves},
    {"records are counted exactly", test_records_are_counted_exactly},
    {"microseconds are looked at", test_microseconds_are_looked_at},
    {"the next step is due when something happens", test_due},
    {"windows of processing time are due", test_processing_time_is_due},
    {"two side by side share nothing", test_two_side_by_side},
    {"scripts talk to the log", test_scripts_talk_to_the_log},
};
TEST_MAIN(cases)
