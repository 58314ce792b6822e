/* Metrics, health and status over HTTP, for those who watch a run and nobody else: it can change nothing. */
#ifndef LN_SERVER_HTTP_H
#define LN_SERVER_HTTP_H

#include "server/server.h"

typedef struct ln_http ln_http;

/* Listens at HOST:PORT, on this machine unless the options are insecure. NULL with a problem. */
ln_http *ln_http_open(ln_server *s, const char *address, ln_problem *problem);
void ln_http_close(ln_http *h);

#endif
