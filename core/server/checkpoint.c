/* See checkpoint.h. One at a time: gathered between records, then written by the ledger's thread. A batch that the disk
 * did not take is offered again as it is; where nobody knows what the disk holds, all is gathered and written anew. */
#define _GNU_SOURCE
#include "server/checkpoint.h"

#include "durable/layout.h"
#include "durable/revive.h"
#include "durable/round.h"
#include "ledger/writer.h"
#include "server/positions.h"
#include "server/state.h"
#include "server/texts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUDGET_US = 1000, SINKS = 2, UNSYNCED = -1 };

static const uint64_t BACKLOG_BYTES = UINT64_C(64) << 20; /* of input that the disk does not know, while it fails */
static const int64_t STUCK_US = 10000000; /* after which a disk that does not answer is one that fails */
static const double RETRY_S = 1, RETRY_MAX_S = 30;

enum stage { RESTING, GATHERING, WRITING, FAILING };

struct ln_checkpoint {
    ln_server *server;
    ln_ledger *ledger;
    ln_ledger_writer *writer;
    ln_facts *facts; /* as of the last cut */
    ln_round round;
    int stage; /* enum stage */
    int wanted;
    int anew;             /* what was gathered is void */
    int last;             /* the one under way, or to come, is the last: 1; 2: and it has been begun; 3: and is over */
    int last_try;         /* what the disk did not take has been offered once more, for the end's sake */
    int given_up;         /* there are no more */
    int sync_fd[SINKS];   /* files that must be on the disk before it; -1: none */
    const char *unsynced; /* the sink whose file could not be */
    int sync_errno;
    double pause_s;                       /* before the next attempt */
    uint64_t input_bytes;                 /* taken up to the cut, */
    uint64_t durable_bytes;               /* and up to that of the state on the disk */
    int64_t cut_us, begun_us, durable_us; /* steady clock */
    ev_async written;
    ev_timer due, retry;
    char problem[LN_LEDGER_PROBLEM];
    ln_checkpoint_told told;
};

/* ---- what is told ------------------------------------------------------------------------------------------------ */

static uint64_t taken_bytes(const ln_server *s) { return s->input.read_bytes + s->counters.bytes_received; }

static void fail(ln_checkpoint *c, const char *why) {
    int first = !*c->problem;
    if (why != c->problem) snprintf(c->problem, sizeof c->problem, "%s", why);
    c->told.failed++;
    if (first)
        ln_log_say(c->server->log, LN_LOG_ERROR,
                   "%s; the run goes on in memory, and the state is saved as soon as that works again", c->problem);
}

static void succeed(ln_checkpoint *c) {
    int64_t now_us = ln_clock_steady_us();
    if (*c->problem) ln_log_say(c->server->log, LN_LOG_INFO, "the state is saved again");
    c->problem[0] = '\0';
    c->pause_s = 0;
    c->durable_bytes = c->input_bytes;
    c->durable_us = c->cut_us;
    c->told.done++;
    c->told.took_us = now_us - c->cut_us;
    c->told.entries = c->round.entries;
    c->told.bytes = c->round.batch.bytes.len;
    c->told.all_bytes += c->told.bytes;
}

const char *ln_checkpoint_problem(const ln_checkpoint *c) {
    if (!c) return NULL;
    return *c->problem ? c->problem : NULL;
}

void ln_checkpoint_tell(const ln_checkpoint *c, ln_checkpoint_told *out) {
    *out = (ln_checkpoint_told){.problem = ""};
    if (!c) return;
    *out = c->told;
    out->problem = c->problem;
    out->age_us = ln_clock_steady_us() - c->durable_us;
    out->held = ln_checkpoint_holds(c);
}

/* ---- the disk ---------------------------------------------------------------------------------------------------- */

