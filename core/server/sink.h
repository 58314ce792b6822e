/* Where one stream of the output goes. A sink takes whole panes from the output's memory and never waits: what it does
 * not take stays in the output, and as long as anything stays there nothing else is done. So a sink that is slow slows
 * the sources, and what is in memory is bounded. */
#ifndef LN_SERVER_SINK_H
#define LN_SERVER_SINK_H

#include "base/buf.h"
#include "server/feed.h"
#include "server/socket.h"

typedef struct ln_sink_end ln_sink_end;

enum ln_write {
    LN_WRITE_DONE,   /* the output holds nothing more of this stream */
    LN_WRITE_LATER,  /* the server is woken when it is worth trying again */
    LN_WRITE_CLOSED, /* nobody reads any more */
    LN_WRITE_FAILED  /* errno tells why */
};

typedef struct ln_sink_kind {
    /* Takes some of the bytes, which begin at the first not yet taken: how many in *taken. */
    enum ln_write (*take)(ln_sink_end *s, const uint8_t *bytes, size_t len, size_t *taken);
    /* Asks to be woken when it can take more, or no longer. NULL: it does so by itself. */
    void (*watch)(ln_sink_end *s, int wanted);
    /* Bytes taken and not yet written. NULL: none ever. */
    size_t (*pending)(const ln_sink_end *s);
    /* Bytes of the file as it is now, behind all that was taken; -1 where it is no file. NULL: it never is. */
    int64_t (*position)(ln_sink_end *s);
    /* The file's descriptor, to be synced; -1 where there is none. NULL likewise. */
    int (*sync_fd)(ln_sink_end *s);
    /* Appends what has been taken and not been sent, in a form that send_again takes, on a fresh sink: 0, or -1 where
     * memory is short. NULL: nothing is kept. */
    void (*unsent)(ln_sink_end *s, ln_buf *out);
    int (*send_again)(ln_sink_end *s, const uint8_t *bytes, size_t len);
    int owes; /* what is pending must be delivered, and comes again where a connection breaks */
    /* What lies under the name is now another file: goes on there. 0, or -1 with errno, and all is as it was. NULL:
     * there is no such thing. */
    int (*reopen)(ln_sink_end *s);
    /* No more comes. What is pending is lost, and counted. 0, or -1 with errno. */
    int (*close)(ln_sink_end *s);
} ln_sink_kind;

/* The part that all kinds have; each has its own behind it. */
struct ln_sink_end {
    const ln_sink_kind *kind;
    ln_server *server;
    const char *name; /* as messages call it */
    int stream;       /* enum ln_stream */
    int terminal;
    int reopens; /* as soon as what it has taken ends with a pane */
    size_t done; /* bytes of the output's view already taken */
};

/* Each kind; NULL with a problem. */
ln_sink_end *ln_sink_null(ln_server *server);
ln_sink_end *ln_sink_file(ln_server *server, const char *name, const lunette_address *a, int stream,
                          ln_problem *problem);
ln_sink_end *ln_sink_connect(ln_server *server, const char *name, const lunette_address *a, ln_problem *problem);
ln_sink_end *ln_sink_listen(ln_server *server, const char *name, const lunette_address *a, ln_problem *problem);
ln_sink_end *ln_sink_forward(ln_server *server, const char *name, const lunette_address *a, ln_problem *problem);

/* Opens the sink of an address; NULL with a problem. */
ln_sink_end *ln_sink_open(ln_server *server, const char *name, int stream, ln_problem *problem);
/* Offers what the output holds. */
enum ln_write ln_sink_flush(ln_sink_end *s, ln_output *output);
void ln_sink_watch(ln_sink_end *s, int wanted);
size_t ln_sink_pending(const ln_sink_end *s);
/* Files are opened by their names again, between two panes: those of before may have been moved away. */
void ln_sink_ask_to_reopen(ln_sink_end *s);
int ln_sink_close(ln_sink_end *s);

#endif
