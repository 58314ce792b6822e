/* A run in motion: streams in, the pipelines of one script, sinks out, on one libev loop. The cli makes it, runs it and
 * reads its numbers; whoever watches or steers a run later does so through this header too. */
#ifndef LN_SERVER_SERVER_H
#define LN_SERVER_SERVER_H

#include "server/counters.h"
#include "server/log.h"
#include "server/options.h"
#include "server/socket.h"

typedef struct ln_server ln_server;

/* `host` has a script open, in streams where a source is a socket. Nothing is opened yet. NULL where memory is short.
 * All arguments must outlive the server. */
ln_server *ln_server_new(lunette *host, ln_log *log, const ln_server_options *options);
void ln_server_delete(ln_server *s);

/* Looks at the files among the sources, and opens what listens. 0, or -1 with a problem that names the address. */
int ln_server_open_sources(ln_server *s, ln_problem *problem);
/* Opens the sinks; from here on files are written to. Likewise. */
int ln_server_open_sinks(ln_server *s, ln_problem *problem);
/* Runs until the input is over, or a signal has ended it: 0; 1 where something could not be read or written; -1 where
 * there is no loop to be had. */
int ln_server_run(ln_server *s);
/* Closes the sinks; 0, or -1 with a problem: some disks tell only now. */
int ln_server_close(ln_server *s, ln_problem *problem);

/* Do records come in several streams? Such a run is ended by a signal. */
int ln_server_has_streams(const ln_server *s);
/* Takes the line of progress off the terminal. */
void ln_server_clear_line(ln_server *s);
/* All numbers as they are now. */
const ln_counters *ln_server_counters(ln_server *s);

#endif