/* On the ledger's thread: what was put out before the cut reaches the disk before it. */
static int sync_files(void *ctx) {
    ln_checkpoint *c = ctx;
    for (int i = 0; i < SINKS; i++) {
        if (c->sync_fd[i] < 0 || !fdatasync(c->sync_fd[i])) continue;
        c->sync_errno = errno;
        c->unsynced = i ? c->server->rejects->name : c->server->panes->name;
        return UNSYNCED;
    }
    return 0;
}

static void on_written_elsewhere(void *ctx) {
    ln_checkpoint *c = ctx;
    ev_async_send(c->server->loop, &c->written);
}

static void begin_writing(ln_checkpoint *c) {
    c->stage = WRITING;
    c->begun_us = ln_clock_steady_us();
    ln_ledger_writer_begin(c->writer, &c->round.batch, sync_files, c);
}

static void try_later(ln_checkpoint *c) {
    c->stage = FAILING;
    c->pause_s = c->pause_s > 0 ? 2 * c->pause_s : RETRY_S;
    if (c->pause_s > RETRY_MAX_S) c->pause_s = RETRY_MAX_S;
    ev_timer_stop(c->server->loop, &c->retry);
    ev_timer_set(&c->retry, c->pause_s, 0);
    ev_timer_start(c->server->loop, &c->retry);
}

/* The system has let go of bytes that it had promised to write, and they are not here any more: no state may be saved
 * that counts on them. That on the disk is from before, and a run from there writes them anew. */
static void stop_for_unsynced(ln_checkpoint *c) {
    ln_log_say(c->server->log, LN_LOG_ERROR,
               "%s: %s: what was written since the last checkpoint may be lost; the run ends, and when it is started "
               "again goes on from that checkpoint",
               c->unsynced, strerror(c->sync_errno));
    c->told.failed++;
    ln_checkpoint_give_up(c);
    c->server->status = 1;
    c->server->phase = LN_RUN_FLUSHING;
}

static void on_written(struct ev_loop *loop, ev_async *watcher, int events) {
    ln_checkpoint *c = watcher->data;
    int code;
    (void)loop, (void)events;
    if (c->stage != WRITING || ln_ledger_writer_busy(c->writer, &code)) return;
    switch (code) {
    case LN_LEDGER_OK:
        succeed(c);
        c->stage = RESTING;
        c->last += c->last == 2;
        ln_round_clear(&c->round);
        return;
    case UNSYNCED: stop_for_unsynced(c); return;
    case LN_LEDGER_LOST:
        ln_ledger_renew(c->ledger);
        c->anew = 1;
        break;
    default: break;
    }
    fail(c, ln_ledger_error(c->ledger));
    try_later(c);
}

static void on_retry(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_checkpoint *c = watcher->data;
    (void)loop, (void)events;
    if (c->stage != FAILING) return;
    if (!c->anew) {
        begin_writing(c);
        return;
    }
    lunette_checkpoint_end(c->server->host);
    ln_round_clear(&c->round);
    c->anew = 0;
    c->wanted = 1;
    c->stage = RESTING;
}

static void on_due(struct ev_loop *loop, ev_timer *watcher, int events) {
    ln_checkpoint *c = watcher->data;
    (void)loop, (void)events;
    c->wanted = 1;
}

/* ---- gathering --------------------------------------------------------------------------------------------------- */

/* What is true of the run at the cut, beside its state. */
static void take_facts(ln_checkpoint *c) {
    const ln_sink_end *const sinks[SINKS] = {c->server->panes, c->server->rejects};
    ln_facts_put_number(c->facts, LN_FACT_CUT, ln_facts_number(c->facts, LN_FACT_CUT, 0) + 1);
    ln_facts_put_number(c->facts, LN_FACT_AT, ln_clock_wall_us());
    ln_positions_take(c->server, c->facts);
    c->input_bytes = taken_bytes(c->server);
    c->cut_us = ln_clock_steady_us();
    for (int i = 0; i < SINKS; i++)
        c->sync_fd[i] = sinks[i]->kind->sync_fd ? sinks[i]->kind->sync_fd((ln_sink_end *)(uintptr_t)sinks[i]) : -1;
}

