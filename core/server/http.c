/* See http.h. libmicrohttpd does HTTP without a thread: its epoll descriptor is watched by the loop, which runs it when
 * there is something to do. What strangers may take is bounded: connections, memory of each, and the time that one may
 * go on without a request of its own being answered. */
#define _GNU_SOURCE
#include "server/http.h"

#include "server/answer.h"
#include "server/metrics.h"
#include "server/state.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 32, CONNECTION_BYTES = 16 * 1024, SILENCE_S = 10, REQUEST_US = 30000000 };

static const double SWEEP_S = 1;

typedef struct caller {
    int fd;
    int64_t since_us; /* steady clock when it came, or its last request was answered */
    struct caller *before, *after;
} caller;

struct ln_http {
    ln_server *server;
    struct MHD_Daemon *daemon;
    int fd; /* listens */
    ev_io acceptable;
    ev_io ready;
    ev_timer again; /* when the library wants to be run without an event */
    ev_timer sweep;
    caller *callers;
    unsigned callers_count;
    ln_mem mem;
    ln_buf page;
    struct MHD_Response *wrong[3]; /* of methods, paths, and a page that can't be had */
};

enum { WRONG_METHOD, WRONG_PATH, WRONG_PAGE };

/* ---- pages ------------------------------------------------------------------------------------------------------ */

static unsigned put_metrics(ln_http *h) {
    return ln_metrics_write(h->server, &h->page) ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK;
}

static unsigned put_status(ln_http *h) {
    int failed = ln_answer_status(h->server, &h->page);
    ln_buf_byte(&h->page, '\n');
    return failed ? MHD_HTTP_INTERNAL_SERVER_ERROR : MHD_HTTP_OK;
}

static unsigned put_live(ln_http *h) {
    ln_json_format(&h->page, "ok\n");
    return MHD_HTTP_OK;
}

static unsigned put_ready(ln_http *h) {
    const char *unready = ln_answer_unready(h->server);
    ln_json_format(&h->page, "%s\n", unready ? unready : "ok");
    return unready ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK;
}

static const struct {
    const char *path, *type;
    unsigned (*put)(ln_http *h);
} PAGES[] = {
    {"/metrics", "text/plain; version=0.0.4; charset=utf-8", put_metrics},
    {"/status", "application/json", put_status},
    {"/livez", "text/plain; charset=utf-8", put_live},
    {"/readyz", "text/plain; charset=utf-8", put_ready},
};

static enum MHD_Result send_page(ln_http *h, struct MHD_Connection *to, size_t which) {
    enum MHD_Result sent = MHD_NO;
    struct MHD_Response *response;
    unsigned status;
    ln_buf_clear(&h->page);
    status = PAGES[which].put(h);
    if (h->page.failed) return MHD_queue_response(to, MHD_HTTP_INTERNAL_SERVER_ERROR, h->wrong[WRONG_PAGE]);
    response = MHD_create_response_from_buffer(h->page.len, h->page.data, MHD_RESPMEM_MUST_COPY);
    if (!response) return MHD_NO;
    if (MHD_add_response_header(response, "Content-Type", PAGES[which].type) &&
        MHD_add_response_header(response, "Cache-Control", "no-store"))
        sent = MHD_queue_response(to, status, response);
    MHD_destroy_response(response);
    return sent;
}

