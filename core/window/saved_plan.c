/* The plan of an engine that was saved. */
#include "window/saved_plan.h"

#include <string.h>

static const char MAGIC[3] = {'L', 'N', 'S'};

/* ---- written ---------------------------------------------------------------------------------------------------- */

static void write_trigger(const ln_trigger *t, ln_buf *out) {
    ln_save_uint(out, t->count);
    for (uint32_t i = 0; i < t->count; i++) {
        ln_buf_byte(out, t->node[i].kind);
        ln_save_uint(out, t->node[i].children);
        ln_save_int(out, t->node[i].n);
        ln_buf_byte(out, t->node[i].step_slot);
    }
}

static int is_declared(const ln_aggregate *a) { return a->kind == LN_FOLD && a->n > 0; }

/* What must be the same for windows to mean the same. */
static void write_windows(const ln_plan *p, ln_buf *out) {
    ln_save_uint(out, (uint64_t)p->window);
    ln_save_uint(out, (uint64_t)p->merging);
    ln_save_uint(out, (uint64_t)p->time_kind);
    ln_save_uint(out, (uint64_t)p->panes);
    ln_save_int(out, p->size_us);
    ln_save_int(out, p->hop_us);
    ln_save_int(out, p->offset_us);
    ln_save_int(out, p->gap_us);
    ln_save_int(out, p->max_us);
}

/* Of the slices the one with the most rows. */
static uint32_t most_rows(const ln_engine *e) {
    uint32_t most = 0;
    for (uint32_t i = 0; e->sliced && i < e->grid.slices.count; i++) {
        uint32_t rows = ln_grid_slice(&e->grid, i)->column.rows;
        if (rows > most) most = rows;
    }
    return most;
}

void ln_saved_plan_write(const ln_engine *e, ln_buf *out) {
    const ln_plan *p = &e->plan;
    ln_buf_append(out, MAGIC, sizeof MAGIC);
    ln_buf_byte(out, LN_SAVED_VERSION);
    write_windows(p, out);
    ln_buf_byte(out, (uint8_t)(e->sliced | e->grid.hopping << 1 | e->stateful << 2 | (e->folds != 0) << 3 | e->by << 4 |
                               e->rare << 5 | p->at_watermark << 6 | (p->staged != 0) << 7));
    ln_buf_byte(out, (uint8_t)e->grid.headed);
    ln_save_int(out, p->slice_us);
    ln_save_int(out, e->completing.wheel_shift);
    ln_save_int(out, e->expiring.wheel_shift);
    ln_save_uint(out, p->limits.state_bytes);
    ln_save_uint(out, ln_keys_count(&e->keys));
    ln_save_uint(out, most_rows(e));
    ln_save_uint(out, p->aggregates);
    for (uint32_t i = 0; i < p->aggregates; i++) {
        const ln_aggregate *a = &p->aggregate[i];
        ln_save_bytes(out, a->name, a->name_len);
        ln_save_uint(out, (uint64_t)a->kind);
        ln_save_uint(out, (uint64_t)a->has_by);
        ln_buf_byte(out, (uint8_t)is_declared(a));
    }
    write_trigger(&p->early, out);
    write_trigger(&p->late, out);
}

/* ---- read ------------------------------------------------------------------------------------------------------- */

static int reads_same(ln_saved *s, uint64_t n) { return ln_saved_uint(s) == n; }
static int reads_same_int(ln_saved *s, int64_t i) { return ln_saved_int(s) == i; }

/* What is different of the windows, or NULL. */
static const char *compare_windows(const ln_plan *p, ln_saved *s) {
    const char *wrong = NULL;
    if (!reads_same(s, (uint64_t)p->window)) wrong = "windows of another kind";
    if (!reads_same(s, (uint64_t)p->merging)) wrong = "windows that merge and others that do not";
    if (!reads_same(s, (uint64_t)p->time_kind)) wrong = "another kind of time";
    if (!reads_same(s, (uint64_t)p->panes)) wrong = "another kind of panes";
    if (!reads_same_int(s, p->size_us)) wrong = "windows of another size";
    if (!reads_same_int(s, p->hop_us)) wrong = "windows with another hop";
    if (!reads_same_int(s, p->offset_us)) wrong = "windows with another offset";
    if (!reads_same_int(s, p->gap_us)) wrong = "windows with another gap";
    if (!reads_same_int(s, p->max_us)) wrong = "windows with another maximum";
    return wrong;
}

static void read_trigger(ln_saved *s, ln_trigger *t) {
    uint64_t count = ln_saved_uint(s);
    if (count > LN_TRIGGER_NODES) s->bad = 1;
    for (uint32_t i = 0; i < count && !s->bad; i++) {
        const uint8_t *kind = ln_saved_run(s, 1), *slot;
        t->node[i].children = ln_saved_uint(s);
        t->node[i].n = ln_saved_int(s);
        slot = ln_saved_run(s, 1);
        if (!kind || !slot || *kind > LN_ONCE || *slot >= LN_TRIGGER_SEQUENCES || t->node[i].children >> i)
            s->bad = 1; /* children come before their parent */
        if (s->bad) return;
        t->node[i].kind = *kind;
        t->node[i].step_slot = *slot;
        t->count = i + 1;
    }
}

