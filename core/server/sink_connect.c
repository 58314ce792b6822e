/* A sink that is a socket to connect to. What it has taken waits in a bounded queue; when the connection breaks, it is
 * made anew with growing pauses, and the pane that was cut is sent again. Panes that were handed to the system whole
 * and did not arrive can't be known here. While the queue is full the sources wait. */
#define _GNU_SOURCE
#include "server/queue.h"
#include "server/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double FIRST_PAUSE_S = 0.1, LONGEST_PAUSE_S = 30, CONNECT_S = 10, STABLE_S = 5;

typedef struct outgoing {
    ln_sink_end end; /* first: one is the other */
    ln_peers peers;
    size_t next_peer;
    int fd;   /* -1: none */
    int made; /* the connection stands */
    double pause_s, made_at_s;
    uint64_t random;
    ev_io readable, writable;
    ev_timer timer; /* the next attempt, or the end of this one */
    ln_queue queue;
} outgoing;

static outgoing *of(ln_sink_end *s) { return (outgoing *)(void *)s; }
static outgoing *of_const(const ln_sink_end *s) { return (outgoing *)(uintptr_t)s; }

/* Between half of the pause and all of it, so that many do not come back at once. */
static double jittered(outgoing *o) {
    o->random ^= o->random << 13;
    o->random ^= o->random >> 7;
    o->random ^= o->random << 17;
    return o->pause_s * (0.5 + (double)(o->random >> 12) / (double)(UINT64_C(1) << 53));
}

static void begin(outgoing *o);

static void set_timer(outgoing *o, double after_s) {
    struct ev_loop *loop = o->end.server->loop;
    ev_timer_stop(loop, &o->timer);
    ev_timer_set(&o->timer, after_s, 0);
    ev_timer_start(loop, &o->timer);
}

static void hang_up(outgoing *o) {
    struct ev_loop *loop = o->end.server->loop;
    ev_timer_stop(loop, &o->timer);
    if (o->fd < 0) return;
    ev_io_stop(loop, &o->readable);
    ev_io_stop(loop, &o->writable);
    close(o->fd);
    o->fd = -1;
}

/* All addresses of a name are tried before the first pause. */
static void fail(outgoing *o, const char *why) {
    ln_server *s = o->end.server;
    double pause_s = 0;
    if (o->made && ev_now(s->loop) - o->made_at_s > STABLE_S) o->pause_s = FIRST_PAUSE_S;
    s->counters.sink_failures++;
    hang_up(o);
    ln_queue_rewind(&o->queue);
    o->made = 0;
    if (++o->next_peer >= o->peers.count) {
        o->next_peer = 0;
        pause_s = jittered(o);
        o->pause_s = 2 * o->pause_s < LONGEST_PAUSE_S ? 2 * o->pause_s : LONGEST_PAUSE_S;
    }
    ln_log_note(s->log, LN_LOG_WARNING, "%s: %s; trying again in %.1f s", o->end.name, why, pause_s);
    set_timer(o, pause_s);
}

static void send_on(outgoing *o) {
    ln_server *s = o->end.server;
    if (!o->made) return;
    if (ln_queue_send(&o->queue, o->fd, &s->counters.bytes_sent)) {
        fail(o, strerror(errno));
        return;
    }
    if (ln_queue_pending(&o->queue)) ev_io_start(s->loop, &o->writable);
    else ev_io_stop(s->loop, &o->writable);
}

static void on_writable(struct ev_loop *loop, ev_io *watcher, int events) {
    outgoing *o = watcher->data;
    (void)events;
    if (!o->made) {
        int err = 0;
        socklen_t len = sizeof err;
        if (getsockopt(o->fd, SOL_SOCKET, SO_ERROR, &err, &len)) err = errno;
        if (err) {
            fail(o, strerror(err));
            return;
        }
        o->made = 1;
        o->made_at_s = ev_now(loop);
        o->next_peer = 0;
        o->end.server->counters.sink_connections++;
        ev_timer_stop(loop, &o->timer);
        ev_io_start(loop, &o->readable);
        ln_log_note(o->end.server->log, LN_LOG_INFO, "%s: connected", o->end.name);
    }
    send_on(o);
}

/* What the other side says is of no interest, but for its end. */
static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    outgoing *o = watcher->data;
    char unread[4096];
    ssize_t got = recv(o->fd, unread, sizeof unread, MSG_DONTWAIT);
    (void)loop, (void)events;
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    fail(o, got ? strerror(errno) : "the other side has closed the connection");
}

static void on_timer(struct ev_loop *loop, ev_timer *watcher, int events) {
    outgoing *o = watcher->data;
    (void)loop, (void)events;
    if (o->fd >= 0) fail(o, "no answer");
    else begin(o);
}

static void begin(outgoing *o) {
    struct ev_loop *loop = o->end.server->loop;
    o->fd = ln_socket_connect(&o->peers.peer[o->next_peer], o->peers.len[o->next_peer]);
    if (o->fd < 0) {
        fail(o, strerror(errno));
        return;
    }
    ev_io_set(&o->readable, o->fd, EV_READ);
    ev_io_set(&o->writable, o->fd, EV_WRITE);
    ev_io_start(loop, &o->writable);
    set_timer(o, CONNECT_S);
}

static enum ln_write connect_take(ln_sink_end *s, const uint8_t *bytes, size_t len, size_t *taken) {
    outgoing *o = of(s);
    size_t more;
    o->queue.format = ln_output_format_used(lunette_output(s->server->host));
    do { /* what does not fit may do so when something has been sent; else `writable` wakes the server */
        more = ln_queue_put(&o->queue, bytes + *taken, len - *taken);
        *taken += more;
        send_on(o);
    } while (more && *taken < len);
    return *taken < len ? LN_WRITE_LATER : LN_WRITE_DONE;
}

/* Bytes of panes that are not sent whole. */
static size_t connect_pending(const ln_sink_end *s) { return of_const(s)->queue.end - of_const(s)->queue.start; }

static int connect_close(ln_sink_end *s) {
    outgoing *o = of(s);
    uint64_t lost = ln_queue_panes(&o->queue);
    s->server->counters.panes_lost += lost;
    if (lost) ln_log_say(s->server->log, LN_LOG_ERROR, "%s: %" PRIu64 " panes could not be delivered", s->name, lost);
    hang_up(o);
    ln_queue_free(&o->queue);
    free(o);
    return 0;
}

static const ln_sink_kind CONNECTS = {.take = connect_take, .pending = connect_pending, .close = connect_close};

ln_sink_end *ln_sink_connect(ln_server *server, const char *name, const lunette_address *a, ln_problem *problem) {
    outgoing *o = calloc(1, sizeof *o);
    ln_problem inner;
    if (!o || ln_socket_find(a, &o->peers, &inner)) {
        ln_problem_set(problem, "%s: %s", name, o ? inner.text : "memory is short");
        free(o);
        return NULL;
    }
    o->end = (ln_sink_end){.kind = &CONNECTS, .server = server, .name = name};
    o->fd = -1;
    o->pause_s = FIRST_PAUSE_S;
    o->random = (uint64_t)ln_clock_steady_us() * 2654435761u | 1;
    o->queue.most = server->options->queue_bytes;
    ev_init(&o->readable, on_readable);
    ev_init(&o->writable, on_writable);
    ev_init(&o->timer, on_timer);
    o->readable.data = o->writable.data = o->timer.data = o;
    begin(o);
    return &o->end;
}
