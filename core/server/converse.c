/* Connections with a codec: bytes to it, its records to the reader, its replies to the socket. A peer that does not
 * read its replies is not read on, and gets no more time for it than for a record. */
#define _GNU_SOURCE
#include "server/connection.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void ln_converse_begin(ln_connection *c) {
    ln_reader_speak(c->stream.reader, LN_FORMAT_MSGPACK);
    if (c->codec->greeting(c->state)) c->begun_us = c->heard_us;
    ln_converse_pumped(c);
}

/* Bytes sent, without waiting; -1 where the socket can be sent to no more. */
static ssize_t send_replies(ln_connection *c) {
    ssize_t sent = 0, n;
    const uint8_t *bytes;
    size_t len;
    while ((bytes = c->codec->replies(c->state, &len)) && len) {
        n = send(c->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno == EAGAIN ? sent : -1;
        c->codec->replied(c->state, (size_t)n);
        sent += n;
    }
    return sent;
}

/* What wakes the connection. Only while it is in its turn, so that its watcher is not active. */
static void watch(ln_connection *c) {
    size_t len;
    int events = c->waits ? EV_WRITE : EV_READ;
    c->codec->replies(c->state, &len);
    if (len) events |= EV_WRITE;
    if ((c->stream.readable.events & (EV_READ | EV_WRITE)) != events) ev_io_set(&c->stream.readable, c->fd, events);
}

static enum ln_read break_off(ln_connection *c, const char *why) {
    c->why = why;
    c->stream.server->counters.connections_broken++;
    ln_connection_note(c, LN_LOG_WARNING, why);
    return LN_READ_FAILED;
}

/* The peer reads its replies, or has `--record-timeout` to begin with it. */
static enum ln_read wait_for_peer(ln_connection *c, ssize_t sent) {
    if (!c->waits || sent) c->begun_us = ln_turn_heard_us(c->stream.server);
    c->waits = 1;
    watch(c);
    return LN_READ_LATER;
}

static enum ln_read receive(ln_connection *c) {
    ln_server *s = c->stream.server;
    size_t want = c->want;
    uint8_t *to;
    ssize_t got;
    if (s->phase != LN_RUN_SERVING && c->left < want) want = c->left;
    if (!want) return LN_READ_LATER;
    to = c->codec->space(c->state, want);
    if (!to) return break_off(c, "memory is short, or --receive-bytes is too low for all that is sent at once");
    got = ln_connection_receive(c, to, want);
    if (got > 0) {
        c->codec->commit(c->state, (size_t)got);
        return LN_READ_BYTES;
    }
    if (!got) return LN_READ_END;
    return got == LN_RECEIVED_LATER ? LN_READ_LATER : LN_READ_FAILED;
}

enum ln_read ln_converse(ln_connection *c) {
    ssize_t sent = send_replies(c);
    int received = 0;
    if (sent < 0) return LN_READ_FAILED;
    for (;;) {
        const char *why;
        enum ln_read got;
        enum ln_moved moved = c->codec->move(c->state, c->stream.reader, &why);
        if (moved == LN_MOVED_WAIT) return wait_for_peer(c, sent);
        c->waits = 0;
        if (moved == LN_MOVED_CLOSED) return break_off(c, why);
        if (moved == LN_MOVED_SOME || moved == LN_MOVED_LATER) c->stream.drained = 0;
        if (moved != LN_MOVED_NONE || received) return LN_READ_BYTES;
        got = receive(c);
        if (got == LN_READ_LATER) watch(c);
        if (got != LN_READ_BYTES) return got;
        received = 1;
    }
}

void ln_converse_pumped(ln_connection *c) {
    size_t left = c->codec->pending(c->state);
    ln_server *s = c->stream.server;
    char text[96];
    c->codec->accepted(c->state);
    (void)send_replies(c); /* a failure shows when the socket is read */
    watch(c);
    if (!c->stream.last || c->why || !left) return;
    s->counters.connections_unfinished++;
    snprintf(text, sizeof text, "ended in the middle of a message: %zu bytes of it are left out", left);
    if (!c->ended) ln_connection_note(c, LN_LOG_WARNING, text);
}

const char *ln_converse_slow(const ln_connection *c) {
    if (c->waits) return "closed: it did not read its acknowledgements within --record-timeout";
    if (c->codec && c->codec->greeting(c->state)) return "closed: no handshake within --record-timeout";
    return c->codec ? "closed: a message was not finished within --record-timeout"
                    : "closed: a record was not finished within --record-timeout";
}
