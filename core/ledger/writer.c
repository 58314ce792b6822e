/* See writer.h. */
#define _GNU_SOURCE
#include "ledger/writer.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct ln_ledger_writer {
    ln_ledger *ledger;
    void (*wake)(void *ctx);
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    const ln_batch_writer *batch; /* NULL: none is under way */
    ln_ledger_before *before;
    void *before_ctx;
    int code; /* of the last one, or LN_LEDGER_TOLD */
    int over;
};

static void *run(void *arg) {
    ln_ledger_writer *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->over || w->batch) {
        int code;
        if (!w->batch) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        pthread_mutex_unlock(&w->lock);
        code = w->before ? w->before(w->before_ctx) : 0;
        if (!code) code = ln_ledger_apply(w->ledger, w->batch);
        pthread_mutex_lock(&w->lock);
        w->batch = NULL;
        w->code = code;
        pthread_cond_broadcast(&w->changed);
        w->wake(w->ctx);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals are for the other threads. */
static int start(ln_ledger_writer *w) {
    sigset_t all, old;
    int err;
    sigfillset(&all);
    err = pthread_sigmask(SIG_SETMASK, &all, &old);
    if (err) return err;
    err = pthread_create(&w->thread, NULL, run, w);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err;
}

ln_ledger_writer *ln_ledger_writer_new(ln_ledger *ledger, void (*wake)(void *ctx), void *ctx) {
    ln_ledger_writer *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    *w = (ln_ledger_writer){.ledger = ledger, .wake = wake, .ctx = ctx, .code = LN_LEDGER_TOLD};
    if (!pthread_mutex_init(&w->lock, NULL)) {
        if (!pthread_cond_init(&w->changed, NULL)) {
            if (!start(w)) return w;
            pthread_cond_destroy(&w->changed);
        }
        pthread_mutex_destroy(&w->lock);
    }
    free(w);
    return NULL;
}

void ln_ledger_writer_delete(ln_ledger_writer *w) {
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->over = 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

void ln_ledger_writer_begin(ln_ledger_writer *w, const ln_batch_writer *batch, ln_ledger_before *before, void *ctx) {
    pthread_mutex_lock(&w->lock);
    w->batch = batch;
    w->before = before;
    w->before_ctx = ctx;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

int ln_ledger_writer_busy(ln_ledger_writer *w, int *code) {
    int busy;
    pthread_mutex_lock(&w->lock);
    busy = w->batch != NULL;
    *code = busy ? LN_LEDGER_TOLD : w->code;
    if (!busy) w->code = LN_LEDGER_TOLD;
    pthread_mutex_unlock(&w->lock);
    return busy;
}

void ln_ledger_writer_wait(ln_ledger_writer *w) {
    pthread_mutex_lock(&w->lock);
    while (w->batch) pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}
