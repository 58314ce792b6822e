/* Loads what another engine has saved into an engine that is new, entry by entry, and at the end puts in order what
 * only the whole tells. */
#include "base/assert.h"
#include "base/msgpack.h"
#include "window/checked.h"
#include "window/loading.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(ln_engine *e, int err) {
    const char *why = e->loading && e->loading->why ? e->loading->why : "bytes that are broken";
    if (e->failed) return err;
    e->failed = err;
    if (err == LN_ENOMEM) snprintf(e->error, sizeof e->error, "loading a state: %s", ln_strerror(err));
    else snprintf(e->error, sizeof e->error, "loading a state: it holds %s", why);
    return err;
}

int ln_engine_load(ln_engine *e, const uint8_t *plan, size_t len, int exact) {
    ln_loading *l;
    const char *why = NULL;
    int err;
    LN_ASSERT(!e->loading && e->phase == LN_PHASE_NONE && !ln_keys_count(&e->keys) && !e->stats.read);
    l = e->loading = ln_mem_zero(&e->rows.mem, sizeof *l);
    if (!l) return fail(e, LN_ENOMEM);
    ln_buf_init(&l->slots, &e->rows.mem);
    ln_buf_init(&l->handles, &e->rows.mem);
    l->exact = exact;
    err = ln_checked(&plan, &len) ? ln_saved_plan_read(e, plan, len, &l->from, &why) : LN_EINVALID;
    l->why = why;
    if (err != LN_OK) return fail(e, err);
    if (e->sliced && (!l->from.sliced || l->from.slice_us != e->plan.slice_us)) {
        l->why = "windows that have been looked at one by one, for a plan that does not";
        return fail(e, LN_EINVALID);
    }
    if (e->sliced && l->from.headed) ln_grid_add_heads(e);
    l->numbers_max =
        l->from.state_bytes > e->plan.limits.state_bytes ? l->from.state_bytes : e->plan.limits.state_bytes;
    l->numbers_max = l->numbers_max / 8 + 4096;
    return LN_OK;
}

void ln_load_free(ln_engine *e) {
    ln_loading *l = e->loading;
    if (!l) return;
    ln_saved_plan_free(e, &l->from);
    ln_buf_free(&l->slots);
    ln_buf_free(&l->handles);
    ln_mem_free(&e->rows.mem, l->place, l->place_cap * sizeof *l->place);
    ln_mem_free(&e->rows.mem, l->extent, l->extent_cap * sizeof *l->extent);
    ln_mem_free(&e->rows.mem, l->chunk, l->chunk_cap * sizeof *l->chunk);
    ln_mem_free(&e->rows.mem, l->slice, l->slice_cap * sizeof *l->slice);
    ln_mem_free(&e->rows.mem, l, sizeof *l);
    e->loading = NULL;
}

/* ---- keys ------------------------------------------------------------------------------------------------------- */

/* Are these the bytes that a key has? LN_OK, LN_EINVALID or LN_ENOMEM. */
static int check_key(ln_engine *e, const uint8_t *bytes, size_t len) {
    ln_buf *again = &e->rows.scratch;
    const uint8_t *end = bytes + len, *behind;
    ln_value v;
    int same;
    if (len == 0 || len > UINT32_MAX / 2 || ln_msgpack_head(bytes, end, &v, &behind) != LN_HEAD_OK) return LN_EINVALID;
    if (v.type == LN_ARRAY || v.type == LN_MAP) {
        v.at = bytes;
        v.len = (uint32_t)len;
    } else if (v.type >= LN_TEXT && (size_t)(end - behind) != v.len) {
        return LN_EINVALID;
    }
    ln_buf_clear(again);
    same = ln_key_encode(again, &v) == 0 && again->len == len && memcmp(again->data, bytes, len) == 0;
    if (again->failed) return LN_ENOMEM;
    return same ? LN_OK : LN_EINVALID;
}

