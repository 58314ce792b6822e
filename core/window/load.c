/* Reads the image of an engine into a new one, whose plan may have changed. See image.h. Nothing is believed of the
 * bytes: a number that is out of range, a key that is not there, or one too many makes the image bad. */
#include "window/image.h"

#include <string.h>

enum { KEYS_MAX = 1 << 28 };

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static int read_trigger(ln_image *m, ln_trigger *t) {
    *t = (ln_trigger){.count = (uint32_t)ln_image_count(m)};
    if (t->count > LN_TRIGGER_NODES) return ln_image_bad(m);
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t kind = ln_saved_uint(&m->in), slot = ln_saved_uint(&m->in), children = ln_saved_word(&m->in);
        if (kind > LN_ONCE || slot >= LN_TRIGGER_SEQUENCES || children >> i) return ln_image_bad(m);
        t->node[i] = (ln_trigger_node){.kind = (uint8_t)kind, .step_slot = (uint8_t)slot, .children = children};
    }
    return ln_image_state(m);
}

/* Notes for each node of the saved program the one in the same place of the new one, from the roots down. */
static void match(const ln_trigger *from, const ln_trigger *to, uint32_t i, uint32_t k, uint64_t same[64]) {
    uint64_t a = from->node[i].children, b = to->node[k].children;
    if (from->node[i].kind != to->node[k].kind) return;
    same[i] = UINT64_C(1) << k;
    for (; a && b; a &= a - 1, b &= b - 1)
        match(from, to, (uint32_t)__builtin_ctzll(a), (uint32_t)__builtin_ctzll(b), same);
}

static void match_roots(const ln_trigger *from, const ln_trigger *to, uint64_t same[64]) {
    memset(same, 0, 64 * sizeof *same);
    if (from->count && to->count) match(from, to, from->count - 1, to->count - 1, same);
}

static int32_t find_aggregate(const ln_plan *p, const uint8_t *name, size_t len) {
    for (uint32_t i = 0; i < p->aggregates; i++)
        if (p->aggregate[i].name_len == len && memcmp(p->aggregate[i].name, name, len) == 0) return (int32_t)i;
    return -1;
}

static int read_aggregates(ln_engine *e, ln_image *m) {
    const ln_plan *p = &e->plan;
    m->aggregates = (uint32_t)ln_image_count(m);
    if (m->in.bad || m->aggregates > 1 << 16) return ln_image_bad(m);
    m->to = ln_mem_zero(&e->rows.mem, (m->aggregates + 1) * sizeof *m->to);
    m->is_fold = ln_mem_zero(&e->rows.mem, m->aggregates + 1);
    if (!m->to || !m->is_fold) return LN_ENOMEM;
    for (uint32_t i = 0; i < m->aggregates && !m->in.bad; i++) {
        size_t len;
        const uint8_t *name = ln_saved_bytes(&m->in, &len);
        uint64_t kind = ln_saved_uint(&m->in), struct_bytes = ln_saved_uint(&m->in);
        if (m->in.bad) break;
        m->to[i] = find_aggregate(p, name, len);
        m->is_fold[i] = kind == LN_FOLD ? struct_bytes ? 2 : 1 : 0;
        if (m->to[i] >= 0 && (uint64_t)p->aggregate[m->to[i]].kind != kind) return ln_image_bad(m);
        if (m->to[i] >= 0 && e->fold_states[m->to[i]].size != struct_bytes) return ln_image_bad(m);
    }
    return ln_image_state(m);
}

static int read_outline(ln_engine *e, ln_image *m) {
    const ln_plan *p = &e->plan;
    uint64_t window = ln_saved_uint(&m->in), time_kind = ln_saved_uint(&m->in);
    int64_t gap_us, max_us;
    uint64_t merging, panes;
    int err;
    m->size_us = ln_saved_int(&m->in);
    m->hop_us = ln_saved_int(&m->in);
    m->offset_us = ln_saved_int(&m->in);
    m->slice_us = ln_saved_int(&m->in);
    gap_us = ln_saved_int(&m->in);
    max_us = ln_saved_int(&m->in);
    merging = ln_saved_uint(&m->in);
    panes = ln_saved_uint(&m->in);
    (void)ln_saved_uint(&m->in); /* at_watermark may change */
    m->stateful = ln_saved_uint(&m->in) != 0;
    m->rare = ln_saved_uint(&m->in) != 0;
    m->sliced = m->slice_us > 0;
    if (m->in.bad || window != (uint64_t)p->window || time_kind != (uint64_t)p->time_kind) return ln_image_bad(m);
    if (m->size_us != p->size_us || m->hop_us != p->hop_us || m->offset_us != p->offset_us) return ln_image_bad(m);
    if (gap_us != p->gap_us || max_us != p->max_us || merging != (uint64_t)p->merging || panes != (uint64_t)p->panes)
        return ln_image_bad(m);
    if (e->sliced && m->slice_us != p->slice_us) return ln_image_bad(m);
    err = read_aggregates(e, m);
    if (!err) err = read_trigger(m, &m->early);
    if (!err) err = read_trigger(m, &m->late);
    if (err) return err;
    match_roots(&m->early, &p->early, m->early_same);
    match_roots(&m->late, &p->late, m->late_same);
    return LN_OK;
}

static int read_clock(ln_engine *e, ln_image *m) {
    e->now_us = ln_saved_int(&m->in);
    e->clock_us = ln_saved_int(&m->in);
    e->set_us = ln_saved_int(&m->in);
    e->rows.clock_now_us = ln_saved_int(&m->in);
    e->arrivals = ln_saved_uint(&m->in);
    e->ages = ln_saved_uint(&m->in);
    return ln_image_state(m);
}

