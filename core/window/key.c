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

void ln_keys_init(ln_keys *k, ln_mem *mem, uint64_t seed) { *k = (ln_keys){.mem = mem, .seed = seed}; }

static size_t size_of(uint32_t len) { return sizeof(ln_key) + len; }

static void release(ln_keys *k, ln_key *key) {
    ln_cells_free(&key->open, k->mem);
    ln_mem_free(k->mem, key->closed, key->closed_cap * sizeof *key->closed);
    ln_mem_free(k->mem, key, size_of(key->len));
}

void ln_keys_free(ln_keys *k) {
    for (size_t i = 0; i < k->slots; i++)
        if (k->slot[i].key) release(k, k->slot[i].key);
    ln_mem_free(k->mem, k->slot, k->slots * sizeof *k->slot);
    *k = (ln_keys){.mem = k->mem, .seed = k->seed};
}

uint64_t ln_keys_hash(const ln_keys *k, const uint8_t *bytes, size_t len) {
    return XXH3_64bits_withSeed(bytes, len, k->seed);
}

ln_key *ln_keys_find(const ln_keys *k, uint64_t hash, const uint8_t *bytes, size_t len) {
    if (!k->slots) return NULL;
    for (size_t i = hash & (k->slots - 1); k->slot[i].key; i = (i + 1) & (k->slots - 1)) {
        ln_key *key = k->slot[i].key;
        if (k->slot[i].hash == hash && key->len == len && memcmp(key->bytes, bytes, len) == 0) return key;
    }
    return NULL;
}

static void place(ln_keys *k, ln_key *key) {
    size_t i = key->hash & (k->slots - 1);
    while (k->slot[i].key) i = (i + 1) & (k->slots - 1);
    k->slot[i] = (ln_key_slot){key->hash, key};
}

static int resize(ln_keys *k, size_t slots) {
    ln_key_slot *old = k->slot;
    size_t old_slots = k->slots;
    ln_key_slot *slot = ln_mem_zero(k->mem, slots * sizeof *slot);
    if (!slot) return -1;
    k->slot = slot;
    k->slots = slots;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i].key) place(k, old[i].key);
    ln_mem_free(k->mem, old, old_slots * sizeof *old);
    return 0;
}

ln_key *ln_keys_add(ln_keys *k, uint64_t hash, const uint8_t *bytes, size_t len) {
    ln_key *key;
    if (3 * (k->count + 1) > 2 * k->slots && resize(k, k->slots ? 2 * k->slots : 16) < 0) return NULL;
    key = ln_mem_zero(k->mem, size_of((uint32_t)len));
    if (!key) return NULL;
    key->hash = hash;
    key->len = (uint32_t)len;
    memcpy(key->bytes, bytes, len);
    place(k, key);
    k->count++;
    return key;
}

/* Empties a slot and moves up those behind it that had gone past it, so that no search stops short. */
static void close_gap(ln_keys *k, size_t gap) {
    size_t mask = k->slots - 1;
    for (size_t i = (gap + 1) & mask; k->slot[i].key; i = (i + 1) & mask) {
        size_t home = k->slot[i].hash & mask;
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        k->slot[gap] = k->slot[i];
        gap = i;
    }
    k->slot[gap] = (ln_key_slot){0};
}

static void forget(ln_keys *k, ln_key *key) {
    size_t i = key->hash & (k->slots - 1);
    while (k->slot[i].key != key) {
        LN_DASSERT(k->slot[i].key);
        i = (i + 1) & (k->slots - 1);
    }
    close_gap(k, i);
    k->count--;
    release(k, key);
    if (k->slots > 64 && k->count * 8 < k->slots) (void)resize(k, k->slots / 2); /* where it fails the old one serves */
}

static void unlink_resting(ln_keys *k, ln_key *key) {
    *(key->before ? &key->before->after : &k->longest) = key->after;
    *(key->after ? &key->after->before : &k->shortest) = key->before;
    key->before = key->after = NULL;
    key->resting = 0;
    k->resting--;
}

static void forget_longest(ln_keys *k) {
    ln_key *key = k->longest;
    unlink_resting(k, key);
    forget(k, key);
}

void ln_keys_rest(ln_keys *k, ln_key *key) {
    LN_DASSERT(!key->resting);
    key->before = k->shortest;
    *(k->shortest ? &k->shortest->after : &k->longest) = key;
    k->shortest = key;
    key->resting = 1;
    k->resting++;
    while (k->resting > ln_keys_live(k)) forget_longest(k);
}

void ln_keys_wake(ln_keys *k, ln_key *key) {
    if (key->resting) unlink_resting(k, key);
}

void ln_keys_trim(ln_keys *k) {
    while (k->longest) forget_longest(k);
}
