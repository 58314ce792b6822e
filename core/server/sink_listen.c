/* A sink that serves subscribers: whoever connects gets every pane from then on. Each has a bounded queue; one that is
 * too slow for it is cut, and the panes that it misses are counted. Where nobody has subscribed panes are dropped: this
 * sink never slows a source. */
#define _GNU_SOURCE
#include "server/queue.h"
#include "server/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUBSCRIBERS_MAX = 256 };

static const double RETRY_S = 0.25;

typedef struct subscriber subscriber;

typedef struct listening {
    ln_sink_end end; /* first: one is the other */
    int fd;
    ev_io acceptable;
    ev_timer retry; /* while descriptors are short */
    subscriber *subscribers;
    uint32_t count;
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* to be removed at the end; "" */
    char bound[LN_SOCKET_NAME];
} listening;

struct subscriber {
    listening *of;
    subscriber *next;
    int fd;
    int gone; /* forgotten with the next look at the list */
    ev_io readable, writable;
    ln_queue queue;
    char name[LN_SOCKET_NAME];
};

static listening *of(ln_sink_end *s) { return (listening *)(void *)s; }

static void leave(subscriber *u, const char *why, uint64_t missed) {
    ln_server *s = u->of->end.server;
    uint64_t lost = ln_queue_panes(&u->queue) + missed;
    if (u->gone) return;
    s->counters.panes_lost += lost;
    s->counters.subscribers--;
    u->of->count--;
    ev_io_stop(s->loop, &u->readable);
    ev_io_stop(s->loop, &u->writable);
    close(u->fd);
    ln_log_note(s->log, lost ? LN_LOG_WARNING : LN_LOG_DEBUG, "%s: subscriber %s: %s; panes lost: %" PRIu64,
                u->of->bound, u->name, why, lost);
    ln_queue_free(&u->queue);
    u->gone = 1;
}

static void forget_gone(listening *l) {
    for (subscriber **at = &l->subscribers; *at;) {
        subscriber *u = *at;
        if (!u->gone) {
            at = &u->next;
            continue;
        }
        *at = u->next;
        free(u);
    }
}

static void send_on(subscriber *u) {
    ln_server *s = u->of->end.server;
    if (ln_queue_send(&u->queue, u->fd, &s->counters.bytes_sent)) leave(u, strerror(errno), 0);
    else if (ln_queue_pending(&u->queue)) ev_io_start(s->loop, &u->writable);
    else ev_io_stop(s->loop, &u->writable);
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events) {
    (void)loop, (void)events;
    send_on(watcher->data);
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    subscriber *u = watcher->data;
    char unread[4096];
    ssize_t got = recv(u->fd, unread, sizeof unread, MSG_DONTWAIT);
    (void)loop, (void)events;
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    leave(u, got ? strerror(errno) : "has closed the connection", 0);
}

static void welcome(listening *l, int fd, const ln_peer *peer, socklen_t len) {
    ln_server *s = l->end.server;
    subscriber *u = l->count < SUBSCRIBERS_MAX ? calloc(1, sizeof *u) : NULL;
    if (!u) {
        s->counters.connections_refused++;
        ln_log_note(s->log, LN_LOG_WARNING, "%s: a subscriber is refused: there are %u already", l->bound, l->count);
        close(fd);
        return;
    }
    u->of = l;
    u->fd = fd;
    u->queue.most = s->options->queue_bytes;
    ln_socket_name(peer, len, u->name);
    u->next = l->subscribers;
    l->subscribers = u;
    l->count++;
    s->counters.subscribers++;
    s->counters.subscribers_opened++;
    ev_io_init(&u->readable, on_readable, fd, EV_READ);
    ev_io_init(&u->writable, on_writable, fd, EV_WRITE);
    u->readable.data = u->writable.data = u;
    ev_io_start(s->loop, &u->readable);
}

static void on_acceptable(struct ev_loop *loop, ev_io *watcher, int events) {
    listening *l = watcher->data;
    ln_peer peer = {0};
    socklen_t len = sizeof peer;
    int fd = accept4(l->fd, &peer.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    (void)events;
    if (fd >= 0) {
        welcome(l, fd, &peer, len);
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        ln_log_note(l->end.server->log, LN_LOG_ERROR, "%s: no subscriber can be taken for now: %s", l->bound,
                    strerror(errno));
        ev_io_stop(loop, watcher);
        ev_timer_start(loop, &l->retry);
    }
    forget_gone(l);
}

static void on_retry(struct ev_loop *loop, ev_timer *watcher, int events) {
    listening *l = watcher->data;
    (void)events;
    ev_timer_set(watcher, RETRY_S, 0);
    ev_io_start(loop, &l->acceptable);
}

static enum ln_write listen_take(ln_sink_end *s, const uint8_t *bytes, size_t len, size_t *taken) {
    listening *l = of(s);
    int format = ln_output_format_used(lunette_output(s->server->host));
    for (subscriber *u = l->subscribers; u; u = u->next) {
        size_t queued = 0, more;
        if (u->gone) continue;
        u->queue.format = format;
        do { /* what does not fit may do so when something has been sent */
            more = ln_queue_put(&u->queue, bytes + queued, len - queued);
            queued += more;
            send_on(u);
        } while (!u->gone && more && queued < len);
        if (u->gone || queued == len) continue;
        s->server->counters.subscribers_cut++;
        leave(u, "is too slow, and is cut", ln_panes_count(bytes + queued, len - queued, format));
    }
    forget_gone(l);
    *taken = len;
    return LN_WRITE_DONE;
}

static size_t listen_pending(const ln_sink_end *s) {
    const listening *l = (const listening *)(const void *)s;
    size_t pending = 0;
    for (const subscriber *u = l->subscribers; u; u = u->next) pending += u->gone ? 0 : ln_queue_pending(&u->queue);
    return pending;
}

static int listen_close(ln_sink_end *s) {
    listening *l = of(s);
    for (subscriber *u = l->subscribers; u; u = u->next) leave(u, "the run is over", 0);
    forget_gone(l);
    ev_io_stop(s->server->loop, &l->acceptable);
    ev_timer_stop(s->server->loop, &l->retry);
    close(l->fd);
    if (*l->path) unlink(l->path);
    free(l);
    return 0;
}

static const ln_sink_kind LISTENS = {.take = listen_take, .pending = listen_pending, .close = listen_close};

ln_sink_end *ln_sink_listen(ln_server *server, const char *name, const lunette_address *a, ln_problem *problem) {
    listening *l = calloc(1, sizeof *l);
    ln_problem inner;
    if (l) l->fd = ln_socket_listen(a, server->options->insecure, l->bound, &inner);
    if (!l || l->fd < 0) {
        ln_problem_set(problem, "%s: %s", name, l ? inner.text : "memory is short");
        free(l);
        return NULL;
    }
    l->end = (ln_sink_end){.kind = &LISTENS, .server = server, .name = name};
    if (a->kind == LUNETTE_ADDRESS_UNIX) snprintf(l->path, sizeof l->path, "%.107s", a->host);
    ev_io_init(&l->acceptable, on_acceptable, l->fd, EV_READ);
    ev_timer_init(&l->retry, on_retry, RETRY_S, 0);
    l->acceptable.data = l->retry.data = l;
    ev_io_start(server->loop, &l->acceptable);
    ln_log_say(server->log, LN_LOG_INFO, "subscribers are served on %s", l->bound);
    return &l->end;
}
