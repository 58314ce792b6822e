/* Windows with a cell each out of an image, the extents that others have left, and records that wait. See image.h. */
#include "window/image.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = 1 << 28 };

int ln_image_run(ln_engine *e, ln_image *m, uint8_t *run, uint32_t slot) {
    for (uint32_t i = 0; i < m->aggregates; i++) {
        size_t len;
        const uint8_t *bytes = ln_saved_bytes(&m->in, &len);
        const ln_part *part = m->to[i] < 0 ? NULL : &e->states.part[m->to[i]];
        int err = LN_OK;
        if (!bytes) return LN_EINVALID;
        if (!part || m->is_fold[i] == 1) continue;
        if (m->is_fold[i]) {
            ln_saved own = {bytes, bytes + len, 0};
            if (slot) err = ln_fold_states_load(&e->fold_states[m->to[i]], slot, &own);
        } else {
            e->tally.spec = part->spec;
            err = ln_aggregate_load(part->ops, &e->tally, run + part->at, bytes, len);
        }
        if (err) return err == LN_ENOMEM ? err : ln_image_bad(m);
    }
    return LN_OK;
}

/* Steps of a sequence that has become shorter end at its last one. */
static void carry_trigger(const ln_trigger *from, const ln_trigger *to, const uint64_t same[64],
                          const ln_trigger_state *was, ln_trigger_state *is) {
    for (uint32_t i = 0; i < from->count; i++) {
        const ln_trigger_node *node, *own = &from->node[i];
        unsigned steps, at;
        if (!same[i]) continue;
        node = &to->node[__builtin_ctzll(same[i])];
        if (was->hot >> i & 1) is->hot |= same[i];
        if (was->done >> i & 1 && node->kind == LN_ONCE) is->done |= same[i];
        if (node->kind != LN_SEQUENCE || !node->children) continue;
        steps = (unsigned)__builtin_popcountll(node->children);
        at = was->at[own->step_slot];
        is->at[node->step_slot] = (uint8_t)(at < steps ? at : steps - 1);
    }
}

static void read_trigger_state(ln_image *m, ln_trigger_state *s) {
    s->hot = ln_saved_uint(&m->in);
    s->done = ln_saved_uint(&m->in);
    for (int i = 0; i < LN_TRIGGER_SEQUENCES; i++) {
        uint64_t at = ln_saved_uint(&m->in);
        s->at[i] = (uint8_t)(at < 64 ? at : 63);
    }
}

static void read_triggers(ln_engine *e, ln_image *m, ln_cell *c) {
    ln_trigger_state early = {0}, late = {0};
    if (!m->stateful) return;
    read_trigger_state(m, &early);
    read_trigger_state(m, &late);
    if (!e->stateful) return;
    carry_trigger(&m->early, &e->plan.early, m->early_same, &early, ln_cell_early(c));
    carry_trigger(&m->late, &e->plan.late, m->late_same, &late, ln_cell_late(c));
}

static int read_value(ln_image *m, ln_value *v) {
    size_t len;
    *v = (ln_value){.type = (uint8_t)ln_image_byte(m)};
    if (v->type > LN_EXT) return ln_image_bad(m);
    if (v->type == LN_EXT) v->ext = (int8_t)ln_image_byte(m);
    if (v->type >= LN_TEXT) {
        v->at = ln_saved_bytes(&m->in, &len);
        if (len > UINT32_MAX) return ln_image_bad(m);
        v->len = (uint32_t)len;
    } else if (v->type > LN_NULL) {
        v->u = ln_saved_word(&m->in);
    }
    return ln_image_state(m);
}

/* The values of the saved aggregates, in their places among those of the new plan, in e->values. */
static int read_values(ln_engine *e, ln_image *m) {
    memset(e->values, 0, e->plan.aggregates * sizeof *e->values);
    for (uint32_t i = 0; i < m->aggregates; i++) {
        ln_value v;
        if (read_value(m, &v)) return LN_EINVALID;
        if (m->to[i] >= 0) e->values[m->to[i]] = v;
    }
    return LN_OK;
}

/* Notes a number that is in use, and makes room for giving it back. */
static int note_id(ln_engine *e, ln_ids *ids, uint32_t **list, size_t *count, size_t *cap, uint32_t id) {
    size_t need = *count + 1 > id ? *count + 1 : id;
    if (ln_mem_grow(&e->rows.mem, list, cap, *count + 1, sizeof **list) < 0) return LN_ENOMEM;
    if (ln_mem_grow(&e->mem, &ids->free, &ids->free_cap, need, sizeof *ids->free) < 0) return LN_ENOMEM;
    (*list)[(*count)++] = id;
    ids->last = UINT32_MAX; /* until all are known: the first that is given back must leave room for the others */
    return LN_OK;
}