static int read_account(ln_engine *e, ln_image *m) {
    ln_stats *s = &e->stats;
    uint64_t rejected = 0;
    s->read = ln_saved_uint(&m->in);
    s->aggregated = ln_saved_uint(&m->in);
    s->filtered = ln_saved_uint(&m->in);
    for (int i = 0; i < LN_REASONS; i++) rejected += s->rejected[i] = ln_saved_uint(&m->in);
    for (int i = 0; i < 3; i++) s->panes[i] = ln_saved_uint(&m->in);
    s->withdrawals = ln_saved_uint(&m->in);
    s->refusals_late = ln_saved_uint(&m->in);
    s->distinct_over = ln_saved_uint(&m->in);
    s->distinct_refused = ln_saved_uint(&m->in);
    s->windows_opened = ln_saved_uint(&m->in);
    e->tally.skipped = ln_saved_uint(&m->in);
    return s->read == s->aggregated + s->filtered + rejected ? ln_image_state(m) : ln_image_bad(m);
}

static int read_source(ln_engine *e, ln_image *m, int active) {
    ln_watermark *w = &e->watermark;
    size_t len;
    const uint8_t *name = ln_saved_bytes(&m->in, &len);
    int64_t promise_us = ln_saved_int(&m->in), heard_us = ln_saved_int(&m->in);
    if (m->in.bad || len > UINT32_MAX || ln_watermark_find(w, name, (uint32_t)len)) return ln_image_bad(m);
    if (promise_us > w->high_us || (active && w->newest && w->newest->heard_us > heard_us)) return ln_image_bad(m);
    return ln_watermark_restore(w, name, (uint32_t)len, promise_us, heard_us, active) ? LN_OK : LN_ENOMEM;
}

static int read_watermark(ln_engine *e, ln_image *m) {
    ln_watermark *w = &e->watermark;
    uint64_t heard, active, idle;
    int err = LN_OK;
    w->apart_us = ln_saved_int(&m->in);
    w->now_us = ln_saved_int(&m->in);
    w->high_us = ln_saved_int(&m->in);
    w->heard_us = ln_saved_int(&m->in);
    heard = ln_saved_uint(&m->in);
    active = ln_image_count(m);
    if (w->now_us < e->now_us) return ln_image_bad(m);
    for (; active && !err; active--) err = read_source(e, m, 1);
    idle = ln_image_count(m);
    for (; idle && !err; idle--) err = read_source(e, m, 0);
    w->heard = heard;
    return err ? err : ln_image_state(m);
}

static int read_keys(ln_engine *e, ln_image *m) {
    uint64_t hand = ln_saved_uint(&m->in), count = ln_image_count(m), least = 0;
    if (hand > KEYS_MAX) return ln_image_bad(m);
    for (; count; count--) {
        uint64_t id = ln_saved_uint(&m->in);
        size_t len;
        const uint8_t *bytes = ln_saved_bytes(&m->in, &len);
        if (m->in.bad || id < least || id >= KEYS_MAX || !len || len > INT32_MAX) return ln_image_bad(m);
        if (ln_keys_find(&e->keys, ln_keys_hash(&e->keys, bytes, len), bytes, len) != LN_KEY_NONE)
            return ln_image_bad(m);
        if (ln_keys_restore(&e->keys, (uint32_t)id, bytes, len) < 0) return LN_ENOMEM;
        least = id + 1;
    }
    e->keys.hand = (uint32_t)hand;
    return ln_image_state(m);
}

ln_key *ln_image_key(ln_engine *e, ln_image *m) {
    uint64_t id = ln_saved_uint(&m->in);
    if (!m->in.bad && id < e->keys.slab.chunks * LN_SLAB_CHUNK && ln_slab_holds(&e->keys.slab, (uint32_t)id))
        return ln_keys_at(&e->keys, (uint32_t)id);
    m->in.bad = 1;
    return NULL;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static int read_all(ln_engine *e, ln_image *m) {
    int err;
    if (ln_saved_word(&m->in) != LN_IMAGE_MARK || ln_saved_uint(&m->in) != LN_IMAGE_VERSION) return ln_image_bad(m);
    err = read_outline(e, m);
    if (!err) err = read_clock(e, m);
    if (!err) err = read_account(e, m);
    if (!err) err = read_watermark(e, m);
    if (!err) err = read_keys(e, m);
    if (!err) err = m->sliced ? ln_image_rows(e, m) : ln_image_cells(e, m);
    if (!err) err = ln_ids_restore(&e->handles, &e->mem, m->handle, m->handles) < 0 ? ln_image_bad(m) : LN_OK;
    if (err) return err;
    return ln_saved_word(&m->in) == LN_IMAGE_MARK && !ln_saved_left(&m->in) ? ln_image_state(m) : ln_image_bad(m);
}

int ln_engine_load(ln_engine *e, const uint8_t *bytes, size_t len) {
    ln_image m = {.in = {bytes, bytes + len, 0}};
    int err = read_all(e, &m);
    if (m.to) ln_mem_free(&e->rows.mem, m.to, (m.aggregates + 1) * sizeof *m.to);
    if (m.is_fold) ln_mem_free(&e->rows.mem, m.is_fold, m.aggregates + 1);
    ln_mem_free(&e->rows.mem, m.handle, m.handle_cap * sizeof *m.handle);
    ln_mem_free(&e->rows.mem, m.slot, m.slot_cap * sizeof *m.slot);
    if (err) {
        (void)ln_engine_fail(e, err, "a state that was saved");
        return err;
    }
    /* What a shorter lateness leaves behind expires at once. */
    ln_advance_begin(e, e->now_us);
    e->phase = LN_PHASE_MOVING;
    e->next = LN_PHASE_NONE;
    return LN_OK;
}
