/* Which chunks have come lately: a sender that has not had its acknowledgement sends the chunk again, mostly through
 * another connection, and then it must not count twice. A chunk is known by its tag and its id together, as a keyed
 * hash, so that strangers can't make two of them look alike.
 *
 * Invariant: at least the latest LN_SEEN_CHUNKS chunks are remembered, at most twice as many, in memory that is bounded
 * by LN_SEEN_BYTES. */
#ifndef LN_FORWARD_SEEN_H
#define LN_FORWARD_SEEN_H

#include "base/mem.h"

enum {
    LN_SEEN_KEY = 32, /* bytes */
    LN_SEEN_CHUNKS = 65536,
    LN_SEEN_SLOT = 17, /* bytes */
    LN_SEEN_BYTES = 2 * 2 * LN_SEEN_CHUNKS * LN_SEEN_SLOT
};

enum ln_seen_state {
    LN_SEEN_NOT = 0,
    LN_SEEN_BEGUN, /* its records are on their way into the engine */
    LN_SEEN_TAKEN  /* they are in the engine */
};

typedef struct ln_seen_id {
    uint8_t bytes[16];
} ln_seen_id;

typedef struct ln_seen ln_seen;

/* `key`: LN_SEEN_KEY bytes that nobody can know. NULL where memory is short. */
ln_seen *ln_seen_new(ln_mem *mem, const uint8_t *key);
void ln_seen_delete(ln_seen *s);
ln_seen_id ln_seen_name(const ln_seen *s, const void *tag, size_t tag_bytes, const void *chunk, size_t chunk_bytes);
/* The state of a chunk; one that is LN_SEEN_NOT is LN_SEEN_BEGUN from here on, unless memory is short. */
enum ln_seen_state ln_seen_begin(ln_seen *s, const ln_seen_id *id);
enum ln_seen_state ln_seen_look(const ln_seen *s, const ln_seen_id *id);
/* How it ended: LN_SEEN_TAKEN; or LN_SEEN_NOT, so that it counts when it comes again. */
void ln_seen_end(ln_seen *s, const ln_seen_id *id, enum ln_seen_state state);

#endif
