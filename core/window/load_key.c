/* Loads a key with the windows that hang on it. Bytes are trusted in nothing: what does not fit is refused, and what
 * has been made by then is a part of the engine like any other. */
#include "window/aggregate/kept.h"
#include "window/loading.h"

int ln_load_refuse(ln_engine *e, const char *why) {
    if (!e->loading->why) e->loading->why = why;
    return LN_EINVALID;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

static void load_value(ln_saved *s, ln_value *v) {
    const uint8_t *tag = ln_saved_run(s, 1);
    *v = (ln_value){0};
    if (!tag || *tag > LN_BOOL) s->bad = 1;
    else if (*tag == LN_BOOL) ln_kept_load(s, v);
    else v->type = *tag;
}

int ln_load_run(ln_engine *e, ln_saved *s, uint8_t *run) {
    const ln_saved_plan *from = &e->loading->from;
    for (uint32_t i = 0; i < from->aggregates; i++) {
        const ln_part *part = &e->states.part[from->aggregate[i].to];
        const uint8_t *bytes;
        size_t len;
        int err;
        if (from->aggregate[i].kind == LN_FOLD) continue;
        bytes = ln_saved_bytes(s, &len);
        if (!bytes) return LN_EINVALID;
        e->tally.spec = part->spec;
        err = ln_aggregate_load(part->ops, &e->tally, run + part->at, bytes, len);
        if (err == LN_EINVALID) return ln_load_refuse(e, "the state of an aggregate, which may have other parameters");
        if (err != LN_OK) return err;
    }
    return LN_OK;
}

/* ---- parts of a cell -------------------------------------------------------------------------------------------- */

static void load_trigger(ln_saved *s, const ln_saved_trigger *from, const ln_trigger *to, ln_trigger_state *into) {
    uint64_t hot = ln_saved_uint(s), done = ln_saved_uint(s);
    const ln_trigger *t = &from->trigger;
    uint32_t sequences = 0;
    const uint8_t *at;
    for (uint32_t i = 0; i < t->count; i++) sequences += t->node[i].kind == LN_SEQUENCE;
    at = ln_saved_run(s, sequences);
    if (!at || !into) return;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t n = from->to[i];
        if (n == LN_SAVED_NONE) continue;
        into->hot |= (hot >> i & 1) << n;
        into->done |= (done >> i & 1) << n;
        if (t->node[i].kind != LN_SEQUENCE || t->node[i].step_slot >= sequences) continue;
        if (at[t->node[i].step_slot] < __builtin_popcountll(to->node[n].children))
            into->at[to->node[n].step_slot] = at[t->node[i].step_slot];
    }
}

static int load_pane(ln_engine *e, const ln_cell_key *key, ln_saved *s, ln_kept *k) {
    const ln_saved_plan *from = &e->loading->from;
    ln_pane p = {.key = ln_key_bytes(&key->key), .key_len = key->key.len};
    const uint8_t *flags;
    p.index = (uint32_t)ln_saved_uint(s);
    p.start_us = ln_saved_int(s);
    p.end_us = ln_saved_int(s);
    flags = ln_saved_run(s, 2);
    if (!flags || flags[0] > LN_LATE) return LN_EINVALID;
    p.timing = flags[0];
    p.final = flags[1] & 1;
    p.approx = flags[1] >> 1 & 1;
    p.cut = flags[1] >> 2 & 1;
    for (uint32_t i = 0; i < e->plan.aggregates; i++) e->values[i] = (ln_value){.type = LN_NULL};
    for (uint32_t i = 0; i < from->aggregates; i++) load_value(s, &e->values[from->aggregate[i].to]);
    if (s->bad) return LN_EINVALID;
    p.value = e->values;
    k->pane = ln_pane_copy(&e->mem, &p, e->plan.aggregates);
    return k->pane ? LN_OK : LN_ENOMEM;
}

