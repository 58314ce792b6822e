/* Keys: their canonical form, and the table of those that hold state. A key's canonical form is msgpack in its
 * shortest encoding, with doubles that are whole numbers as integers, so that keys are equal exactly where their
 * bytes are; it is also how they leave in panes.
 *
 * A key lives as long as anything hangs on it, and then rests for a while, since many come back: at most four times
 * as many rest as live, so that when the last window goes no key is left. Keys lie in chunks under small numbers,
 * so that all of them are walked in one pass over memory, in an order that depends on nothing but the records. */
#ifndef LN_WINDOW_KEY_H
#define LN_WINDOW_KEY_H

#include "base/buf.h"
#include "base/index.h"
#include "base/slab.h"
#include "lunette.h"
#include "window/extents.h"

#include <string.h>

enum { LN_KEY_NEAR = 20 }; /* bytes of a key that lie in it */

typedef struct ln_key {
    uint32_t hash;
    uint32_t len : 31; /* bytes; at most limits.record_bytes */
    uint32_t resting : 1;
    uint32_t held : 30;        /* rows of slices that are its own */
    uint32_t changed : 2;      /* since the last cut, and before it: see ln_changes */
    uint8_t near[LN_KEY_NEAR]; /* its bytes, or where they are too many a pointer to them */
} ln_key;

/* A key whose windows have a cell each. */
typedef struct ln_cell_key {
    ln_key key;
    ln_cells open;    /* windows, in order of (start, end) */
    uint32_t waiting; /* records that wait for W: sessions with a maximum */
    uint32_t id;
    /* What follows is there only where expired windows leave their extents: two lines of the cache then, and a record
     * touches the first. */
    ln_extents closed;
    /* And this only where records wait. */
    struct ln_held *held; /* the one that came last first */
} ln_cell_key;

static inline const uint8_t *ln_key_bytes(const ln_key *key) {
    const uint8_t *far;
    if (key->len <= LN_KEY_NEAR) return key->near;
    memcpy(&far, key->near, sizeof far);
    return far;
}

/* Appends the canonical form of a value that can be a key (null, a boolean, a number but NaN, a text, bytes, or an
 * array of these); 0, or -1 for any other, and then nothing is appended. A missing value counts as null. */
int ln_key_encode(ln_buf *out, const ln_value *v);
/* The same where arrays are refused: an element of a composite key. */
int ln_key_encode_plain(ln_buf *out, const ln_value *v);
void ln_key_encode_array_head(ln_buf *out, uint32_t n);

/* Numbers of keys. */
typedef struct ln_id_list {
    uint32_t *id;
    size_t count, cap;
} ln_id_list;

/* The keys of which something is different since it was saved, noted while somebody saves: those changed since the last
 * cut, and those that had changed at the cut and are not saved yet. A list has a number once, or again where another
 * key has come to it; what counts is the key's own bit. Numbers whose keys have gone stand in lists of their own, since
 * other keys may have come to them: what was saved under them is of no use any more. */
typedef struct ln_changes {
    ln_mem *mem;
    int on;
    uint32_t now, before;      /* bits of ln_key.changed */
    ln_id_list fresh, old;     /* changed since the cut, and before it */
    ln_id_list gone, old_gone; /* likewise */
    uint32_t walk; /* keys from this number on were there at the cut and are to be saved, but for those changed since;
                      LN_KEY_NONE: no such walk is under way */
    int lost;      /* memory was short: what has changed is not known */
    /* A key that is to be saved as it was at the cut is about to change; NULL where nobody minds. */
    void (*save)(void *ctx, uint32_t id);
    void *ctx;
} ln_changes;

/* The table. */
typedef struct ln_keys {
    ln_mem *mem;
    ln_slab slab;
    ln_index index; /* their numbers, by their hashes */
    size_t resting;
    uint64_t forgotten; /* keys, ever */
    uint32_t hand;      /* where the search for one that rests goes on */
    uint64_t seed;
    ln_changes changes;
} ln_keys;

#define LN_KEY_NONE LN_SLAB_NONE /* which LN_INDEX_NONE is, too */
enum { LN_KEYS_REST = 4 };       /* keys that may rest for each that lives */

