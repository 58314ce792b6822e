/* What comes out: as bytes in any portions, or pane by pane, and that a full output holds the engine. */
#include "host/test_host.h"

static const char SHOWING[] =
    "local ln = require 'lunette'\n"
    "return { ln.pipeline { name = 'one', time = { field = 't' }, key = { 'k', 'x' }, window = ln.tumbling(1000),\n"
    "  lateness = 1000, panes = 'retracting', aggregate = { n = ln.count(), list = ln.collect 'x' } },\n"
    "  ln.pipeline { name = 'two', time = { field = 't' }, window = ln.global(), trigger = ln.never(),\n"
    "  aggregate = { f = ln.fold { init = function() return 0 end, add = function(a, r) return a + r.t end } },\n"
    "  emit = function(p) if p.value.f > 1000 then return { sum = p.value.f } end end } }\n";

static int is_text(ln_value v, const char *text) {
    return v.type == LN_TEXT && v.len == strlen(text) && memcmp(v.at, text, v.len) == 0;
}

static void test_panes_are_visited(void) {
    host h;
    const lunette_pane *p;
    ln_value item;
    host_init(&h);
    if (!host_open(&h, SHOWING, NULL)) {
        host_push(&h, "{\"t\":1,\"k\":\"a\",\"x\":2}\n{\"t\":1200,\"k\":\"b\"}\n{\"t\":2,\"k\":\"a\",\"x\":2}\n");
        CHECK(lunette_pane_next(h.l) == NULL);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
        p = lunette_pane_next(h.l);
        if (CHECK(p != NULL)) {
            CHECK(is_text(p->pipeline, "one"));
            CHECK_INT(p->key.type, LN_ARRAY);
            CHECK_INT(p->start.type, LN_INT);
            CHECK_INT(p->start.i, 0);
            CHECK_INT(p->end.i, 1000);
            CHECK_INT(p->timing, LUNETTE_ON_TIME);
            CHECK_INT(p->final, 0);
            CHECK_INT(p->values_count, 2);
            CHECK_INT(lunette_pane_value(p, "n").i, 1);
            CHECK_INT(lunette_pane_value(p, "n").type, LN_INT);
            CHECK_INT(lunette_pane_value(p, "list").type, LN_ARRAY);
            CHECK_INT(lunette_pane_value(p, "absent").type, LN_MISSING);
            item = lunette_pane_value(p, "list");
            (void)ln_value_read(ln_value_read(item.at, item.at + item.len, 0, &item), item.at + 16, 1, &item);
            CHECK_INT(item.i, 2);
        }
        p = lunette_pane_next(h.l);
        if (CHECK(p != NULL)) CHECK(p->retract && p->index == 0);
        p = lunette_pane_next(h.l);
        if (CHECK(p != NULL)) CHECK(p->timing == LUNETTE_LATE && p->index == 1 && !p->retract);
        CHECK_INT(lunette_pane_value(p, "n").i, 2);
        CHECK(lunette_pane_next(h.l) == NULL);
        CHECK_INT(lunette_end(h.l), LUNETTE_OK);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
        p = lunette_pane_next(h.l);
        CHECK(p && is_text(p->pipeline, "one") && p->final == 1);
        p = lunette_pane_next(h.l); /* what emit has made: a map of its own */
        if (CHECK(p != NULL)) {
            CHECK(p->key.type == LN_MISSING && p->values_count == 0 && p->whole.type == LN_MAP);
            ln_record_get(p->whole.at, p->whole.len, "sum", 3, &item);
            CHECK_INT(item.i, 1203);
        }
        CHECK(lunette_pane_next(h.l) == NULL);
    }
    host_close(&h);
}

static void push_keys(host *h, int count) {
    char line[64];
    for (int i = 0; i < count; i++) {
        snprintf(line, sizeof line, "{\"t\":%d,\"k\":%d}\n", i % 1000, i);
        CHECK_INT(host_push(h, line), LUNETTE_OK);
    }
    CHECK_INT(lunette_end(h->l), LUNETTE_OK);
}

/* Bytes are written in portions of any size, whatever was said of them before. */
static void test_bytes_go_in_portions(void) {
    char *whole = calloc(1, 65536), *parts = calloc(1, 65536);
    for (int format = LN_FORMAT_MSGPACK; whole && parts && format <= LN_FORMAT_JSON; format++) {
        lunette_options options = LUNETTE_OPTIONS_INIT;
        size_t at[2] = {0, 0}, len;
        options.out_format = format;
        for (int portion = 0; portion < 2; portion++) {
            host h;
            const void *bytes;
            host_init(&h);
            if (!host_open(&h, COUNTING, &options)) {
                push_keys(&h, 300);
                while (lunette_step(h.l, 0, &(lunette_budget){.records = 50}) != LUNETTE_OK) {
                    bytes = lunette_peek(h.l, LN_STREAM_PANES, &len);
                    if (portion && len > 77) len = 77;
                    memcpy((portion ? parts : whole) + at[portion], bytes ? bytes : "", len);
                    at[portion] += len;
                    lunette_consume(h.l, LN_STREAM_PANES, len);
                }
                while ((bytes = lunette_peek(h.l, LN_STREAM_PANES, &len)) && len) {
                    if (portion && len > 91) len = 91;
                    memcpy((portion ? parts : whole) + at[portion], bytes, len);
                    at[portion] += len;
                    lunette_consume(h.l, LN_STREAM_PANES, len);
                }
            }
            host_close(&h);
        }
        CHECK(at[0] > 10000 && at[0] == at[1] && memcmp(whole, parts, at[0]) == 0);
    }
    free(whole);
    free(parts);
}