static int hangs_nothing(const ln_engine *e, const ln_key *key) {
    return e->sliced ? !key->held : ln_key_idle(e, (const ln_cell_key *)(const void *)key);
}

/* The key rests, or it does not: no other is forgotten for that. */
static void settle(ln_engine *e, ln_key *key) {
    uint32_t resting = (uint32_t)hangs_nothing(e, key) & 1;
    e->keys.resting += resting;
    e->keys.resting -= key->resting;
    key->resting = resting & 1;
}

static void drop(ln_engine *e, uint32_t id) {
    if (e->sliced) ln_load_drop_rows(e, id);
    else ln_load_drop_cells(e, (ln_cell_key *)(void *)ln_keys_at(&e->keys, id));
}

static int lose_key(ln_engine *e, uint64_t number) {
    ln_slab *s = &e->keys.slab;
    if (number / LN_SLAB_CHUNK >= s->chunks || !ln_slab_holds(s, (uint32_t)number)) return LN_OK;
    drop(e, (uint32_t)number);
    if (!hangs_nothing(e, ln_keys_at(&e->keys, (uint32_t)number))) return LN_EINVALID; /* its extents have not gone */
    ln_keys_forget(&e->keys, (uint32_t)number);
    return LN_OK;
}

/* The key of that number, with nothing on it but extents. */
static int find_key(ln_engine *e, uint64_t number, const uint8_t *bytes, size_t len) {
    uint32_t id = (uint32_t)number, hash = ln_keys_hash(&e->keys, bytes, len);
    if (number >= e->loading->numbers_max || number >= LN_SLAB_NONE / 2)
        return ln_load_refuse(e, "more keys than limits.state_bytes has room for");
    if (number / LN_SLAB_CHUNK < e->keys.slab.chunks && ln_slab_holds(&e->keys.slab, id)) {
        if (e->loading->exact) return LN_EINVALID;
        if (ln_key_matches(ln_keys_at(&e->keys, id), hash, bytes, len)) {
            drop(e, id);
            return LN_OK;
        }
        if (lose_key(e, number) != LN_OK) return LN_EINVALID;
    }
    if (ln_keys_find(&e->keys, hash, bytes, len) != LN_KEY_NONE) return LN_EINVALID;
    if (ln_keys_add_at(&e->keys, id, hash, bytes, len) == LN_KEY_NONE) return LN_ENOMEM;
    if (!e->sliced) ((ln_cell_key *)(void *)ln_keys_at(&e->keys, id))->id = id;
    ln_keys_at(&e->keys, id)->resting = 0;
    return LN_OK;
}

static int load_key(ln_engine *e, uint64_t number, ln_saved *s) {
    size_t len;
    const uint8_t *bytes = ln_saved_bytes(s, &len);
    ln_key *key;
    int err;
    err = bytes ? check_key(e, bytes, len) : LN_EINVALID;
    if (err == LN_OK) err = find_key(e, number, bytes, len);
    if (err != LN_OK) return err;
    key = ln_keys_at(&e->keys, (uint32_t)number);
    if (e->sliced) err = ln_load_rows(e, (uint32_t)number, s);
    else if (e->loading->from.sliced) err = ln_load_rows_as_cells(e, (ln_cell_key *)(void *)key, s);
    else err = ln_load_cells(e, (ln_cell_key *)(void *)key, s);
    settle(e, key);
    if (err != LN_OK) return err;
    if (e->loading->slots.failed || e->loading->handles.failed) return LN_ENOMEM;
    return s->bad || ln_saved_left(s) ? LN_EINVALID : LN_OK;
}

/* ---- extents ---------------------------------------------------------------------------------------------------- */