static int load_kept(ln_engine *e, const ln_cell_key *key, ln_saved *s, ln_kept *k) {
    const uint8_t *tag = ln_saved_run(s, 1);
    k->start_us = ln_saved_int(s);
    if (!tag || s->bad || *tag > 2) return LN_EINVALID;
    if (*tag == 2) return load_pane(e, key, s, k);
    if (*tag == 0) return LN_OK;
    if (!e->plan.staged) return ln_load_refuse(e, "panes that have been kept for a script's emit");
    k->handle = ln_ids_take(&e->handles, &e->mem);
    if (!k->handle) return LN_ENOMEM;
    ln_buf_append(&e->loading->handles, &k->handle, sizeof k->handle);
    return LN_OK;
}

static int load_past(ln_engine *e, ln_cell *c, ln_saved *s) {
    ln_rare *r = ln_cell_rare(e, c);
    uint64_t count;
    int err;
    if (!e->rare) return ln_load_refuse(e, "panes that may be withdrawn, where none is");
    c->has_past = 1;
    err = load_kept(e, c->key, s, &r->last);
    if (err != LN_OK) return err;
    if (c->shown && e->plan.panes == LN_RETRACTING && !r->last.pane && !r->last.handle) return LN_EINVALID;
    count = ln_saved_uint(s);
    for (uint64_t i = 0; i < count && !s->bad; i++) {
        ln_kept k = {0};
        err = load_kept(e, c->key, s, &k);
        if (err == LN_OK && e->plan.panes != LN_DISCARDING && !k.pane && !k.handle) err = LN_EINVALID;
        if (err == LN_OK && ln_rare_absorb(r, &e->mem, &k) < 0) err = LN_ENOMEM;
        if (err != LN_OK) {
            ln_kept_free(e, &k);
            return err;
        }
    }
    return s->bad ? LN_EINVALID : LN_OK;
}

static int load_rare(ln_engine *e, ln_cell *c, ln_saved *s, int has_past) {
    int64_t alarm_us = ln_saved_int(s), run = ln_saved_int(s);
    if (s->bad) return LN_EINVALID;
    if (e->plan.fill) ln_cell_rare(e, c)->run = run < 0 ? 0 : run;
    if (e->clock_delays) {
        if (!e->loading->from.same_triggers) alarm_us = LN_TIME_MIN; /* it is asked when the clock moves next */
        if (ln_load_alarm(e, c, alarm_us) < 0) return LN_ENOMEM;
    }
    return has_past ? load_past(e, c, s) : LN_OK;
}

int ln_load_alarm(ln_engine *e, ln_cell *c, int64_t alarm_us) {
    ln_rare *r = ln_cell_rare(e, c);
    if (alarm_us == LN_FUTURE) return 0;
    if (ln_heap_add(&e->alarms, alarm_us, c->age, c) < 0) return -1;
    r->alarm_us = alarm_us;
    return 0;
}

int ln_load_folds(ln_engine *e, uint32_t slot, ln_saved *s) {
    const ln_saved_plan *from = &e->loading->from;
    ln_buf_append(&e->loading->slots, &slot, sizeof slot);
    for (uint32_t i = 0; i < from->aggregates; i++) {
        int err;
        if (!from->aggregate[i].declared) continue;
        err = ln_fold_states_load(&e->fold_states[from->aggregate[i].to], slot, s);
        if (err != LN_OK) return ln_load_refuse(e, "the state of a fold that declares other fields");
    }
    return LN_OK;
}

/* ---- cells ------------------------------------------------------------------------------------------------------ */

typedef struct loaded {
    uint8_t flags, over;
    uint64_t age, filed, index;
    ln_span span, place;
    ln_since since;
} loaded;

