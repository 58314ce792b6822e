/* The line on stderr that shows how far a run has come. It is redrawn in place, at most four times a second, and must
 * be cleared before anything else is written to the terminal. */
#ifndef LN_SERVER_PROGRESS_H
#define LN_SERVER_PROGRESS_H

#include "server/input.h"
#include "server/options.h"

typedef struct ln_progress {
    int wanted;
    int shown;        /* the line stands on the terminal */
    double last;      /* seconds, of the clock that ln_progress_show is given */
    uint64_t records; /* at that time */
} ln_progress;

/* `choice` is enum ln_choice. */
void ln_progress_init(ln_progress *p, int choice, int files_only, double now);
/* Draws the line, if it is wanted and time for it. */
void ln_progress_show(ln_progress *p, lunette *host, const ln_input *source, double now);
void ln_progress_clear(ln_progress *p);

#endif
