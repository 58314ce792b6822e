/* See dial.h. */
#define _GNU_SOURCE
#include "server/dial.h"

#include "server/state.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

static const double FIRST_PAUSE_S = 0.1, LONGEST_PAUSE_S = 30, CONNECT_S = 10, STABLE_S = 5;

static void attempt(ln_dial *d);

/* Between half of the pause and all of it, so that many do not come back at once. */
static double jittered(ln_dial *d) {
    d->random ^= d->random << 13;
    d->random ^= d->random >> 7;
    d->random ^= d->random << 17;
    return d->pause_s * (0.5 + (double)(d->random >> 12) / (double)(UINT64_C(1) << 53));
}

static void set_timer(ln_dial *d, double after_s) {
    ev_timer_stop(d->server->loop, &d->timer);
    ev_timer_set(&d->timer, after_s, 0);
    ev_timer_start(d->server->loop, &d->timer);
}

static void hang_up(ln_dial *d) {
    struct ev_loop *loop = d->server->loop;
    ev_timer_stop(loop, &d->timer);
    if (d->fd < 0) return;
    ev_io_stop(loop, &d->readable);
    ev_io_stop(loop, &d->writable);
    close(d->fd);
    d->fd = -1;
}

void ln_dial_want_room(ln_dial *d, int wanted) {
    if (wanted) ev_io_start(d->server->loop, &d->writable);
    else ev_io_stop(d->server->loop, &d->writable);
}

/* ---- attempts -------------------------------------------------------------------------------------------------- */

/* All addresses of a name are tried before the first pause. */
void ln_dial_fail(ln_dial *d, const char *why) {
    ln_server *s = d->server;
    double pause_s = 0;
    if (d->made && ev_now(s->loop) - d->made_at_s > STABLE_S) d->pause_s = FIRST_PAUSE_S;
    s->counters.sink_failures++;
    hang_up(d);
    if (d->made) d->kind->lost(d->owner);
    d->made = 0;
    if (++d->next_peer >= d->peers.count) {
        d->next_peer = 0;
        pause_s = jittered(d);
        d->pause_s = 2 * d->pause_s < LONGEST_PAUSE_S ? 2 * d->pause_s : LONGEST_PAUSE_S;
    }
    ln_log_note(s->log, LN_LOG_WARNING, "%s: %s; trying again in %.1f s", d->name, why, pause_s);
    set_timer(d, pause_s);
}

static void on_looked_up(void *ctx, const ln_peers *peers, const char *why) {
    ln_dial *d = ctx;
    d->lookup = NULL;
    if (peers->count) d->peers = *peers;
    if (!peers->count && !d->peers.count) ln_dial_fail(d, why);
    else attempt(d); /* where the name can't be found any more it may be the name server's fault */
}

static void on_timer(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_dial *d = watcher->data;
    (void)loop, (void)events;
    if (d->fd >= 0) {
        ln_dial_fail(d, "no answer");
        return;
    }
    if (d->moves && d->next_peer == 0) d->lookup = ln_lookup_begin(d->server->loop, &d->address, on_looked_up, d);
    if (!d->lookup) attempt(d);
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events) {
    ln_dial *d = watcher->data;
    int err = 0;
    socklen_t len = sizeof err;
    (void)events;
    if (d->made) {
        d->kind->writable(d->owner);
        return;
    }
    if (getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &err, &len)) err = errno;
    if (err) {
        ln_dial_fail(d, strerror(err));
        return;
    }
    d->made = 1;
    d->made_at_s = ev_now(loop);
    d->next_peer = 0;
    d->server->counters.sink_connections++;
    ev_timer_stop(loop, &d->timer);
    ev_io_stop(loop, &d->writable);
    ev_io_start(loop, &d->readable);
    ln_log_note(d->server->log, LN_LOG_INFO, "%s: connected", d->name);
    d->kind->made(d->owner);
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    ln_dial *d = watcher->data;
    (void)loop, (void)events;
    d->kind->readable(d->owner);
}

static void attempt(ln_dial *d) {
    struct ev_loop *loop = d->server->loop;
    if (!d->peers.count) {
        ln_dial_fail(d, "the host can't be found");
        return;
    }
    d->fd = ln_socket_connect(&d->peers.peer[d->next_peer], d->peers.len[d->next_peer]);
    if (d->fd < 0) {
        ln_dial_fail(d, strerror(errno));
        return;
    }
    ev_io_set(&d->readable, d->fd, EV_READ);
    ev_io_set(&d->writable, d->fd, EV_WRITE);
    ev_io_start(loop, &d->writable);
    set_timer(d, CONNECT_S);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static int is_name(const lunette_address *a) {
    unsigned char number[sizeof(struct in6_addr)];
    return a->kind != LUNETTE_ADDRESS_UNIX && inet_pton(AF_INET, a->host, number) != 1 &&
           inet_pton(AF_INET6, a->host, number) != 1;
}

int ln_dial_begin(ln_dial *d, ln_server *server, const char *name, const lunette_address *a, const ln_dial_kind *kind,
                  void *owner, ln_problem *problem) {
    ln_problem inner;
    int found;
    *d = (ln_dial){.server = server, .name = name, .kind = kind, .owner = owner, .address = *a, .fd = -1};
    found = ln_socket_find(a, &d->peers, &inner);
    if (found < 0) return ln_problem_set(problem, "%s: %s", name, inner.text);
    d->moves = is_name(a);
    d->pause_s = FIRST_PAUSE_S;
    d->random = (uint64_t)ln_clock_steady_us() * 2654435761u | 1;
    ev_init(&d->readable, on_readable);
    ev_init(&d->writable, on_writable);
    ev_init(&d->timer, on_timer);
    d->readable.data = d->writable.data = d->timer.data = d;
    if (found > 0) ln_dial_fail(d, inner.text);
    else attempt(d);
    return 0;
}

void ln_dial_end(ln_dial *d) {
    ln_lookup_delete(d->lookup);
    d->lookup = NULL;
    hang_up(d);
}
