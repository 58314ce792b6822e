/* See lookup.h. The thread and the loop share one object, which the last of them frees: so neither waits for the
 * other, and a run that ends does not wait for a name server. */
#define _GNU_SOURCE
#include "server/lookup.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct ln_lookup {
    atomic_int holders;
    int answered; /* an eventfd: the rest is the thread's until it can be read */
    lunette_address address;
    ln_peers peers;
    ln_problem problem;
    struct ev_loop *loop;
    ev_io told;
    void (*done)(void *ctx, const ln_peers *peers, const char *why);
    void *ctx;
};

static void let_go(ln_lookup *l) {
    if (atomic_fetch_sub(&l->holders, 1) > 1) return;
    close(l->answered);
    free(l);
}

static void *look(void *arg) {
    const uint64_t one = 1;
    ln_lookup *l = arg;
    ssize_t written;
    if (ln_socket_find(&l->address, &l->peers, &l->problem)) l->peers.count = 0;
    written = write(l->answered, &one, sizeof one);
    (void)written; /* an eventfd takes it */
    let_go(l);
    return NULL;
}

static void on_told(struct ev_loop *loop, ev_io *watcher, int events) {
    ln_lookup *l = watcher->data;
    (void)loop, (void)events;
    ev_io_stop(l->loop, &l->told);
    l->done(l->ctx, &l->peers, l->peers.count ? "" : l->problem.text);
    let_go(l);
}

/* Signals are for the thread that runs the loop. */
static int start_thread(ln_lookup *l) {
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all, before;
    int err;
    sigfillset(&all);
    if (pthread_attr_init(&attributes)) return -1;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&thread, &attributes, look, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return err ? -1 : 0;
}

ln_lookup *ln_lookup_begin(struct ev_loop *loop, const lunette_address *a,
                           void (*done)(void *ctx, const ln_peers *peers, const char *why), void *ctx) {
    ln_lookup *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    atomic_init(&l->holders, 2);
    l->address = *a;
    l->loop = loop;
    l->done = done;
    l->ctx = ctx;
    l->answered = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->answered < 0 || start_thread(l)) {
        if (l->answered >= 0) close(l->answered);
        free(l);
        return NULL;
    }
    ev_io_init(&l->told, on_told, l->answered, EV_READ);
    l->told.data = l;
    ev_io_start(loop, &l->told);
    return l;
}

void ln_lookup_delete(ln_lookup *l) {
    if (!l) return;
    ev_io_stop(l->loop, &l->told);
    let_go(l);
}
