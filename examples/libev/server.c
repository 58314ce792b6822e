/* A telemetry server on libev: lines of JSON come in over TCP, panes leave on standard output as lines. The engine is
 * stepped by lunette_ev between the other events; while it is full, connections wait.
 *   server SCRIPT PORT          (port 0: any that is free, which is printed on standard error) */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <lunette_ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 65536 };

typedef struct client {
    ev_io readable;
    lunette *l;
    struct client *next_waiting;
    size_t len; /* bytes read and not yet pushed */
    char bytes[LINE_MAX_BYTES];
} client;

static client *waiting; /* those whose lines have found no room */

/* ---- what comes in ----------------------------------------------------------------------------------------------- */

static void close_client(struct ev_loop *loop, client *c) {
    ev_io_stop(loop, &c->readable);
    close(c->readable.fd);
    free(c);
}

/* Pushes whole lines only, since those of other connections come in between: LUNETTE_OK or LUNETTE_FULL. A line that
 * is too long is dropped with its connection. */
static int push_lines(client *c) {
    const char *last = memrchr(c->bytes, '\n', c->len);
    size_t whole = last ? (size_t)(last - c->bytes) + 1 : 0;
    if (!last) return c->len < sizeof c->bytes ? LUNETTE_OK : LUNETTE_REFUSED;
    if (lunette_push(c->l, c->bytes, whole) == LUNETTE_FULL) return LUNETTE_FULL;
    memmove(c->bytes, c->bytes + whole, c->len - whole);
    c->len -= whole;
    return LUNETTE_OK;
}

static void read_client(struct ev_loop *loop, ev_io *w, int events) {
    client *c = (client *)w->data;
    ssize_t n = read(w->fd, c->bytes + c->len, sizeof c->bytes - c->len);
    (void)events;
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
        close_client(loop, c);
        return;
    }
    c->len += (size_t)n;
    switch (push_lines(c)) {
    case LUNETTE_OK: break;
    case LUNETTE_FULL: /* it is read on when there is room: the sender waits */
        ev_io_stop(loop, w);
        c->next_waiting = waiting;
        waiting = c;
        break;
    default: close_client(loop, c);
    }
}

/* After each turn those that wait try again. */
static void try_again(struct ev_loop *loop, ev_check *w, int events) {
    client *c = waiting;
    (void)w;
    (void)events;
    waiting = NULL;
    while (c) {
        client *next = c->next_waiting;
        if (push_lines(c) == LUNETTE_FULL) {
            c->next_waiting = waiting;
            waiting = c;
        } else {
            ev_io_start(loop, &c->readable);
        }
        c = next;
    }
}

static void accept_client(struct ev_loop *loop, ev_io *w, int events) {
    int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    client *c = fd < 0 ? NULL : calloc(1, sizeof *c);
    (void)events;
    if (!c) {
        if (fd >= 0) close(fd);
        return;
    }
    c->l = w->data;
    ev_io_init(&c->readable, read_client, fd, EV_READ);
    c->readable.data = c;
    ev_io_start(loop, &c->readable);
}

/* ---- what goes out ----------------------------------------------------------------------------------------------- */

static void write_panes(void *ctx, lunette *l) {
    size_t len;
    const void *bytes = lunette_peek(l, LN_STREAM_PANES, &len);
    (void)ctx;
    fwrite(bytes, 1, len, stdout);
    fflush(stdout);
    lunette_consume(l, LN_STREAM_PANES, len);
}

static void tell_trouble(void *ctx, lunette *l, int code) {
    fprintf(stderr, "server: %s\n", lunette_error(l));
    if (code == LUNETTE_FAILED) ev_break(ctx, EVBREAK_ALL);
}

static void stop(struct ev_loop *loop, ev_signal *w, int events) {
    (void)w;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void tell_log(void *ctx, int level, const char *text) {
    (void)ctx;
    (void)level;
    fprintf(stderr, "server: %s\n", text);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int listen_on(unsigned port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, len) || listen(fd, 64)) return -1;
    getsockname(fd, (struct sockaddr *)&at, &len);
    fprintf(stderr, "listening on port %u\n", ntohs(at.sin_port));
    return fd;
}

static int open_script(lunette *l, const char *script) {
    lunette_options options = LUNETTE_OPTIONS_INIT;
    const char *problem;
    options.out_format = LN_FORMAT_JSON;
    if (lunette_open(l, script, &options) == LUNETTE_OK) return 0;
    for (size_t i = 0; (problem = lunette_problem(l, i)); i++) fprintf(stderr, "%s\n", problem);
    if (!lunette_problem(l, 0)) fprintf(stderr, "server: %s\n", lunette_error(l));
    return -1;
}

int main(int argc, char **argv) {
    struct ev_loop *loop = ev_default_loop(0);
    lunette_config config = LUNETTE_CONFIG_INIT;
    lunette_ev_config attached = LUNETTE_EV_CONFIG_INIT;
    lunette_ev *a;
    ev_io acceptor;
    ev_check after;
    ev_signal signals[2];
    lunette *l;
    int fd, code;
    if (argc != 3) {
        fprintf(stderr, "usage: server SCRIPT PORT\n");
        return 2;
    }
    config.log = tell_log;
    l = lunette_new(&config);
    if (!l || open_script(l, argv[1])) return 1;
    fd = listen_on((unsigned)atoi(argv[2]));
    if (fd < 0) {
        perror("server");
        return 1;
    }
    attached.panes = write_panes;
    attached.trouble = tell_trouble;
    attached.ctx = loop;
    a = lunette_ev_attach(l, loop, &attached);
    if (!a) return 1;
    ev_io_init(&acceptor, accept_client, fd, EV_READ);
    acceptor.data = l;
    ev_io_start(loop, &acceptor);
    ev_check_init(&after, try_again);
    ev_check_start(loop, &after);
    for (int i = 0; i < 2; i++) {
        ev_signal_init(&signals[i], stop, i ? SIGTERM : SIGINT);
        ev_signal_start(loop, &signals[i]);
    }
    ev_run(loop, 0);
    lunette_ev_detach(a);
    /* The rest, without the loop. */
    for (code = lunette_end(l); code == LUNETTE_OK || code == LUNETTE_DRAIN;) {
        code = lunette_step(l, (int64_t)(ev_time() * 1e6), NULL);
        write_panes(NULL, l);
        if (code == LUNETTE_OK) break;
    }
    lunette_delete(l);
    return 0;
}
