/* Saves an engine entry by entry, in rounds. What a round has to save as it was at its cut, and what is about to
 * change, is saved at once into a queue, which is handed out before all else. */
#include "base/assert.h"
#include "window/checked.h"
#include "window/saving.h"

int ln_engine_save(ln_engine *e, int mode) {
    ln_saving *s;
    if (e->failed) return LN_ECLOSED;
    ln_engine_save_end(e);
    s = ln_mem_zero(&e->rows.mem, sizeof *s);
    if (!s) return LN_ENOMEM;
    ln_buf_init(&s->entry, &e->rows.mem);
    ln_buf_init(&s->one, &e->rows.mem);
    ln_buf_init(&s->slots, &e->rows.mem);
    ln_buf_init(&s->handles, &e->rows.mem);
    ln_buf_init(&s->queue, &e->rows.mem);
    s->extent_next = e->graves.gone;
    s->extent_until = e->graves.gone + e->graves.count;
    s->extent_gone = s->gone_at_cut = e->graves.gone;
    s->cut = mode == LN_SAVE_CUT;
    e->saving = s;
    ln_keys_track(&e->keys, &e->rows.mem, 1);
    if (s->cut) {
        e->keys.changes.save = ln_save_before;
        e->keys.changes.ctx = e;
    }
    return LN_OK;
}

void ln_engine_save_end(ln_engine *e) {
    ln_saving *s = e->saving;
    if (!s) return;
    ln_keys_track(&e->keys, &e->rows.mem, 0);
    ln_buf_free(&s->entry);
    ln_buf_free(&s->one);
    ln_buf_free(&s->slots);
    ln_buf_free(&s->handles);
    ln_buf_free(&s->queue);
    ln_mem_free(&e->rows.mem, s, sizeof *s);
    e->saving = NULL;
}

/* ---- what must be saved before it changes ----------------------------------------------------------------------- */

typedef struct queued {
    int kind;
    uint64_t number;
    size_t len;
} queued;

static size_t begin_queued(ln_saving *s) {
    static const queued none;
    size_t at = s->queue.len;
    ln_buf_append(&s->queue, &none, sizeof none);
    return at;
}

static void end_queued(ln_saving *s, size_t at, int kind, uint64_t number) {
    queued q = {kind, number, 0};
    ln_check(&s->queue, at + sizeof q);
    q.len = s->queue.len - at - sizeof q;
    if (!s->queue.failed) memcpy(s->queue.data + at, &q, sizeof q);
}

void ln_save_before(void *ctx, uint32_t id) {
    ln_engine *e = ctx;
    size_t at = begin_queued(e->saving);
    ln_save_key(e, id, &e->saving->queue);
    end_queued(e->saving, at, LN_ENTRY_KEY, id);
}

void ln_save_grave_before(ln_engine *e, const ln_grave *grave) {
    ln_saving *s = e->saving;
    size_t at;
    if (!s->cut || e->graves.gone < s->extent_next || e->graves.gone >= s->extent_until) return;
    at = begin_queued(s);
    ln_save_extent(e, grave, &s->queue);
    end_queued(s, at, LN_ENTRY_EXTENT, e->graves.gone);
}

static int next_queued(ln_saving *s, ln_entry *out) {
    queued q;
    if (s->queue_at >= s->queue.len) {
        s->queue_at = 0;
        ln_buf_clear(&s->queue);
        return 0;
    }
    memcpy(&q, s->queue.data + s->queue_at, sizeof q);
    *out =
        (ln_entry){.kind = q.kind, .number = q.number, .bytes = s->queue.data + s->queue_at + sizeof q, .len = q.len};
    s->queue_at += sizeof q + q.len;
    return 1;
}

/* ---- the entries of a round ------------------------------------------------------------------------------------- */

static void begin_entry(ln_saving *s) {
    ln_buf_clear(&s->entry);
    ln_buf_clear(&s->slots);
    ln_buf_clear(&s->handles);
}

static int end_entry(ln_saving *s, int kind, uint64_t number, ln_entry *out) {
    ln_check(&s->entry, 0);
    *out = (ln_entry){
        .kind = kind,
        .number = number,
        .bytes = s->entry.data,
        .len = s->entry.len,
        .slots = (const uint32_t *)(const void *)s->slots.data,
        .slots_count = (uint32_t)(s->slots.len / sizeof(uint32_t)),
        .handles = (const uint32_t *)(const void *)s->handles.data,
        .handles_count = (uint32_t)(s->handles.len / sizeof(uint32_t)),
    };
    return s->entry.failed || s->one.failed || s->slots.failed || s->handles.failed ? LN_ENOMEM : LN_OK;
}

