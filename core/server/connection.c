/* A connection: a socket that somebody has connected to, and its stream of records. What it may take is bounded: a
 * piece a turn, one unfinished record, the time to finish it, and silence. Time counts only while the server listens,
 * so that nobody is ended for a sink's slowness. */
#define _GNU_SOURCE
#include "server/connection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SILENCE_US = 500000 };

static ln_connection *of(ln_feed *st) { return (ln_connection *)(void *)st; }

static size_t pending(const ln_connection *c) {
    return ln_reader_pending(c->stream.reader) + (c->codec ? c->codec->pending(c->state) : 0);
}

void ln_connection_note(const ln_connection *c, int level, const char *what) {
    ln_log_note(c->stream.server->log, level, "%s: %s", c->name, what);
}

/* ---- as a stream ----------------------------------------------------------------------------------------------- */

/* More is asked for where all that was asked for came. */
static void adapt(ln_connection *c, size_t want, size_t got) {
    c->stream.drained = got < want;
    if (got == c->want && c->want < LN_PIECE_BYTES) c->want *= 2;
    else if (got < c->want / 4 && c->want > LN_WANT_MIN) c->want /= 2;
}

ssize_t ln_connection_receive(ln_connection *c, uint8_t *to, size_t want) {
    ln_server *s = c->stream.server;
    ssize_t got = recv(c->fd, to, want, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return LN_RECEIVED_LATER;
    if (got < 0) {
        ln_connection_note(c, LN_LOG_INFO, strerror(errno));
        return LN_RECEIVED_FAILED;
    }
    if (!got) return 0;
    adapt(c, want, (size_t)got);
    s->counters.bytes_received += (uint64_t)got;
    c->left -= c->left < (size_t)got ? c->left : (size_t)got;
    c->heard_us = ln_turn_heard_us(s);
    c->in_hand += (size_t)got;
    return got;
}

static enum ln_read connection_read(ln_feed *st) {
    ln_connection *c = of(st);
    size_t want = c->want;
    uint8_t *to;
    ssize_t got;
    int err;
    if (c->codec) return ln_converse(c);
    if (st->server->phase != LN_RUN_SERVING && c->left < want) want = c->left;
    if (!want) return LN_READ_LATER;
    to = ln_reader_space(st->reader, want);
    if (!to) {
        ln_connection_note(c, LN_LOG_ERROR, "memory is short");
        return LN_READ_FAILED;
    }
    got = ln_connection_receive(c, to, want);
    if (got < 0) return got == LN_RECEIVED_LATER ? LN_READ_LATER : LN_READ_FAILED;
    if (!got && ln_reader_format(st->reader) == LN_FORMAT_JSON && pending(c))
        ln_connection_note(c, LN_LOG_INFO, "ended without a line end: what is left is taken for its last line");
    if (!got) return LN_READ_END;
    err = ln_reader_commit(st->reader, (size_t)got);
    if (!err) return LN_READ_BYTES;
    st->server->counters.connections_broken++;
    ln_connection_note(c, LN_LOG_WARNING, ln_strerror(err));
    return LN_READ_FAILED;
}

/* A record is unfinished since the piece in which it began. */
static void connection_pumped(ln_feed *st) {
    ln_connection *c = of(st);
    size_t left;
    if (c->codec) ln_converse_pumped(c);
    left = pending(c);
    if (c->codec && c->codec->greeting(c->state)) return;
    if (!left) c->begun_us = 0;
    else if (left < c->in_hand || !c->begun_us) c->begun_us = c->heard_us;
    c->in_hand = left;
    c->trimmed = 0;
}

static int connection_broken(ln_feed *st, const char *why) {
    ln_connection *c = of(st);
    ln_server *s = st->server;
    if (st->last) {
        s->counters.connections_unfinished++;
        if (!c->ended) ln_connection_note(c, LN_LOG_WARNING, why);
    } else {
        s->counters.connections_broken++;
        ln_connection_note(c, LN_LOG_WARNING, why);
    }
    return 0;
}

static int connection_over(ln_feed *st) {
    (void)st;
    return 0;
}

static void release(ln_connection *c) {
    ln_server *s = c->stream.server;
    ev_io_stop(s->loop, &c->stream.readable);
    *(c->before ? &c->before->after : &s->connections) = c->after;
    if (c->after) c->after->before = c->before;
    if (c->codec) c->codec->close(c->state);
    close(c->fd);
    free(c);
}

static void connection_closed(ln_feed *st) {
    ln_connection *c = of(st);
    ln_connection_note(c, LN_LOG_DEBUG, "closed");
    st->server->counters.connections--;
    release(c);
}

static const ln_feed_kind CONNECTION = {.read = connection_read,
                                        .pumped = connection_pumped,
                                        .broken = connection_broken,
                                        .over = connection_over,
                                        .closed = connection_closed};

/* ---- opening --------------------------------------------------------------------------------------------------- */

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    (void)loop, (void)events;
    ln_turn_ready(watcher->data);
}

