/* A server on libuv: a datagram is a record, and panes leave on standard output, read as values. Nothing of Lunette
 * knows libuv: an idle handle steps the engine while there is something to do, a timer when its clock is due.
 *   server SCRIPT PORT          (port 0: any that is free, which is printed on standard error) */
#include <inttypes.h>
#include <lunette.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <uv.h>

enum { BUDGET_US = 2000 };

typedef struct server {
    lunette *l;
    uv_udp_t socket;
    uv_idle_t work;
    uv_timer_t due;
    uv_signal_t interrupt, terminate;
    uint64_t lost;
    char datagram[65536];
} server;

static int64_t steady_us(void *ctx) {
    (void)ctx;
    return (int64_t)(uv_hrtime() / 1000);
}

static int64_t wall_us(void) {
    struct timeval t;
    gettimeofday(&t, NULL);
    return t.tv_sec * (int64_t)1000000 + t.tv_usec;
}

static void tell_log(void *ctx, int level, const char *text) {
    (void)ctx;
    (void)level;
    fprintf(stderr, "server: %s\n", text);
}

/* ---- the engine on the loop -------------------------------------------------------------------------------------- */

static double number(ln_value v) { return v.type == LN_INT ? (double)v.i : v.type == LN_DOUBLE ? v.d : 0; }

static void show(lunette *l) {
    const lunette_pane *p;
    while ((p = lunette_pane_next(l))) {
        if (p->key.type == LN_TEXT) printf("%.*s", (int)p->key.len, (const char *)p->key.at);
        printf(": %" PRId64 " readings, mean %.1f, high %.1f\n", lunette_pane_value(p, "n").i,
               number(lunette_pane_value(p, "mean")), number(lunette_pane_value(p, "high")));
    }
    fflush(stdout);
}

static void on_work(uv_idle_t *w);

static void on_due(uv_timer_t *t) {
    server *s = t->data;
    uv_idle_start(&s->work, on_work);
}

/* One step; when all is done the loop may wait again, until the clock is due. */
static void on_work(uv_idle_t *w) {
    static const lunette_budget budget = {.us = BUDGET_US};
    server *s = w->data;
    int64_t now_us = wall_us();
    int code = lunette_step(s->l, now_us, &budget);
    show(s->l);
    if (code == LUNETTE_MORE || code == LUNETTE_DRAIN) return;
    if (code != LUNETTE_OK) fprintf(stderr, "server: %s\n", lunette_error(s->l));
    if (code == LUNETTE_BROKEN) return;
    uv_idle_stop(w);
    if (code != LUNETTE_OK) uv_stop(w->loop);
    else if (lunette_due(s->l) < INT64_MAX)
        uv_timer_start(&s->due, on_due, (uint64_t)(lunette_due(s->l) - now_us) / 1000 + 1, 0);
}

static void on_datagram(uv_udp_t *u, ssize_t len, const uv_buf_t *buf, const struct sockaddr *from, unsigned flags) {
    server *s = u->data;
    (void)from;
    (void)flags;
    if (len <= 0) return;
    buf->base[len++] = '\n';
    s->lost += lunette_push(s->l, buf->base, (size_t)len) != LUNETTE_OK; /* nobody could be made to wait */
    uv_idle_start(&s->work, on_work);
}

static void give_buffer(uv_handle_t *h, size_t size, uv_buf_t *buf) {
    server *s = h->data;
    (void)size;
    *buf = uv_buf_init(s->datagram, sizeof s->datagram - 1);
}

static void on_signal(uv_signal_t *h, int signal) {
    (void)signal;
    uv_stop(h->loop);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int open_engine(server *s, const char *script) {
    lunette_config config = LUNETTE_CONFIG_INIT;
    const char *problem;
    config.clock_us = steady_us;
    config.log = tell_log;
    s->l = lunette_new(&config);
    if (!s->l) return -1;
    if (lunette_open(s->l, script, NULL) == LUNETTE_OK) return 0;
    for (size_t i = 0; (problem = lunette_problem(s->l, i)); i++) fprintf(stderr, "%s\n", problem);
    return -1;
}

static int listen_on(server *s, uv_loop_t *loop, int port) {
    struct sockaddr_in at;
    int len = sizeof at, err;
    uv_ip4_addr("127.0.0.1", port, &at);
    uv_udp_init(loop, &s->socket);
    s->socket.data = s;
    err = uv_udp_bind(&s->socket, (const struct sockaddr *)&at, 0);
    if (!err) err = uv_udp_recv_start(&s->socket, give_buffer, on_datagram);
    if (!err) err = uv_udp_getsockname(&s->socket, (struct sockaddr *)&at, &len);
    if (err) fprintf(stderr, "server: %s\n", uv_strerror(err));
    else fprintf(stderr, "listening on port %u\n", (unsigned)ntohs(at.sin_port));
    return err;
}

int main(int argc, char **argv) {
    static server s;
    uv_loop_t *loop = uv_default_loop();
    int code;
    if (argc != 3) {
        fprintf(stderr, "usage: server SCRIPT PORT\n");
        return 2;
    }
    if (open_engine(&s, argv[1]) || listen_on(&s, loop, atoi(argv[2]))) return 1;
    uv_idle_init(loop, &s.work);
    uv_timer_init(loop, &s.due);
    s.work.data = s.due.data = &s;
    uv_signal_init(loop, &s.interrupt);
    uv_signal_start(&s.interrupt, on_signal, SIGINT);
    uv_signal_init(loop, &s.terminate);
    uv_signal_start(&s.terminate, on_signal, SIGTERM);
    uv_run(loop, UV_RUN_DEFAULT);
    for (code = lunette_end(s.l); code == LUNETTE_OK || code == LUNETTE_DRAIN;) {
        code = lunette_step(s.l, wall_us(), NULL);
        show(s.l);
        if (code == LUNETTE_OK) break;
    }
    if (s.lost) fprintf(stderr, "server: %" PRIu64 " records were lost: the engine had no room for them\n", s.lost);
    lunette_delete(s.l);
    return 0;
}