static int read_kept(ln_engine *e, ln_image *m, const ln_cell *c, ln_kept *kept) {
    ln_pane pane = {.key = ln_key_bytes(&c->key->key), .key_len = c->key->key.len};
    uint64_t handle;
    unsigned flags;
    kept->start_us = ln_saved_int(&m->in);
    handle = ln_saved_uint(&m->in);
    if (handle > SLOTS_MAX) return ln_image_bad(m);
    if (handle) {
        int err = note_id(e, &e->handles, &m->handle, &m->handles, &m->handle_cap, (uint32_t)handle);
        if (err) return err;
        kept->handle = (uint32_t)handle;
    }
    if (!ln_image_byte(m)) return ln_image_state(m);
    pane.index = (uint32_t)ln_saved_uint(&m->in);
    pane.start_us = ln_saved_int(&m->in);
    pane.end_us = ln_saved_int(&m->in);
    pane.timing = (uint8_t)ln_image_byte(m);
    flags = ln_image_byte(m);
    pane.final = flags & 1;
    pane.approx = flags >> 1 & 1;
    pane.cut = flags >> 2 & 1;
    if (pane.timing > LN_LATE) return ln_image_bad(m);
    if (read_values(e, m)) return LN_EINVALID;
    pane.value = e->values;
    kept->pane = ln_pane_copy(&e->mem, &pane, e->plan.aggregates);
    return kept->pane ? LN_OK : LN_ENOMEM;
}

static int read_past(ln_engine *e, ln_image *m, ln_cell *c, ln_rare *r) {
    uint64_t absorbed;
    int err = read_kept(e, m, c, &r->last);
    if (err) return err;
    absorbed = ln_image_count(m);
    for (; absorbed; absorbed--) {
        ln_kept kept = {0};
        err = read_kept(e, m, c, &kept);
        if (!err && ln_rare_absorb(r, &e->mem, &kept) < 0) err = LN_ENOMEM;
        if (!err) continue;
        ln_pane_free(&e->mem, kept.pane);
        return err;
    }
    return ln_image_state(m);
}

/* A new plan that has no use for what was kept of panes can't be loaded with any: panes and merging stay what they
 * are. */
static int read_rare(ln_engine *e, ln_image *m, ln_cell *c, unsigned flags) {
    int64_t run;
    int err = LN_OK;
    if (!m->rare) return flags & LN_IMAGE_PAST ? ln_image_bad(m) : LN_OK;
    run = ln_saved_int(&m->in);
    if (flags & LN_IMAGE_PAST) {
        if (!e->rare) return ln_image_bad(m);
        c->has_past = 1;
        err = read_past(e, m, c, ln_cell_rare(e, c));
    }
    if (e->plan.fill) ln_cell_rare(e, c)->run = run > 0 ? run : 0;
    return err;
}

static int take_slot(ln_engine *e, ln_image *m, ln_cell *c, uint64_t slot) {
    int err;
    if (!e->folds || !slot) return LN_OK; /* a window without one gets it when all that were there have theirs */
    if (slot > SLOTS_MAX) return ln_image_bad(m);
    err = note_id(e, &e->slots, &m->slot, &m->slots, &m->slot_cap, (uint32_t)slot);
    if (err) return err;
    c->slot = (uint32_t)slot;
    for (uint32_t i = 0; i < e->plan.aggregates; i++)
        if (ln_fold_states_ensure(&e->fold_states[i], &e->mem, c->slot) < 0) return LN_ENOMEM;
    return LN_OK;
}

/* The rest of a cell that stands among its key's windows. */
static int read_cell_state(ln_engine *e, ln_image *m, ln_cell *c) {
    unsigned flags, over;
    uint64_t slot;
    int err;
    c->age = ln_saved_uint(&m->in);
    flags = ln_image_byte(m);
    over = ln_image_byte(m);
    c->on_time_done = (flags & LN_IMAGE_ON_TIME_DONE) != 0;
    c->shown = (flags & LN_IMAGE_SHOWN) != 0;
    c->last_final = (flags & LN_IMAGE_LAST_FINAL) != 0;
    c->nonempty = (flags & LN_IMAGE_NONEMPTY) != 0;
    c->over = (uint8_t)over;
    c->index = (uint32_t)ln_saved_uint(&m->in);
    slot = ln_saved_uint(&m->in);
    c->since.count = ln_saved_uint(&m->in);
    c->since.first_us = ln_saved_int(&m->in);
    c->since.last_us = ln_saved_int(&m->in);
    if (c->age > e->ages || (!c->nonempty && !e->plan.fill)) return ln_image_bad(m);
    err = take_slot(e, m, c, slot);
    read_triggers(e, m, c);
    if (!err) err = ln_image_run(e, m, ln_cell_run(e, c), c->slot);
    return err ? err : read_rare(e, m, c, flags);
}

