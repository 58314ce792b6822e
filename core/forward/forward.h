/* The receiving side of Fluent Forward v1, for one connection, without sockets and clocks: bytes go in, messages of
 * records, replies and at last a reason to close come out. The owner reads the socket into ln_forward_space, asks
 * ln_forward_next for what has come, moves the records of a message into a reader with ln_forward_read, writes what
 * ln_forward_replies holds, and says with ln_forward_accepted which messages are in the engine, to acknowledge them.
 *
 * Records come out as whole msgpack maps, fit for ln_reader: the sender's pairs as they were, then `$time`, a msgpack
 * timestamp (or null where the sender's time is none), and `$tag`, a text. A sender's own fields of these names do not
 * count, since the later one of two does.
 *
 * Invariant: a message is taken whole or not at all: nothing of it comes out before all of it is in hand and checked.
 * What comes out depends on the bytes alone, not on how they were split. Each record fits config.limits, so that a
 * reader with the same limits accepts it. No more is held than one message, one piece of inflated entries with one
 * record (each in a buffer of up to twice the size), the ids of `unaccepted_max` chunks, and LN_FORWARD_REPLIES bytes
 * of replies; quiet connections hold little. */
#ifndef LN_FORWARD_FORWARD_H
#define LN_FORWARD_FORWARD_H

#include "base/mem.h"
#include "lunette.h"

enum {
    LN_FORWARD_RANDOM = 32,       /* bytes */
    LN_FORWARD_TAG = 256,         /* bytes of a tag at most */
    LN_FORWARD_CHUNK = 256,       /* bytes of a chunk's id at most */
    LN_FORWARD_NAME = 256,        /* bytes of a host, a user or a salt at most */
    LN_FORWARD_REPLIES = 1 << 16, /* bytes of replies not yet sent at which nothing more is taken */
    LN_FORWARD_CHECKED = 1 << 20, /* bytes of records that are checked in one call */
    LN_FORWARD_MARKERS = 1024     /* of groups of records, beyond two for each record, in one message */
};

typedef struct ln_forward_user {
    const char *name, *password;
} ln_forward_user;

/* Borrowed: it must outlive its connections, which may share it. 0 stands for the default. */
typedef struct ln_forward_config {
    ln_limits limits;        /* of one record, `$time` and `$tag` included */
    uint64_t message_bytes;  /* of one message; default 16 MiB */
    uint32_t elements;       /* values in one message, packed entries not counted; default 1,048,576 */
    uint64_t inflated_bytes; /* of the entries of one compressed message; default 256 MiB */
    uint32_t inflated_ratio; /* inflated bytes for each compressed one, beyond 1 MiB; default 200 */
    uint32_t unaccepted_max; /* messages handed out and not accepted yet; default 1024 */
    const char *host;        /* how this side names itself in the handshake; default "lunette" */
    const char *shared_key;  /* NULL: none. With a key or users each connection begins with a handshake; users without
                                a key go by the empty key */
    const ln_forward_user *user;
    uint32_t users;
} ln_forward_config;

enum ln_forward_kind {
    LN_FORWARD_MORE = 0, /* more bytes are needed */
    LN_FORWARD_WAIT,     /* nothing is taken before replies have been sent or messages accepted: do not read */
    LN_FORWARD_AGAIN,    /* in the middle of a large message: call again, maybe after others have had their turn */
    LN_FORWARD_MESSAGE,  /* a message: its records wait in ln_forward_read */
    LN_FORWARD_REFUSED,  /* a message was left out, and is not acknowledged; the connection goes on */
    LN_FORWARD_CLOSED /* the connection is over: send the replies, then close. Messages handed out before can still be
                            accepted, for their acknowledgements to be among the replies. Said again at each call */
};

enum ln_forward_reason {
    LN_FORWARD_FINE = 0,
    /* refused: */
    LN_FORWARD_SIGNAL,      /* not logs (metrics, traces) */
    LN_FORWARD_BAD_TAG,     /* a tag that is empty, too long, or not of printable ASCII without slashes */
    LN_FORWARD_COMPRESSION, /* compressed by something else than gzip */
    /* closed: */
    LN_FORWARD_MALFORMED, /* no msgpack, or no message of the protocol */
    LN_FORWARD_LIMIT,     /* beyond a limit */
    LN_FORWARD_INFLATE,   /* compressed entries that are broken, or inflate beyond a limit */
    LN_FORWARD_DENIED,    /* the handshake failed, or was left out */
    LN_FORWARD_MEMORY,
    LN_FORWARD_REASONS
};
/* "signal", "tag", ...: for counters. */
const char *ln_forward_reason_name(int reason);

typedef struct ln_forward_event {
    int kind;         /* enum ln_forward_kind */
    int reason;       /* enum ln_forward_reason: of REFUSED and CLOSED */
    const char *text; /* the same for people, with the byte where it happened; "" otherwise */
    /* Of a message: */
    uint64_t number; /* from 1, rising by one */
    uint64_t records;
    const char *tag, *chunk; /* chunk: NULL where the sender wants no acknowledgement; not terminated */
    uint32_t tag_bytes, chunk_bytes;
} ln_forward_event;

typedef struct ln_forward_counts {
    uint64_t bytes;    /* in whole messages */
    uint64_t messages; /* handed out */
    uint64_t records;  /* in them */
    uint64_t markers;  /* of groups of records: these are no records */
    uint64_t heartbeats;
    uint64_t acknowledged;                /* chunks */
    uint64_t refused[LN_FORWARD_REASONS]; /* messages left out, or the one that closed the connection */
} ln_forward_counts;

typedef struct ln_forward ln_forward;

/* A connection just accepted; a handshake's greeting is among the replies at once. `random` is LN_FORWARD_RANDOM bytes
 * that nobody can foresee, for this connection alone. NULL where memory is short. */
ln_forward *ln_forward_new(ln_mem *mem, const ln_forward_config *config, const uint8_t *random);
void ln_forward_delete(ln_forward *f);

/* Room for at least `want` more bytes from the socket, then to be committed; NULL where memory is short. Call it only
 * after ln_forward_next gave LN_FORWARD_MORE. */
uint8_t *ln_forward_space(ln_forward *f, size_t want);
void ln_forward_commit(ln_forward *f, size_t len);

/* What has come; views live until the next call of next or space. What ln_forward_read has not read of the message
 * before is dropped. */
int ln_forward_next(ln_forward *f, ln_forward_event *event);
/* Writes whole records of the message into `to`; their bytes, or 0 where none is left or `room` is less than
 * ln_forward_room. */
size_t ln_forward_read(ln_forward *f, uint8_t *to, size_t room);
/* Bytes that the next record takes; 0: none is left. */
size_t ln_forward_room(const ln_forward *f);
/* The records of all messages up to this number are in the engine: acknowledges them. */
void ln_forward_accepted(ln_forward *f, uint64_t number);

/* What is to be written to the socket, and how much of it has been. */
const uint8_t *ln_forward_replies(const ln_forward *f, size_t *len);
void ln_forward_replied(ln_forward *f, size_t len);

/* 1 once the handshake is done, or where none is asked for. */
int ln_forward_admitted(const ln_forward *f);
/* Bytes in hand that are no whole message yet: when the peer closes, they are lost. 0: between two messages. */
size_t ln_forward_pending(const ln_forward *f);
const ln_forward_counts *ln_forward_counted(const ln_forward *f);

#endif
