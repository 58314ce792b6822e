/* A connection that this side makes, and makes anew with growing pauses when it breaks. A host name is looked up when
 * the run begins, and again before each further round of attempts, so that a host may move. */
#ifndef LN_SERVER_DIAL_H
#define LN_SERVER_DIAL_H

#include "server/lookup.h"

typedef struct ln_server ln_server;
typedef struct ln_dial ln_dial;

typedef struct ln_dial_kind {
    void (*made)(void *owner);     /* the connection stands */
    void (*readable)(void *owner); /* the socket has something */
    void (*writable)(void *owner); /* the socket has room, while ln_dial_want_room asks for it */
    void (*lost)(void *owner);     /* the connection is gone; another one is under way */
} ln_dial_kind;

/* Embedded in its owner. */
struct ln_dial {
    ln_server *server;
    const char *name; /* as messages call it */
    const ln_dial_kind *kind;
    void *owner;
    lunette_address address;
    int moves; /* the host is a name */
    ln_peers peers;
    size_t next_peer;
    ln_lookup *lookup; /* under way; NULL: none is */
    int fd;            /* -1: none */
    int made;          /* the connection stands */
    double pause_s, made_at_s;
    uint64_t random;
    ev_io readable, writable;
    ev_timer timer; /* the next attempt, or the end of this one */
};

/* Looks the host up, waiting for the answer, and begins. 0, or -1 with a problem where there is no such host; one that
 * can't be found for now is looked for later. */
int ln_dial_begin(ln_dial *d, ln_server *server, const char *name, const lunette_address *a, const ln_dial_kind *kind,
                  void *owner, ln_problem *problem);
/* Ends the connection, for what reason, and begins another one after a pause. */
void ln_dial_fail(ln_dial *d, const char *why);
void ln_dial_want_room(ln_dial *d, int wanted);
void ln_dial_end(ln_dial *d);

#endif