/* All up to this number have gone. */
static int lose_extents(ln_engine *e, uint64_t number) {
    ln_graves *g = &e->graves;
    while (g->count && g->gone <= number) {
        ln_cell_key *key = g->item[g->first].key;
        ln_extents_take_first(&key->closed);
        if (!key->closed.count) ln_extents_free(&key->closed, &e->mem);
        settle(e, &key->key);
        g->first = (g->first + 1) % g->cap;
        g->count--;
        g->gone++;
    }
    if (number >= e->loading->extents) e->loading->extents = number + 1;
    if (!g->count && g->gone <= number) g->gone = number + 1;
    return LN_OK;
}

/* Puts an extent behind the others. */
static int add_extent(ln_engine *e, const ln_load_extent *x) {
    ln_cell_key *key;
    if (x->key / LN_SLAB_CHUNK >= e->keys.slab.chunks || !ln_slab_holds(&e->keys.slab, x->key)) return LN_EINVALID;
    key = (ln_cell_key *)(void *)ln_keys_at(&e->keys, x->key);
    if (!e->graves.count) e->graves.gone = x->number;
    else if (x->number != e->loading->extents) return LN_EINVALID;
    if (key->closed.count && ln_extents_at(&key->closed, key->closed.count - 1)->end_us > x->extent.end_us)
        return LN_EINVALID;
    if (ln_store_extent(e, key, x->extent) < 0) return LN_ENOMEM;
    e->loading->extents = x->number + 1;
    settle(e, &key->key);
    return LN_OK;
}

/* In what is exact they come in any order, also before their keys: those that were to be given up while the others were
 * saved come first. They wait for the end. */
static int load_extent(ln_engine *e, uint64_t number, ln_saved *s) {
    ln_loading *l = e->loading;
    ln_load_extent x = {.number = number};
    uint64_t id = ln_saved_uint(s);
    x.extent.start_us = ln_saved_int(s);
    x.extent.end_us = ln_saved_int(s);
    if (s->bad || ln_saved_left(s) || x.extent.start_us >= x.extent.end_us || !e->extents || id > UINT32_MAX)
        return LN_EINVALID;
    x.key = (uint32_t)id;
    if (!l->exact) return add_extent(e, &x);
    if (ln_mem_grow(&e->rows.mem, &l->extent, &l->extent_cap, l->extent_count + 1, sizeof x) < 0) return LN_ENOMEM;
    l->extent[l->extent_count++] = x;
    return LN_OK;
}

