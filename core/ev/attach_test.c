/* A lunette on a loop: work is done while the loop turns, panes are told, timers fire, and nothing keeps a loop alive
 * that has nothing to do. */
#include "ev/lunette_ev.h"
#include "host/test_host.h"

#include <ev.h>

typedef struct seen {
    int panes, calls, troubles, code;
    lunette_ev *attached;
    int leave; /* detach at the first trouble */
} seen;

static void on_panes(void *ctx, lunette *l) {
    seen *s = ctx;
    s->calls++;
    while (lunette_pane_next(l)) s->panes++;
}

static void on_trouble(void *ctx, lunette *l, int code) {
    seen *s = ctx;
    (void)l;
    s->troubles++;
    s->code = code;
    if (s->leave) lunette_ev_detach(s->attached);
}

static void test_work_is_done(void) {
    struct ev_loop *loop = ev_loop_new(0);
    lunette_ev_config config = LUNETTE_EV_CONFIG_INIT;
    seen s = {0};
    host h;
    char line[64];
    config.budget.records = 10;
    config.panes = on_panes;
    config.trouble = on_trouble;
    config.ctx = &s;
    host_init(&h);
    if (!host_open(&h, COUNTING, NULL)) {
        s.attached = lunette_ev_attach(h.l, loop, &config);
        CHECK(s.attached != NULL);
        for (int i = 0; i < 100; i++) {
            snprintf(line, sizeof line, "{\"t\":%d,\"k\":%d}\n", i * 500, i);
            host_push(&h, line);
        }
        CHECK_INT(lunette_end(h.l), LUNETTE_OK);
        ev_run(loop, 0); /* returns, since nothing is left to do */
        CHECK_INT(s.panes, 100);
        CHECK(s.calls > 5);
        CHECK_INT(s.troubles, 0);
        lunette_ev_detach(s.attached);
    }
    host_close(&h);
    ev_loop_destroy(loop);
}

static void stop(struct ev_loop *loop, ev_timer *w, int events) {
    (void)w;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void test_the_clock_is_due(void) {
    static const char script[] = "local ln = require 'lunette'\n"
                                 "return ln.pipeline { time = { field = 't' }, window = ln.global(),\n"
                                 "  trigger = ln.after_delay '20ms', aggregate = { n = ln.count() } }\n";
    struct ev_loop *loop = ev_loop_new(0);
    lunette_ev_config config = LUNETTE_EV_CONFIG_INIT;
    ev_timer end;
    seen s = {0};
    host h;
    config.panes = on_panes;
    config.ctx = &s;
    host_init(&h);
    if (!host_open(&h, script, NULL)) {
        s.attached = lunette_ev_attach(h.l, loop, &config);
        host_push(&h, "{\"t\":1}\n");
        ev_run(loop, 0); /* a pane to come keeps no loop alive, */
        CHECK_INT(s.panes, 0);
        ev_timer_init(&end, stop, 1., 0.);
        ev_timer_start(loop, &end);
        ev_run(loop, 0); /* but comes in one that lives for something else */
        CHECK_INT(s.panes, 1);
        lunette_ev_detach(s.attached);
    }
    host_close(&h);
    ev_loop_destroy(loop);
}

static void test_trouble_is_told(void) {
    struct ev_loop *loop = ev_loop_new(0);
    lunette_ev_config config = LUNETTE_EV_CONFIG_INIT;
    lunette_options options = LUNETTE_OPTIONS_INIT;
    seen s = {.leave = 1};
    host h;
    config.trouble = on_trouble;
    config.ctx = &s;
    options.in_format = LN_FORMAT_MSGPACK;
    host_init(&h);
    if (!host_open(&h, COUNTING, &options)) {
        s.attached = lunette_ev_attach(h.l, loop, &config);
        CHECK_INT(lunette_push(h.l, "\xc1", 1), LUNETTE_OK);
        ev_run(loop, 0);
        CHECK_INT(s.troubles, 1);
        CHECK_INT(s.code, LUNETTE_BROKEN);
    }
    host_close(&h);
    ev_loop_destroy(loop);
}

static const test_case cases[] = {
    {"work is done while the loop turns", test_work_is_done},
    {"the clock is due", test_the_clock_is_due},
    {"trouble is told", test_trouble_is_told},
};
TEST_MAIN(cases)
