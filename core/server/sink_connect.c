/* A sink that is a socket to connect to. What it has taken waits in a bounded queue; when the connection breaks, it is
 * made anew, and the pane that was cut is sent again. Panes that were handed to the system whole and did not arrive
 * can't be known here. While the queue is full the sources wait. */
#define _GNU_SOURCE
#include "server/dial.h"
#include "server/queue.h"
#include "server/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct outgoing {
    ln_sink_end end; /* first: one is the other */
    ln_dial dial;
    ln_queue queue;
} outgoing;

static outgoing *of(ln_sink_end *s) { return (outgoing *)(void *)s; }
static outgoing *of_const(const ln_sink_end *s) { return (outgoing *)(uintptr_t)s; }

static void send_on(void *owner) {
    outgoing *o = owner;
    if (!o->dial.made) return;
    if (ln_queue_send(&o->queue, o->dial.fd, &o->end.server->counters.bytes_sent))
        ln_dial_fail(&o->dial, strerror(errno));
    else ln_dial_want_room(&o->dial, ln_queue_pending(&o->queue) > 0);
}

/* What the other side says is of no interest, but for its end. */
static void listen_for_end(void *owner) {
    outgoing *o = owner;
    char unread[4096];
    ssize_t got = recv(o->dial.fd, unread, sizeof unread, MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
    ln_dial_fail(&o->dial, got ? strerror(errno) : "the other side has closed the connection");
}

static void rewind_queue(void *owner) {
    outgoing *o = owner;
    ln_queue_rewind(&o->queue);
}

static const ln_dial_kind CONNECTION = {
    .made = send_on, .readable = listen_for_end, .writable = send_on, .lost = rewind_queue};

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
    ln_dial_end(&o->dial);
    ln_queue_free(&o->queue);
    free(o);
    return 0;
}

static void connect_unsent(ln_sink_end *s, ln_buf *out) {
    const ln_queue *q = &of(s)->queue;
    ln_buf_append(out, q->data + q->start, q->end - q->start);
}

/* The queue may be smaller now than it was. */
static int connect_send_again(ln_sink_end *s, const uint8_t *bytes, size_t len) {
    ln_queue *q = &of(s)->queue;
    size_t most = q->most, taken;
    q->format = ln_output_format_used(lunette_output(s->server->host));
    q->most = SIZE_MAX;
    taken = ln_queue_put(q, bytes, len);
    q->most = most;
    return taken == len ? 0 : -1;
}

static const ln_sink_kind CONNECTS = {.take = connect_take,
                                      .pending = connect_pending,
                                      .unsent = connect_unsent,
                                      .send_again = connect_send_again,
                                      .close = connect_close};

ln_sink_end *ln_sink_connect(ln_server *server, const char *name, const lunette_address *a, ln_problem *problem) {
    outgoing *o = calloc(1, sizeof *o);
    if (!o) {
        ln_problem_set(problem, "%s: memory is short", name);
        return NULL;
    }
    o->end = (ln_sink_end){.kind = &CONNECTS, .server = server, .name = name};
    o->queue.most = server->options->queue_bytes;
    if (!ln_dial_begin(&o->dial, server, name, a, &CONNECTION, o, problem)) return &o->end;
    free(o);
    return NULL;
}
