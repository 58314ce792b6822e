/* A run in motion: a machine of phases that a libev loop turns. Each turn first writes what the output holds and then
 * does one thing: reads a piece, pumps, or finishes. While a sink is behind nothing else happens, so that what is in
 * memory is at most one piece of input and one portion of output; whenever the run waits for input, all is written. */
#ifndef LN_CLI_LOOP_H
#define LN_CLI_LOOP_H

#include "cli/progress.h"
#include "cli/sink.h"
#include "cli/source.h"

#include <ev.h>

enum ln_cli_phase {
    LN_PHASE_OPEN, /* the next input */
    LN_PHASE_READ,
    LN_PHASE_PUMP,   /* until the reader is empty; then read on */
    LN_PHASE_LAST,   /* the same at the end of an input; then open the next */
    LN_PHASE_FINISH, /* complete all windows */
    LN_PHASE_FLUSH,  /* only the output is left */
    LN_PHASE_OVER
};

/* What the machine waits for before its next turn. */
enum ln_cli_wait { LN_WAIT_NOT, LN_WAIT_INPUT, LN_WAIT_ROOM, LN_WAIT_END };

typedef struct ln_cli_run_state {
    lunette *host;
    ln_cli_source source;
    ln_cli_sink panes;
    ln_cli_sink rejects;
    ln_cli_progress progress;
    struct ev_loop *loop;
    ev_io readable, panes_room, rejects_room;
    ev_idle more;
    ev_timer tick;
    ev_async stop;
    int own_clock; /* processing time is the wall clock: it moves without records too */
    int phase;     /* enum ln_cli_phase */
    int ready;     /* the source has been found readable since the last read */
    int streams;   /* begun so far */
    int status;    /* the exit code so far */
} ln_cli_run_state;

/* Turns the machine until it is over; `progress` is enum ln_cli_choice. 0, or -1 where there is no loop to be had. */
int ln_cli_loop(ln_cli_run_state *r, int progress);

#endif
