/* See reload.h. A reload is asked for, tried, and then carried out a little at a time, while records go on between. */
#define _GNU_SOURCE
#include "server/reload.h"

#include "server/notify.h"
#include "server/state.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STEP_US = 2000, WATCHED_MAX = 64 };

static const double SETTLE_S = 0.2; /* after a file has changed: editors write several, and in pieces */
static const double LOOK_S = 1.2; /* a watcher tells whole seconds apart: whether there was more in one is seen then */

enum stage { RESTING, TRYING, TRIED, CARRYING };

struct ln_reload {
    ln_server *server;
    int stage;        /* enum stage */
    int kind;         /* of the one under way */
    int asked, again; /* another one is, and of which kind */
    int64_t begun_us; /* steady clock */
    ln_trial trial;
    ln_texts now, before, next; /* of the script that runs, of the one before it, of the one that is to run */
    uint64_t done, failed;
    int64_t hold_us, longest_us;
    char problem[LN_TRIAL_PROBLEM];
    ev_signal hang_up;
    ev_timer settle, look;
    ev_stat watched[WATCHED_MAX];
    struct timespec saved[WATCHED_MAX]; /* when each was saved, as the last reload began; below 0: it is what runs */
    size_t watched_count;
};

static void begin(ln_reload *r, int kind);

/* ---- watching ---------------------------------------------------------------------------------------------------- */

static void on_settle(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_reload *r = watcher->data;
    (void)loop, (void)events;
    (void)ln_reload_ask(r->server, LN_RELOAD_NEW);
}

static void on_change(struct ev_loop *loop, ev_stat *watcher, int events) {
    ln_reload *r = watcher->data;
    (void)events;
    ev_timer_stop(loop, &r->settle);
    ev_timer_set(&r->settle, SETTLE_S, 0);
    ev_timer_start(loop, &r->settle);
}

static struct timespec saved_at(const char *path) {
    struct stat st;
    return stat(path, &st) ? (struct timespec){0} : st.st_mtim;
}

static void note_saved(ln_reload *r) {
    for (size_t i = 0; i < r->watched_count; i++) r->saved[i] = saved_at(r->watched[i].path);
}

/* Is a file another than the last reload has seen? */
static int has_changed(const ln_reload *r, size_t i) {
    const lunette_text *text = &r->now.text[i];
    struct timespec at = saved_at(text->path), then = r->saved[i];
    ln_texts is = {0};
    const char *why;
    int same;
    if (then.tv_nsec >= 0) return at.tv_sec != then.tv_sec || at.tv_nsec != then.tv_nsec;
    same = !ln_texts_read(&is, text->path, ln_texts_hash(text->text, text->len), text->len, &why);
    ln_texts_free(&is);
    return !same;
}

static void on_look(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_reload *r = watcher->data;
    (void)loop, (void)events;
    for (size_t i = 0; i < r->watched_count; i++) {
        if (!has_changed(r, i)) continue;
        (void)ln_reload_ask(r->server, LN_RELOAD_NEW);
        return;
    }
}

static void look_later(ln_reload *r) {
    if (!r->watched_count) return;
    ev_timer_stop(r->server->loop, &r->look);
    ev_timer_set(&r->look, LOOK_S, 0);
    ev_timer_start(r->server->loop, &r->look);
}

static void unwatch(ln_reload *r) {
    for (size_t i = 0; i < r->watched_count; i++) ev_stat_stop(r->server->loop, &r->watched[i]);
    r->watched_count = 0;
}

/* The paths belong to r->now. */
static void watch(ln_reload *r) {
    if (!r->server->options->watch) return;
    for (size_t i = 0; i < r->now.count && i < WATCHED_MAX; i++) {
        ev_stat *w = &r->watched[r->watched_count++];
        ev_stat_init(w, on_change, r->now.text[i].path, 0);
        w->data = r;
        ev_stat_start(r->server->loop, w);
        r->saved[i].tv_nsec = -1;
    }
}

/* ---- the end of one ---------------------------------------------------------------------------------------------- */

static void follow(ln_reload *r) {
    r->stage = RESTING;
    ln_notify("READY=1");
    look_later(r);
    if (!r->asked) return;
    r->asked = 0;
    begin(r, r->again);
}

/* Each line of it goes into the log; the first ones are shown to those who ask later. */
static void fail(ln_reload *r, const char *problem) {
    const char *line = problem;
    if (problem != r->problem) snprintf(r->problem, sizeof r->problem, "%s", problem);
    r->failed++;
    if (r->kind == LN_RELOAD_BACK) r->before = r->next; /* there is still something to go back to */
    else ln_texts_free(&r->next);
    r->next = (ln_texts){0};
    ln_log_say(r->server->log, LN_LOG_ERROR, "the script was not reloaded, and the one that ran goes on");
    while (*line) {
        int len = (int)strcspn(line, "\n");
        ln_log_say(r->server->log, LN_LOG_ERROR, "%.*s", len, line);
        line += len + (line[len] == '\n');
    }
    follow(r);
}

static void succeed(ln_reload *r) {
    double took_s = (double)(ln_clock_steady_us() - r->begun_us) / 1e6;
    unwatch(r);
    ln_texts_free(&r->before);
    r->before = r->now;
    r->now = r->next;
    r->next = (ln_texts){0};
    r->done++;
    r->problem[0] = '\0';
    watch(r);
    ln_log_say(r->server->log, LN_LOG_INFO, "%s after %.3f s, in which records waited for %.1f ms at most",
               r->kind == LN_RELOAD_BACK ? "went back to the script before" : "the script was reloaded", took_s,
               (double)r->hold_us / 1e3);
    follow(r);
}

