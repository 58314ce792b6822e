/* SIGINT and SIGTERM: the first asks the run to drain, a second ends the process at once, by that signal. */
#ifndef LN_SERVER_STOP_H
#define LN_SERVER_STOP_H

#include <ev.h>

/* From here on the signals are caught; `wake` is sent for the first. It and the loop must live on. */
void ln_stop_catch(struct ev_loop *loop, ev_async *wake);
/* The loop ends: a signal stops the process at once, but for an echo of the one that asked for the end. */
void ln_stop_release(void);
int ln_stop_asked(void);

#endif
