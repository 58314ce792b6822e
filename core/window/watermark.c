/* The watermark: how far event time has come. */
#include "window/watermark.h"

#include "base/instant.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void ln_watermark_init(ln_watermark *w, const ln_plan *plan, ln_mem *mem) {
    *w = (ln_watermark){
        .mem = mem,
        .delay_us = plan->delay_us,
        .idle_us = plan->idle_us,
        .advance_on_idle = plan->advance_on_idle,
        .sources_min = plan->sources_min,
        .now_us = LN_PAST,
        .high_us = LN_PAST,
        .heard_us = LN_PAST,
        .seed = plan->hash_seed,
    };
}

void ln_watermark_free(ln_watermark *w) {
    for (size_t i = 0; i < w->slots; i++)
        if (w->table[i]) ln_mem_free(w->mem, w->table[i], sizeof(ln_source) + w->table[i]->len);
    ln_mem_free(w->mem, w->table, w->slots * sizeof(ln_source *));
    ln_mem_free(w->mem, w->heap, w->heap_cap * sizeof(ln_source *));
    w->table = w->heap = NULL;
    w->recent = NULL;
    w->slots = w->heap_cap = w->active = w->count = 0;
}

/* ---- the table by name ------------------------------------------------------------------------------------------ */

static void place(ln_source **table, size_t slots, ln_source *s) {
    size_t i = s->hash & (slots - 1);
    while (table[i]) i = (i + 1) & (slots - 1);
    table[i] = s;
}

static int widen(ln_watermark *w) {
    size_t slots = w->slots ? 2 * w->slots : 8;
    ln_source **table = ln_mem_zero(w->mem, slots * sizeof *table);
    if (!table) return -1;
    for (size_t i = 0; i < w->slots; i++)
        if (w->table[i]) place(table, slots, w->table[i]);
    ln_mem_free(w->mem, w->table, w->slots * sizeof *table);
    w->table = table;
    w->slots = slots;
    return 0;
}

static int is_named(const ln_source *s, const uint8_t *name, uint32_t len) {
    return s->len == len && (len == 0 || memcmp(s->name, name, len) == 0);
}

ln_source *ln_watermark_find(ln_watermark *w, const uint8_t *name, uint32_t len) {
    uint64_t hash;
    if (w->recent && is_named(w->recent, name, len)) return w->recent;
    if (!w->slots) return NULL;
    hash = XXH3_64bits_withSeed(name, len, w->seed);
    for (size_t i = hash & (w->slots - 1); w->table[i]; i = (i + 1) & (w->slots - 1)) {
        ln_source *s = w->table[i];
        if (s->hash == hash && is_named(s, name, len)) return w->recent = s;
    }
    return NULL;
}

ln_source *ln_watermark_add(ln_watermark *w, const uint8_t *name, uint32_t len) {
    ln_source *s;
    if (2 * (w->count + 1) > w->slots && widen(w) < 0) return NULL;
    if (ln_mem_grow(w->mem, &w->heap, &w->heap_cap, w->count + 1, sizeof(ln_source *)) < 0) return NULL;
    s = ln_mem_zero(w->mem, sizeof *s + len);
    if (!s) return NULL;
    s->promise_us = s->heard_us = LN_PAST;
    s->at = SIZE_MAX;
    s->hash = XXH3_64bits_withSeed(name, len, w->seed);
    s->len = len;
    if (len) memcpy(s->name, name, len);
    w->recent = s;
    place(w->table, w->slots, s);
    w->count++;
    return s;
}

/* ---- the heap by promise ---------------------------------------------------------------------------------------- */

static void put(ln_watermark *w, size_t at, ln_source *s) {
    w->heap[at] = s;
    s->at = at;
}

static void sift_up(ln_watermark *w, size_t at, ln_source *s) {
    for (; at > 0 && w->heap[(at - 1) / 2]->promise_us > s->promise_us; at = (at - 1) / 2)
        put(w, at, w->heap[(at - 1) / 2]);
    put(w, at, s);
}

