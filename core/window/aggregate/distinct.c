/* distinct: how many different values, exactly. Past the limit of values the set is given up for a sketch of them, or,
 * where the plan says so, for nothing: then the value is null. Which it is depends on the values alone. */
#include "base/msgpack.h"
#include "window/aggregate/aggregate.h"
#include "window/aggregate/set.h"
#include "window/aggregate/sketch.h"
#include "window/key.h"

enum { PRECISION = 14 }; /* of what a set turns into: far smaller than any set worth giving up */

typedef struct body {
    ln_set set;
    ln_sketch *sketch; /* where it is over and not refused */
    uint8_t over;      /* the set is given up */
    uint8_t refused;   /* the value is null then */
} body;

typedef struct distinct {
    body *body;
} distinct;

static void clear(ln_tally *t, void *state) {
    distinct *d = state;
    if (!d->body) return;
    ln_set_free(&d->body->set);
    ln_sketch_free(&d->body->sketch, t->mem);
    ln_mem_free(t->mem, d->body, sizeof *d->body);
    d->body = NULL;
}

static int ensure(ln_tally *t, distinct *d, int refused) {
    if (d->body) return LN_OK;
    d->body = ln_mem_zero(t->mem, sizeof *d->body);
    if (!d->body) return LN_ENOMEM;
    d->body->refused = (uint8_t)refused;
    d->body->set.seed = t->seed;
    ln_buf_init(&d->body->set.bytes, t->mem);
    return LN_OK;
}

static int sketch_all(ln_tally *t, body *b, const ln_set *s) {
    const uint8_t *end = s->bytes.data + s->bytes.len, *next;
    int err = LN_OK;
    for (const uint8_t *p = s->bytes.data; p != end && err == LN_OK && !b->refused; p = next) {
        next = ln_set_value_end(p, end);
        err = ln_sketch_add(&b->sketch, t->mem, PRECISION, ln_sketch_hash(p, (size_t)(next - p)));
    }
    return err;
}

static int give_up(ln_tally *t, body *b) {
    int err = sketch_all(t, b, &b->set);
    if (err != LN_OK) {
        ln_sketch_free(&b->sketch, t->mem);
        return err;
    }
    ln_set_free(&b->set);
    b->over = 1;
    return LN_OK;
}

static int insert(ln_tally *t, body *b, const uint8_t *bytes, size_t len) {
    if (!b->over) {
        int err = ln_set_add(&b->set, bytes, len, t->distinct_max);
        if (err != LN_EELEMENTS) return err;
        if (give_up(t, b) != LN_OK) return LN_ENOMEM;
    }
    return b->refused ? LN_OK : ln_sketch_add(&b->sketch, t->mem, PRECISION, ln_sketch_hash(bytes, len));
}

static int add(ln_tally *t, void *state, const ln_value *v) {
    distinct *d = state;
    ln_buf_clear(&t->scratch);
    if (ln_key_encode(&t->scratch, v) < 0) {
        t->skipped++;
        return LN_OK;
    }
    if (t->scratch.failed || ensure(t, d, t->spec->n != 0) != LN_OK) return LN_ENOMEM;
    return insert(t, d->body, t->scratch.data, t->scratch.len);
}

static int take_set(ln_tally *t, body *a, const ln_set *s) {
    const uint8_t *end = s->bytes.data + s->bytes.len, *next;
    int err = LN_OK;
    for (const uint8_t *p = s->bytes.data; p != end && err == LN_OK; p = next) {
        next = ln_set_value_end(p, end);
        err = insert(t, a, p, (size_t)(next - p));
    }
    return err;
}

static int take(ln_tally *t, void *into, const void *from) {
    const body *b = ((const distinct *)from)->body;
    distinct *a = into;
    if (!b) return LN_OK;
    if (ensure(t, a, b->refused) != LN_OK) return LN_ENOMEM;
    if (!b->over) return take_set(t, a->body, &b->set);
    if (!a->body->over && give_up(t, a->body) != LN_OK) return LN_ENOMEM;
    return ln_sketch_take(&a->body->sketch, t->mem, b->sketch);
}

/* The smaller set goes into the larger one. */
static int merge(ln_tally *t, void *into, void *from) {
    distinct *a = into, *b = from;
    if (b->body && !b->body->over && (!a->body || (!a->body->over && b->body->set.count > a->body->set.count))) {
        body *larger = b->body;
        b->body = a->body;
        a->body = larger;
    }
    return take(t, a, b);
}

static int show(ln_tally *t, const void *state, ln_value *out) {
    const body *b = ((const distinct *)state)->body;
    *out = (ln_value){.type = LN_INT};
    if (!b) return LN_OK;
    if (b->over) t->marks |= b->refused ? LN_MARK_REFUSED : LN_MARK_APPROX;
    if (b->over && b->refused) out->type = LN_NULL;
    else out->i = b->over ? (int64_t)(ln_sketch_estimate(b->sketch) + 0.5) : (int64_t)b->set.count;
    return LN_OK;
}

/* The limit is the plan's and no part of what is saved: a set beyond a lower one is given up at its next value. */
static void save(const void *state, ln_buf *out) {
    const body *b = ((const distinct *)state)->body;
    ln_buf_byte(out, (uint8_t)(b->over << 1 | b->refused));
    if (!b->over) ln_save_bytes(out, b->set.bytes.data, b->set.bytes.len);
    else if (!b->refused) ln_sketch_save(b->sketch, out);
}

/* A value must stand in its canonical form, and once. */
static int load_set(ln_tally *t, body *b, const uint8_t *p, size_t len) {
    const uint8_t *end = p + len, *next, *behind;
    for (; p != end; p = next) {
        size_t count = b->set.count;
        ln_value v;
        next = ln_set_value_end(p, end);
        if (!next) return LN_EINVALID;
        (void)ln_msgpack_head(p, end, &v, &behind);
        if (v.type == LN_ARRAY) v = (ln_value){.type = LN_ARRAY, .len = (uint32_t)(next - p), .at = p};
        ln_buf_clear(&t->scratch);
        if (ln_key_encode(&t->scratch, &v) < 0 || v.type <= LN_NULL) return LN_EINVALID;
        if (t->scratch.failed) return LN_ENOMEM;
        if (t->scratch.len != (size_t)(next - p) || memcmp(t->scratch.data, p, t->scratch.len) != 0) return LN_EINVALID;
        if (ln_set_add(&b->set, p, t->scratch.len, UINT64_MAX) != LN_OK) return LN_ENOMEM;
        if (b->set.count == count) return LN_EINVALID;
    }
    return LN_OK;
}

static int load(ln_tally *t, void *state, ln_saved *saved) {
    distinct *d = state;
    const uint8_t *kind = ln_saved_run(saved, 1), *bytes;
    size_t len;
    if (!kind || *kind > 3 || (*kind & 1) != (t->spec->n != 0)) return LN_EINVALID;
    if (ensure(t, d, *kind & 1) != LN_OK) return LN_ENOMEM;
    d->body->over = *kind >> 1;
    if (d->body->over) return d->body->refused ? LN_OK : ln_sketch_load(&d->body->sketch, t->mem, PRECISION, saved);
    bytes = ln_saved_bytes(saved, &len);
    return bytes ? load_set(t, d->body, bytes, len) : LN_EINVALID;
}

const ln_aggregate_ops ln_distinct_ops = {.size = sizeof(distinct),
                                          .align = 8,
                                          .add = add,
                                          .take = take,
                                          .merge = merge,
                                          .show = show,
                                          .clear = clear,
                                          .save = save,
                                          .load = load};
