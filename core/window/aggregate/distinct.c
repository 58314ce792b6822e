/* distinct: how many different values, exactly. A set of values in their canonical form, not of hashes. Past the limit
 * of values it is given up, and its result is null: never a wrong number. */
#include "window/aggregate/aggregate.h"
#include "window/key.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

typedef struct member {
    uint64_t hash;
    uint32_t at, len; /* in the set's bytes; len 0: an empty place (no value encodes to nothing) */
} member;

typedef struct set {
    member *place; /* open addressing, a power of two, at most two thirds full */
    size_t places, count;
    ln_buf bytes;
    int over;
} set;

typedef struct distinct {
    set *set;
} distinct;

static void clear(ln_tally *t, void *state) {
    distinct *d = state;
    if (!d->set) return;
    ln_buf_free(&d->set->bytes);
    ln_mem_free(t->mem, d->set->place, d->set->places * sizeof(member));
    ln_mem_free(t->mem, d->set, sizeof *d->set);
    d->set = NULL;
}

static int ensure(ln_tally *t, distinct *d) {
    if (d->set) return LN_OK;
    d->set = ln_mem_zero(t->mem, sizeof *d->set);
    if (!d->set) return LN_ENOMEM;
    ln_buf_init(&d->set->bytes, t->mem);
    return LN_OK;
}

static void give_up(ln_tally *t, set *s) {
    ln_buf_free(&s->bytes);
    ln_mem_free(t->mem, s->place, s->places * sizeof(member));
    s->place = NULL;
    s->places = s->count = 0;
    s->over = 1;
}

static int widen(ln_tally *t, set *s) {
    size_t places = s->places ? 2 * s->places : 8;
    member *grown = ln_mem_zero(t->mem, places * sizeof *grown);
    if (!grown) return LN_ENOMEM;
    for (size_t i = 0; i < s->places; i++) {
        size_t j = s->place[i].hash & (places - 1);
        if (!s->place[i].len) continue;
        while (grown[j].len) j = (j + 1) & (places - 1);
        grown[j] = s->place[i];
    }
    ln_mem_free(t->mem, s->place, s->places * sizeof *grown);
    s->place = grown;
    s->places = places;
    return LN_OK;
}

static int insert(ln_tally *t, set *s, uint64_t hash, const uint8_t *bytes, uint32_t len) {
    size_t i;
    if (3 * (s->count + 1) > 2 * s->places && widen(t, s) != LN_OK) return LN_ENOMEM;
    for (i = hash & (s->places - 1); s->place[i].len; i = (i + 1) & (s->places - 1)) {
        const member *m = &s->place[i];
        if (m->hash == hash && m->len == len && memcmp(s->bytes.data + m->at, bytes, len) == 0) return LN_OK;
    }
    if (s->count == t->distinct_max || s->bytes.len + len > UINT32_MAX) {
        give_up(t, s);
        return LN_OK;
    }
    s->place[i] = (member){.hash = hash, .at = (uint32_t)s->bytes.len, .len = len};
    ln_buf_append(&s->bytes, bytes, len);
    if (s->bytes.failed) {
        s->place[i].len = 0;
        return LN_ENOMEM;
    }
    s->count++;
    return LN_OK;
}

static int add(ln_tally *t, void *state, const ln_value *v) {
    distinct *d = state;
    ln_buf_clear(&t->scratch);
    if (ln_key_encode(&t->scratch, v) < 0) {
        t->skipped++;
        return LN_OK;
    }
    if (t->scratch.failed || ensure(t, d) != LN_OK) return LN_ENOMEM;
    if (d->set->over) return LN_OK;
    return insert(t, d->set, XXH3_64bits_withSeed(t->scratch.data, t->scratch.len, t->seed), t->scratch.data,
                  (uint32_t)t->scratch.len);
}

static int take(ln_tally *t, void *into, const void *from) {
    const set *b = ((const distinct *)from)->set;
    distinct *a = into;
    int err = LN_OK;
    if (!b) return LN_OK;
    if (ensure(t, a) != LN_OK) return LN_ENOMEM;
    if (b->over && !a->set->over) give_up(t, a->set);
    for (size_t i = 0; i < b->places && err == LN_OK && !a->set->over; i++) {
        const member *m = &b->place[i];
        if (m->len) err = insert(t, a->set, m->hash, b->bytes.data + m->at, m->len);
    }
    return err;
}

/* The smaller set goes into the larger one. */
static int merge(ln_tally *t, void *into, void *from) {
    distinct *a = into, *b = from;
    if (b->set && (!a->set || b->set->count > a->set->count) && !(a->set && a->set->over)) {
        set *larger = b->set;
        b->set = a->set;
        a->set = larger;
    }
    return take(t, a, b);
}

static void result(const void *state, ln_value *out) {
    const set *s = ((const distinct *)state)->set;
    *out = (ln_value){.type = LN_INT, .i = s ? (int64_t)s->count : 0};
    if (s && s->over) out->type = LN_NULL;
}

const ln_aggregate_ops ln_distinct_ops = {
    .size = sizeof(distinct), .align = 8, .add = add, .take = take, .merge = merge, .result = result, .clear = clear};
