/* See loop.h. */
#define _GNU_SOURCE
#include "cli/loop.h"

#include "cli/options.h"
#include "cli/stop.h"
#include "cli/words.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { TURNS = 4 };

static const double TICK_S = 0.1; /* how often the clock moves while nothing comes in */

static int64_t wall_clock_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

static void complain(ln_cli_run_state *r, const char *name, const char *what) {
    ln_cli_progress_clear(&r->progress);
    ln_cli_say("%s: %s", name, what);
    r->status = LN_EXIT_ERROR;
}

static int fail(ln_cli_run_state *r) {
    ln_cli_progress_clear(&r->progress);
    ln_cli_say("%s", lunette_error(r->host));
    r->status = LN_EXIT_ERROR;
    return LN_PHASE_FLUSH;
}

static void tell_notices(ln_cli_run_state *r) {
    const char *text;
    while ((text = lunette_notice(r->host))) {
        ln_cli_progress_clear(&r->progress);
        ln_cli_say("%s", text);
    }
}

static void tell_interrupt(ln_cli_run_state *r) {
    size_t left = ln_reader_pending(lunette_reader(r->host));
    ln_cli_progress_clear(&r->progress);
    if (left) ln_cli_say("%s: interrupted: %zu bytes of an unfinished record are left out", r->source.name, left);
}

/* ---- phases ---------------------------------------------------------------------------------------------------- */

/* Writes both streams of the output: LN_WAIT_NOT when nothing is left. */
static enum ln_cli_wait write_output(ln_cli_run_state *r) {
    ln_output *output = lunette_output(r->host);
    ln_cli_sink *const sinks[2] = {&r->panes, &r->rejects};
    enum ln_cli_wait wait = LN_WAIT_NOT;
    if (r->panes.terminal && ln_output_size(output)) ln_cli_progress_clear(&r->progress);
    for (size_t i = 0; i < 2; i++) {
        switch (ln_cli_sink_flush(sinks[i], output)) {
        case LN_WRITE_DONE: break;
        case LN_WRITE_LATER: wait = LN_WAIT_ROOM; break;
        case LN_WRITE_CLOSED: return LN_WAIT_END;
        case LN_WRITE_FAILED: complain(r, sinks[i]->name, strerror(errno)); return LN_WAIT_END;
        }
    }
    return wait;
}

static int open_input(ln_cli_run_state *r) {
    if (ln_cli_stop_asked()) return LN_PHASE_FINISH;
    ev_io_stop(r->loop, &r->readable); /* before its descriptor is closed: the next file may get the same number */
    switch (ln_cli_source_next(&r->source)) {
    case 1:
        if (r->streams++) ln_reader_restart(lunette_reader(r->host));
        r->ready = 0;
        return LN_PHASE_READ;
    case 0: return LN_PHASE_FINISH;
    default: complain(r, r->source.name, strerror(errno)); return LN_PHASE_FINISH;
    }
}

static int read_input(ln_cli_run_state *r) {
    r->ready = 0;
    switch (ln_cli_source_read(&r->source, lunette_reader(r->host))) {
    case LN_READ_BYTES: return LN_PHASE_PUMP;
    case LN_READ_LATER: return LN_PHASE_READ;
    case LN_READ_END: ln_reader_end(lunette_reader(r->host)); return LN_PHASE_LAST;
    default: complain(r, r->source.name, strerror(errno)); return LN_PHASE_FINISH;
    }
}

static int pump(ln_cli_run_state *r) {
    int code = lunette_pump(r->host, wall_clock_us());
    tell_notices(r);
    switch (code) {
    case LUNETTE_OK: return r->phase == LN_PHASE_LAST ? LN_PHASE_OPEN : LN_PHASE_READ;
    case LUNETTE_DRAIN: return r->phase;
    case LUNETTE_BROKEN: complain(r, r->source.name, ln_reader_error(lunette_reader(r->host))); return LN_PHASE_FINISH;
    default: return fail(r);
    }
}

static int finish(ln_cli_run_state *r) {
    int code = lunette_finish(r->host, wall_clock_us());
    tell_notices(r);
    if (code == LUNETTE_DRAIN) return LN_PHASE_FINISH;
    return code == LUNETTE_OK ? LN_PHASE_FLUSH : fail(r);
}

