/* The machine: each turn first offers the sinks what the output holds, and then does one thing: goes on with the job
 * that the host is not done with, or serves the stream that has waited longest. While a sink is behind nothing else
 * happens, so that what is in memory is a piece of input, a portion of output and the bounded queues. */
#define _GNU_SOURCE
#include "server/state.h"

#include <errno.h>
#include <string.h>

enum { TELL_US = 1000 }; /* smaller changes of the clock are not worth a call */

/* ---- words ----------------------------------------------------------------------------------------------------- */

static void complain(ln_server *s, const char *name, const char *what) {
    ln_log_say(s->log, LN_LOG_ERROR, "%s: %s", name, what);
    s->status = 1;
}

static void fail(ln_server *s) {
    ln_log_say(s->log, LN_LOG_ERROR, "%s", lunette_error(s->host));
    s->status = 1;
    s->job = LN_JOB_NONE;
    s->phase = LN_RUN_FLUSHING;
    ln_checkpoint_give_up(s->checkpoint);
}

static void tell_notices(ln_server *s) {
    const char *text;
    while ((text = lunette_notice(s->host))) ln_log_say(s->log, LN_LOG_WARNING, "%s", text);
}

/* ---- time ------------------------------------------------------------------------------------------------------ */

/* For how long streams were not read in all, up to now. */
static int64_t deaf_us(const ln_server *s, int64_t steady_us) {
    return s->deaf_us + (s->deaf_since_us ? steady_us - s->deaf_since_us : 0);
}

int64_t ln_turn_heard_us(const ln_server *s) {
    int64_t steady_us = ln_clock_steady_us();
    return steady_us - deaf_us(s, steady_us);
}

/* Streams are not read while a sink is behind, a long firing goes on, or the state can't be saved. */
static void listen_or_not(ln_server *s, int deaf) {
    if (deaf && !s->deaf_since_us) s->deaf_since_us = ln_clock_steady_us();
    if (deaf || !s->deaf_since_us) return;
    s->deaf_us += ln_clock_steady_us() - s->deaf_since_us;
    s->deaf_since_us = 0;
}

/* The clock for the next call of the host, which is first told what it must not take for time. */
static int64_t now_us(ln_server *s) {
    int64_t steady_us = ln_clock_steady_us(), now = ln_clock_read(&s->clock, ln_clock_wall_us(), steady_us);
    int64_t set_us = s->clock.set_us - s->set_told_us, unheard_us = deaf_us(s, steady_us) - s->deaf_told_us;
    if (set_us >= TELL_US || set_us <= -TELL_US) {
        s->set_told_us += set_us;
        (void)lunette_clock_set(s->host, set_us);
        if (set_us >= 1000000)
            ln_log_say(s->log, LN_LOG_INFO, "the clock was set forward by %.3f s", (double)set_us / 1e6);
    }
    if (unheard_us >= TELL_US) {
        s->deaf_told_us += unheard_us;
        (void)lunette_unheard(s->host, unheard_us);
    }
    return now;
}

/* ---- output ---------------------------------------------------------------------------------------------------- */

static enum ln_wait write_output(ln_server *s) {
    ln_output *output = lunette_output(s->host);
    ln_sink_end *const sinks[] = {s->panes, s->rejects, s->trace};
    enum ln_wait wait = LN_WAIT_NOT;
    if (s->panes->terminal && ln_output_size(output)) ln_server_clear_line(s);
    for (size_t i = 0; i < sizeof sinks / sizeof *sinks; i++) {
        switch (ln_sink_flush(sinks[i], output)) {
        case LN_WRITE_DONE: break;
        case LN_WRITE_LATER: wait = LN_WAIT_ROOM; break;
        case LN_WRITE_CLOSED: return LN_WAIT_END;
        case LN_WRITE_FAILED: complain(s, sinks[i]->name, strerror(errno)); return LN_WAIT_END;
        }
    }
    return wait;
}

