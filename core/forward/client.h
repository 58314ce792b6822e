/* The sending side of Fluent Forward v1, without sockets and clocks: values go in, and are packed into chunks, which
 * leave as PackedForward messages. It outlives its connections: where chunks are to be acknowledged, each is kept until
 * the peer has done so, and those that were not are sent again on the next connection, in their order. So a pane may
 * arrive twice where a connection broke, but none is lost while this object lives; without acknowledgements, what the
 * system had taken when a connection broke may be lost.
 *
 * An entry's record is the pane as it is; its time is what the owner says.
 *
 * Invariant: chunks stand in the order in which they were filled; those that have been sent come first. No more than
 * `queue_bytes` are held, beyond one value. The peer is not trusted: its messages are bounded and checked. */
#ifndef LN_FORWARD_CLIENT_H
#define LN_FORWARD_CLIENT_H

#include "base/mem.h"
#include "lunette.h"

enum {
    LN_FORWARD_CLIENT_RANDOM = 16 /* bytes */
};

/* Texts are borrowed for ln_forward_client_new only. 0 stands for the default. */
typedef struct ln_forward_client_config {
    const char *tag;        /* of all chunks; default "lunette" */
    int gzip;               /* entries are compressed */
    int fast;               /* no acknowledgements: a chunk is done once the system has taken it */
    const char *host;       /* how this side names itself in the handshake; default "lunette-client" */
    const char *shared_key; /* NULL: no handshake, unless there is a user: then by the empty key */
    const char *user, *password;
    uint64_t chunk_bytes; /* of entries, before compression: then a chunk is full; default 256 KiB */
    uint64_t queue_bytes; /* of all chunks; default 16 MiB */
} ln_forward_client_config;

typedef struct ln_forward_client_counts {
    uint64_t values, value_bytes; /* taken */
    uint64_t chunks;              /* filled */
    uint64_t sent;                /* chunks whose last byte the system took, repeats included */
    uint64_t repeated;            /* chunks put in line again after a connection was lost */
    uint64_t acknowledged;        /* chunks */
    uint64_t strange;             /* acknowledgements of what is not waiting for one */
} ln_forward_client_counts;

typedef struct ln_forward_client ln_forward_client;

/* `random`: LN_FORWARD_CLIENT_RANDOM bytes, from which the ids of chunks are made: they tell runs apart. LN_OK;
 * LN_ENOMEM; or LN_EINVALID for a tag or a name that a peer could not accept. */
int ln_forward_client_new(ln_mem *mem, const ln_forward_client_config *config, const uint8_t *random,
                          ln_forward_client **out);
void ln_forward_client_delete(ln_forward_client *c);

/* Takes values from `len` bytes of whole msgpack values, as many as the queue has room for; the bytes taken. Less than
 * `len`: the queue is full (or memory short): try again when something has been sent and acknowledged. A value that is
 * no map is sent as {"value": it}. */
size_t ln_forward_client_add(ln_forward_client *c, const uint8_t *bytes, size_t len, int64_t time_us);
/* Lets a chunk leave that is not full yet: at the end of a turn, or when it has waited long enough. LN_OK, or
 * LN_ENOMEM: the values stay in the chunk. */
int ln_forward_client_flush(ln_forward_client *c);

/* A connection is there; chunks that were not acknowledged are put in line again. `random`: as above, the salt of the
 * handshake. */
void ln_forward_client_connected(ln_forward_client *c, const uint8_t *random);
/* Bytes from the peer. LN_OK; anything else: close the connection, ln_forward_client_error has the reason. */
int ln_forward_client_feed(ln_forward_client *c, const uint8_t *bytes, size_t len);
/* What is to be written to the socket (a view until the next call that is not const); *len is 0 where nothing is, as
 * during a handshake. How much of it has been written, at which time: any clock that does not go back. */
const uint8_t *ln_forward_client_output(ln_forward_client *c, size_t *len);
void ln_forward_client_sent(ln_forward_client *c, size_t len, int64_t now_us);
/* The connection is gone. */
void ln_forward_client_disconnected(ln_forward_client *c);

/* 1 between a completed handshake (or the connection, where there is none) and the loss of the connection. */
int ln_forward_client_established(const ln_forward_client *c);
/* When the oldest chunk that waits for its acknowledgement had been sent; INT64_MAX: none waits. One that waits for too
 * long is a reason to close the connection and to begin another. */
int64_t ln_forward_client_waits_since(const ln_forward_client *c);
/* Bytes held: 0 when all has been sent and acknowledged. */
size_t ln_forward_client_pending(const ln_forward_client *c);
/* Values held, likewise. */
uint64_t ln_forward_client_values(const ln_forward_client *c);
/* 1 where no filled chunk is held: one that is flushed now would leave at once. */
int ln_forward_client_idle(const ln_forward_client *c);
const char *ln_forward_client_error(const ln_forward_client *c);
const ln_forward_client_counts *ln_forward_client_counted(const ln_forward_client *c);

#endif
