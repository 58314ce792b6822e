/* Turns the machine on a libev loop. All work is done in one place, before the loop looks for events, and for little
 * more than a millisecond at a time: watchers only note that there is something to do. */
#define _GNU_SOURCE
#include "server/notify.h"
#include "server/state.h"
#include "server/stop.h"

#include <signal.h>

enum { WORK_US = 1000 }; /* after which the loop looks for events */

static const double TICK_S = 0.1;   /* how often the clock moves while nothing comes in */
static const double SWEEP_S = 0.25; /* how often connections are looked at */

static int is_behind(const ln_server *s, const ln_sink_end *sink) {
    size_t len;
    ln_output_take(lunette_output(s->host), sink->stream, &len);
    return len > 0;
}

static void notice_stop(ln_server *s) {
    if (s->stopping || !(s->drain_asked || ln_stop_asked())) return;
    s->stopping = 1;
    ln_notify("STOPPING=1");
    if (!s->options->drain_timeout_us) return;
    if (!s->streams && !s->panes->kind->pending && !s->rejects->kind->pending) return;
    ev_timer_set(&s->deadline, (double)s->options->drain_timeout_us / 1e6, 0);
    ev_timer_start(s->loop, &s->deadline);
}

static void on_turns(struct ev_loop *loop, ev_prepare *watcher, int events) {
    ln_server *s = watcher->data;
    int64_t begun_us = ln_clock_steady_us();
    enum ln_wait wait;
    (void)events;
    notice_stop(s);
    do wait = ln_turn(s);
    while (wait == LN_WAIT_NOT && ln_clock_steady_us() - begun_us < WORK_US);
    ln_progress_show(&s->progress, s->host, &s->input, ev_now(loop));
    ln_sink_watch(s->panes, wait == LN_WAIT_ROOM && is_behind(s, s->panes));
    ln_sink_watch(s->rejects, wait == LN_WAIT_ROOM && is_behind(s, s->rejects));
    ln_sink_watch(s->trace, wait == LN_WAIT_ROOM && is_behind(s, s->trace));
    if (wait == LN_WAIT_NOT) ev_idle_start(loop, &s->more);
    else ev_idle_stop(loop, &s->more);
    if (wait == LN_WAIT_END) {
        s->phase = LN_RUN_OVER;
        ev_break(loop, EVBREAK_ALL);
    }
}

static void on_more(struct ev_loop *loop, ev_idle *watcher, int events) { (void)loop, (void)watcher, (void)events; }

/* Being woken is all that it takes. */
static void on_stop(struct ev_loop *loop, ev_async *watcher, int events) { (void)loop, (void)watcher, (void)events; }

static void on_deadline(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_server *s = watcher->data;
    (void)loop, (void)events;
    s->timed_out = s->status = 1;
    ln_log_say(s->log, LN_LOG_ERROR, "not drained within --drain-timeout: what is left is lost");
}

static void on_tick(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_server *s = watcher->data;
    (void)loop, (void)events;
    s->tick_due = 1;
}

static void on_sweep(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_server *s = watcher->data;
    (void)loop, (void)events;
    if (s->phase != LN_RUN_SERVING) return;
    ln_connections_sweep(s);
    ln_listeners_retry(s);
}

static void on_watchdog(struct ev_loop *loop, ev_timer *watcher, int events) {
    (void)loop, (void)watcher, (void)events;
    ln_notify("WATCHDOG=1");
}

/* Whoever rotates files has moved them away. */
static void on_rotated(struct ev_loop *loop, ev_signal *watcher, int events) {
    ln_server *s = watcher->data;
    (void)loop, (void)events;
    if (s->checkpoint) { /* what a run that goes on would cut back must stay under its name */
        ln_log_say(s->log, LN_LOG_WARNING, "SIGUSR1: with --state files of panes are not opened again");
        return;
    }
    ln_sink_ask_to_reopen(s->panes);
    ln_sink_ask_to_reopen(s->rejects);
    ln_sink_ask_to_reopen(s->trace);
}

static void start_timer(ln_server *s, ev_timer *timer, void (*on)(struct ev_loop *, ev_timer *, int), double period_s) {
    ev_timer_init(timer, on, period_s, period_s);
    timer->data = s;
    if (period_s > 0) ev_timer_start(s->loop, timer);
}

static void serve(ln_server *s) {
    s->serving = 1;
    ln_notify("READY=1");
    ev_run(s->loop, 0);
}

static int open_checkpoint(ln_server *s) {
    if (!s->options->ledger) return 0;
    s->checkpoint = ln_checkpoint_new(s, s->options->ledger, s->options->facts);
    if (s->checkpoint) return 0;
    ln_log_say(s->log, LN_LOG_ERROR, "memory is short: the state can't be saved");
    return s->status = 1;
}

int ln_server_run(ln_server *s) {
    struct ev_loop *loop = s->loop;
    if (open_checkpoint(s)) return 1;
    ln_progress_init(&s->progress, s->options->progress, s->input.files_only && !s->streams, ev_now(loop));
    ev_prepare_init(&s->turns, on_turns);
    ev_idle_init(&s->more, on_more);
    ev_async_init(&s->stop, on_stop);
    ev_signal_init(&s->rotated, on_rotated, SIGUSR1);
    s->turns.data = s->stop.data = s->rotated.data = s;
    ev_signal_start(loop, &s->rotated);
    ev_prepare_start(loop, &s->turns);
    ev_async_start(loop, &s->stop);
    start_timer(s, &s->tick, on_tick, s->options->own_clock || s->progress.wanted ? TICK_S : 0);
    start_timer(s, &s->sweep, on_sweep, s->streams ? SWEEP_S : 0);
    start_timer(s, &s->watchdog, on_watchdog, (double)ln_notify_watchdog_us() / 1e6);
    start_timer(s, &s->deadline, on_deadline, 0);
    ln_files_start(s);
    ln_listeners_start(s);
    ln_stop_catch(loop, &s->stop);
    if (s->streams || s->options->watch) {
        s->reload = ln_reload_new(s);
        if (!s->reload) ln_log_say(s->log, LN_LOG_ERROR, "memory is short: the script can't be reloaded");
    }
    if (s->checkpoint && ln_checkpoint_begin(s->checkpoint)) {
        ln_log_say(s->log, LN_LOG_ERROR, "%s", ln_checkpoint_problem(s->checkpoint));
        s->status = 1;
    } else {
        serve(s);
    }
    ln_stop_release();
    ln_reload_delete(s->reload);
    s->reload = NULL;
    ln_checkpoint_delete(s->checkpoint);
    s->checkpoint = NULL;
    ev_signal_stop(loop, &s->rotated);
    return s->status;
}
