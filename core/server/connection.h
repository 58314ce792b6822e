/* A connection from inside: its two files share this. */
#ifndef LN_SERVER_CONNECTION_H
#define LN_SERVER_CONNECTION_H

#include "server/codec.h"
#include "server/state.h"

enum { LN_WANT_MIN = 4096 /* bytes asked for at first */ };

struct ln_connection {
    ln_feed stream; /* first: one is the other */
    ln_connection *before, *after;
    int fd;
    const ln_codec *codec;    /* NULL: records one after the other, which the reader takes as they are */
    void *state;              /* its own */
    char name[LN_NAME_BYTES]; /* where it came in, and from where */
    unsigned char host[16];   /* of the peer */
    int has_host;
    int64_t heard_us; /* ln_turn_heard_us when something came last */
    int64_t begun_us; /* the same when the unfinished record began; 0: there is none */
    size_t in_hand;   /* bytes of it at the last look, with what has been read since */
    size_t left;      /* while draining: bytes still to be read */
    size_t want;      /* bytes read in one turn */
    int trimmed;      /* the reader has given back its room */
    int ended;        /* by us: nothing more is read */
    int waits;        /* for the peer to read its replies */
    const char *why;  /* the codec has found something wrong */
};

void ln_connection_note(const ln_connection *c, int level, const char *what);
/* Receives what there is, up to `want` bytes: above 0 their number; 0 at the end; LN_RECEIVED_*. */
enum { LN_RECEIVED_LATER = -1, LN_RECEIVED_FAILED = -2 };
ssize_t ln_connection_receive(ln_connection *c, uint8_t *to, size_t want);

/* converse: a connection with a codec, at its beginning, in its turn, and after it. */
void ln_converse_begin(ln_connection *c);
enum ln_read ln_converse(ln_connection *c);
void ln_converse_pumped(ln_connection *c);
/* Why a connection is too slow, in words. */
const char *ln_converse_slow(const ln_connection *c);

#endif
