/* Keys: their canonical form and the table of those that hold state. */
#include "window/key.h"

#include "base/assert.h"
#include "base/msgpack.h"
#include "base/number.h"
#include "base/pack.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

void ln_key_encode_array_head(ln_buf *out, uint32_t n) { ln_pack_put_head(out, LN_ARRAY, n); }

int ln_key_encode_plain(ln_buf *out, const ln_value *v) {
    ln_value n = *v;
    if (v->type > LN_BYTES || ln_is_nan(v)) return -1;
    ln_number_normalise(&n);
    ln_pack_put(out, &n);
    return 0;
}

static int encode_array(ln_buf *out, const ln_value *array) {
    const uint8_t *p = array->at, *end = array->at + array->len;
    size_t undo = out->len;
    ln_value head, v;
    if (ln_msgpack_head(p, end, &head, &p) != LN_HEAD_OK) return -1;
    ln_key_encode_array_head(out, head.len);
    for (uint32_t i = 0; i < head.len; i++) {
        if (ln_msgpack_head(p, end, &v, &p) != LN_HEAD_OK || ln_key_encode_plain(out, &v) < 0) {
            out->len = undo;
            return -1;
        }
        if (v.type == LN_TEXT || v.type == LN_BYTES) p += v.len;
    }
    return 0;
}

int ln_key_encode(ln_buf *out, const ln_value *v) {
    return v->type == LN_ARRAY ? encode_array(out, v) : ln_key_encode_plain(out, v);
}

void ln_keys_init(ln_keys *k, ln_mem *mem, size_t entry_bytes, uint64_t seed) {
    *k = (ln_keys){.mem = mem, .seed = seed};
    ln_slab_init(&k->slab, mem, entry_bytes);
}

static void free_bytes(ln_keys *k, ln_key *key) {
    if (key->len > LN_KEY_NEAR) ln_mem_free(k->mem, (void *)(uintptr_t)ln_key_bytes(key), key->len);
}

void ln_keys_free(ln_keys *k) {
    for (uint32_t id = 0; (id = ln_keys_next(k, id)) != LN_KEY_NONE; id++) free_bytes(k, ln_keys_at(k, id));
    ln_slab_free(&k->slab);
    ln_mem_free(k->mem, k->slot, k->slots * sizeof *k->slot);
    ln_keys_init(k, k->mem, k->slab.entry_bytes, k->seed);
}

uint32_t ln_keys_hash(const ln_keys *k, const uint8_t *bytes, size_t len) {
    uint64_t hash = XXH3_64bits_withSeed(bytes, len, k->seed);
    return (uint32_t)(hash ^ hash >> 32);
}

static void place(ln_keys *k, uint32_t id) {
    size_t i = ln_keys_at(k, id)->hash & (k->slots - 1);
    while (k->slot[i]) i = (i + 1) & (k->slots - 1);
    k->slot[i] = id + 1;
}

static int resize(ln_keys *k, size_t slots) {
    uint32_t *slot = ln_mem_zero(k->mem, slots * sizeof *slot);
    if (!slot) return -1;
    ln_mem_free(k->mem, k->slot, k->slots * sizeof *k->slot);
    k->slot = slot;
    k->slots = slots;
    for (uint32_t id = 0; (id = ln_keys_next(k, id)) != LN_KEY_NONE; id++) place(k, id);
    return 0;
}

static int widen(ln_keys *k) {
    if (4 * (ln_keys_count(k) + 1) <= 3 * k->slots) return 0;
    return resize(k, k->slots ? 2 * k->slots : 16);
}

/* `far` has room for the bytes where they are too many to lie in the key. */
static void fill(ln_keys *k, uint32_t id, uint32_t hash, const uint8_t *bytes, size_t len, uint8_t *far) {
    ln_key *key = ln_keys_at(k, id);
    key->hash = hash;
    key->len = (uint32_t)len & INT32_MAX;
    if (far) memcpy(key->near, &far, sizeof far);
    memcpy(far ? far : key->near, bytes, len);
    place(k, id);
}

uint32_t ln_keys_add(ln_keys *k, uint32_t hash, const uint8_t *bytes, size_t len) {
    uint8_t *far = NULL;
    uint32_t id;
    if (widen(k) < 0) return LN_KEY_NONE;
    if (len > LN_KEY_NEAR && !(far = ln_mem_new(k->mem, len))) return LN_KEY_NONE;
    id = ln_slab_take(&k->slab);
    if (id == LN_SLAB_NONE) {
        ln_mem_free(k->mem, far, len);
        return LN_KEY_NONE;
    }
    fill(k, id, hash, bytes, len, far);
    return id;
}

int ln_keys_restore(ln_keys *k, uint32_t id, const uint8_t *bytes, size_t len) {
    uint8_t *far = NULL;
    if (widen(k) < 0) return -1;
    if (len > LN_KEY_NEAR && !(far = ln_mem_new(k->mem, len))) return -1;
    if (ln_slab_take_at(&k->slab, id) < 0) {
        ln_mem_free(k->mem, far, len);
        return -1;
    }
    fill(k, id, ln_keys_hash(k, bytes, len), bytes, len, far);
    ln_keys_at(k, id)->resting = 1;
    k->resting++;
    return 0;
}

/* Empties a slot and moves up those behind it that had gone past it, so that no search stops short. */
static void close_gap(ln_keys *k, size_t gap) {
    size_t mask = k->slots - 1;
    for (size_t i = (gap + 1) & mask; k->slot[i]; i = (i + 1) & mask) {
        size_t home = ln_keys_at(k, k->slot[i] - 1)->hash & mask;
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        k->slot[gap] = k->slot[i];
        gap = i;
    }
    k->slot[gap] = 0;
}

static void forget(ln_keys *k, uint32_t id) {
    ln_key *key = ln_keys_at(k, id);
    size_t i = key->hash & (k->slots - 1);
    while (k->slot[i] != id + 1) {
        LN_DASSERT(k->slot[i]);
        i = (i + 1) & (k->slots - 1);
    }
    close_gap(k, i);
    k->forgotten++;
    free_bytes(k, key);
    ln_slab_give(&k->slab, id);
    /* Rarely, and by much: each time all that are left are placed anew. Where it fails the old one serves. */
    if (k->slots > 64 && ln_keys_count(k) * 16 < k->slots) (void)resize(k, k->slots / 4);
}

/* Of the keys that rest the next that the hand comes to. It goes round: who has rested longest is not known, but for
 * most the hand has just been there when they begin. */
static void forget_one(ln_keys *k) {
    for (;;) {
        uint32_t id = k->hand = ln_keys_next(k, k->hand);
        if (id == LN_KEY_NONE) {
            k->hand = 0;
            continue;
        }
        k->hand++;
        if (!ln_keys_at(k, id)->resting) continue;
        k->resting--;
        forget(k, id);
        return;
    }
}

void ln_keys_rest(ln_keys *k, ln_key *key) {
    LN_DASSERT(!key->resting);
    key->resting = 1;
    k->resting++;
    while (k->resting > LN_KEYS_REST * ln_keys_live(k)) forget_one(k);
}

void ln_keys_trim(ln_keys *k) {
    while (k->resting) forget_one(k);
}
