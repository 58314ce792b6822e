/* Keys: their canonical form, and the table of those that hold state. A key's canonical form is msgpack in its
 * shortest encoding, with doubles that are whole numbers as integers, so that keys are equal exactly where their bytes
 * are; it is also how they leave in panes.
 *
 * A key lives as long as anything hangs on it, and then rests for a while, since many come back: at most as many rest
 * as live, the longest first to go, so that when the last window goes no key is left. */
#ifndef LN_WINDOW_KEY_H
#define LN_WINDOW_KEY_H

#include "base/buf.h"
#include "lunette.h"
#include "window/cells.h"

typedef struct ln_key {
    struct ln_key *before, *after; /* among those that rest */
    uint64_t hash;
    uint32_t len;
    ln_cells open;   /* windows, in order of (start, end); or slices */
    ln_cell *cursor; /* where there are slices: the first window to complete */
    ln_span *closed; /* extents of expired windows, where they count, in order of their end */
    uint32_t closed_first, closed_count;
    size_t closed_cap;
    uint32_t waiting; /* records that wait for W: sessions with a maximum */
    uint8_t resting;
    uint8_t bytes[];
} ln_key;

/* Appends the canonical form of a value that can be a key (null, a boolean, a number but NaN, a text, bytes, or an
 * array of these); 0, or -1 for any other, and then nothing is appended. A missing value counts as null. */
int ln_key_encode(ln_buf *out, const ln_value *v);
/* The same where arrays are refused: an element of a composite key. */
int ln_key_encode_plain(ln_buf *out, const ln_value *v);
void ln_key_encode_array_head(ln_buf *out, uint32_t n);

/* The hash stands beside the pointer, so that a search touches no key but the one it finds. */
typedef struct ln_key_slot {
    uint64_t hash;
    ln_key *key; /* NULL: empty */
} ln_key_slot;

typedef struct ln_keys {
    ln_mem *mem;
    ln_key_slot *slot;          /* open addressing, a power of two, at most two thirds full */
    size_t slots, count;        /* all keys, those that rest included */
    ln_key *longest, *shortest; /* of those that rest */
    size_t resting;
    uint64_t seed;
} ln_keys;

void ln_keys_init(ln_keys *k, ln_mem *mem, uint64_t seed);
/* Frees the table and every key in it; their windows must be gone. */
void ln_keys_free(ln_keys *k);
uint64_t ln_keys_hash(const ln_keys *k, const uint8_t *bytes, size_t len);
/* Fetches, ahead of time, what a search for this hash will read: first its slot, when that has come its key, and when
 * that has come its newest window. */
static inline void ln_keys_prefetch_slot(const ln_keys *k, uint64_t hash) {
    if (k->slots) __builtin_prefetch(&k->slot[hash & (k->slots - 1)]);
}
static inline ln_key *ln_keys_likely(const ln_keys *k, uint64_t hash) {
    if (!k->slots) return NULL;
    for (size_t i = hash, end = hash + 4; i != end; i++)
        if (k->slot[i & (k->slots - 1)].hash == hash) return k->slot[i & (k->slots - 1)].key;
    return NULL;
}
static inline void ln_keys_prefetch_key(const ln_keys *k, uint64_t hash) {
    const char *key = (const char *)ln_keys_likely(k, hash);
    if (!key) return;
    __builtin_prefetch(key);
    __builtin_prefetch(key + 64);
    __builtin_prefetch(key + 128);
}
static inline void ln_keys_prefetch_cell(const ln_keys *k, uint64_t hash) {
    const ln_key *key = ln_keys_likely(k, hash);
    if (!key || !key->open.count) return;
    for (int line = 0; line < 5; line++)
        __builtin_prefetch((const char *)ln_cells_span(&key->open, key->open.count - 1) + 64 * line);
}
/* NULL where there is none. */
ln_key *ln_keys_find(const ln_keys *k, uint64_t hash, const uint8_t *bytes, size_t len);
/* NULL where memory is short. The key must not be there. */
ln_key *ln_keys_add(ln_keys *k, uint64_t hash, const uint8_t *bytes, size_t len);
/* Nothing hangs on the key any more: it rests, or goes at once. */
void ln_keys_rest(ln_keys *k, ln_key *key);
/* A key that was found is about to be used. */
void ln_keys_wake(ln_keys *k, ln_key *key);
/* Forgets every key that rests. */
void ln_keys_trim(ln_keys *k);
static inline size_t ln_keys_live(const ln_keys *k) { return k->count - k->resting; }

static inline int ln_key_idle(const ln_key *key) {
    return key->open.count == 0 && key->closed_count == 0 && key->waiting == 0;
}

#endif