static int read_cell(ln_engine *e, ln_image *m, ln_cell **cell) {
    ln_cell_key *key = (ln_cell_key *)(void *)ln_image_key(e, m);
    int64_t start_us = ln_saved_int(&m->in), end_us = ln_saved_int(&m->in);
    uint32_t folds = e->folds, at;
    uint64_t ages = e->ages;
    if (m->in.bad || start_us >= end_us || ln_cells_find(&key->open, start_us, end_us, &at)) return ln_image_bad(m);
    e->folds = 0; /* its slot is its own */
    *cell = ln_store_cell(e, key, start_us, end_us);
    e->folds = folds;
    e->ages = ages;
    if (!*cell) return LN_ENOMEM;
    if (ln_cells_insert(&key->open, &e->mem, at, (ln_span *)(void *)*cell) < 0) {
        ln_store_drop(e, *cell);
        return LN_ENOMEM;
    }
    ln_keys_wake(&e->keys, &key->key);
    return read_cell_state(e, m, *cell);
}

static int by_age(const void *a, const void *b) {
    const ln_cell *x = *(ln_cell *const *)a, *y = *(ln_cell *const *)b;
    return (x->age > y->age) - (x->age < y->age);
}

int ln_image_file(ln_engine *e, ln_cell **cell, size_t count) {
    qsort(cell, count, sizeof(ln_cell *), by_age);
    for (size_t i = 0; i < count; i++) {
        ln_cell *c = cell[i];
        if (e->folds && !c->slot && ln_store_slot(e, c) < 0) return LN_ENOMEM;
        if (e->plan.at_watermark) c->on_time_done = c->end_us <= e->now_us;
        if (ln_store_file(e, c) < 0) return LN_ENOMEM;
        if (e->clock_delays && ln_offer_alarm(e, c) < 0) return LN_ENOMEM;
    }
    return LN_OK;
}

static int read_cells(ln_engine *e, ln_image *m) {
    uint64_t count = ln_image_count(m), read = 0;
    ln_cell **cell = ln_mem_zero(&e->rows.mem, (count + 1) * sizeof *cell);
    int err = cell ? ln_image_state(m) : LN_ENOMEM;
    for (; read < count && !err; read++) err = read_cell(e, m, &cell[read]);
    if (!err && ln_ids_restore(&e->slots, &e->mem, m->slot, m->slots) < 0) err = ln_image_bad(m);
    if (!err) err = ln_image_file(e, cell, count);
    ln_mem_free(&e->rows.mem, cell, (count + 1) * sizeof *cell);
    return err;
}

/* ---- extents and waiting records --------------------------------------------------------------------------------- */

static int read_key_extents(ln_engine *e, ln_image *m, ln_cell_key *key) {
    uint64_t count = ln_image_count(m);
    if (!count || key->closed.count) return ln_image_bad(m);
    ln_keys_wake(&e->keys, &key->key);
    for (; count && !m->in.bad; count--) {
        ln_span span = {ln_saved_int(&m->in), 0};
        span.end_us = ln_saved_int(&m->in);
        if (span.start_us >= span.end_us) return ln_image_bad(m);
        if (key->closed.count && ln_extents_at(&key->closed, key->closed.count - 1)->end_us > span.end_us)
            return ln_image_bad(m);
        if (ln_extents_add(&key->closed, &e->mem, span) < 0) return LN_ENOMEM;
    }
    return ln_image_state(m);
}

/* Each grave is the next extent of its key. Until waiting records are read `waiting` counts those of a key. */
static int place_graves(ln_engine *e, ln_image *m) {
    ln_graves *g = &e->graves;
    for (size_t i = 0; i < g->count; i++) {
        ln_cell_key *key = g->item[i].key;
        const ln_span *extent;
        if (key->waiting >= key->closed.count) return ln_image_bad(m);
        extent = ln_extents_at(&key->closed, key->waiting++);
        g->item[i].given_up_us = ln_time_add(ln_engine_expiry(e, extent->end_us), e->plan.gap_us);
    }
    for (size_t i = 0; i < g->count; i++) g->item[i].key->waiting = 0;
    return LN_OK;
}

