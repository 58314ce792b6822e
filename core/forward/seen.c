/* Two sets, of which the young one takes what comes; when it is full the old one goes and the young one becomes it. So
 * nothing is ever taken out of a set one by one. */
#include "forward/seen.h"

#include <sodium.h>
#include <string.h>

enum { SLOTS = 2 * LN_SEEN_CHUNKS };

/* A place that is free has the state EMPTY; one that was given up keeps its place until the set goes. */
enum { EMPTY = 0, GIVEN_UP = 3 };

typedef struct slot {
    ln_seen_id id;
    uint8_t state; /* EMPTY, enum ln_seen_state or GIVEN_UP */
} slot;
_Static_assert(sizeof(slot) == LN_SEEN_SLOT, "what the header promises");

typedef struct set {
    slot *slots; /* NULL: nothing has come yet */
    uint32_t used;
} set;

struct ln_seen {
    ln_mem *mem;
    uint8_t key[LN_SEEN_KEY];
    set young, old;
};

ln_seen *ln_seen_new(ln_mem *mem, const uint8_t *key) {
    ln_seen *s = ln_mem_zero(mem, sizeof *s);
    if (!s) return NULL;
    s->mem = mem;
    memcpy(s->key, key, sizeof s->key);
    return s;
}

static void free_set(ln_seen *s, set *of) { ln_mem_free(s->mem, of->slots, SLOTS * sizeof *of->slots); }

void ln_seen_delete(ln_seen *s) {
    if (!s) return;
    free_set(s, &s->young);
    free_set(s, &s->old);
    ln_mem_free(s->mem, s, sizeof *s);
}

ln_seen_id ln_seen_name(const ln_seen *s, const void *tag, size_t tag_bytes, const void *chunk, size_t chunk_bytes) {
    crypto_generichash_state h;
    uint64_t parts = tag_bytes;
    ln_seen_id id;
    crypto_generichash_init(&h, s->key, sizeof s->key, sizeof id.bytes);
    crypto_generichash_update(&h, (const uint8_t *)&parts, sizeof parts);
    crypto_generichash_update(&h, tag, tag_bytes);
    crypto_generichash_update(&h, chunk, chunk_bytes);
    crypto_generichash_final(&h, id.bytes, sizeof id.bytes);
    return id;
}

/* The place of an id, or the free one where it would stand. There always is one: a set is never more than half full. */
static slot *place(const set *of, const ln_seen_id *id) {
    uint32_t at;
    memcpy(&at, id->bytes, sizeof at);
    for (at %= SLOTS; of->slots[at].state != EMPTY; at = (at + 1) % SLOTS)
        if (!memcmp(&of->slots[at].id, id, sizeof *id)) break;
    return &of->slots[at];
}

static slot *find(const ln_seen *s, const ln_seen_id *id) {
    const set *const sets[] = {&s->young, &s->old};
    for (int i = 0; i < 2; i++) {
        slot *p = sets[i]->slots ? place(sets[i], id) : NULL;
        if (p && p->state != EMPTY) return p;
    }
    return NULL;
}

static void turn_over(ln_seen *s) {
    set was = s->old;
    s->old = s->young;
    s->young = (set){.slots = was.slots};
    if (was.slots) memset(was.slots, 0, SLOTS * sizeof *was.slots);
}

enum ln_seen_state ln_seen_look(const ln_seen *s, const ln_seen_id *id) {
    const slot *p = find(s, id);
    return p && p->state != GIVEN_UP ? (enum ln_seen_state)p->state : LN_SEEN_NOT;
}

enum ln_seen_state ln_seen_begin(ln_seen *s, const ln_seen_id *id) {
    slot *p = find(s, id);
    if (p && p->state != GIVEN_UP) return (enum ln_seen_state)p->state;
    if (!p) {
        if (s->young.used == LN_SEEN_CHUNKS) turn_over(s);
        if (!s->young.slots) s->young.slots = ln_mem_zero(s->mem, SLOTS * sizeof *s->young.slots);
        if (!s->young.slots) return LN_SEEN_NOT;
        p = place(&s->young, id);
        p->id = *id;
        s->young.used++;
    }
    p->state = LN_SEEN_BEGUN;
    return LN_SEEN_NOT;
}

void ln_seen_end(ln_seen *s, const ln_seen_id *id, enum ln_seen_state state) {
    slot *p = find(s, id);
    if (p) p->state = state == LN_SEEN_NOT ? GIVEN_UP : (uint8_t)state;
}