static void add_texts(ln_checkpoint *c) {
    ln_texts texts = {0};
    if (ln_texts_of_host(&texts, c->server->host)) c->facts->failed = 1;
    else ln_kept_texts_write(&c->round.batch, texts.text, texts.count);
    ln_texts_free(&texts);
}

static void gathered(ln_checkpoint *c) {
    if (c->round.whole) add_texts(c);
    ln_facts_write(c->facts, &c->round.batch);
    if (!c->round.batch.bytes.failed && !c->facts->failed) {
        begin_writing(c);
        return;
    }
    c->facts->failed = 0;
    c->anew = 1;
    fail(c, "memory is short for a checkpoint");
    try_later(c);
}

/* What can't be saved now can't be later: the script must be another. */
static void stop_for_state(ln_checkpoint *c) {
    ln_log_say(c->server->log, LN_LOG_ERROR, "the state can't be saved: %s", lunette_error(c->server->host));
    ln_checkpoint_give_up(c);
    c->server->status = 1;
    c->server->phase = LN_RUN_FLUSHING;
}

static void gather(ln_checkpoint *c) {
    int code = lunette_checkpoint(c->server->host, 1, BUDGET_US, ln_round_write, &c->round);
    if (code == LUNETTE_FAILED) {
        if (!c->round.batch.bytes.failed) {
            stop_for_state(c);
            return;
        }
        c->anew = 1;
        fail(c, "memory is short for a checkpoint");
        try_later(c);
        return;
    }
    if (c->stage == RESTING && c->round.begun) {
        take_facts(c);
        c->stage = GATHERING;
        c->wanted = 0;
        c->last += c->last == 1;
    }
    if (code == LUNETTE_OK && c->stage == GATHERING) gathered(c);
}

/* Nothing is left to be done by anybody: the positions say so, and no state is needed. */
static void gather_end(ln_checkpoint *c) {
    take_facts(c);
    c->last = 2;
    ln_facts_put_number(c->facts, LN_FACT_OVER, 1);
    ln_round_clear(&c->round);
    ln_batch_delete_range(&c->round.batch, LN_DURABLE_ENTRIES, "\0", 1, "\xff", 1);
    gathered(c);
}

/* Can one be begun? */
static int is_time(const ln_checkpoint *c) {
    return c->stage == RESTING && c->wanted && !ln_reload_is_due(c->server->reload) &&
           !lunette_draining(c->server->host);
}

/* A sink that keeps what it has not delivered, and can't hand it over, must have delivered all: else it would be lost
 * where the run ends now and goes on from here. */
static int owes(const ln_sink_end *sink) { return sink->kind->owes && !sink->kind->unsent && ln_sink_pending(sink); }

static int waits_for_sinks(const ln_checkpoint *c) { return owes(c->server->panes) || owes(c->server->rejects); }

int ln_checkpoint_is_due(const ln_checkpoint *c) {
    if (!c || c->given_up) return 0;
    return c->stage == GATHERING || (is_time(c) && !waits_for_sinks(c));
}

void ln_checkpoint_go_on(ln_checkpoint *c) {
    int64_t since_us = ln_clock_steady_us(), pause_us;
    gather(c);
    pause_us = ln_clock_steady_us() - since_us;
    if (pause_us > c->told.longest_pause_us) c->told.longest_pause_us = pause_us;
}

int ln_checkpoint_is_gathering(const ln_checkpoint *c) { return c && c->stage == GATHERING; }

int ln_checkpoint_waits(const ln_checkpoint *c) { return c->stage == WRITING || c->stage == FAILING; }

int ln_checkpoint_holds(const ln_checkpoint *c) {
    int fails;
    if (!c || c->given_up) return 0;
    if (is_time(c) && waits_for_sinks(c)) return 1;
    fails =
        c->stage == FAILING || (c->stage == WRITING && (*c->problem || ln_clock_steady_us() - c->begun_us > STUCK_US));
    return fails && taken_bytes(c->server) - c->durable_bytes > BACKLOG_BYTES;
}

