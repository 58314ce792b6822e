/* The addresses of a host name, looked up again while a run goes on: in a thread of its own, since the C library waits
 * for the answer. The look-up is that of the system (its hosts file, its name servers), as every other program's. */
#ifndef LN_SERVER_LOOKUP_H
#define LN_SERVER_LOOKUP_H

#include "server/socket.h"

#include <ev.h>

typedef struct ln_lookup ln_lookup;

/* Begins one; `done` is called from the loop: `peers` has the addresses, or none and `why` in words. It is over then,
 * and must not be deleted. NULL where there is no thread to be had. */
ln_lookup *ln_lookup_begin(struct ev_loop *loop, const lunette_address *a,
                           void (*done)(void *ctx, const ln_peers *peers, const char *why), void *ctx);
/* Nobody wants to know any more. */
void ln_lookup_delete(ln_lookup *l);

#endif
