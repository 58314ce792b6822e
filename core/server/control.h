/* The control socket: whoever may open its file asks and steers, by lines of JSON. What it may take is bounded:
 * connections, the length of a request, the time for one, and an answer that waits to be read. */
#ifndef LN_SERVER_CONTROL_H
#define LN_SERVER_CONTROL_H

#include "server/server.h"

typedef struct ln_control ln_control;

/* Listens at unix:PATH, or PATH, for the owner of this process alone. NULL with a problem. */
ln_control *ln_control_open(ln_server *s, const char *address, ln_problem *problem);
void ln_control_close(ln_control *c);

#endif