/* ---- the last one ------------------------------------------------------------------------------------------------ */

static int leave(ln_checkpoint *c, const char *why) {
    ln_log_say(c->server->log, LN_LOG_ERROR,
               "the last checkpoint was not made: %s; a run that is started again goes on from the one before", why);
    c->server->status = 1;
    ln_checkpoint_give_up(c);
    return 0;
}

int ln_checkpoint_conclude(ln_checkpoint *c, int over) {
    if (!c || c->given_up || c->last == 3) return 0;
    if (!c->last) c->last = 1;
    switch (c->stage) {
    case RESTING:
        if (over) gather_end(c);
        else if (lunette_draining(c->server->host)) return leave(c, "pipelines of the script before drain");
        else ln_checkpoint_go_on(c);
        break;
    case GATHERING: ln_checkpoint_go_on(c); break;
    case FAILING:
        if (c->last == 2 || c->last_try) return leave(c, c->problem);
        c->last_try = 1;
        on_retry(c->server->loop, &c->retry, 0); /* at once */
        break;
    default: break;
    }
    return !c->given_up;
}

void ln_checkpoint_give_up(ln_checkpoint *c) {
    if (!c) return;
    c->given_up = 1;
    ev_timer_stop(c->server->loop, &c->due);
    ev_timer_stop(c->server->loop, &c->retry);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

ln_checkpoint *ln_checkpoint_new(ln_server *s, ln_ledger *ledger, ln_facts *facts) {
    ln_checkpoint *c = calloc(1, sizeof *c);
    if (!c) return NULL;
    c->server = s;
    c->ledger = ledger;
    c->facts = facts;
    c->durable_us = ln_clock_steady_us();
    ln_round_init(&c->round);
    ev_async_init(&c->written, on_written);
    ev_timer_init(&c->due, on_due, 0, (double)s->options->checkpoint_interval_us / 1e6);
    ev_timer_init(&c->retry, on_retry, 0, 0);
    c->written.data = c->due.data = c->retry.data = c;
    c->writer = ln_ledger_writer_new(ledger, on_written_elsewhere, c);
    if (!c->writer) {
        free(c);
        return NULL;
    }
    ev_async_start(s->loop, &c->written);
    ev_timer_again(s->loop, &c->due);
    return c;
}

void ln_checkpoint_delete(ln_checkpoint *c) {
    if (!c) return;
    ln_ledger_writer_delete(c->writer);
    ln_log_say(c->server->log, LN_LOG_DEBUG,
               "%" PRIu64 " checkpoints, %" PRIu64 " failed; %" PRIu64
               " bytes in all; records waited for %.3f ms at most; the last took %.3f ms",
               c->told.done, c->told.failed, c->told.all_bytes, (double)c->told.longest_pause_us / 1e3,
               (double)c->told.took_us / 1e3);
    ev_async_stop(c->server->loop, &c->written);
    ev_timer_stop(c->server->loop, &c->due);
    ev_timer_stop(c->server->loop, &c->retry);
    ln_round_free(&c->round);
    free(c);
}

int ln_checkpoint_begin(ln_checkpoint *c) {
    ln_facts *f = c->facts;
    int code;
    ln_facts_put_number(f, LN_FACT_FORMAT, LN_DURABLE_FORMAT);
    ln_facts_put_text(f, LN_FACT_VERSION, ln_version());
    ln_facts_put_number(f, LN_FACT_EPOCH, ln_facts_number(f, LN_FACT_EPOCH, 0) + 1);
    take_facts(c);
    ln_facts_write(f, &c->round.batch);
    code = f->failed ? LN_LEDGER_RETRY : ln_ledger_apply(c->ledger, &c->round.batch);
    if (code == LN_LEDGER_OK) succeed(c);
    else snprintf(c->problem, sizeof c->problem, "%s", f->failed ? "memory is short" : ln_ledger_error(c->ledger));
    ln_round_clear(&c->round);
    return code == LN_LEDGER_OK ? 0 : -1;
}
