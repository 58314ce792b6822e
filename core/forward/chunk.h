/* A chunk: entries on their way into one PackedForward message, which is built in place, and kept until it is done.
 *
 * Invariant: `message` of an open chunk is the message's head, with the length of the entries left out, and the entries
 * so far; of a filled one the whole message. */
#ifndef LN_FORWARD_CHUNK_H
#define LN_FORWARD_CHUNK_H

#include "base/buf.h"
#include "lunette.h"

enum { LN_CHUNK_SEED = 8 /* bytes */, LN_CHUNK_ID = 24 /* characters */ };

enum ln_chunk_state { LN_CHUNK_OPEN = 0, LN_CHUNK_FILLED, LN_CHUNK_WAITING /* for its acknowledgement */ };

typedef struct ln_chunk {
    struct ln_chunk *next;
    int state;    /* enum ln_chunk_state */
    int was_sent; /* a part of it, on a connection before this one */
    uint64_t entries;
    size_t head; /* bytes before the entries */
    size_t sent; /* bytes of the message that the system has taken, while it is filled */
    int64_t sent_us;
    char id[LN_CHUNK_ID + 1];
    ln_buf message;
} ln_chunk;

/* The number makes the id one of its own. NULL where memory is short. */
ln_chunk *ln_chunk_new(ln_mem *mem, const ln_value *tag, const uint8_t *seed, uint64_t number);
void ln_chunk_delete(ln_chunk *c, ln_mem *mem);
/* Bytes of entries in an open chunk. */
static inline size_t ln_chunk_bytes(const ln_chunk *c) { return c->message.len - c->head; }
/* Bytes that ln_chunk_add adds at most beside the value. */
enum { LN_CHUNK_ENTRY = 1 + 10 + 8 };
/* Adds a whole msgpack value. LN_OK; or LN_ENOMEM, with the chunk as before. */
int ln_chunk_add(ln_chunk *c, int64_t time_us, const uint8_t *value, size_t len, int is_map);
/* Makes an open chunk a message. LN_OK; or LN_ENOMEM, with the chunk as before. */
int ln_chunk_fill(ln_chunk *c, ln_mem *mem, int gzip, int acknowledged);

#endif