static enum ln_cli_wait take_turn(ln_cli_run_state *r) {
    enum ln_cli_wait wait = write_output(r);
    if (wait != LN_WAIT_NOT) return wait;
    switch (r->phase) {
    case LN_PHASE_OPEN: r->phase = open_input(r); break;
    case LN_PHASE_READ:
        if (ln_cli_stop_asked()) {
            tell_interrupt(r);
            r->phase = LN_PHASE_FINISH;
        } else if (r->source.pollable && !r->ready) {
            return LN_WAIT_INPUT;
        } else {
            r->phase = read_input(r);
        }
        break;
    case LN_PHASE_PUMP:
    case LN_PHASE_LAST: r->phase = pump(r); break;
    case LN_PHASE_FINISH: r->phase = finish(r); break;
    default: return LN_WAIT_END; /* LN_PHASE_FLUSH, and all is written */
    }
    return LN_WAIT_NOT;
}

/* ---- libev ----------------------------------------------------------------------------------------------------- */

static void watch(struct ev_loop *loop, ev_io *watcher, int wanted, int fd, int events) {
    if (ev_is_active(watcher) && (!wanted || watcher->fd != fd)) ev_io_stop(loop, watcher);
    if (!wanted || ev_is_active(watcher)) return;
    ev_io_set(watcher, fd, events);
    ev_io_start(loop, watcher);
}

/* Only the sink that is behind is watched: the other one would always be writable. */
static int is_behind(const ln_cli_run_state *r, const ln_cli_sink *s) {
    size_t len;
    ln_output_take(lunette_output(r->host), s->stream, &len);
    return s->fd >= 0 && len > 0;
}

/* A few turns at once: a piece that has come through a pipe is worked off before the loop asks the system again. */
static void advance(ln_cli_run_state *r) {
    enum ln_cli_wait wait = LN_WAIT_NOT;
    int room;
    for (int i = 0; i < TURNS && wait == LN_WAIT_NOT; i++) wait = take_turn(r);
    room = wait == LN_WAIT_ROOM;
    ln_cli_progress_show(&r->progress, r->host, &r->source, ev_now(r->loop));
    watch(r->loop, &r->readable, wait == LN_WAIT_INPUT, r->source.fd, EV_READ);
    watch(r->loop, &r->panes_room, room && is_behind(r, &r->panes), r->panes.fd, EV_WRITE);
    watch(r->loop, &r->rejects_room, room && is_behind(r, &r->rejects), r->rejects.fd, EV_WRITE);
    if (wait == LN_WAIT_NOT) {
        ev_idle_start(r->loop, &r->more);
    } else {
        ev_idle_stop(r->loop, &r->more);
    }
    if (wait == LN_WAIT_END) {
        r->phase = LN_PHASE_OVER;
        ev_break(r->loop, EVBREAK_ALL);
    }
}

static void on_readable(struct ev_loop *loop, ev_io *watcher, int events) {
    ln_cli_run_state *r = watcher->data;
    (void)loop, (void)events;
    r->ready = 1;
    advance(r);
}

static void on_room(struct ev_loop *loop, ev_io *watcher, int events) {
    (void)loop, (void)events;
    advance(watcher->data);
}

static void on_more(struct ev_loop *loop, ev_idle *watcher, int events) {
    (void)loop, (void)events;
    advance(watcher->data);
}

static void on_stop(struct ev_loop *loop, ev_async *watcher, int events) {
    (void)loop, (void)events;
    advance(watcher->data);
}

static void on_tick(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_cli_run_state *r = watcher->data;
    (void)loop, (void)events;
    if (r->phase != LN_PHASE_READ || !ev_is_active(&r->readable)) return;
    if (r->own_clock) r->phase = LN_PHASE_PUMP;
    advance(r);
}

int ln_cli_loop(ln_cli_run_state *r, int progress) {
    r->loop = ev_loop_new(EVFLAG_AUTO);
    if (!r->loop) return -1;
    ln_cli_progress_init(&r->progress, progress, r->source.files_only, ev_now(r->loop));
    ev_init(&r->readable, on_readable);
    ev_init(&r->panes_room, on_room);
    ev_init(&r->rejects_room, on_room);
    ev_idle_init(&r->more, on_more);
    ev_timer_init(&r->tick, on_tick, TICK_S, TICK_S);
    ev_async_init(&r->stop, on_stop);
    r->readable.data = r->panes_room.data = r->rejects_room.data = r;
    r->more.data = r->tick.data = r->stop.data = r;
    ev_idle_start(r->loop, &r->more);
    if (r->own_clock || r->progress.wanted) ev_timer_start(r->loop, &r->tick);
    ev_async_start(r->loop, &r->stop);
    ln_cli_stop_catch(r->loop, &r->stop);
    ev_run(r->loop, 0);
    ln_cli_stop_release();
    ev_loop_destroy(r->loop);
    return 0;
}
