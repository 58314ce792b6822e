/* What embedding costs, measured as a host would: opening, an idle engine, pushing, and by how much steps pass a budget
 * of 1 ms. Times are CPU time of the thread; budgets are measured by it too.
 *   host RECORDS KEYS */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <lunette.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUDGET_US = 1000, BATCH = 64, RECORD_MAX = 80, STEPS_MAX = 1 << 20 };

static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static int64_t clock_us(void *ctx) {
    (void)ctx;
    return cpu_ns() / 1000;
}

static const char SCRIPT[] = "local ln = require 'lunette'\n"
                             "return ln.pipeline { time = { field = 'ts' }, key = 'user', window = ln.tumbling '5s',\n"
                             "  aggregate = { n = ln.count(), sum = ln.sum 'amount', high = ln.max 'amount' } }\n";

static lunette *opened(void) {
    static const lunette_text text = {"bench.lua", SCRIPT, sizeof SCRIPT - 1};
    lunette_config config = LUNETTE_CONFIG_INIT;
    lunette_options options = LUNETTE_OPTIONS_INIT;
    lunette *l;
    config.clock_us = clock_us;
    config.input_bytes_max = 16 << 20;
    options.texts = &text;
    options.texts_count = 1;
    options.in_format = LN_FORMAT_MSGPACK;
    l = lunette_new(&config);
    if (l && lunette_open(l, "bench.lua", &options) == LUNETTE_OK) return l;
    fprintf(stderr, "host: %s\n", l ? lunette_error(l) : "memory is short");
    exit(1);
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void row(const char *what, double value, const char *unit) { printf("%-58s %10.3f %s\n", what, value, unit); }

/* ---- records ----------------------------------------------------------------------------------------------------- */

static uint64_t rolled = 88172645463325252u;

static uint64_t roll(void) {
    rolled ^= rolled << 13;
    rolled ^= rolled >> 7;
    return rolled ^= rolled << 17;
}

/* A map of ts, user, amount and a text that nobody reads; its length. 100,000 of them are a second of event time. */
static size_t make_record(uint8_t *to, uint64_t i, uint64_t key) {
    static const char rest[] = "\xa4note\xb0nobody reads it.";
    uint64_t ts = i / 100;
    uint8_t *p = to;
    *p++ = 0x84;
    memcpy(p, "\xa2ts\xcf", 4);
    p += 4;
    for (int shift = 56; shift >= 0; shift -= 8) *p++ = (uint8_t)(ts >> shift);
    memcpy(p, "\xa4user\xab", 6);
    p += 6;
    p += snprintf((char *)p, 12, "user%07" PRIu64, key);
    memcpy(p,
           "\xa6"
           "amount",
           7);
    p += 7;
    *p++ = (uint8_t)(roll() % 128);
    memcpy(p, rest, sizeof rest - 1);
    return (size_t)(p - to) + sizeof rest - 1;
}

static void skip_panes(lunette *l) {
    size_t len;
    (void)lunette_peek(l, LN_STREAM_PANES, &len);
    lunette_consume(l, LN_STREAM_PANES, len);
}

static void work_off(lunette *l) {
    int code;
    do {
        code = lunette_step(l, 0, NULL);
        skip_panes(l);
    } while (code == LUNETTE_DRAIN || code == LUNETTE_MORE);
    if (code == LUNETTE_OK) return;
    fprintf(stderr, "host: %s\n", lunette_error(l));
    exit(1);
}

/* ---- what is measured -------------------------------------------------------------------------------------------- */

static void measure_opening(void) {
    int64_t took[21];
    lunette_usage usage = {.size = sizeof usage};
    for (int i = 0; i < 21; i++) {
        int64_t from = cpu_ns();
        lunette *l = opened();
        took[i] = cpu_ns() - from;
        (void)lunette_step(l, 0, NULL);
        (void)lunette_usage_get(l, &usage);
        lunette_delete(l);
    }
    qsort(took, 21, sizeof *took, by_size);
    row("opening, median of 21", (double)took[10] / 1e6, "ms");
    row("an idle engine beside its Lua state", (double)usage.memory_bytes / 1024, "KiB");
    row("its Lua state", (double)usage.lua_bytes / 1024, "KiB");
}

/* Pushing alone, without the steps; the steps as well, for comparison. */
static void measure_pushing(int per_call, int by_calls) {
    static uint8_t bytes[BATCH * RECORD_MAX];
    enum { ROUNDS = 2000, CALLS = 16 };
    char what[80];
    int64_t pushing = 0, stepping = 0, from;
    uint64_t records = 0;
    lunette *l = opened();
    for (int round = 0; round < ROUNDS; round++) {
        size_t len = 0, one = 0;
        for (int i = 0; i < BATCH; i++) len += one = make_record(bytes + len, records++, roll() % 10000);
        from = cpu_ns();
        if (by_calls) {
            for (int i = 0; i < BATCH; i++) {
                lunette_record_begin(l);
                lunette_record_uint(l, "ts", records / 100);
                lunette_record_text(l, "user", (const char *)bytes + 19, 11);
                lunette_record_int(l, "amount", i);
                lunette_record_text(l, "note", "nobody reads it.", 16);
                if (lunette_record_end(l)) exit(1);
            }
        } else {
            size_t step = per_call == 1 ? one : len; /* all are as long */
            for (size_t at = 0; at < len; at += step)
                if (lunette_push(l, bytes + at, step)) exit(1);
        }
        pushing += cpu_ns() - from;
        from = cpu_ns();
        if (round % CALLS == CALLS - 1) work_off(l);
        stepping += cpu_ns() - from;
    }
    if (by_calls) snprintf(what, sizeof what, "a record built by calls and ended");
    else snprintf(what, sizeof what, "push, %d records a call", per_call);
    row(what, (double)pushing / (double)records, "ns a record");
    if (per_call == BATCH) row("the steps, for comparison", (double)stepping / (double)records, "ns a record");
    lunette_delete(l);
}

typedef struct overruns {
    int64_t *us; /* of each step: how long it took */
    size_t count;
} overruns;

static void report(const char *what, overruns *o) {
    char line[96];
    qsort(o->us, o->count, sizeof *o->us, by_size);
    snprintf(line, sizeof line, "%s: steps", what);
    row(line, (double)o->count, "");
    snprintf(line, sizeof line, "%s: median", what);
    row(line, (double)o->us[o->count / 2] / 1e3, "us");
    snprintf(line, sizeof line, "%s: 99.9th percentile", what);
    row(line, (double)o->us[o->count * 999 / 1000] / 1e3, "us");
    snprintf(line, sizeof line, "%s: longest", what);
    row(line, (double)o->us[o->count - 1] / 1e3, "us");
    o->count = 0;
}

static int timed_step(lunette *l, overruns *o) {
    static const lunette_budget budget = {.us = BUDGET_US};
    int64_t from = cpu_ns();
    int code = lunette_step(l, 0, &budget);
    if (o->count < STEPS_MAX) o->us[o->count++] = cpu_ns() - from;
    if (code == LUNETTE_OK || code == LUNETTE_MORE || code == LUNETTE_DRAIN) return code;
    fprintf(stderr, "host: %s\n", lunette_error(l));
    exit(1);
}

/* All records through steps of 1 ms, then all keys in one window that fires. */
static void measure_budgets(uint64_t records, uint64_t keys) {
    static uint8_t bytes[BATCH * RECORD_MAX];
    overruns o = {.us = calloc(STEPS_MAX, sizeof(int64_t))};
    lunette *l = opened();
    int code = LUNETTE_OK;
    uint64_t i = 0;
    if (!o.us) exit(1);
    while (i < records || code != LUNETTE_OK) {
        while (i < records && lunette_waiting(l) < 1 << 20) {
            size_t len = 0;
            for (int k = 0; k < BATCH && i < records; k++, i++) len += make_record(bytes + len, i, roll() % keys);
            if (lunette_push(l, bytes, len)) exit(1);
        }
        code = timed_step(l, &o);
        skip_panes(l);
    }
    report("records by steps of 1 ms", &o);
    i = (i / 500000 + 2) * 500000; /* a window of its own, */
    (void)lunette_advance(l, (int64_t)(i / 100) * 1000 - 1000000);
    work_off(l);
    for (uint64_t key = 0; key < 1000000; key++) { /* of a million keys */
        size_t len = make_record(bytes, i + key / 4, key);
        if (lunette_push(l, bytes, len)) exit(1);
        if (key % 10000 == 0) work_off(l);
    }
    work_off(l);
    (void)lunette_advance(l, (int64_t)(i / 100 + 5000) * 1000);
    do {
        code = timed_step(l, &o);
        skip_panes(l);
    } while (code != LUNETTE_OK);
    report("a firing of 1,000,000 keys", &o);
    lunette_delete(l);
    free(o.us);
}

int main(int argc, char **argv) {
    uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 0, keys = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    if (!records || !keys) {
        fprintf(stderr, "usage: host RECORDS KEYS\n");
        return 2;
    }
    measure_opening();
    measure_pushing(BATCH, 0);
    measure_pushing(1, 0);
    measure_pushing(1, 1);
    measure_budgets(records, keys);
    return 0;
}
