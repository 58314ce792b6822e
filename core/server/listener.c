/* Sources that are sockets: what listens for connections, and what is bound for datagrams. */
#define _GNU_SOURCE
#include "server/heartbeat.h"
#include "server/receive.h"
#include "server/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ACCEPTS_MAX = 64 }; /* connections taken in one go */

struct ln_listener {
    ln_server *server;
    ln_listener *next;
    const ln_codec *codec;
    ln_heartbeat *heartbeat;
    int fd;             /* -1: it is that of `datagrams` */
    ln_feed *datagrams; /* NULL: connections are accepted */
    ev_io acceptable;
    int paused; /* descriptors were short */
    char name[LN_SOCKET_NAME];
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)]; /* to be removed at the end; "" */
};

static void on_acceptable(struct ev_loop *loop, ev_io *watcher, int events) {
    ln_listener *l = watcher->data;
    (void)events;
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        ln_peer peer = {0};
        socklen_t len = sizeof peer;
        int fd = accept4(l->fd, &peer.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            ln_connection_open(l->server, l->codec, l->name, fd, &peer, len);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            ln_log_note(l->server->log, LN_LOG_ERROR, "%s: no connection can be taken for now: %s", l->name,
                        strerror(errno));
            l->paused = 1;
            ev_io_stop(loop, watcher);
        }
        return; /* what else accept fails with is the peer's, who has gone again */
    }
}

int ln_listeners_open(ln_server *s, const char *name, const lunette_address *a, ln_problem *problem) {
    ln_listener *l = calloc(1, sizeof *l), **at = &s->listeners;
    ln_problem inner;
    int keyed;
    if (!l) return ln_problem_set(problem, "%s: memory is short", name);
    l->server = s;
    if (a->kind == LUNETTE_ADDRESS_FORWARD) l->codec = &ln_receive_codec;
    keyed = l->codec && s->receive->config.shared_key;
    l->fd = ln_socket_listen(a, s->options->insecure || keyed, l->name, &inner);
    if (l->fd < 0) {
        free(l);
        return ln_problem_set(problem, "%s: %s", name, inner.text);
    }
    ev_io_init(&l->acceptable, on_acceptable, l->fd, EV_READ);
    l->acceptable.data = l;
    while (*at) at = &(*at)->next;
    *at = l;
    if (a->kind == LUNETTE_ADDRESS_UNIX) snprintf(l->path, sizeof l->path, "%.107s", a->host);
    if (a->kind != LUNETTE_ADDRESS_UDP) return 0;
    l->datagrams = ln_datagrams_open(s, l->name, l->fd);
    if (!l->datagrams) return ln_problem_set(problem, "%s: memory is short", name);
    l->fd = -1;
    return 0;
}

void ln_listeners_start(ln_server *s) {
    for (ln_listener *l = s->listeners; l; l = l->next) {
        ev_io_start(s->loop, l->datagrams ? &l->datagrams->readable : &l->acceptable);
        ln_log_say(s->log, LN_LOG_INFO, "listening on %s", l->name);
        if (l->codec) l->heartbeat = ln_heartbeat_open(s, l->name, l->fd);
    }
}

void ln_listeners_stop(ln_server *s) {
    for (ln_listener *l = s->listeners; l; l = l->next) {
        ev_io_stop(s->loop, &l->acceptable);
        l->paused = 0;
        if (l->datagrams) ln_turn_ready(l->datagrams);
        ln_heartbeat_delete(l->heartbeat);
        l->heartbeat = NULL;
        if (l->fd >= 0) close(l->fd); /* whoever comes now is told that nobody listens */
        l->fd = -1;
        if (*l->path) unlink(l->path);
        *l->path = '\0';
    }
}

void ln_listeners_retry(ln_server *s) {
    for (ln_listener *l = s->listeners; l; l = l->next) {
        if (!l->paused) continue;
        l->paused = 0;
        ev_io_start(s->loop, &l->acceptable);
    }
}

void ln_listeners_delete(ln_server *s) {
    while (s->listeners) {
        ln_listener *l = s->listeners;
        s->listeners = l->next;
        ev_io_stop(s->loop, &l->acceptable);
        if (l->datagrams) ln_datagrams_delete(l->datagrams);
        ln_heartbeat_delete(l->heartbeat);
        if (l->fd >= 0) close(l->fd);
        if (*l->path) unlink(l->path);
        free(l);
    }
}