static int read_cell(ln_saved *s, loaded *x) {
    const uint8_t *flags = ln_saved_run(s, 2);
    x->flags = flags ? flags[0] : 0;
    x->over = flags ? flags[1] : 0;
    x->span.start_us = ln_saved_int(s);
    x->span.end_us = ln_saved_int(s);
    x->age = ln_saved_uint(s);
    x->filed = ln_saved_uint(s);
    x->place.start_us = ln_saved_int(s);
    x->place.end_us = ln_saved_int(s);
    x->index = ln_saved_uint(s);
    x->since.count = ln_saved_uint(s);
    x->since.first_us = ln_saved_int(s);
    x->since.last_us = ln_saved_int(s);
    return s->bad || x->span.start_us >= x->span.end_us || x->index > UINT32_MAX || x->filed > UINT32_MAX ? LN_EINVALID
                                                                                                          : LN_OK;
}

ln_cell *ln_load_cell(ln_engine *e, ln_cell_key *key, ln_span span, uint64_t age, int *err) {
    uint32_t at;
    uint64_t ages = e->ages;
    ln_cell *c;
    *err = LN_EINVALID;
    if (ln_cells_find(&key->open, span.start_us, span.end_us, &at)) return NULL;
    at = ln_cells_search(&key->open, span.start_us, span.end_us);
    if (e->extents && at > 0 && ln_cells_at(&key->open, at - 1)->end_us > span.start_us) return NULL;
    if (e->extents && at < key->open.count && ln_cells_at(&key->open, at)->start_us < span.end_us) return NULL;
    *err = LN_ENOMEM;
    c = ln_store_cell(e, key, span.start_us, span.end_us);
    e->ages = ages;
    if (!c) return NULL;
    c->age = age;
    if (ln_cells_insert(&key->open, &e->mem, at, (ln_span *)(void *)c) < 0) {
        ln_store_drop(e, c);
        return NULL;
    }
    *err = LN_OK;
    return c;
}

/* Exact: where it has waited it will wait, when all are there. */
static int remember_place(ln_engine *e, ln_cell *c, const loaded *x) {
    ln_loading *l = e->loading;
    ln_load_place place = {c, x->place, x->flags >> 5 & 1, x->flags >> 6 & 1};
    if (ln_mem_grow(&e->rows.mem, &l->place, &l->place_cap, l->place_count + 1, sizeof place) < 0) return LN_ENOMEM;
    c->filed = (uint32_t)x->filed;
    l->place[l->place_count++] = place;
    return LN_OK;
}

static int fill_cell(ln_engine *e, ln_cell *c, const loaded *x, ln_saved *s) {
    const ln_saved_plan *from = &e->loading->from;
    int err;
    c->on_time_done = from->at_watermark && x->flags & 1;
    c->shown = x->flags >> 1 & 1;
    c->last_final = x->flags >> 2 & 1;
    c->nonempty = x->flags >> 3 & 1;
    c->over = x->over;
    c->index = (uint32_t)x->index;
    c->since = x->since;
    if (!c->nonempty && !e->plan.fill) c->nonempty = 1; /* it stands open since it was to be filled in */
    if (from->stateful) {
        load_trigger(s, &from->early, &e->plan.early, e->stateful ? ln_cell_early(c) : NULL);
        load_trigger(s, &from->late, &e->plan.late, e->stateful ? ln_cell_late(c) : NULL);
    }
    err = ln_load_run(e, s, ln_cell_run(e, c));
    if (err == LN_OK && from->folds) err = ln_load_folds(e, c->slot, s);
    if (err == LN_OK && from->rare) err = load_rare(e, c, s, x->flags >> 4 & 1);
    else if (err == LN_OK && x->flags >> 4 & 1) err = LN_EINVALID;
    if (err == LN_OK && e->clock_delays && !from->rare && ln_load_alarm(e, c, LN_TIME_MIN) < 0) err = LN_ENOMEM;
    return s->bad && err == LN_OK ? LN_EINVALID : err;
}