/* All that is wrong, a line each. */
static void fail_with_problems(ln_reload *r) {
    const char *text;
    size_t at = 0;
    r->problem[0] = '\0';
    for (size_t i = 0; (text = lunette_problem(r->server->host, i)) && at < sizeof r->problem - 1; i++) {
        int n = snprintf(r->problem + at, sizeof r->problem - at, "%s%s", i ? "\n" : "", text);
        at += n > 0 ? (size_t)n : 0;
    }
    fail(r, r->problem);
}

/* ---- carrying it out --------------------------------------------------------------------------------------------- */

static void held(ln_reload *r, int64_t since_us) {
    int64_t hold_us = ln_clock_steady_us() - since_us;
    if (hold_us > r->hold_us) r->hold_us = hold_us;
    if (hold_us > r->longest_us) r->longest_us = hold_us;
}

static void load(ln_reload *r) {
    ln_server *s = r->server;
    lunette_options options = *s->options->host_options;
    int64_t since_us = ln_clock_steady_us();
    int code;
    options.streams = s->streams ? 1 : -1;
    options.texts = r->next.text;
    options.texts_count = r->next.count;
    r->hold_us = 0;
    code = lunette_reload_begin(s->host, s->options->script, &options, s->options->on_change);
    held(r, since_us);
    switch (code) {
    case LUNETTE_OK: r->stage = CARRYING; break;
    case LUNETTE_PROBLEMS: fail_with_problems(r); break;
    default: fail(r, lunette_error(s->host));
    }
}

int ln_reload_is_due(const ln_reload *r) { return r && r->stage >= TRIED; }

void ln_reload_go_on(ln_reload *r) {
    ln_server *s = r->server;
    int64_t since_us = ln_clock_steady_us();
    int code;
    if (r->stage == TRIED) {
        load(r);
        return;
    }
    code = lunette_reload_step(s->host, ln_clock_read(&s->clock, ln_clock_wall_us(), since_us), STEP_US);
    held(r, since_us);
    if (code == LUNETTE_OK) succeed(r);
    else if (code != LUNETTE_DRAIN) fail(r, lunette_error(s->host));
}

static void on_tried(ln_trial *t) {
    ln_reload *r = t->ctx;
    if (*t->problem) {
        fail(r, t->problem);
        return;
    }
    r->next = t->texts;
    t->texts = (ln_texts){0};
    r->stage = TRIED;
}

/* Those of before have been tried, and have run. There are none where the reload that it waited for has failed. */
static void begin_back(ln_reload *r) {
    if (!r->before.count) {
        fail(r, "there is nothing to go back to: no script ran before this one");
        return;
    }
    r->next = r->before;
    r->before = (ln_texts){0};
    r->stage = TRIED;
}

static void begin(ln_reload *r, int kind) {
    const ln_server_options *o = r->server->options;
    char text[64];
    r->kind = kind;
    r->stage = TRYING;
    r->begun_us = ln_clock_steady_us();
    note_saved(r);
    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, r->begun_us);
    ln_notify(text);
    if (kind == LN_RELOAD_BACK) begin_back(r);
    else if (ln_trial_begin(&r->trial, o->script, o->host_options->params, o->host_options->params_count))
        fail(r, r->trial.problem);
}

int ln_reload_ask(ln_server *s, int kind) {
    ln_reload *r = s->reload;
    if (!r || s->stopping || (kind == LN_RELOAD_BACK && !r->before.count && r->stage == RESTING)) return -1;
    if (r->stage == RESTING) {
        begin(r, kind);
        return 0;
    }
    r->asked = 1;
    r->again = kind;
    return 0;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void on_hang_up(struct ev_loop *loop, ev_signal *watcher, int events) {
    ln_reload *r = watcher->data;
    (void)loop, (void)events;
    (void)ln_reload_ask(r->server, LN_RELOAD_NEW);
}

/* The signal may have been held back until now. */
static void hear_hang_up(ln_reload *r) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGHUP);
    ev_signal_start(r->server->loop, &r->hang_up);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

ln_reload *ln_reload_new(ln_server *s) {
    ln_reload *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->server = s;
    r->trial.loop = s->loop;
    r->trial.done = on_tried;
    r->trial.ctx = r;
    ln_trial_init(&r->trial);
    ev_timer_init(&r->settle, on_settle, SETTLE_S, 0);
    ev_signal_init(&r->hang_up, on_hang_up, SIGHUP);
    ev_timer_init(&r->look, on_look, LOOK_S, 0);
    r->settle.data = r->look.data = r->hang_up.data = r;
    if (ln_texts_of_host(&r->now, s->host)) {
        ln_reload_delete(r);
        return NULL;
    }
    hear_hang_up(r);
    watch(r);
    look_later(r); /* it may have been saved since it was loaded */
    return r;
}

void ln_reload_delete(ln_reload *r) {
    if (!r) return;
    if (r->stage == CARRYING) lunette_reload_cancel(r->server->host);
    ln_trial_cancel(&r->trial);
    unwatch(r);
    ev_timer_stop(r->server->loop, &r->settle);
    ev_timer_stop(r->server->loop, &r->look);
    ev_signal_stop(r->server->loop, &r->hang_up);
    ln_texts_free(&r->now);
    ln_texts_free(&r->before);
    ln_texts_free(&r->next);
    free(r);
}

void ln_reload_tell(const ln_server *s, ln_reload_told *out) {
    const ln_reload *r = s->reload;
    *out = (ln_reload_told){.problem = ""};
    if (!r) return;
    *out = (ln_reload_told){.done = r->done,
                            .failed = r->failed,
                            .under_way = r->stage != RESTING,
                            .problem = r->problem,
                            .longest_hold_s = (double)r->longest_us / 1e6};
}