static void sift_down(ln_watermark *w, size_t at, ln_source *s) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= w->active) break;
        if (child + 1 < w->active && w->heap[child + 1]->promise_us < w->heap[child]->promise_us) child++;
        if (w->heap[child]->promise_us >= s->promise_us) break;
        put(w, at, w->heap[child]);
        at = child;
    }
    put(w, at, s);
}

/* ---- the list by silence ---------------------------------------------------------------------------------------- */

static void unlink_source(ln_watermark *w, ln_source *s) {
    *(s->before ? &s->before->after : &w->oldest) = s->after;
    *(s->after ? &s->after->before : &w->newest) = s->before;
    s->before = s->after = NULL;
}

static void link_newest(ln_watermark *w, ln_source *s) {
    s->before = w->newest;
    *(w->newest ? &w->newest->after : &w->oldest) = s;
    w->newest = s;
}

static void retire(ln_watermark *w, ln_source *s) {
    ln_source *last = w->heap[--w->active];
    size_t at = s->at;
    unlink_source(w, s);
    s->at = SIZE_MAX;
    if (last == s) return;
    if (at > 0 && w->heap[(at - 1) / 2]->promise_us > last->promise_us) sift_up(w, at, last);
    else sift_down(w, at, last);
}

/* ---- W ---------------------------------------------------------------------------------------------------------- */

static void retire_silent(ln_watermark *w, int64_t clock_us) {
    if (w->idle_us < 0 || clock_us == LN_PAST) return;
    while (w->oldest && ln_time_add(w->oldest->heard_us, w->idle_us) <= clock_us) retire(w, w->oldest);
}

static int64_t advance(ln_watermark *w, int64_t clock_us) {
    int64_t to = LN_PAST;
    retire_silent(w, clock_us);
    if (w->count < w->sources_min) return w->now_us;
    if (w->active) to = w->heap[0]->promise_us;
    else if (w->advance_on_idle && w->high_us > LN_PAST && w->heard_us > LN_PAST)
        to = ln_time_add(w->high_us, clock_us - w->heard_us);
    if (to > w->now_us) w->now_us = to;
    return w->now_us;
}

int64_t ln_watermark_record(ln_watermark *w, ln_source *s, int64_t t_us, int64_t mark_us, int64_t clock_us) {
    int64_t promise_us = w->delay_us == LN_FUTURE ? LN_PAST : ln_time_sub(t_us, w->delay_us);
    if (mark_us > promise_us) promise_us = mark_us;
    if (promise_us > s->promise_us) s->promise_us = promise_us;
    if (s->promise_us > w->high_us) w->high_us = s->promise_us;
    s->heard_us = clock_us;
    if (clock_us > w->heard_us) w->heard_us = clock_us;
    if (s->at == SIZE_MAX) {
        sift_up(w, w->active++, s);
        link_newest(w, s);
    } else if (w->active > 1) {
        sift_down(w, s->at, s);
        unlink_source(w, s);
        link_newest(w, s);
    }
    return advance(w, clock_us);
}

int64_t ln_watermark_clock(ln_watermark *w, int64_t clock_us) { return advance(w, clock_us); }

const char *ln_watermark_verify(const ln_watermark *w) {
    size_t listed = 0;
    for (size_t i = 0; i < w->active; i++) {
        if (w->heap[i]->at != i) return "a source is not where it says it is in the heap";
        if (i && w->heap[(i - 1) / 2]->promise_us > w->heap[i]->promise_us) return "the heap of promises is out of order";
        if (w->heap[i]->promise_us > w->high_us) return "a promise lies above the highest";
    }
    for (const ln_source *s = w->oldest; s; s = s->after, listed++) {
        if (s->at == SIZE_MAX) return "an idle source is listed as active";
        if (s->after && s->after->heard_us < s->heard_us) return "the list of silence is out of order";
    }
    return listed == w->active ? NULL : "the heap and the list of sources differ";
}
