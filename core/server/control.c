/* See control.h. A connection has one request under way: the next is read when its answer has been taken. Each turn of
 * the loop answers at most one request of a connection. */
#define _GNU_SOURCE
#include "server/control.h"

#include "server/answer.h"
#include "server/state.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 16, REQUEST_US = 10000000 };

static const double SWEEP_S = 1, AWAIT_S = 0.02;
static const int64_t SILENCE_US = 3600 * INT64_C(1000000);

typedef struct asker asker;

struct ln_control {
    ln_server *server;
    int fd;
    ev_io acceptable;
    ev_timer sweep, await; /* the latter while an answer is awaited */
    asker *askers;
    uint32_t count;
    ln_mem mem;
    ln_reader *requests;
    char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
};

struct asker {
    ln_control *of;
    asker *next;
    int fd;
    int ended, gone; /* sends no more; forgotten with the next look at the list */
    int64_t heard_us;
    ev_io ready;
    char in[LN_REQUEST_BYTES];
    size_t in_len;
    ln_buf out;
    size_t sent;      /* of `out` */
    uint64_t awaited; /* the answer is: see answer.h */
};

static void leave(asker *a) {
    if (a->gone) return;
    ev_io_stop(a->of->server->loop, &a->ready);
    close(a->fd);
    ln_buf_free(&a->out);
    a->of->count--;
    a->gone = 1;
}

static void forget_gone(ln_control *c) {
    for (asker **at = &c->askers; *at;) {
        asker *a = *at;
        if (!a->gone) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        free(a);
    }
    if (!c->askers) ev_timer_stop(c->server->loop, &c->sweep);
}

/* ---- one connection --------------------------------------------------------------------------------------------- */

static void watch(asker *a, int events) {
    struct ev_loop *loop = a->of->server->loop;
    if ((a->ready.events & (EV_READ | EV_WRITE)) == events) return;
    ev_io_stop(loop, &a->ready);
    ev_io_set(&a->ready, a->fd, events);
    ev_io_start(loop, &a->ready);
}

static void answer(asker *a, const char *line, size_t len) {
    ln_control *c = a->of;
    a->awaited = ln_answer(c->server, c->requests, line, len, &a->out);
    if (!a->awaited) ln_buf_byte(&a->out, '\n');
    else if (!ev_is_active(&c->await)) ev_timer_again(c->server->loop, &c->await);
}

/* Answers the first whole line; 0 where there is none. */
static int answer_line(asker *a) {
    char *end = memchr(a->in, '\n', a->in_len);
    size_t len;
    if (!end && a->in_len == sizeof a->in) {
        static const char WHAT[] = "{\"error\":\"the request is longer than 4096 bytes\"}\n";
        ln_buf_append(&a->out, WHAT, sizeof WHAT - 1);
        a->ended = 1;
        a->in_len = 0;
        return 1;
    }
    if (!end) return 0;
    len = (size_t)(end - a->in);
    answer(a, a->in, len);
    a->in_len -= len + 1;
    memmove(a->in, end + 1, a->in_len);
    return 1;
}

/* Sends what is left of the answer: 1 where nothing is, 0 where the rest has to wait, -1 where the connection is
 * gone. */