/* Matches two nodes of one place, and their parts: from the roots down, since children have lower numbers. */
static void match_trigger(ln_saved_trigger *from, const ln_trigger *to) {
    const ln_trigger *t = &from->trigger;
    memset(from->to, LN_SAVED_NONE, sizeof from->to);
    if (!t->count || !to->count || t->node[t->count - 1].kind != to->node[to->count - 1].kind) return;
    from->to[t->count - 1] = (uint8_t)(to->count - 1);
    for (uint32_t i = t->count; i-- > 0;) {
        uint64_t a = t->node[i].children, b = from->to[i] == LN_SAVED_NONE ? 0 : to->node[from->to[i]].children;
        for (; a && b; a &= a - 1, b &= b - 1) {
            int x = __builtin_ctzll(a), y = __builtin_ctzll(b);
            if (t->node[x].kind == to->node[y].kind) from->to[x] = (uint8_t)y;
        }
    }
}

static int is_same_trigger(const ln_trigger *a, const ln_trigger *b) {
    if (a->count != b->count) return 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->node[i].kind != b->node[i].kind || a->node[i].children != b->node[i].children ||
            a->node[i].n != b->node[i].n)
            return 0;
    return 1;
}

/* The aggregate of that name in the plan; -1 where there is none. */
static int64_t find_aggregate(const ln_plan *p, const uint8_t *name, size_t len) {
    for (uint32_t i = 0; i < p->aggregates; i++)
        if (p->aggregate[i].name_len == len && memcmp(p->aggregate[i].name, name, len) == 0) return i;
    return -1;
}

static const char *read_aggregate(const ln_plan *plan, ln_saved *s, ln_saved_aggregate *a) {
    size_t len;
    const uint8_t *name = ln_saved_bytes(s, &len), *declared;
    uint64_t kind = ln_saved_uint(s), by = ln_saved_uint(s);
    int64_t to;
    declared = ln_saved_run(s, 1);
    if (!name || !declared || kind >= LN_AGGREGATE_KINDS) return "bytes that are broken";
    to = find_aggregate(plan, name, len);
    if (to < 0) return "an aggregate that the plan does not have";
    *a = (ln_saved_aggregate){.kind = (int)kind, .to = (uint32_t)to, .declared = *declared};
    if (plan->aggregate[to].kind != (int)kind || (plan->aggregate[to].has_by != 0) != (by != 0) ||
        is_declared(&plan->aggregate[to]) != *declared)
        return "an aggregate of another kind";
    return NULL;
}

static const char *read_aggregates(ln_engine *e, ln_saved *s, ln_saved_plan *p, int *err) {
    uint64_t count = ln_saved_uint(s);
    const char *wrong = NULL;
    if (s->bad || count > e->plan.aggregates) return "an aggregate that the plan does not have";
    p->aggregate = ln_mem_zero(&e->rows.mem, ((size_t)count + 1) * sizeof *p->aggregate);
    if (!p->aggregate) {
        *err = LN_ENOMEM;
        return "short memory";
    }
    p->aggregates = (uint32_t)count;
    for (uint32_t i = 0; i < count && !wrong; i++) wrong = read_aggregate(&e->plan, s, &p->aggregate[i]);
    return wrong;
}

static void read_flags(ln_saved *s, ln_saved_plan *p) {
    const uint8_t *flags = ln_saved_run(s, 2);
    uint8_t f = flags ? *flags : 0;
    p->sliced = f & 1;
    p->hopping = f >> 1 & 1;
    p->stateful = f >> 2 & 1;
    p->folds = f >> 3 & 1;
    p->by = f >> 4 & 1;
    p->rare = f >> 5 & 1;
    p->at_watermark = f >> 6 & 1;
    p->staged = f >> 7 & 1;
    p->headed = flags && flags[1];
    p->slice_us = ln_saved_int(s);
    p->completing_shift = (int)ln_saved_int(s);
    p->expiring_shift = (int)ln_saved_int(s);
    p->state_bytes = ln_saved_uint(s);
    p->keys = ln_saved_uint(s);
    p->rows = ln_saved_uint(s);
}

int ln_saved_plan_read(ln_engine *e, const uint8_t *bytes, size_t len, ln_saved_plan *p, const char **why) {
    ln_saved s = {bytes, bytes + len, 0};
    const uint8_t *magic = ln_saved_run(&s, sizeof MAGIC), *version = ln_saved_run(&s, 1);
    int err = LN_EINVALID;
    *p = (ln_saved_plan){0};
    if (!version || memcmp(magic, MAGIC, sizeof MAGIC) != 0) *why = "bytes that are no saved plan";
    else if (*version > LN_SAVED_VERSION) *why = "a newer format: run a newer version";
    else *why = compare_windows(&e->plan, &s);
    if (*why) return err;
    read_flags(&s, p);
    if (s.bad ||
        (p->sliced && (e->plan.window != LN_WINDOW_GRID || p->slice_us <= 0 || e->plan.size_us % p->slice_us ||
                       e->plan.hop_us % p->slice_us)) ||
        (p->headed && (!p->sliced || p->hopping))) {
        *why = "bytes that are broken";
        return err;
    }
    *why = read_aggregates(e, &s, p, &err);
    if (!*why) {
        read_trigger(&s, &p->early.trigger);
        read_trigger(&s, &p->late.trigger);
        if (s.bad || ln_saved_left(&s)) *why = "bytes that are broken";
    }
    if (*why) {
        ln_saved_plan_free(e, p);
        return err;
    }
    match_trigger(&p->early, &e->plan.early);
    match_trigger(&p->late, &e->plan.late);
    p->same_triggers =
        is_same_trigger(&p->early.trigger, &e->plan.early) && is_same_trigger(&p->late.trigger, &e->plan.late);
    return LN_OK;
}

void ln_saved_plan_free(ln_engine *e, ln_saved_plan *p) {
    ln_mem_free(&e->rows.mem, p->aggregate, ((size_t)p->aggregates + 1) * sizeof *p->aggregate);
    *p = (ln_saved_plan){0};
}
