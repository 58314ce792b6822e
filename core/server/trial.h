/* A trial: a script is loaded and checked by another process, whose time and memory are limited, so that one that loops
 * or eats when it is loaded harms nobody. */
#ifndef LN_SERVER_TRIAL_H
#define LN_SERVER_TRIAL_H

#include "server/texts.h"

#include <ev.h>

enum { LN_TRIAL_PROBLEM = 4096, LN_TRIAL_TEXT = 64 * 1024 };

typedef struct ln_trial ln_trial;

/* What one stream of the process says. */
typedef struct ln_trial_stream {
    ev_io readable;
    int fd; /* -1: it has ended */
    size_t len;
    char text[LN_TRIAL_TEXT];
} ln_trial_stream;

struct ln_trial {
    struct ev_loop *loop;
    void (*done)(ln_trial *t); /* called from the loop when it is known what came of it */
    void *ctx;
    const char *script;
    pid_t pid; /* 0: none is under way */
    ev_timer timer;
    double begun_s;
    int killed;
    ln_trial_stream out, err;
    ln_texts texts;                 /* what it was loaded from; empty where something is wrong */
    char problem[LN_TRIAL_PROBLEM]; /* what is wrong, maybe of several lines; "" where nothing is */
};

/* `loop`, `done` and `ctx` are set. */
void ln_trial_init(ln_trial *t);
/* 0, and `done` comes later; -1 with a problem. */
int ln_trial_begin(ln_trial *t, const char *script, const lunette_param *params, size_t params_count);
/* Ends one that is under way, without a word. */
void ln_trial_cancel(ln_trial *t);

#endif