/* ---- streams --------------------------------------------------------------------------------------------------- */

int ln_feed_open(ln_feed *st, ln_server *s, const ln_feed_kind *kind, int messages) {
    st->server = s;
    st->kind = kind;
    st->number = lunette_stream_open(s->host, messages, &st->reader);
    return st->number ? 0 : -1;
}

void ln_turn_ready(ln_feed *st) {
    ln_server *s = st->server;
    ev_io_stop(s->loop, &st->readable);
    if (st->queued) return;
    st->queued = 1;
    st->next_ready = NULL;
    if (s->ready_last) s->ready_last->next_ready = st;
    else s->ready_first = st;
    s->ready_last = st;
}

void ln_turn_forget(ln_feed *st) {
    st->last = 1;
    ln_turn_ready(st);
}

static ln_feed *take_ready(ln_server *s) {
    ln_feed *st = s->ready_first;
    s->ready_first = st->next_ready;
    if (!s->ready_first) s->ready_last = NULL;
    st->queued = 0;
    return st;
}

static void pump_last(ln_feed *st) {
    st->last = 1;
    ln_reader_end(st->reader);
    st->server->job = LN_JOB_PUMP;
}

static void wait_or_go_on(ln_feed *st) {
    ln_server *s = st->server;
    if (!st->drained) ln_turn_ready(st);
    else if (s->phase == LN_RUN_SERVING) ev_io_start(s->loop, &st->readable);
}

static void serve(ln_server *s) {
    ln_feed *st = take_ready(s);
    s->busy = st;
    st->drained = 0;
    if (st->last) {
        pump_last(st);
        return;
    }
    switch (st->kind->read(st)) {
    case LN_READ_BYTES: s->job = LN_JOB_PUMP; break;
    case LN_READ_LATER:
        st->drained = 1;
        wait_or_go_on(st);
        break;
    default: pump_last(st); break;
    }
}

/* All that the stream had is in the engine. */
static void conclude(ln_server *s, ln_feed *st) {
    st->last = 0;
    if (st->kind->over(st)) {
        wait_or_go_on(st);
    } else if (st->number) {
        s->job = LN_JOB_CLOSE;
    } else {
        s->phase = LN_RUN_FINISHING;
    }
}

/* ---- jobs ------------------------------------------------------------------------------------------------------ */

static int call_host(ln_server *s) {
    int64_t now = now_us(s);
    switch (s->job) {
    case LN_JOB_PUMP:
        return s->busy->number ? lunette_stream_pump(s->host, s->busy->number, now) : lunette_pump(s->host, now);
    case LN_JOB_CLOSE: return lunette_stream_close(s->host, s->busy->number, now);
    case LN_JOB_TICK: return lunette_pump(s->host, now);
    default: return lunette_finish(s->host, now);
    }
}

static void job_done(ln_server *s, int job) {
    ln_feed *st = s->busy;
    switch (job) {
    case LN_JOB_PUMP:
        if (st->kind->pumped) st->kind->pumped(st);
        if (st->last) conclude(s, st);
        else wait_or_go_on(st);
        break;
    case LN_JOB_CLOSE:
        s->busy = NULL;
        st->kind->closed(st);
        break;
    case LN_JOB_FINISH:
        s->phase = LN_RUN_FLUSHING;
        s->over = 1;
        break;
    default: break;
    }
}

static void work(ln_server *s) {
    int64_t begun_us = ln_clock_steady_us();
    int job = s->job, code = call_host(s);
    if (job == LN_JOB_PUMP) ln_histogram_add(&s->batches, ln_clock_steady_us() - begun_us);
    tell_notices(s);
    s->cut = code == LUNETTE_DRAIN;
    if (s->cut) return;
    s->job = LN_JOB_NONE;
    switch (code) {
    case LUNETTE_OK: job_done(s, job); break;
    case LUNETTE_BROKEN:
        if (s->busy->kind->broken(s->busy, ln_reader_error(s->busy->reader))) wait_or_go_on(s->busy);
        else conclude(s, s->busy);
        break;
    default: fail(s);
    }
}