static int read_extents(ln_engine *e, ln_image *m) {
    ln_graves *g = &e->graves;
    uint64_t count = ln_image_count(m), extents = 0;
    if (ln_mem_grow(&e->mem, &g->item, &g->cap, count + 1, sizeof *g->item) < 0) return LN_ENOMEM;
    while (g->count < count && !m->in.bad) g->item[g->count++].key = (ln_cell_key *)(void *)ln_image_key(e, m);
    if (m->in.bad) g->count = 0;
    while (ln_image_byte(m)) {
        ln_cell_key *key = (ln_cell_key *)(void *)ln_image_key(e, m);
        int err = key ? read_key_extents(e, m, key) : LN_EINVALID;
        if (err) return err;
        extents += key->closed.count;
    }
    return m->in.bad || extents != count ? ln_image_bad(m) : place_graves(e, m);
}

static size_t bytes_of(const ln_value *v) { return v->type >= LN_TEXT ? v->len : 0; }

/* A record that waits, as hold.c makes one. Where functions will read it and it was not kept, it is an empty one. */
static ln_held *make_held(ln_engine *e, const ln_value *values, uint32_t n, const uint8_t *record, size_t len) {
    static const uint8_t empty[] = {0x80};
    size_t bytes = sizeof(ln_held) + n * sizeof *values;
    uint8_t *to;
    ln_held *h;
    if (!len && (e->folds || e->early_whens || e->late_whens)) {
        record = empty;
        len = sizeof empty;
    }
    bytes += len;
    for (uint32_t i = 0; i < n; i++) bytes += bytes_of(&values[i]);
    h = ln_mem_zero(&e->mem, bytes);
    if (!h) return NULL;
    h->bytes = bytes;
    h->record_bytes = (uint32_t)len;
    to = (uint8_t *)(h->value + n);
    if (len) memcpy(to, record, len);
    to += len;
    for (uint32_t i = 0; i < n; i++) {
        h->value[i] = values[i];
        if (!bytes_of(&values[i])) continue;
        memcpy(to, values[i].at, values[i].len);
        h->value[i].at = to;
        to += values[i].len;
    }
    return h;
}

/* `values` has room for those of the new plan: first one for each aggregate, then the second ones. */
static int read_held(ln_engine *e, ln_image *m, int by, ln_value *values) {
    uint32_t n = e->plan.aggregates, rounds = by ? 2 : 1;
    ln_cell_key *key = (ln_cell_key *)(void *)ln_image_key(e, m);
    int64_t time_us = ln_saved_int(&m->in);
    uint64_t arrival = ln_saved_uint(&m->in);
    size_t len;
    const uint8_t *record = ln_saved_bytes(&m->in, &len);
    ln_held *h;
    if (m->in.bad || len > UINT32_MAX || time_us <= e->now_us) return ln_image_bad(m);
    memset(values, 0, 2 * n * sizeof *values);
    for (uint32_t k = 0; k < rounds; k++) {
        if (read_values(e, m)) return LN_EINVALID;
        memcpy(values + k * n, e->values, n * sizeof *values);
    }
    h = make_held(e, values, n << (e->by != 0), record, len);
    if (!h) return LN_ENOMEM;
    h->key = key;
    h->time_us = time_us;
    h->arrival = arrival;
    if (ln_heap_add(&e->waiting, time_us, arrival, h) < 0) {
        ln_mem_free(&e->mem, h, h->bytes);
        return LN_ENOMEM;
    }
    key->waiting++;
    ln_keys_wake(&e->keys, &key->key);
    return LN_OK;
}

static int read_waiting(ln_engine *e, ln_image *m) {
    size_t bytes = (2 * e->plan.aggregates + 1) * sizeof(ln_value);
    uint64_t count = ln_image_count(m);
    int by = ln_image_byte(m) != 0, err = LN_OK;
    ln_value *values = ln_mem_new(&e->rows.mem, bytes);
    if (!values) return LN_ENOMEM;
    if (count && e->plan.max_us < 0) err = ln_image_bad(m);
    for (; count && !err; count--) err = read_held(e, m, by, values);
    ln_mem_free(&e->rows.mem, values, bytes);
    return err ? err : ln_image_state(m);
}

int ln_image_cells(ln_engine *e, ln_image *m) {
    int err;
    if (e->sliced) return ln_image_bad(m);
    err = read_cells(e, m);
    if (!err && e->extents) err = read_extents(e, m);
    return err ? err : read_waiting(e, m);
}