/* The next number whose key had gone at the cut: before all keys, of which one may have come to it since. */
static int next_gone(ln_engine *e, ln_entry *out) {
    ln_changes *c = &e->keys.changes;
    ln_saving *s = e->saving;
    if (s->gone_at < c->old_gone.count) {
        *out = (ln_entry){.kind = LN_ENTRY_KEY, .number = c->old_gone.id[s->gone_at++]};
        return 1;
    }
    c->old_gone.count = 0;
    s->gone_at = 0;
    return 0;
}

/* The next key of the walk over all, or of those that had changed; LN_KEY_NONE where there is none. */
static uint32_t next_key(ln_engine *e) {
    ln_changes *c = &e->keys.changes;
    ln_saving *s = e->saving;
    while (c->walk != LN_KEY_NONE) {
        uint32_t id = ln_keys_next(&e->keys, c->walk);
        c->walk = id == LN_KEY_NONE ? LN_KEY_NONE : id + 1;
        if (id != LN_KEY_NONE && !(ln_keys_at(&e->keys, id)->changed & c->now)) return id;
    }
    while (s->old_at < c->old.count) {
        uint32_t id = c->old.id[s->old_at++];
        ln_key *key;
        if (!ln_slab_holds(&e->keys.slab, id)) continue; /* gone: before the cut, or after it and saved before that */
        key = ln_keys_at(&e->keys, id);
        if (!(key->changed & c->before)) continue; /* saved before it changed, or another one */
        key->changed &= ~c->before & 3;
        return id;
    }
    c->old.count = 0;
    s->old_at = 0;
    return LN_KEY_NONE;
}

static int next_extent(ln_engine *e, ln_entry *out) {
    ln_saving *s = e->saving;
    ln_graves *g = &e->graves;
    uint64_t number;
    if (s->extent_next < g->gone) s->extent_next = g->gone; /* they were saved before they went, where it matters */
    if (s->extent_next >= s->extent_until) {
        *out = (ln_entry){.kind = LN_ENTRY_NONE};
        return LN_OK;
    }
    number = s->extent_next++;
    begin_entry(s);
    ln_save_extent(e, &g->item[(g->first + (size_t)(number - g->gone)) % g->cap], &s->entry);
    return end_entry(s, LN_ENTRY_EXTENT, number, out);
}

int ln_engine_save_next(ln_engine *e, ln_entry *out) {
    ln_saving *s = e->saving;
    uint32_t id;
    if (e->keys.changes.lost || s->queue.failed) return LN_ENOMEM;
    if (next_gone(e, out)) return LN_OK;
    if (next_queued(s, out)) return LN_OK;
    if (s->extent_gone < s->gone_at_cut) {
        s->extent_gone = s->gone_at_cut;
        *out = (ln_entry){.kind = LN_ENTRY_EXTENT, .number = s->gone_at_cut - 1};
        return LN_OK;
    }
    id = next_key(e);
    if (id == LN_KEY_NONE) return next_extent(e, out);
    begin_entry(s);
    ln_save_key(e, id, &s->entry);
    return end_entry(s, LN_ENTRY_KEY, id, out);
}

int ln_engine_save_cut(ln_engine *e) {
    ln_saving *s = e->saving;
    LN_ASSERT(e->phase == LN_PHASE_NONE);
    if (e->failed) return LN_ECLOSED;
    if (e->keys.changes.lost || s->queue.failed) return LN_ENOMEM;
    LN_ASSERT(s->queue_at == s->queue.len && e->keys.changes.walk == LN_KEY_NONE);
    ln_keys_cut(&e->keys);
    s->gone_at_cut = e->graves.gone;
    s->extent_until = e->graves.gone + e->graves.count;
    return LN_OK;
}

size_t ln_engine_save_changed(const ln_engine *e) {
    const ln_saving *s = e->saving;
    return e->keys.changes.fresh.count + (size_t)(e->graves.gone + e->graves.count - s->extent_until);
}

int ln_engine_save_plan(ln_engine *e, ln_entry *out) {
    begin_entry(e->saving);
    ln_saved_plan_write(e, &e->saving->entry);
    return end_entry(e->saving, LN_ENTRY_PLAN, 0, out);
}

int ln_engine_save_rest(ln_engine *e, ln_entry *out) {
    LN_ASSERT(e->phase == LN_PHASE_NONE);
    begin_entry(e->saving);
    ln_save_rest(e, &e->saving->entry);
    return end_entry(e->saving, LN_ENTRY_REST, 0, out);
}

size_t ln_engine_cells(const ln_engine *e) { return e->cells; }