/* A pane leaves once, whether as bytes or visited. */
static void test_visited_and_written(void) {
    for (int format = LN_FORMAT_MSGPACK; format <= LN_FORMAT_JSON; format++) {
        lunette_options options = LUNETTE_OPTIONS_INIT;
        host h;
        char rest[32768];
        const lunette_pane *p = NULL;
        size_t len;
        options.out_format = format;
        host_init(&h);
        if (!host_open(&h, COUNTING, &options)) {
            push_keys(&h, 100);
            CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_OK);
            for (int i = 0; i < 99; i++) p = lunette_pane_next(h.l);
            CHECK(p && p->key.i == 98);
            (void)lunette_peek(h.l, LN_STREAM_PANES, &len);
            CHECK(len > 20 && len < 200);
            CHECK(lunette_pane_next(h.l) == NULL); /* it is being written */
            host_take(&h, LN_STREAM_PANES, rest, sizeof rest);
            if (format == LN_FORMAT_JSON) CHECK(strstr(rest, "\"key\":99,") != NULL);
            CHECK(lunette_pane_next(h.l) == NULL);
            (void)lunette_peek(h.l, LN_STREAM_PANES, &len);
            CHECK_INT(len, 0);
        }
        host_close(&h);
    }
}

static void test_a_full_output_holds_the_engine(void) {
    host h;
    lunette_usage usage = {.size = sizeof usage};
    int panes = 0, steps = 0, code;
    host_init(&h);
    h.config.output_bytes_max = 4096;
    if (!host_open(&h, COUNTING, NULL)) {
        push_keys(&h, 3000);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_DRAIN);
        CHECK_INT(lunette_step(h.l, 0, NULL), LUNETTE_DRAIN);
        CHECK_INT(lunette_due(h.l), 0);
        CHECK_INT(lunette_usage_get(h.l, &usage), LUNETTE_OK);
        CHECK(usage.output_bytes > 4096 && usage.output_bytes < 3 * 4096);
        CHECK(usage.memory_bytes > 10000 && usage.lua_bytes > 100000);
        CHECK(usage.memory_bytes + usage.lua_bytes <= h.heap.held);
        do {
            while (lunette_pane_next(h.l)) panes++;
            code = lunette_step(h.l, 0, NULL);
            steps++;
        } while (code == LUNETTE_DRAIN);
        while (lunette_pane_next(h.l)) panes++;
        CHECK_INT(code, LUNETTE_OK);
        CHECK_INT(panes, 3000);
        CHECK(steps > 10);
    }
    host_close(&h);
}

/* Given up at every point of a drain and of a step. */
static void test_closed_in_the_middle(void) {
    for (int after = 0; after < 40; after++) {
        host h;
        lunette_budget budget = {.records = 7};
        host_init(&h);
        h.config.output_bytes_max = 256;
        if (!host_open(&h, after % 2 ? COUNTING : SHOWING, NULL)) {
            push_keys(&h, 60);
            for (int i = 0; i < after; i++) {
                if (i % 3 == 2) (void)lunette_step(h.l, 0, &budget);
                else (void)lunette_pane_next(h.l);
            }
        }
        host_close(&h);
    }
}

/* Opened, used and closed many times, two at a time, one of them in the middle of a drain: nothing stays behind, and
 * nothing grows. LUNETTE_TEST_TIMES in the environment is another number of times. */
static void test_opened_a_thousand_times(void) {
    const char *given = getenv("LUNETTE_TEST_TIMES");
    int times = given ? (int)strtol(given, NULL, 10) : 1000, all = 1;
    for (int i = 0; i < times && all; i++) {
        host a, b;
        host_init(&a);
        host_init(&b);
        a.config.output_bytes_max = 256;
        all = !host_open(&a, i % 2 ? COUNTING : SHOWING, NULL) && !host_open(&b, COUNTING, NULL);
        if (!all) break;
        push_keys(&a, 30);
        push_keys(&b, 10);
        all &= CHECK_INT(lunette_step(a.l, 0, NULL), LUNETTE_DRAIN);
        all &= CHECK_INT(lunette_step(b.l, 0, NULL), LUNETTE_OK);
        for (int pane = 0; pane < i % 7; pane++) all &= CHECK(lunette_pane_next(a.l) != NULL);
        host_close(&a);
        all &= CHECK(lunette_pane_next(b.l) != NULL);
        host_close(&b);
    }
    CHECK(all && times > 0);
}

static const test_case cases[] = {
    {"panes are visited", test_panes_are_visited},
    {"bytes go in portions", test_bytes_go_in_portions},
    {"a pane is visited or written", test_visited_and_written},
    {"a full output holds the engine", test_a_full_output_holds_the_engine},
    {"a lunette is closed in the middle", test_closed_in_the_middle},
    {"opened a thousand times", test_opened_a_thousand_times},
};
TEST_MAIN(cases)
