/* A lunette on a libev loop: `pkg-config --cflags --libs lunette-ev`. It is stepped while there is something to do,
 * between the other watchers of the loop, and when its clock is due; the host pushes at any time, and is told when
 * panes wait. A library of its own, so that the engine does not know libev. Everything here is since 0.1. */
#ifndef LUNETTE_EV_H
#define LUNETTE_EV_H

#include <lunette.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ev_loop;
typedef struct lunette_ev lunette_ev;

/* How it is run. Always begin with LUNETTE_EV_CONFIG_INIT. */
typedef struct lunette_ev_config {
    size_t size;           /* sizeof(lunette_ev_config) as the host knows it */
    lunette_budget budget; /* of each step; default 1,000 records. Microseconds take the lunette's config.clock_us */
    /* After each step after which panes, rejects or traces wait: take them. Those that are left are told of again after
     * the next step, and while they fill config.output_bytes_max, in every turn of the loop. */
    void (*panes)(void *ctx, lunette *l);
    /* A step has returned LUNETTE_BROKEN, and goes on, or LUNETTE_FAILED, and does not; lunette_error tells why. NULL:
     * nobody is told. From here lunette_ev_detach may be called. */
    void (*trouble)(void *ctx, lunette *l, int code);
    void *ctx; /* of both */
} lunette_ev_config;

#define LUNETTE_EV_CONFIG_INIT \
    { sizeof(lunette_ev_config), {0, 1000}, NULL, NULL, NULL }

/* Puts an open lunette on a loop, whose clock (ev_now) it then goes by. NULL where memory is short or the config sets a
 * field that this version does not have. The watchers do not keep the loop alive while there is nothing to do. */
lunette_ev *lunette_ev_attach(lunette *l, struct ev_loop *loop, const lunette_ev_config *config);
/* Takes it off, before the lunette is deleted or the loop destroyed; `a` may be NULL. */
void lunette_ev_detach(lunette_ev *a);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
