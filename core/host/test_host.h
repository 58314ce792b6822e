/* What tests of hosts share: a lunette over a script in text, whose memory is counted, and its panes as lines. */
#ifndef LN_HOST_TEST_HOST_H
#define LN_HOST_TEST_HOST_H

#include "base/test.h"
#include "lunette.h"

#define COUNTING                                                                            \
    "local ln = require 'lunette'\n"                                                        \
    "return ln.pipeline { time = { field = 't' }, key = 'k', window = ln.tumbling(1000),\n" \
    "  aggregate = { n = ln.count(), sum = ln.sum 'x' } }\n"

typedef struct host {
    test_mem heap;
    lunette_config config;
    lunette *l;
    int64_t clock_us, clock_step_us; /* of a clock that moves on each time it is read */
    int logged;
    char log[512]; /* the latest line */
} host;

static inline int64_t host_clock(void *ctx) {
    host *h = ctx;
    return h->clock_us += h->clock_step_us;
}

static inline void host_log(void *ctx, int level, const char *text) {
    host *h = ctx;
    h->logged++;
    snprintf(h->log, sizeof h->log, "%d %s", level, text);
}

static inline void host_init(host *h) {
    *h = (host){.config = LUNETTE_CONFIG_INIT, .clock_step_us = 1};
    test_mem_init(&h->heap, SIZE_MAX / 2);
    h->config.allocator = (ln_allocator){test_mem_resize, &h->heap};
    h->config.clock_us = host_clock;
    h->config.clock_ctx = h;
    h->config.log = host_log;
    h->config.log_ctx = h;
    h->config.seed = 1 << 20;
}

static inline int host_load(host *h, const char *script, const lunette_options *given) {
    lunette_options options = LUNETTE_OPTIONS_INIT;
    lunette_text text = {"test.lua", script, strlen(script)};
    if (given) options = *given;
    options.texts = &text;
    options.texts_count = 1;
    return lunette_open(h->l, "test.lua", &options);
}

static inline int host_open(host *h, const char *script, const lunette_options *options) {
    h->l = lunette_new(&h->config);
    if (!CHECK(h->l != NULL)) return -1;
    if (CHECK_INT(host_load(h, script, options), LUNETTE_OK)) return 0;
    fprintf(stderr, "%s\n", lunette_problem(h->l, 0) ? lunette_problem(h->l, 0) : lunette_error(h->l));
    return -1;
}

/* Everything has been given back. */
static inline void host_close(host *h) {
    lunette_delete(h->l);
    h->l = NULL;
    CHECK_INT(h->heap.held, 0);
}

static inline int host_push(host *h, const char *text) { return lunette_push(h->l, text, strlen(text)); }

/* Takes what a stream holds into `to`. */
static inline const char *host_take(host *h, int stream, char *to, size_t room) {
    size_t len;
    const void *bytes = lunette_peek(h->l, stream, &len);
    snprintf(to, room, "%.*s", (int)len, len ? (const char *)bytes : "");
    lunette_consume(h->l, stream, len);
    return to;
}

/* Steps until nothing is left to do; how many steps that took, or -1. */
static inline int host_run(host *h, int64_t now_us, const lunette_budget *budget, char *to, size_t room) {
    int steps = 0, code;
    size_t at = 0;
    to[0] = '\0';
    do {
        code = lunette_step(h->l, now_us, budget);
        at += strlen(host_take(h, LN_STREAM_PANES, to + at, room - at));
        steps++;
    } while (code == LUNETTE_MORE || code == LUNETTE_DRAIN);
    return CHECK_INT(code, LUNETTE_OK) ? steps : -1;
}

#endif