/* ---- phases ---------------------------------------------------------------------------------------------------- */

/* The clock moves where no record moves it. With a single stream, that of the host, only while it waits: its pieces
 * move the clock as well. */
static int is_time_to_tick(ln_server *s) {
    if (!s->tick_due || !s->options->own_clock) return 0;
    s->tick_due = 0;
    return s->streams || !s->ready_first;
}

static void begin_drain(ln_server *s) {
    ln_listeners_stop(s);
    ln_connections_drain(s);
    if (s->checkpoint) ln_files_stop(s); /* they are read on from here */
    else ln_files_close(s);
    s->phase = s->streams || s->checkpoint ? LN_RUN_DRAINING : LN_RUN_FINISHING;
}

static void end_drain(ln_server *s) {
    if (s->options->flush_on_exit) {
        s->phase = LN_RUN_FINISHING;
        return;
    }
    (void)lunette_conclude(s->host);
    tell_notices(s);
    s->phase = LN_RUN_FLUSHING;
}

static int is_written(const ln_server *s) {
    return !ln_sink_pending(s->panes) && !ln_sink_pending(s->rejects) && !ln_sink_pending(s->trace);
}

/* A reload or a checkpoint goes on, turn by turn with all else, and one after the other. */
static int carries_state(ln_server *s) {
    int saves = ln_checkpoint_is_due(s->checkpoint);
    int reloads = !ln_checkpoint_is_gathering(s->checkpoint) && ln_reload_is_due(s->reload);
    s->carried = !s->carried && s->phase == LN_RUN_SERVING && (saves || reloads);
    if (s->carried && reloads) ln_reload_go_on(s->reload);
    else if (s->carried) ln_checkpoint_go_on(s->checkpoint);
    return s->carried;
}

static int is_serving_due(const ln_server *s) { return s->ready_first && !ln_checkpoint_holds(s->checkpoint); }

/* What is left when all records are in the engine and all panes in the sinks. */
static enum ln_wait end(ln_server *s) {
    if (!is_written(s)) return LN_WAIT_EVENT;
    if (!s->checkpoint || !ln_checkpoint_conclude(s->checkpoint, s->over)) return LN_WAIT_END;
    return ln_checkpoint_waits(s->checkpoint) ? LN_WAIT_EVENT : LN_WAIT_NOT;
}

static enum ln_wait act(ln_server *s) {
    if (s->timed_out) return LN_WAIT_END;
    if (s->job) {
        work(s);
        return LN_WAIT_NOT;
    }
    if (s->phase == LN_RUN_SERVING && s->stopping) begin_drain(s);
    if (carries_state(s)) return LN_WAIT_NOT;
    switch (s->phase) {
    case LN_RUN_SERVING:
        if (is_time_to_tick(s)) s->job = LN_JOB_TICK;
        else if (is_serving_due(s)) serve(s);
        else return ln_reload_is_due(s->reload) || ln_checkpoint_is_due(s->checkpoint) ? LN_WAIT_NOT : LN_WAIT_EVENT;
        break;
    case LN_RUN_DRAINING:
        if (s->ready_first) serve(s);
        else end_drain(s);
        break;
    case LN_RUN_FINISHING: s->job = LN_JOB_FINISH; break;
    default: return end(s); /* LN_RUN_FLUSHING */
    }
    return LN_WAIT_NOT;
}

enum ln_wait ln_turn(ln_server *s) {
    enum ln_wait wait = write_output(s);
    if (wait == LN_WAIT_NOT) wait = act(s);
    else if (wait == LN_WAIT_ROOM && s->timed_out) wait = LN_WAIT_END;
    listen_or_not(s, wait == LN_WAIT_ROOM || s->cut || ln_checkpoint_holds(s->checkpoint));
    return wait;
}