/* Is there no room for one more from that host? NULL, or why. */
static const char *refusal(const ln_server *s, const unsigned char host[16], int has_host) {
    uint32_t same = 0;
    if (s->counters.connections >= s->options->connections_max)
        return "refused: there are as many connections as --max-connections allows";
    for (const ln_connection *c = s->connections; has_host && c; c = c->after)
        same += c->has_host && !memcmp(c->host, host, 16);
    if (has_host && same >= s->options->connections_per_host)
        return "refused: this host has as many connections as --max-connections-per-host allows";
    return NULL;
}

static void refuse(ln_server *s, int fd, const char *name, const char *why) {
    s->counters.connections_refused++;
    ln_log_note(s->log, LN_LOG_WARNING, "%s: %s", name, why);
    close(fd);
}

/* What a connection is made of, its socket left out. NULL where memory is short. */
static ln_connection *make(ln_server *s, const ln_codec *codec, const char *name) {
    ln_connection *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    snprintf(c->name, sizeof c->name, "%s", name);
    c->codec = codec;
    if (codec) c->state = codec->open(s, c->name);
    if ((!codec || c->state) && !ln_feed_open(&c->stream, s, &CONNECTION, 0)) return c;
    if (codec && c->state) codec->close(c->state);
    free(c);
    return NULL;
}

static void begin(ln_connection *c) {
    ln_server *s = c->stream.server;
    c->want = LN_WANT_MIN;
    c->heard_us = ln_turn_heard_us(s);
    c->after = s->connections;
    if (c->after) c->after->before = c;
    s->connections = c;
    s->counters.connections++;
    s->counters.connections_opened++;
    ev_io_init(&c->stream.readable, on_readable, c->fd, EV_READ);
    c->stream.readable.data = &c->stream;
    ln_connection_note(c, LN_LOG_DEBUG, "connected");
    if (c->codec) ln_converse_begin(c);
    ev_io_start(s->loop, &c->stream.readable);
}

void ln_connection_open(ln_server *s, const ln_codec *codec, const char *listener, int fd, const ln_peer *peer,
                        socklen_t len) {
    char from[LN_SOCKET_NAME], name[LN_NAME_BYTES];
    unsigned char host[16];
    int has_host = ln_socket_host(peer, host);
    const char *why = refusal(s, host, has_host);
    ln_connection *c;
    ln_socket_name(peer, len, from);
    snprintf(name, sizeof name, "%s from %s", listener, from);
    c = why ? NULL : make(s, codec, name);
    if (!c) {
        refuse(s, fd, name, why ? why : "refused: memory is short");
        return;
    }
    c->fd = fd;
    memcpy(c->host, host, sizeof host);
    c->has_host = has_host;
    begin(c);
}

/* ---- all of them ----------------------------------------------------------------------------------------------- */

/* One that is silent holds no more than its unfinished record. */
static void trim(ln_connection *c) {
    ln_reader_trim(c->stream.reader);
    c->want = LN_WANT_MIN;
    c->trimmed = 1;
}

static void end(ln_connection *c, const char *why) {
    c->stream.server->counters.connections_timed_out++;
    ln_connection_note(c, LN_LOG_WARNING, why);
    c->ended = 1;
    ln_turn_forget(&c->stream);
}

void ln_connections_sweep(ln_server *s) {
    const ln_server_options *o = s->options;
    int64_t now_us = ln_turn_heard_us(s);
    for (ln_connection *c = s->connections; c; c = c->after) {
        if (c->ended || c->stream.queued || c->stream.last || (s->job && &c->stream == s->busy)) continue;
        if (o->frame_timeout_us && c->begun_us && now_us - c->begun_us >= o->frame_timeout_us)
            end(c, ln_converse_slow(c));
        else if (o->idle_timeout_us && now_us - c->heard_us >= o->idle_timeout_us)
            end(c, "closed: it was silent for longer than --idle-timeout");
        else if (!c->trimmed && now_us - c->heard_us >= SILENCE_US) trim(c);
    }
}

void ln_connections_drain(ln_server *s) {
    for (ln_connection *c = s->connections; c; c = c->after) {
        int left = 0;
        if (ioctl(c->fd, FIONREAD, &left) || left < 0) left = 0;
        c->left = (size_t)left;
        if (left) ln_turn_ready(&c->stream);
        else ev_io_stop(s->loop, &c->stream.readable);
    }
}

static void tell_unfinished(const ln_connection *c) {
    char text[96];
    size_t left = pending(c);
    if (!left) return;
    c->stream.server->counters.connections_unfinished++;
    snprintf(text, sizeof text, "interrupted: %zu bytes of an unfinished record are left out", left);
    ln_connection_note(c, LN_LOG_WARNING, text);
}

void ln_connections_delete(ln_server *s) {
    for (ln_connection *c = s->connections, *after; c; c = after) {
        after = c->after;
        tell_unfinished(c);
        release(c);
    }
}