static int by_number(const void *a, const void *b) {
    const ln_load_extent *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static int add_extents(ln_engine *e) {
    ln_loading *l = e->loading;
    int err = LN_OK;
    if (l->extent_count) qsort(l->extent, l->extent_count, sizeof *l->extent, by_number);
    for (size_t i = 0; i < l->extent_count && err == LN_OK; i++) err = add_extent(e, &l->extent[i]);
    return err;
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

int ln_engine_load_entry(ln_engine *e, int kind, uint64_t number, const uint8_t *bytes, size_t len, ln_entry *out) {
    ln_loading *l = e->loading;
    ln_saved s;
    int err;
    if (e->failed) return LN_ECLOSED;
    ln_engine_ops_done(e);
    ln_buf_clear(&l->slots);
    ln_buf_clear(&l->handles);
    l->why = NULL;
    if (bytes && !ln_checked(&bytes, &len)) return fail(e, LN_EINVALID);
    s = (ln_saved){bytes, bytes ? bytes + len : NULL, 0};
    if (kind == LN_ENTRY_KEY) err = bytes ? load_key(e, number, &s) : lose_key(e, number);
    else if (kind == LN_ENTRY_EXTENT) err = bytes ? load_extent(e, number, &s) : lose_extents(e, number);
    else err = kind == LN_ENTRY_REST && bytes ? ln_load_rest(e, &s) : LN_EINVALID;
    *out = (ln_entry){
        .kind = kind,
        .number = number,
        .slots = (const uint32_t *)(const void *)l->slots.data,
        .slots_count = (uint32_t)(l->slots.len / sizeof(uint32_t)),
        .handles = (const uint32_t *)(const void *)l->handles.data,
        .handles_count = (uint32_t)(l->handles.len / sizeof(uint32_t)),
    };
    return err == LN_OK ? LN_OK : fail(e, err);
}

static int by_filing(const void *a, const void *b) {
    const ln_load_place *x = a, *y = b;
    int32_t apart = (int32_t)(x->cell->filed - y->cell->filed); /* they go round */
    return x->expiring != y->expiring ? x->expiring - y->expiring : (apart > 0) - (apart < 0);
}

/* Cells that were loaded exactly go where they waited, in the order in which they came there. */
static int file_cells(ln_engine *e) {
    ln_loading *l = e->loading;
    ln_deadlines *both[2] = {&e->completing, &e->expiring};
    if (!l->exact) return LN_OK;
    for (int i = 0; i < 2; i++) {
        int shift = i ? l->from.expiring_shift : l->from.completing_shift;
        if (l->has_wheel[i] && ln_deadlines_set_wheel(both[i], shift, l->wheel_first[i]) < 0) return LN_ENOMEM;
    }
    for (size_t i = 0; i < l->place_count; i++)
        l->place[i].expiring = !e->plan.at_watermark || l->place[i].cell->on_time_done;
    if (l->place_count) qsort(l->place, l->place_count, sizeof *l->place, by_filing);
    for (size_t i = 0; i < l->place_count; i++) {
        ln_load_place *p = &l->place[i];
        uint32_t filed = p->cell->filed;
        if (ln_deadlines_put(both[p->expiring], p->cell, p->in_wheel, p->place) < 0) return LN_ENOMEM;
        p->cell->filed = filed;
    }
    for (int i = 0; i < 2; i++) both[i]->filings = l->filings[i];
    return LN_OK;
}

static int put_in_order(ln_engine *e) {
    ln_loading *l = e->loading;
    int err;
    if (!l->has_rest) return LN_EINVALID;
    err = add_extents(e);
    if (err != LN_OK) return err;
    if (e->graves.count && e->graves.gone != l->extents_gone) return LN_EINVALID;
    if (e->graves.count != l->extents_count) return LN_EINVALID;
    e->graves.gone = l->extents_gone;
    for (size_t i = 0; i < e->waiting.count; i++)
        if (((ln_held *)e->waiting.entry[i].item)->time_us <= e->now_us) return LN_EINVALID;
    err = ln_slab_arrange(&e->keys.slab, l->chunks, l->chunk, l->chunk_count);
    if (err != LN_OK) return err;
    e->keys.hand = (uint32_t)l->hand;
    if (e->keys.resting > LN_KEYS_REST * ln_keys_live(&e->keys)) return LN_EINVALID;
    err = file_cells(e);
    return err == LN_OK && e->sliced ? ln_load_grid_end(e) : err;
}

/* Has a window or an extent had its time by the plan? */
static int is_due(const ln_engine *e) {
    const ln_graves *g = &e->graves;
    if (e->sliced) return 0;
    if (g->count && g->item[g->first].given_up_us <= e->now_us) return 1;
    return ln_deadlines_next(&e->completing) <= e->now_us ||
           ln_deadlines_next(&e->expiring) <= ln_time_sub(e->now_us, e->plan.lateness_us);
}

int ln_engine_load_end(ln_engine *e, int forget_sources) {
    int err = e->failed ? LN_ECLOSED : put_in_order(e);
    if (err != LN_OK) return fail(e, err);
    if (forget_sources) ln_watermark_forget(&e->watermark);
    ln_engine_ops_done(e);
    ln_load_free(e);
    if (!is_due(e)) return LN_OK;
    /* By the new plan some windows may have had their time: W "moves" to where it is. */
    e->caught_up = 1;
    ln_advance_begin(e, e->now_us);
    e->phase = LN_PHASE_MOVING;
    e->next = LN_PHASE_NONE;
    return LN_OK;
}
