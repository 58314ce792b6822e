/* Loads what is neither a key nor an extent: watermark, sources, clock, counters, and what the end of the load
 * needs. */
#include "window/loading.h"

#include <string.h>

static int load_source(ln_watermark *w, ln_saved *s) {
    size_t len;
    const uint8_t *name = ln_saved_bytes(s, &len), *active;
    int64_t promise_us = ln_saved_int(s), heard_us = ln_saved_int(s);
    ln_source *source;
    active = ln_saved_run(s, 1);
    if (s->bad || !active || len > UINT32_MAX || ln_watermark_find(w, name, (uint32_t)len)) return LN_EINVALID;
    if (promise_us > w->high_us || (*active && w->newest && w->newest->heard_us > heard_us)) return LN_EINVALID;
    source = ln_watermark_add(w, name, (uint32_t)len);
    if (!source) return LN_ENOMEM;
    ln_watermark_restore(w, source, promise_us, heard_us, *active == 1);
    return LN_OK;
}

static int load_watermark(ln_watermark *w, ln_saved *s) {
    uint64_t heard, count;
    int err = LN_OK;
    w->now_us = ln_saved_int(s);
    w->high_us = ln_saved_int(s);
    w->heard_us = ln_saved_int(s);
    w->apart_us = ln_saved_int(s);
    heard = ln_saved_uint(s);
    count = ln_saved_uint(s);
    for (uint64_t i = 0; i < count && err == LN_OK; i++) err = load_source(w, s);
    w->heard = heard;
    w->recent = NULL;
    return err;
}

static void load_stats(ln_engine *e, ln_saved *s) {
    ln_stats *t = &e->stats;
    ln_lateness *l = &e->lateness;
    t->read = ln_saved_uint(s);
    t->aggregated = ln_saved_uint(s);
    t->filtered = ln_saved_uint(s);
    for (int i = 0; i < LN_REASONS; i++) t->rejected[i] = ln_saved_uint(s);
    for (int i = 0; i < 3; i++) t->panes[i] = ln_saved_uint(s);
    t->withdrawals = ln_saved_uint(s);
    t->refusals_late = ln_saved_uint(s);
    e->tally.skipped = ln_saved_uint(s);
    for (size_t i = 0; i < sizeof l->records / sizeof *l->records; i++) l->records[i] = ln_saved_uint(s);
    l->sum_us = ln_saved_uint(s);
    t->distinct_over = ln_saved_uint(s);
    t->distinct_refused = ln_saved_uint(s);
    t->windows_opened = ln_saved_uint(s);
}

static int load_vacancies(ln_engine *e, ln_saved *s) {
    ln_loading *l = e->loading;
    uint64_t n = 0;
    l->hand = ln_saved_uint(s);
    l->chunks = ln_saved_uint(s);
    for (int i = 0; i < 3; i++) {
        uint64_t count = ln_saved_uint(s);
        if (count > ln_saved_left(s)) return LN_EINVALID;
        l->chunk_count[i] = (size_t)count;
        n += count;
    }
    if (l->hand > UINT32_MAX || l->chunks > UINT32_MAX / LN_SLAB_CHUNK || n > ln_saved_left(s)) return LN_EINVALID;
    if (ln_mem_grow(&e->rows.mem, &l->chunk, &l->chunk_cap, (size_t)n + 1, sizeof *l->chunk) < 0) return LN_ENOMEM;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t c = ln_saved_uint(s);
        l->chunk[i] = c > UINT32_MAX ? UINT32_MAX : (uint32_t)c;
    }
    return LN_OK;
}

static void load_deadlines(ln_loading *l, int i, ln_saved *s) {
    const uint8_t *wheel = ln_saved_run(s, 1);
    l->has_wheel[i] = wheel && *wheel;
    l->wheel_first[i] = ln_saved_int(s);
    l->filings[i] = (uint32_t)ln_saved_uint(s);
}

static int load_grid(ln_engine *e, ln_saved *s) {
    ln_loading *l = e->loading;
    uint64_t count;
    l->pivot_us = ln_load_wide(s);
    l->folded_us = ln_load_wide(s);
    l->next_us = ln_load_wide(s);
    count = ln_saved_uint(s);
    if (count > ln_saved_left(s)) return LN_EINVALID;
    if (ln_mem_grow(&e->rows.mem, &l->slice, &l->slice_cap, 2 * (size_t)count + 1, sizeof *l->slice) < 0)
        return LN_ENOMEM;
    l->slice_count = (size_t)count;
    for (size_t i = 0; i < l->slice_count; i++) {
        l->slice[2 * i].start_us = ln_saved_int(s);
        l->slice[2 * i].end_us = ln_saved_int(s);
        l->slice[2 * i + 1].start_us = (int64_t)ln_saved_uint(s);
    }
    return LN_OK;
}

int ln_load_rest(ln_engine *e, ln_saved *s) {
    ln_loading *l = e->loading;
    uint64_t ages;
    int err;
    if (l->has_rest) return LN_EINVALID;
    l->has_rest = 1;
    err = load_watermark(&e->watermark, s);
    if (err != LN_OK) return err;
    e->now_us = ln_saved_int(s);
    e->clock_us = ln_saved_int(s);
    e->set_us = ln_saved_int(s);
    e->rows.clock_now_us = ln_saved_int(s);
    ages = ln_saved_uint(s);
    if (ages > e->ages) e->ages = ages; /* where rows became cells they have got ages of their own */
    e->arrivals = ln_saved_uint(s);
    l->extents_gone = ln_saved_uint(s);
    l->extents_count = ln_saved_uint(s);
    load_stats(e, s);
    err = load_vacancies(e, s);
    if (err != LN_OK) return err;
    load_deadlines(l, 0, s);
    load_deadlines(l, 1, s);
    if (l->from.sliced) err = load_grid(e, s);
    if (err != LN_OK) return err;
    return s->bad || ln_saved_left(s) || e->now_us != e->watermark.now_us ? LN_EINVALID : LN_OK;
}
