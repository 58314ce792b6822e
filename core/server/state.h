/* The server from inside: what its parts share. `turn` is the machine that does one thing at a time, `loop` turns it,
 * `listener` makes connections, `connection`, `datagram` and `files` are the kinds of stream, the sinks are the other
 * end. Only this room includes it. */
#ifndef LN_SERVER_STATE_H
#define LN_SERVER_STATE_H

#include "server/checkpoint.h"
#include "server/clock.h"
#include "server/codec.h"
#include "server/control.h"
#include "server/histogram.h"
#include "server/http.h"
#include "server/progress.h"
#include "server/reload.h"
#include "server/secrets.h"
#include "server/server.h"
#include "server/sink.h"

enum {
    LN_PIECE_BYTES = 64 * 1024, /* read from a socket in one turn */
    LN_NAME_BYTES = 2 * LN_SOCKET_NAME
};

enum ln_phase_of_run {
    LN_RUN_SERVING,
    LN_RUN_DRAINING,  /* a signal has come: what has arrived is taken in, nothing else */
    LN_RUN_FINISHING, /* every window is completed */
    LN_RUN_FLUSHING,  /* only the output is left */
    LN_RUN_OVER
};

/* What the host has been asked to do and may not be done with. */
enum ln_job { LN_JOB_NONE = 0, LN_JOB_PUMP, LN_JOB_CLOSE, LN_JOB_TICK, LN_JOB_FINISH };

/* What the machine waits for before its next turn. */
enum ln_wait { LN_WAIT_NOT, LN_WAIT_EVENT, LN_WAIT_ROOM, LN_WAIT_END };

typedef struct ln_listener ln_listener;
typedef struct ln_connection ln_connection;
typedef struct ln_receive ln_receive;

struct ln_server {
    lunette *host;
    ln_log *log;
    const ln_server_options *options;
    ln_counters counters;
    ln_histogram batches; /* how long the host has worked on input at a stretch */
    ln_clock clock;
    int64_t set_told_us; /* of clock.set_us, what the host has been told */

    struct ev_loop *loop;
    ev_prepare turns;
    ev_idle more; /* while it is active the loop does not block */
    ev_async stop;
    ev_signal rotated;
    ev_timer tick, sweep, watchdog;
    ev_timer deadline; /* of the drain */

    int phase; /* enum ln_phase_of_run */
    int job;   /* enum ln_job */
    int cut;   /* the job has been cut for the output's sake */
    ln_feed *busy;
    int tick_due;
    int status;
    int serving; /* since the loop turns */
    int64_t begun_us;
    int drain_asked; /* other than by a signal */
    int stopping;    /* a signal has come, or it was asked for */
    int timed_out;   /* the drain has taken too long */

    ln_feed *ready_first, *ready_last; /* streams that have something, in the order of their turns */
    const char **files_named;          /* of the sources, those that are files */
    ln_input input;
    ln_feed *files; /* NULL: there are none, or they are over */
    int streams;    /* records come in several streams: the run ends by a signal */
    ln_listener *listeners;
    ln_connection *connections;
    uint8_t *piece;      /* LN_PIECE_BYTES: what is read from a socket first */
    ln_secrets secrets;  /* of forward:// sources */
    ln_receive *receive; /* NULL: no source is forward:// */
    ln_control *control; /* NULL: nobody is to steer */
    ln_http *http;       /* NULL: nobody is to watch by HTTP */

    int64_t deaf_since_us; /* the steady clock when streams were last read; 0: they are */
    int64_t deaf_us;       /* how long they were not, in all */
    int64_t deaf_told_us;

    ln_sink_end *panes, *rejects, *trace;
    ln_progress progress;
    ln_reload *reload;         /* NULL: the script stays what it is */
    int carried;               /* the last turn was one for a reload or a checkpoint: the next is for records */
    ln_checkpoint *checkpoint; /* NULL: the state is nowhere but in memory */
    int over;                  /* the input has ended and every window is complete */
};

/* turn: does one thing. */
enum ln_wait ln_turn(ln_server *s);
/* The stream has something: it gets its turn. */
void ln_turn_ready(ln_feed *st);
/* The stream is over before its time: what its reader holds is the rest of it. */
void ln_turn_forget(ln_feed *st);
/* Time that passes only while streams are read: for all that bounds what others do. */
int64_t ln_turn_heard_us(const ln_server *s);
/* A stream by which records come in, made known to the host; 0 or -1. */
int ln_feed_open(ln_feed *st, ln_server *s, const ln_feed_kind *kind, int messages);

/* files: those among the sources as one stream. 0 or -1. */
int ln_files_open(ln_server *s, int beside);
void ln_files_start(ln_server *s);
void ln_files_close(ln_server *s);
/* Reads no more, and leaves the file where it is. */
void ln_files_stop(ln_server *s);

/* listener: opens the sources that are sockets; 0, or -1 with a problem. */
int ln_listeners_open(ln_server *s, const char *name, const lunette_address *a, ln_problem *problem);
void ln_listeners_start(ln_server *s);
/* Takes no more connections, and no more datagrams than have come. */
void ln_listeners_stop(ln_server *s);
/* Goes on where descriptors were short. */
void ln_listeners_retry(ln_server *s);
void ln_listeners_delete(ln_server *s);

/* connection: takes a socket that somebody has connected to; the socket is its own from here on. `codec`: NULL where
 * it sends records one after the other. */
void ln_connection_open(ln_server *s, const ln_codec *codec, const char *listener, int fd, const ln_peer *peer,
                        socklen_t len);
/* Ends those that were silent for too long. */
void ln_connections_sweep(ln_server *s);
/* Each reads no more than what has come by now. */
void ln_connections_drain(ln_server *s);
void ln_connections_delete(ln_server *s);

/* datagram: a bound socket of datagrams as one stream. NULL where memory is short. */
ln_feed *ln_datagrams_open(ln_server *s, const char *name, int fd);
void ln_datagrams_delete(ln_feed *st);

#endif