static int send_on(asker *a) {
    while (a->sent < a->out.len) {
        ssize_t n = send(a->fd, a->out.data + a->sent, a->out.len - a->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return 0;
        if (n < 0) return -1;
        a->sent += (size_t)n;
        a->heard_us = ln_clock_steady_us();
    }
    ln_buf_free(&a->out);
    ln_buf_init(&a->out, &a->of->mem);
    a->sent = 0;
    return 1;
}

static int receive(asker *a) {
    ssize_t n = recv(a->fd, a->in + a->in_len, sizeof a->in - a->in_len, MSG_DONTWAIT);
    if (n < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (!n) a->ended = 1;
    a->in_len += (size_t)n;
    a->heard_us = ln_clock_steady_us();
    return 0;
}

static void on_ready(struct ev_loop *loop, ev_io *watcher, int events) {
    asker *a = watcher->data;
    int sent = 1;
    if (!a->out.len && events & EV_READ && !a->ended && a->in_len < sizeof a->in && receive(a)) sent = -1;
    if (sent == 1 && !a->out.len) (void)answer_line(a);
    if (sent == 1 && a->awaited) {
        ev_io_stop(loop, &a->ready);
        return;
    }
    if (sent == 1) sent = send_on(a);
    if (sent < 0 || (sent && a->ended && !memchr(a->in, '\n', a->in_len))) {
        leave(a);
        return;
    }
    watch(a, sent ? EV_READ : EV_WRITE);
    if (sent && memchr(a->in, '\n', a->in_len)) ev_feed_event(loop, &a->ready, EV_READ);
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

/* Has the other end closed, and not only its own direction? It would hold its place until the reload is over. */
static int is_deserted(const asker *a) {
    struct pollfd p = {.fd = a->fd};
    return poll(&p, 1, 0) == 1 && p.revents & (POLLHUP | POLLERR);
}

static void on_await(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_control *c = watcher->data;
    int left = 0;
    (void)events;
    for (asker *a = c->askers; a; a = a->next) {
        if (a->gone || !a->awaited) continue;
        if (is_deserted(a)) {
            leave(a);
            continue;
        }
        a->awaited = ln_answer_awaited(c->server, a->awaited, &a->out);
        left += a->awaited != 0;
        if (a->awaited) continue;
        ln_buf_byte(&a->out, '\n');
        a->heard_us = ln_clock_steady_us();
        ev_io_set(&a->ready, a->fd, EV_WRITE);
        ev_io_start(loop, &a->ready);
    }
    if (!left) ev_timer_stop(loop, watcher);
}

static void on_sweep(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_control *c = watcher->data;
    int64_t now_us = ln_clock_steady_us();
    (void)events;
    for (asker *a = c->askers; a; a = a->next) {
        int64_t most_us = !a->awaited && (a->in_len || a->out.len) ? REQUEST_US : SILENCE_US;
        if (now_us - a->heard_us >= most_us) leave(a);
    }
    forget_gone(c);
    ev_io_start(loop, &c->acceptable);
}

static void refuse(int fd) {
    static const char WHAT[] = "{\"error\":\"16 are connected to the control socket already\"}\n";
    (void)send(fd, WHAT, sizeof WHAT - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(fd);
}

static void on_acceptable(struct ev_loop *loop, ev_io *watcher, int events) {
    ln_control *c = watcher->data;
    int fd = accept4(c->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    asker *a;
    (void)events;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
        ev_io_stop(loop, watcher); /* it waits for the next sweep, without turning in vain until then */
        ev_timer_again(loop, &c->sweep);
    }
    if (fd < 0) return;
    forget_gone(c);
    a = c->count < CONNECTIONS_MAX ? calloc(1, sizeof *a) : NULL;
    if (!a) {
        refuse(fd);
        return;
    }
    a->of = c;
    a->fd = fd;
    a->heard_us = ln_clock_steady_us();
    ln_buf_init(&a->out, &c->mem);
    a->next = c->askers;
    c->askers = a;
    c->count++;
    ev_io_init(&a->ready, on_ready, fd, EV_READ);
    a->ready.data = a;
    ev_io_start(loop, &a->ready);
    if (!ev_is_active(&c->sweep)) ev_timer_again(loop, &c->sweep);
}

ln_control *ln_control_open(ln_server *s, const char *address, ln_problem *problem) {
    ln_control *c = calloc(1, sizeof *c);
    const char *path = strncmp(address, "unix:", 5) ? address : address + 5;
    ln_problem inner;
    if (!c) {
        ln_problem_set(problem, "memory is short");
        return NULL;
    }
    c->server = s;
    ln_mem_init(&c->mem);
    c->requests = ln_answer_reader();
    c->fd = ln_socket_listen_owner(path, &inner);
    if (c->fd < 0 || !c->requests) {
        ln_problem_set(problem, "--control %s: %s", address, c->fd < 0 ? inner.text : "memory is short");
        ln_control_close(c);
        return NULL;
    }
    snprintf(c->path, sizeof c->path, "%s", path);
    ev_io_init(&c->acceptable, on_acceptable, c->fd, EV_READ);
    ev_timer_init(&c->sweep, on_sweep, SWEEP_S, SWEEP_S);
    ev_timer_init(&c->await, on_await, AWAIT_S, AWAIT_S);
    c->acceptable.data = c->sweep.data = c->await.data = c;
    ev_io_start(s->loop, &c->acceptable);
    return c;
}

void ln_control_close(ln_control *c) {
    if (!c) return;
    for (asker *a = c->askers; a; a = a->next) leave(a);
    if (c->fd >= 0 && *c->path) {
        ev_io_stop(c->server->loop, &c->acceptable);
        ev_timer_stop(c->server->loop, &c->sweep);
        ev_timer_stop(c->server->loop, &c->await);
        unlink(c->path);
    }
    while (c->askers) {
        asker *a = c->askers;
        c->askers = a->next;
        free(a);
    }
    if (c->fd >= 0) close(c->fd);
    if (c->requests) ln_reader_delete(c->requests);
    free(c);
}