static int has_body(struct MHD_Connection *from) {
    return MHD_lookup_connection_value(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
           MHD_lookup_connection_value(from, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/* No body is ever read: a request with one is answered as soon as its head is there, which ends the connection. Others
 * are when they are whole, which keeps it. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *to, const char *path, const char *method,
                                  const char *version, const char *upload, size_t *upload_bytes, void **state) {
    ln_http *h = ctx;
    (void)version, (void)upload, (void)upload_bytes;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return MHD_queue_response(to, MHD_HTTP_METHOD_NOT_ALLOWED, h->wrong[WRONG_METHOD]);
    if (!*state && !has_body(to)) {
        *state = h;
        return MHD_YES;
    }
    for (size_t i = 0; i < sizeof PAGES / sizeof *PAGES; i++)
        if (!strcmp(path, PAGES[i].path)) return send_page(h, to, i);
    return MHD_queue_response(to, MHD_HTTP_NOT_FOUND, h->wrong[WRONG_PATH]);
}

/* ---- connections ------------------------------------------------------------------------------------------------ */

static void on_connection(void *ctx, struct MHD_Connection *connection, void **state,
                          enum MHD_ConnectionNotificationCode code) {
    ln_http *h = ctx;
    caller *c = *state;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        c = info ? calloc(1, sizeof *c) : NULL;
        *state = c;
        if (!c) return;
        c->fd = info->connect_fd;
        c->since_us = ln_clock_steady_us();
        c->after = h->callers;
        if (c->after) c->after->before = c;
        h->callers = c;
        h->callers_count++;
    } else if (c) {
        *(c->before ? &c->before->after : &h->callers) = c->after;
        if (c->after) c->after->before = c->before;
        h->callers_count--;
        free(c);
        *state = NULL;
        ev_io_start(h->server->loop, &h->acceptable);
    }
}

static void on_answered(void *ctx, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode code) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    caller *c = info ? info->socket_context : NULL;
    (void)ctx, (void)state, (void)code;
    if (c) c->since_us = ln_clock_steady_us();
}

/* ---- the loop --------------------------------------------------------------------------------------------------- */

static void run(ln_http *h) {
    struct ev_loop *loop = h->server->loop;
    MHD_UNSIGNED_LONG_LONG wait_ms;
    (void)MHD_run(h->daemon);
    ev_timer_stop(loop, &h->again);
    if (MHD_get_timeout(h->daemon, &wait_ms) != MHD_YES) return;
    ev_timer_set(&h->again, wait_ms ? (double)wait_ms / 1e3 : 0, 0);
    ev_timer_start(loop, &h->again);
}

static void on_ready(struct ev_loop *loop, ev_io *watcher, int events) {
    (void)loop, (void)events;
    run(watcher->data);
}

static void on_again(struct ev_loop *loop, ev_timer *watcher, int events) {
    (void)loop, (void)events;
    run(watcher->data);
}

/* The library would try without a pause while descriptors are short: so who comes is let in here. Others wait until
 * there is room, and after a failure until the next sweep. */
static void on_acceptable(struct ev_loop *loop, ev_io *watcher, int events) {
    ln_http *h = watcher->data;
    ln_peer peer = {0};
    socklen_t len = sizeof peer;
    int fd = -1;
    (void)events;
    if (h->callers_count < CONNECTIONS_MAX) fd = accept4(h->fd, &peer.any, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        (void)MHD_add_connection(h->daemon, fd, &peer.any, len); /* which closes it where that fails */
        run(h);
    } else if (h->callers_count >= CONNECTIONS_MAX || errno != EAGAIN) {
        ev_io_stop(loop, watcher);
    }
}

/* The library ends those who say nothing; this, those who say it one letter at a time. */
static void on_sweep(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_http *h = watcher->data;
    int64_t now_us = ln_clock_steady_us();
    (void)events;
    ev_io_start(loop, &h->acceptable);
    for (caller *c = h->callers; c; c = c->after)
        if (now_us - c->since_us >= REQUEST_US) (void)shutdown(c->fd, SHUT_RDWR);
}

static void on_log(void *ctx, const char *format, va_list args) {
    ln_http *h = ctx;
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    ln_log_note(h->server->log, LN_LOG_DEBUG, "http: %s", text);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static int make_responses(ln_http *h) {
    static char METHOD[] = "only GET and HEAD are answered\n", PATH[] = "there is /metrics, /status, /livez, /readyz\n",
                PAGE[] = "memory is short\n";
    char *const TEXTS[] = {METHOD, PATH, PAGE};
    for (size_t i = 0; i < 3; i++) {
        h->wrong[i] = MHD_create_response_from_buffer(strlen(TEXTS[i]), TEXTS[i], MHD_RESPMEM_PERSISTENT);
        if (!h->wrong[i]) return -1;
        (void)MHD_add_response_header(h->wrong[i], "Content-Type", "text/plain; charset=utf-8");
    }
    return MHD_add_response_header(h->wrong[WRONG_METHOD], "Allow", "GET, HEAD") ? 0 : -1;
}

/* A socket that listens, and its name; -1 with a problem. */
static int listen_at(const ln_server *s, const char *address, char name[LN_SOCKET_NAME], ln_problem *problem) {
    char text[512];
    lunette_address a;
    ln_problem inner;
    int fd;
    snprintf(text, sizeof text, "tcp://%s", address);
    if (strlen(address) > sizeof text - 8 || lunette_address_parse(&a, text, LUNETTE_USE_SOURCE) ||
        a.kind != LUNETTE_ADDRESS_TCP)
        return ln_problem_set(problem, "--http %s: write HOST:PORT, such as 127.0.0.1:9464", address);
    fd = ln_socket_listen(&a, s->options->insecure, name, &inner);
    return fd < 0 ? ln_problem_set(problem, "--http %s: %s", address, inner.text) : fd;
}

static int start(ln_http *h) {
    const union MHD_DaemonInfo *info;
    h->daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_request, h,
                         MHD_OPTION_EXTERNAL_LOGGER, on_log, h, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
                         (unsigned)SILENCE_S, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
                         MHD_OPTION_NOTIFY_COMPLETED, on_answered, h, MHD_OPTION_END);
    if (!h->daemon) return -1;
    info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info || info->epoll_fd < 0) return -1;
    ev_io_init(&h->ready, on_ready, info->epoll_fd, EV_READ);
    ev_io_start(h->server->loop, &h->ready);
    ev_io_init(&h->acceptable, on_acceptable, h->fd, EV_READ);
    ev_io_start(h->server->loop, &h->acceptable);
    return 0;
}

