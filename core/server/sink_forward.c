/* A sink that speaks Fluent Forward. Panes are packed into chunks, which are kept until the other side has
 * acknowledged them, and sent again when the connection breaks before: each pane arrives at least once. A chunk is
 * filled while the one before is under way, so that a busy sink has large ones and a quiet one no delay. What has
 * neither been sent nor acknowledged is bounded; beyond it the sources wait. */
#define _GNU_SOURCE
#include "base/time.h"
#include "forward/client.h"
#include "server/dial.h"
#include "server/secrets.h"
#include "server/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 256 << 10, CHUNKS_AHEAD = 4 /* of a full queue */ };

static const double WATCH_S = 0.25, HANDSHAKE_S = 10;

typedef struct outgoing {
    ln_sink_end end; /* first: one is the other */
    ln_dial dial;
    ln_mem mem;
    ln_forward_client *client;
    lunette_address address;
    ln_secrets secrets;
    ev_timer watch; /* while connected: for answers that do not come */
} outgoing;

static outgoing *of(ln_sink_end *s) { return (outgoing *)(void *)s; }
static const outgoing *of_const(const ln_sink_end *s) { return (const outgoing *)(const void *)s; }

/* ---- the connection -------------------------------------------------------------------------------------------- */

static void send_on(void *owner) {
    outgoing *o = owner;
    const uint8_t *bytes;
    size_t len;
    if (!o->dial.made) return;
    if (ln_forward_client_idle(o->client)) (void)ln_forward_client_flush(o->client);
    while ((bytes = ln_forward_client_output(o->client, &len)) && len) {
        ssize_t n = send(o->dial.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        if (n < 0) {
            ln_dial_fail(&o->dial, strerror(errno));
            return;
        }
        o->end.server->counters.bytes_sent += (uint64_t)n;
        ln_forward_client_sent(o->client, (size_t)n, ln_clock_steady_us());
    }
    ln_dial_want_room(&o->dial, bytes && len);
}

static void greet(void *owner) {
    outgoing *o = owner;
    uint8_t salt[LN_FORWARD_CLIENT_RANDOM];
    if (getentropy(salt, sizeof salt)) {
        ln_dial_fail(&o->dial, strerror(errno));
        return;
    }
    ln_forward_client_connected(o->client, salt);
    ev_timer_again(o->end.server->loop, &o->watch);
    send_on(o);
}

static void take_answers(void *owner) {
    outgoing *o = owner;
    uint8_t bytes[4096];
    ssize_t got = recv(o->dial.fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) ln_dial_fail(&o->dial, got ? strerror(errno) : "the other side has closed the connection");
    else if (ln_forward_client_feed(o->client, bytes, (size_t)got))
        ln_dial_fail(&o->dial, ln_forward_client_error(o->client));
    else send_on(o);
}

static void forget_connection(void *owner) {
    outgoing *o = owner;
    ev_timer_stop(o->end.server->loop, &o->watch);
    ln_forward_client_disconnected(o->client);
}

static void on_watch(struct ev_loop *loop, ev_timer *watcher, int events) {
    outgoing *o = watcher->data;
    int64_t since_us = ln_forward_client_waits_since(o->client), most_us = o->end.server->options->ack_timeout_us;
    (void)events;
    if (!ln_forward_client_established(o->client)) {
        if (ev_now(loop) - o->dial.made_at_s > HANDSHAKE_S) ln_dial_fail(&o->dial, "no handshake");
    } else if (most_us && since_us != INT64_MAX && ln_clock_steady_us() - since_us > most_us) {
        ln_dial_fail(&o->dial, "a chunk was not acknowledged within --ack-timeout");
    } else {
        send_on(o); /* memory may have been short */
    }
}

static const ln_dial_kind CONNECTION = {
    .made = greet, .readable = take_answers, .writable = send_on, .lost = forget_connection};

/* ---- the sink -------------------------------------------------------------------------------------------------- */

/* The time of a pane's entry: that of the field which the address names, else the clock's. */
static int64_t time_of(const outgoing *o, const uint8_t *pane, size_t len) {
    int64_t us;
    ln_value v;
    if (*o->address.time) {
        ln_record_get(pane, (uint32_t)len, o->address.time, (uint32_t)strlen(o->address.time), &v);
        if (!ln_time_read(&v, o->address.unit, &us)) return us;
    }
    return ln_clock_wall_us();
}

static enum ln_write forward_take(ln_sink_end *s, const uint8_t *bytes, size_t len, size_t *taken) {
    outgoing *o = of(s);
    while (*taken < len) {
        ln_value v;
        const uint8_t *at = bytes + *taken, *next = ln_value_read(at, bytes + len, 1, &v);
        size_t size = (size_t)(next - at);
        if (ln_forward_client_add(o->client, at, size, time_of(o, at, size)) == size) {
            *taken += size;
            continue;
        }
        send_on(o); /* what does not fit may do so now; else an acknowledgement wakes the server */
        if (ln_forward_client_add(o->client, at, size, time_of(o, at, size)) != size) return LN_WRITE_LATER;
        *taken += size;
    }
    send_on(o);
    return LN_WRITE_DONE;
}

static size_t forward_pending(const ln_sink_end *s) { return ln_forward_client_pending(of_const(s)->client); }

static void release(outgoing *o) {
    ln_forward_client_delete(o->client);
    ln_secrets_free(&o->secrets);
    free(o);
}

static int forward_close(ln_sink_end *s) {
    outgoing *o = of(s);
    const ln_forward_client_counts *c = ln_forward_client_counted(o->client);
    uint64_t lost = ln_forward_client_values(o->client);
    s->server->counters.panes_lost += lost;
    if (lost)
        ln_log_say(s->server->log, LN_LOG_ERROR, "%s: %" PRIu64 " panes were not acknowledged, and may be lost",
                   s->name, lost);
    if (c->repeated)
        ln_log_say(s->server->log, LN_LOG_INFO, "%s: %" PRIu64 " chunks were sent again, and may have come twice",
                   s->name, c->repeated);
    ev_timer_stop(s->server->loop, &o->watch);
    ln_dial_end(&o->dial);
    release(o);
    return 0;
}

static const ln_sink_kind FORWARDS = {
    .take = forward_take, .pending = forward_pending, .owes = 1, .close = forward_close};

static int make_client(outgoing *o, ln_problem *problem) {
    const ln_server_options *options = o->end.server->options;
    size_t share = options->queue_bytes / CHUNKS_AHEAD;
    uint8_t seed[LN_FORWARD_CLIENT_RANDOM];
    char host[LN_FORWARD_NAME];
    ln_forward_client_config config = {.gzip = o->address.gzip,
                                       .tag = *o->address.tag ? o->address.tag : NULL,
                                       .chunk_bytes = share < CHUNK_BYTES ? share + !share : CHUNK_BYTES,
                                       .queue_bytes = options->queue_bytes};
    if (ln_secrets_read(&o->secrets, options->sink_key_file, options->sink_user_file, problem)) return -1;
    if (o->secrets.users_count > 1)
        return ln_problem_set(problem, "%s: a sink is one user: leave one line", options->sink_user_file);
    config.shared_key = o->secrets.shared_key;
    if (o->secrets.users_count) {
        config.user = o->secrets.users->name;
        config.password = o->secrets.users->password;
    }
    if (!gethostname(host, sizeof host)) config.host = host;
    host[sizeof host - 1] = '\0';
    if (!getentropy(seed, sizeof seed) && !ln_forward_client_new(&o->mem, &config, seed, &o->client)) return 0;
    return ln_problem_set(problem, "%s: memory is short", o->end.name);
}

ln_sink_end *ln_sink_forward(ln_server *server, const char *name, const lunette_address *a, ln_problem *problem) {
    outgoing *o = calloc(1, sizeof *o);
    if (!o) {
        ln_problem_set(problem, "%s: memory is short", name);
        return NULL;
    }
    o->end = (ln_sink_end){.kind = &FORWARDS, .server = server, .name = name};
    o->address = *a;
    ln_mem_init(&o->mem);
    ev_timer_init(&o->watch, on_watch, 0, WATCH_S);
    o->watch.data = o;
    if (!make_client(o, problem) && !ln_dial_begin(&o->dial, server, name, a, &CONNECTION, o, problem)) return &o->end;
    release(o);
    return NULL;
}
