/* The numbers of a run in the text format of Prometheus. */
#ifndef LN_SERVER_METRICS_H
#define LN_SERVER_METRICS_H

#include "base/buf.h"
#include "server/server.h"

/* 0, or -1 where they can't be had. */
int ln_metrics_write(ln_server *s, ln_buf *out);

#endif
