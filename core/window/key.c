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

static const uint32_t *hash_of(const void *keys, uint32_t id) { return &ln_keys_at(keys, id)->hash; }

void ln_keys_init(ln_keys *k, ln_mem *mem, size_t entry_bytes, uint64_t seed) {
    *k = (ln_keys){.mem = mem, .seed = seed};
    ln_slab_init(&k->slab, mem, entry_bytes);
    ln_index_init(&k->index, mem, hash_of, k, 1);
}

static void free_bytes(ln_keys *k, ln_key *key) {
    if (key->len > LN_KEY_NEAR) ln_mem_free(k->mem, (void *)(uintptr_t)ln_key_bytes(key), key->len);
}

void ln_keys_free(ln_keys *k) {
    for (uint32_t id = 0; (id = ln_keys_next(k, id)) != LN_KEY_NONE; id++) free_bytes(k, ln_keys_at(k, id));
    ln_slab_free(&k->slab);
    ln_index_free(&k->index);
    ln_keys_track(k, k->changes.mem, 0);
    ln_keys_init(k, k->mem, k->slab.entry_bytes, k->seed);
}

uint32_t ln_keys_hash(const ln_keys *k, const uint8_t *bytes, size_t len) {
    uint64_t hash = XXH3_64bits_withSeed(bytes, len, k->seed);
    return (uint32_t)(hash ^ hash >> 32);
}

/* ---- changes ---------------------------------------------------------------------------------------------------- */

static void append(ln_changes *c, ln_id_list *list, uint32_t id) {
    if (ln_mem_grow(c->mem, &list->id, &list->cap, list->count + 1, sizeof *list->id) < 0) c->lost = 1;
    else list->id[list->count++] = id;
}

static void note(ln_changes *c, uint32_t id) { append(c, &c->fresh, id); }

/* Was the key there at the cut, and is it not saved yet? */
static int is_unsaved(const ln_changes *c, const ln_key *key, uint32_t id) {
    return (key->changed & c->before) || (id >= c->walk && !(key->changed & c->now));
}

static void keep_old(ln_keys *k, ln_key *key, uint32_t id) {
    ln_changes *c = &k->changes;
    if (!c->save || !is_unsaved(c, key, id)) return;
    c->save(c->ctx, id);
    key->changed &= ~c->before & 3;
}

void ln_keys_note(ln_keys *k, ln_key *key, uint32_t id) {
    keep_old(k, key, id);
    key->changed |= k->changes.now & 3;
    note(&k->changes, id);
}

/* Only keys that a list has can be marked. */
static void clear_bits(ln_keys *k, const ln_id_list *list) {
    for (size_t i = 0; i < list->count; i++)
        if (ln_slab_holds(&k->slab, list->id[i])) ln_keys_at(k, list->id[i])->changed = 0;
}

static void free_list(const ln_changes *c, const ln_id_list *list) {
    ln_mem_free(c->mem, list->id, list->cap * sizeof *list->id);
}

void ln_keys_track(ln_keys *k, ln_mem *mem, int on) {
    ln_changes *c = &k->changes;
    if (c->on) {
        clear_bits(k, &c->fresh);
        clear_bits(k, &c->old);
        free_list(c, &c->fresh);
        free_list(c, &c->old);
        free_list(c, &c->gone);
        free_list(c, &c->old_gone);
    }
    *c = (ln_changes){.mem = mem, .on = on, .now = 1, .before = 2, .walk = on ? 0 : LN_KEY_NONE};
}

/* What is in the first is in the second, which must be empty. */
static void hand_on(ln_id_list *from, ln_id_list *to) {
    ln_id_list empty = *to;
    LN_DASSERT(empty.count == 0);
    *to = *from;
    *from = empty;
}

void ln_keys_cut(ln_keys *k) {
    ln_changes *c = &k->changes;
    uint32_t now = c->now;
    c->now = c->before;
    c->before = now;
    hand_on(&c->fresh, &c->old);
    hand_on(&c->gone, &c->old_gone);
}

/* ---- coming and going ------------------------------------------------------------------------------------------- */

/* `at` is a vacant number, or LN_KEY_NONE for any. */
static uint32_t add(ln_keys *k, uint32_t at, uint32_t hash, const uint8_t *bytes, size_t len) {
    uint8_t *far = NULL;
    uint32_t id;
    ln_key *key;
    if (len > LN_KEY_NEAR && !(far = ln_mem_new(k->mem, len))) return LN_KEY_NONE;
    id = at == LN_KEY_NONE ? ln_slab_take(&k->slab) : ln_slab_take_at(&k->slab, at);
    if (id == LN_SLAB_NONE) {
        ln_mem_free(k->mem, far, len);
        return LN_KEY_NONE;
    }
    key = ln_keys_at(k, id);
    key->hash = hash;
    key->len = (uint32_t)len & INT32_MAX;
    if (far) memcpy(key->near, &far, sizeof far);
    memcpy(far ? far : key->near, bytes, len);
    if (ln_index_add(&k->index, hash, id) < 0) {
        ln_mem_free(k->mem, far, len);
        ln_slab_give(&k->slab, id);
        return LN_KEY_NONE;
    }
    if (k->changes.on) { /* nothing of it was there before */
        key->changed = k->changes.now & 3;
        note(&k->changes, id);
    }
    return id;
}

uint32_t ln_keys_add(ln_keys *k, uint32_t hash, const uint8_t *bytes, size_t len) {
    return add(k, LN_KEY_NONE, hash, bytes, len);
}

uint32_t ln_keys_add_at(ln_keys *k, uint32_t id, uint32_t hash, const uint8_t *bytes, size_t len) {
    return add(k, id, hash, bytes, len);
}

static void forget(ln_keys *k, uint32_t id) {
    ln_key *key = ln_keys_at(k, id);
    ln_index_remove(&k->index, key->hash, id);
    k->forgotten++;
    ln_keys_touch(k, key, id);
    if (k->changes.on) append(&k->changes, &k->changes.gone, id);
    free_bytes(k, key);
    ln_slab_give(&k->slab, id);
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

void ln_keys_forget(ln_keys *k, uint32_t id) {
    k->resting -= ln_keys_at(k, id)->resting;
    forget(k, id);
}

void ln_keys_trim(ln_keys *k) {
    while (k->resting) forget_one(k);
}