/* `entry_bytes` is what a key takes with all that its kind keeps behind it: a multiple of 8. */
void ln_keys_init(ln_keys *k, ln_mem *mem, size_t entry_bytes, uint64_t seed);
/* Frees the table and every key in it; what hangs on them must be gone. */
void ln_keys_free(ln_keys *k);
uint32_t ln_keys_hash(const ln_keys *k, const uint8_t *bytes, size_t len);
static inline ln_key *ln_keys_at(const ln_keys *k, uint32_t id) { return ln_slab_at(&k->slab, id); }
/* The number of the first key from this one on, those that rest included; LN_KEY_NONE after the last. */
static inline uint32_t ln_keys_next(const ln_keys *k, uint32_t id) { return ln_slab_next(&k->slab, id); }
static inline size_t ln_keys_count(const ln_keys *k) { return k->slab.live; }
static inline size_t ln_keys_live(const ln_keys *k) { return k->slab.live - k->resting; }

/* The key that has this hash in all likelihood, LN_KEY_NONE for none. */
static inline uint32_t ln_keys_likely(const ln_keys *k, uint32_t hash) { return ln_index_likely(&k->index, hash); }

/* Are these the same `len` bytes? Keys are short: a call would cost more than the comparison. */
static inline int ln_key_same(const uint8_t *a, const uint8_t *b, size_t len) {
    uint64_t x, y;
    uint32_t v, w;
    if (len >= 8) {
        for (size_t i = 0; i + 8 < len; i += 8) {
            memcpy(&x, a + i, 8);
            memcpy(&y, b + i, 8);
            if (x != y) return 0;
        }
        memcpy(&x, a + len - 8, 8);
        memcpy(&y, b + len - 8, 8);
        return x == y;
    }
    if (len >= 4) {
        memcpy(&v, a, 4);
        memcpy(&w, b, 4);
        if (v != w) return 0;
        memcpy(&v, a + len - 4, 4);
        memcpy(&w, b + len - 4, 4);
        return v == w;
    }
    while (len && a[len - 1] == b[len - 1]) len--;
    return len == 0;
}

static inline int ln_key_matches(const ln_key *key, uint32_t hash, const uint8_t *bytes, size_t len) {
    return key->hash == hash && key->len == len && ln_key_same(ln_key_bytes(key), bytes, len);
}

/* Is the key with this number, which may be gone by now, the one that is sought? */
static inline int ln_keys_is(const ln_keys *k, uint32_t id, uint32_t hash, const uint8_t *bytes, size_t len) {
    return ln_slab_holds(&k->slab, id) && ln_key_matches(ln_keys_at(k, id), hash, bytes, len);
}

/* LN_KEY_NONE where there is none. */
static inline uint32_t ln_keys_find(const ln_keys *k, uint32_t hash, const uint8_t *bytes, size_t len) {
    ln_index_search search = ln_index_begin(&k->index, hash);
    uint32_t id;
    while ((id = ln_index_next(&search)) != LN_INDEX_NONE)
        if (ln_key_matches(ln_keys_at(k, id), hash, bytes, len)) return id;
    return LN_KEY_NONE;
}
/* The same where ln_keys_likely has given a guess. */
static inline uint32_t ln_keys_find_likely(const ln_keys *k, uint32_t likely, uint32_t hash, const uint8_t *bytes,
                                           size_t len) {
    if (likely != LN_KEY_NONE && ln_key_matches(ln_keys_at(k, likely), hash, bytes, len)) return likely;
    return ln_keys_find(k, hash, bytes, len);
}
void ln_keys_note(ln_keys *k, ln_key *key, uint32_t id);
/* What hangs on the key is about to change. */
static inline void ln_keys_touch(ln_keys *k, ln_key *key, uint32_t id) {
    if (k->changes.on && !(key->changed & k->changes.now)) ln_keys_note(k, key, id);
}
/* Notes changes from now on, with a walk over all keys ahead, or no longer. */
void ln_keys_track(ln_keys *k, ln_mem *mem, int on);
/* What has changed so far is to be saved as it is now. All of an earlier cut must have been. */
void ln_keys_cut(ln_keys *k);
/* A key under a number that is vacant: as ln_keys_add, for one that was saved. */
uint32_t ln_keys_add_at(ln_keys *k, uint32_t id, uint32_t hash, const uint8_t *bytes, size_t len);
/* Forgets a key on which nothing hangs, whether it rests or not. */
void ln_keys_forget(ln_keys *k, uint32_t id);
/* LN_KEY_NONE where memory is short. The key must not be there. */
uint32_t ln_keys_add(ln_keys *k, uint32_t hash, const uint8_t *bytes, size_t len);
/* Nothing hangs on the key any more: it rests, or goes at once. */
void ln_keys_rest(ln_keys *k, ln_key *key);
/* A key that was found is about to be used. */
static inline void ln_keys_wake(ln_keys *k, ln_key *key) {
    k->resting -= key->resting;
    key->resting = 0;
}
/* Forgets every key that rests. */
void ln_keys_trim(ln_keys *k);

#endif
