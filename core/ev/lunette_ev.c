/* See lunette_ev.h. Three watchers: one looks before the loop would wait whether there is something to do; one keeps it
 * from waiting while there is, and steps; one waits until the clock is due. The first and the last do not keep the loop
 * alive. */
#include "ev/lunette_ev.h"

#include <ev.h>
#include <stdlib.h>
#include <string.h>

struct lunette_ev {
    lunette *l;
    struct ev_loop *loop;
    lunette_ev_config config;
    ev_prepare look;
    ev_idle work;
    ev_timer due;
    int more; /* the last step was not done */
    int failed;
};

static int64_t now_us(const lunette_ev *a) { return (int64_t)(ev_now(a->loop) * 1e6); }

static int waits(lunette *l) {
    lunette_usage usage = {.size = sizeof usage};
    (void)lunette_usage_get(l, &usage);
    return usage.output_bytes > 0;
}

static void set_alive(lunette_ev *a, int alive) {
    if (alive && !ev_is_active(&a->work)) ev_idle_start(a->loop, &a->work);
    if (!alive && ev_is_active(&a->work)) ev_idle_stop(a->loop, &a->work);
}

/* The timer does not count among what the loop lives for. */
static void set_due(lunette_ev *a, int64_t at_us) {
    if (ev_is_active(&a->due)) {
        ev_ref(a->loop);
        ev_timer_stop(a->loop, &a->due);
    }
    if (at_us == INT64_MAX) return;
    ev_timer_set(&a->due, at_us > now_us(a) ? (double)(at_us - now_us(a)) / 1e6 : 0., 0.);
    ev_timer_start(a->loop, &a->due);
    ev_unref(a->loop);
}

static void step(lunette_ev *a) {
    int code = lunette_step(a->l, now_us(a), &a->config.budget);
    lunette *l = a->l;
    a->more = code == LUNETTE_MORE || code == LUNETTE_DRAIN || code == LUNETTE_BROKEN;
    a->failed = !a->more && code != LUNETTE_OK;
    set_due(a, a->failed ? INT64_MAX : lunette_due(l));
    if (a->config.panes && waits(l)) a->config.panes(a->config.ctx, l);
    if ((a->failed || code == LUNETTE_BROKEN) && a->config.trouble) a->config.trouble(a->config.ctx, l, code);
}

static void on_work(struct ev_loop *loop, ev_idle *w, int events) {
    (void)loop;
    (void)events;
    step(w->data);
}

static void on_due(struct ev_loop *loop, ev_timer *w, int events) {
    (void)events;
    ev_ref(loop); /* its end has stopped it */
    step(w->data);
}

static void on_look(struct ev_loop *loop, ev_prepare *w, int events) {
    lunette_ev *a = w->data;
    (void)loop;
    (void)events;
    set_alive(a, !a->failed && (a->more || lunette_waiting(a->l) > 0));
}

lunette_ev *lunette_ev_attach(lunette *l, struct ev_loop *loop, const lunette_ev_config *given) {
    lunette_ev_config config = LUNETTE_EV_CONFIG_INIT;
    const unsigned char *bytes = (const unsigned char *)given;
    lunette_ev *a;
    for (size_t i = sizeof config; i < given->size; i++)
        if (bytes[i]) return NULL;
    memcpy(&config, given, given->size < sizeof config ? given->size : sizeof config);
    a = calloc(1, sizeof *a);
    if (!a) return NULL;
    a->l = l;
    a->loop = loop;
    a->config = config;
    a->more = 1; /* the clock is told once */
    ev_prepare_init(&a->look, on_look);
    ev_idle_init(&a->work, on_work);
    ev_init(&a->due, on_due);
    a->look.data = a->work.data = a->due.data = a;
    ev_prepare_start(loop, &a->look);
    ev_unref(loop);
    return a;
}

void lunette_ev_detach(lunette_ev *a) {
    if (!a) return;
    set_due(a, INT64_MAX);
    set_alive(a, 0);
    ev_ref(a->loop);
    ev_prepare_stop(a->loop, &a->look);
    free(a);
}