ln_http *ln_http_open(ln_server *s, const char *address, ln_problem *problem) {
    char name[LN_SOCKET_NAME];
    int fd = listen_at(s, address, name, problem);
    ln_http *h;
    if (fd < 0) return NULL;
    h = calloc(1, sizeof *h);
    if (h) {
        h->server = s;
        h->fd = fd;
        ln_mem_init(&h->mem);
        ln_buf_init(&h->page, &h->mem);
        ev_timer_init(&h->again, on_again, 0, 0);
        ev_timer_init(&h->sweep, on_sweep, SWEEP_S, SWEEP_S);
        h->acceptable.data = h->ready.data = h->again.data = h->sweep.data = h;
    }
    if (!h || make_responses(h) || start(h)) {
        if (!h) close(fd);
        ln_http_close(h);
        ln_problem_set(problem, "--http %s: memory or descriptors are short", address);
        return NULL;
    }
    ev_timer_start(s->loop, &h->sweep);
    ln_log_say(s->log, LN_LOG_INFO, "metrics are served on http://%s", name + strlen("tcp://"));
    return h;
}

void ln_http_close(ln_http *h) {
    if (!h) return;
    ev_io_stop(h->server->loop, &h->ready);
    ev_timer_stop(h->server->loop, &h->again);
    ev_timer_stop(h->server->loop, &h->sweep);
    if (h->daemon) MHD_stop_daemon(h->daemon);
    ev_io_stop(h->server->loop, &h->acceptable); /* each connection that ended has made room */
    close(h->fd);
    for (size_t i = 0; i < 3; i++)
        if (h->wrong[i]) MHD_destroy_response(h->wrong[i]);
    ln_buf_free(&h->page);
    free(h);
}
