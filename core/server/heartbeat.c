/* See heartbeat.h. */
#define _GNU_SOURCE
#include "server/heartbeat.h"

#include "server/state.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANSWERS_MAX = 64 /* in one go */ };

struct ln_heartbeat {
    ln_server *server;
    int fd;
    ev_io readable;
};

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    const ln_heartbeat *h = watcher->data;
    (void)loop, (void)events;
    for (int i = 0; i < ANSWERS_MAX; i++) {
        char bytes[2];
        ln_peer peer = {0};
        socklen_t len = sizeof peer;
        ssize_t got = recvfrom(h->fd, bytes, sizeof bytes, MSG_DONTWAIT, &peer.any, &len);
        if (got < 0) return;
        if (got != 1) continue;
        h->server->counters.forward_heartbeats++;
        (void)sendto(h->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL, &peer.any, len);
    }
}

static int bind_beside(int fd) {
    ln_peer own = {0};
    socklen_t len = sizeof own;
    int on = 1, beside;
    if (getsockname(fd, &own.any, &len)) return -1;
    beside = socket(own.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (beside < 0) return -1;
    if (own.any.sa_family == AF_INET6) (void)setsockopt(beside, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (!bind(beside, &own.any, len)) return beside;
    on = errno;
    close(beside);
    errno = on;
    return -1;
}

ln_heartbeat *ln_heartbeat_open(ln_server *s, const char *name, int fd) {
    ln_heartbeat *h = calloc(1, sizeof *h);
    if (h) h->fd = bind_beside(fd);
    if (!h || h->fd < 0) {
        ln_log_say(s->log, LN_LOG_WARNING, "%s: no answers to heartbeats over UDP: %s", name, strerror(errno));
        free(h);
        return NULL;
    }
    h->server = s;
    ev_io_init(&h->readable, on_readable, h->fd, EV_READ);
    h->readable.data = h;
    ev_io_start(s->loop, &h->readable);
    return h;
}

void ln_heartbeat_delete(ln_heartbeat *h) {
    if (!h) return;
    ev_io_stop(h->server->loop, &h->readable);
    close(h->fd);
    free(h);
}
