/* Keys: their canonical form and the table of those that hold state. */
#include "window/key.h"

#include "base/assert.h"
#include "base/msgpack.h"
#include "base/number.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static void put_be(ln_buf *out, uint8_t tag, uint64_t n, unsigned bytes) {
    uint8_t *to = ln_buf_reserve(out, 9);
    if (!to) return;
    *to++ = tag;
    for (unsigned i = bytes; i-- > 0;) *to++ = (uint8_t)(n >> (8 * i));
    out->len += bytes + 1;
}

/* The head of a text, bytes or array in the shortest form; tags are those of the fix, 8, 16 and 32 bit forms, 0 where
 * there is none. */
static void put_head(ln_buf *out, uint32_t n, uint8_t fix, uint32_t fix_max, uint8_t tag8, uint8_t tag16, uint8_t tag32) {
    if (fix && n <= fix_max) ln_buf_byte(out, (uint8_t)(fix | n));
    else if (tag8 && n <= 0xff) put_be(out, tag8, n, 1);
    else if (n <= 0xffff) put_be(out, tag16, n, 2);
    else put_be(out, tag32, n, 4);
}

static void put_unsigned(ln_buf *out, uint64_t u) {
    if (u < 0x80) ln_buf_byte(out, (uint8_t)u);
    else if (u <= 0xff) put_be(out, 0xcc, u, 1);
    else if (u <= 0xffff) put_be(out, 0xcd, u, 2);
    else if (u <= 0xffffffff) put_be(out, 0xce, u, 4);
    else put_be(out, 0xcf, u, 8);
}

static void put_int(ln_buf *out, int64_t i) {
    if (i >= 0) put_unsigned(out, (uint64_t)i);
    else if (i >= -32) ln_buf_byte(out, (uint8_t)i);
    else if (i >= INT8_MIN) put_be(out, 0xd0, (uint64_t)i, 1);
    else if (i >= INT16_MIN) put_be(out, 0xd1, (uint64_t)i, 2);
    else if (i >= INT32_MIN) put_be(out, 0xd2, (uint64_t)i, 4);
    else put_be(out, 0xd3, (uint64_t)i, 8);
}

void ln_key_encode_array_head(ln_buf *out, uint32_t n) { put_head(out, n, 0x90, 15, 0, 0xdc, 0xdd); }

int ln_key_encode_plain(ln_buf *out, const ln_value *v) {
    ln_value n = *v;
    switch (v->type) {
    case LN_MISSING: case LN_NULL: ln_buf_byte(out, 0xc0); return 0;
    case LN_BOOL: ln_buf_byte(out, v->i ? 0xc3 : 0xc2); return 0;
    case LN_TEXT:
        put_head(out, v->len, 0xa0, 31, 0xd9, 0xda, 0xdb);
        ln_buf_append(out, v->at, v->len);
        return 0;
    case LN_BYTES:
        put_head(out, v->len, 0, 0, 0xc4, 0xc5, 0xc6);
        ln_buf_append(out, v->at, v->len);
        return 0;
    case LN_INT: put_int(out, v->i); return 0;
    case LN_UINT: put_unsigned(out, v->u); return 0;
    case LN_DOUBLE:
        if (ln_is_nan(v)) return -1;
        ln_number_normalise(&n);
        if (n.type == LN_INT) put_int(out, n.i);
        else if (n.type == LN_UINT) put_unsigned(out, n.u);
        else put_be(out, 0xcb, n.u, 8);
        return 0;
    default: return -1;
    }
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
