/* A feed: one stream of records on its way in, a connection, the datagrams of a socket, or the files one after the
 * other. Each has a reader of its own, and is served a piece at a time, in turn with all others that have something. */
#ifndef LN_SERVER_FEED_H
#define LN_SERVER_FEED_H

#include "server/input.h"

#include <ev.h>

typedef struct ln_server ln_server;
typedef struct ln_feed ln_feed;

typedef struct ln_feed_kind {
    /* A piece into the reader. Sets `drained` where nothing more is to be had at once. Says itself why it failed; what
     * is in the reader is then the end. */
    enum ln_read (*read)(ln_feed *st);
    /* What was read is in the engine. NULL: nothing to do. */
    void (*pumped)(ln_feed *st);
    /* The reader can't be read on. True where the stream goes on all the same. */
    int (*broken)(ln_feed *st, const char *why);
    /* It has ended, and all of it is in the engine. True where it goes on, with the next file. */
    int (*over)(ln_feed *st);
    /* The server has forgotten it. */
    void (*closed)(ln_feed *st);
} ln_feed_kind;

struct ln_feed {
    ln_server *server;
    const ln_feed_kind *kind;
    uint64_t number; /* as the host knows it; 0: the host's own, and the only one */
    ln_reader *reader;
    ev_io readable;
    ln_feed *next_ready;
    int queued;  /* waits for its turn */
    int drained; /* wait for `readable` before the next turn */
    int last;    /* it has ended: what is in the reader is the rest */
};

#endif
