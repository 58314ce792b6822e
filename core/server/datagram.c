/* A socket of datagrams as one stream: each datagram holds whole records, and what is broken in one is a malformed
 * record and no more. The system says how many it had to drop. */
#define _GNU_SOURCE
#include "server/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DRAIN_MAX = 100000 }; /* datagrams taken after a signal */

typedef struct datagrams {
    ln_feed stream; /* first: one is the other */
    int fd;
    char name[LN_SOCKET_NAME];
    uint32_t dropped; /* as the system last said */
    uint32_t left;    /* while draining: how many may still be read */
    ln_peer peer;     /* of the present one */
    socklen_t peer_len;
} datagrams;

static datagrams *of(ln_feed *st) { return (datagrams *)(void *)st; }

static void count_dropped(ln_server *s, datagrams *d, struct msghdr *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        uint32_t dropped;
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SO_RXQ_OVFL) continue;
        memcpy(&dropped, CMSG_DATA(c), sizeof dropped);
        if (dropped == d->dropped) continue;
        s->counters.datagrams_dropped += dropped - d->dropped;
        ln_log_note(s->log, LN_LOG_WARNING, "%s: %u datagrams were dropped by the system, since they came too fast",
                    d->name, dropped - d->dropped);
        d->dropped = dropped;
    }
}

static enum ln_read datagrams_read(ln_feed *st) {
    datagrams *d = of(st);
    ln_server *s = st->server;
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(uint32_t))];
    } control;
    struct iovec bytes = {.iov_base = s->piece, .iov_len = LN_PIECE_BYTES};
    struct msghdr message = {.msg_name = &d->peer.storage,
                             .msg_namelen = sizeof d->peer.storage,
                             .msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    ssize_t got;
    if (!d->left) return LN_READ_LATER;
    if (s->phase != LN_RUN_SERVING) d->left--;
    got = recvmsg(d->fd, &message, MSG_DONTWAIT);
    if (got < 0) return LN_READ_LATER; /* an error here is a peer's, told by ICMP; the socket goes on */
    d->peer_len = message.msg_namelen;
    count_dropped(s, d, &message);
    s->counters.datagrams++;
    s->counters.bytes_received += (uint64_t)got;
    ln_reader_restart(st->reader);
    if (ln_reader_push(st->reader, s->piece, (size_t)got)) {
        ln_log_note(s->log, LN_LOG_ERROR, "%s: memory is short: a datagram is left out", d->name);
        return LN_READ_BYTES;
    }
    ln_reader_end(st->reader);
    return LN_READ_BYTES;
}

static int datagrams_broken(ln_feed *st, const char *why) {
    datagrams *d = of(st);
    char from[LN_SOCKET_NAME];
    ln_socket_name(&d->peer, d->peer_len, from);
    st->server->counters.datagrams_malformed++;
    ln_log_note(st->server->log, LN_LOG_WARNING, "%s from %s: a datagram: %s", d->name, from, why);
    return 1;
}

static int datagrams_over(ln_feed *st) {
    (void)st;
    return 1;
}

static void datagrams_closed(ln_feed *st) { ln_datagrams_delete(st); }

static const ln_feed_kind DATAGRAMS = {
    .read = datagrams_read, .broken = datagrams_broken, .over = datagrams_over, .closed = datagrams_closed};

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    (void)loop, (void)events;
    ln_turn_ready(watcher->data);
}

ln_feed *ln_datagrams_open(ln_server *s, const char *name, int fd) {
    datagrams *d = calloc(1, sizeof *d);
    if (!d || ln_feed_open(&d->stream, s, &DATAGRAMS, 1)) {
        free(d);
        return NULL;
    }
    d->fd = fd;
    d->left = DRAIN_MAX;
    snprintf(d->name, sizeof d->name, "%s", name);
    ev_io_init(&d->stream.readable, on_readable, fd, EV_READ);
    d->stream.readable.data = &d->stream;
    return &d->stream;
}

void ln_datagrams_delete(ln_feed *st) {
    ev_io_stop(st->server->loop, &st->readable);
    close(of(st)->fd);
    free(st);
}