static int load_cell(ln_engine *e, ln_cell_key *key, ln_saved *s) {
    loaded x;
    ln_cell *c;
    int err = read_cell(s, &x);
    if (err != LN_OK) return err;
    c = ln_load_cell(e, key, x.span, x.age, &err);
    if (!c) return err;
    err = fill_cell(e, c, &x, s);
    if (err != LN_OK) return err;
    if (e->loading->exact) return remember_place(e, c, &x);
    return ln_store_file(e, c) < 0 ? LN_ENOMEM : LN_OK;
}

/* ---- records that wait ------------------------------------------------------------------------------------------ */

/* The values of a record, which are those of the aggregates of its own plan. */
static size_t read_values(ln_engine *e, ln_saved *s, ln_value *values) {
    const ln_saved_plan *from = &e->loading->from;
    uint32_t n = e->plan.aggregates;
    size_t bytes = 0;
    for (int by = 0; by <= from->by; by++) {
        for (uint32_t i = 0; i < from->aggregates; i++) {
            ln_value v;
            load_value(s, &v);
            if (by && !e->by) continue;
            values[from->aggregate[i].to + (by ? n : 0)] = v;
            bytes += v.type >= LN_TEXT ? v.len : 0;
        }
    }
    return bytes;
}

static int load_held(ln_engine *e, ln_cell_key *key, ln_saved *s) {
    uint32_t n = ln_held_values(e);
    int64_t time_us = ln_saved_int(s);
    uint64_t arrival = ln_saved_uint(s);
    size_t record_bytes, bytes;
    const uint8_t *record = ln_saved_bytes(s, &record_bytes);
    ln_value *values = ln_mem_zero(&e->rows.mem, (n + 1) * sizeof *values);
    ln_held *h = NULL;
    uint8_t *to;
    if (!values) return LN_ENOMEM;
    bytes = read_values(e, s, values) + sizeof *h + n * sizeof *values + record_bytes;
    if (!s->bad && record && record_bytes <= UINT32_MAX &&
        (!record_bytes || ln_kept_end(record, record + record_bytes) == record + record_bytes))
        h = ln_mem_zero(&e->mem, bytes);
    else s->bad = 1;
    if (h) {
        *h = (ln_held){
            .key = key, .time_us = time_us, .arrival = arrival, .record_bytes = (uint32_t)record_bytes, .bytes = bytes};
        to = (uint8_t *)(h->value + n);
        if (record_bytes) memcpy(to, record, record_bytes);
        to += record_bytes;
        for (uint32_t i = 0; i < n; i++) {
            h->value[i] = values[i];
            if (values[i].type < LN_TEXT || !values[i].len) continue;
            memcpy(to, values[i].at, values[i].len);
            h->value[i].at = to;
            to += values[i].len;
        }
    }
    ln_mem_free(&e->rows.mem, values, (n + 1) * sizeof *values);
    if (!h) return s->bad ? LN_EINVALID : LN_ENOMEM;
    if (ln_hold_again(e, h) == 0) return LN_OK;
    ln_mem_free(&e->mem, h, h->bytes);
    return LN_ENOMEM;
}

int ln_load_cells(ln_engine *e, ln_cell_key *key, ln_saved *s) {
    uint64_t count = ln_saved_uint(s);
    int err = LN_OK;
    for (uint64_t i = 0; i < count && err == LN_OK && !s->bad; i++) err = load_cell(e, key, s);
    if (err != LN_OK) return err;
    count = ln_saved_uint(s);
    if (count && e->plan.max_us < 0) return LN_EINVALID;
    for (uint64_t i = 0; i < count && err == LN_OK && !s->bad; i++) err = load_held(e, key, s);
    return err;
}

void ln_load_drop_cells(ln_engine *e, ln_cell_key *key) {
    for (uint32_t i = 0; i < key->open.count; i++) ln_store_drop(e, ln_cells_at(&key->open, i));
    ln_cells_free(&key->open, &e->mem);
    if (e->extents) ln_hold_forget(e, key);
}
