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
    ln_heap_init(&w->promises, mem, offsetof(ln_source, at));
}

void ln_watermark_free(ln_watermark *w) {
    for (size_t i = 0; i < w->slots; i++)
        if (w->table[i]) ln_mem_free(w->mem, w->table[i], sizeof(ln_source) + w->table[i]->len);
    ln_mem_free(w->mem, w->table, w->slots * sizeof(ln_source *));
    ln_heap_free(&w->promises);
    w->table = NULL;
    w->recent = w->oldest = w->newest = NULL;
    w->slots = w->count = 0;
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
    if (ln_heap_reserve(&w->promises, w->count + 1) < 0) return NULL;
    s = ln_mem_zero(w->mem, sizeof *s + len);
    if (!s) return NULL;
    s->promise_us = s->heard_us = LN_PAST;
    s->hash = XXH3_64bits_withSeed(name, len, w->seed);
    s->len = len;
    if (len) memcpy(s->name, name, len);
    w->recent = s;
    place(w->table, w->slots, s);
    w->count++;
    w->heard++;
    return s;
}

/* Takes a source out of the table, and moves up those behind it that would no longer be found. */
static void displace(ln_watermark *w, const ln_source *s) {
    size_t mask = w->slots - 1, hole = s->hash & mask;
    while (w->table[hole] != s) hole = (hole + 1) & mask;
    for (size_t i = (hole + 1) & mask; w->table[i]; i = (i + 1) & mask) {
        size_t from_home = (i - w->table[i]->hash) & mask, from_hole = (i - hole) & mask;
        if (from_home < from_hole) continue;
        w->table[hole] = w->table[i];
        hole = i;
    }
    w->table[hole] = NULL;
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
    ln_heap_remove(&w->promises, s->at);
    unlink_source(w, s);
    s->active = 0;
}

void ln_watermark_remove(ln_watermark *w, ln_source *s) {
    if (s->active) retire(w, s);
    displace(w, s);
    if (w->recent == s) w->recent = NULL;
    w->count--;
    ln_mem_free(w->mem, s, sizeof *s + s->len);
}

void ln_watermark_restore(ln_watermark *w, ln_source *s, int64_t promise_us, int64_t heard_us, int active) {
    s->promise_us = promise_us;
    s->heard_us = heard_us;
    s->active = active;
    if (!active) return;
    (void)ln_heap_add(&w->promises, promise_us, 0, s); /* never fails: room was made when the source was added */
    link_newest(w, s);
}

void ln_watermark_forget(ln_watermark *w) {
    for (size_t i = 0; i < w->slots; i++) {
        ln_source *s = w->table[i];
        if (!s) continue;
        if (s->active) retire(w, s);
        ln_mem_free(w->mem, s, sizeof *s + s->len);
        w->table[i] = NULL;
    }
    w->recent = NULL;
    w->count = 0;
    w->heard = 0;
}

/* ---- W ---------------------------------------------------------------------------------------------------------- */

static void retire_silent(ln_watermark *w, int64_t clock_us) {
    if (w->idle_us < 0 || clock_us == LN_PAST) return;
    while (w->oldest && ln_time_add(w->oldest->heard_us, w->idle_us) <= clock_us) {
        if (w->on_idle) w->on_idle(w->on_idle_ctx, w->oldest);
        retire(w, w->oldest);
    }
}

static int64_t advance(ln_watermark *w, int64_t clock_us) {
    int64_t to = LN_PAST;
    retire_silent(w, clock_us);
    if (w->heard < w->sources_min) return w->now_us;
    if (w->promises.count) to = ln_heap_least(&w->promises);
    else if (w->advance_on_idle && w->high_us > LN_PAST && w->heard_us > LN_PAST)
        to = ln_time_clamp((__int128)w->high_us + clock_us - w->heard_us);
    if (to > w->now_us) w->now_us = to;
    return w->now_us;
}

void ln_watermark_unheard(ln_watermark *w, int64_t by_us) { w->apart_us = ln_time_add(w->apart_us, by_us); }

int64_t ln_watermark_record(ln_watermark *w, ln_source *s, int64_t t_us, int64_t mark_us, int64_t clock_us) {
    int64_t promise_us = w->delay_us == LN_FUTURE ? LN_PAST : ln_time_sub(t_us, w->delay_us);
    if (mark_us > promise_us) promise_us = mark_us;
    clock_us = ln_time_sub(clock_us, w->apart_us);
    if (promise_us > s->promise_us) s->promise_us = promise_us;
    if (s->promise_us > w->high_us) w->high_us = s->promise_us;
    s->heard_us = clock_us;
    if (clock_us > w->heard_us) w->heard_us = clock_us;
    if (!s->active) {
        s->active = 1;
        (void)ln_heap_add(&w->promises, s->promise_us, 0, s); /* never fails: room was made when the source was added */
        link_newest(w, s);
    } else {
        if (w->promises.entry[s->at].key != s->promise_us) ln_heap_move(&w->promises, s->at, s->promise_us);
        if (w->newest != s) {
            unlink_source(w, s);
            link_newest(w, s);
        }
    }
    return advance(w, clock_us);
}

int64_t ln_watermark_clock(ln_watermark *w, int64_t clock_us) { return advance(w, ln_time_sub(clock_us, w->apart_us)); }

const ln_source *ln_watermark_holder(const ln_watermark *w) {
    if (w->heard < w->sources_min || !w->promises.count) return NULL;
    return ln_heap_top(&w->promises);
}

const char *ln_watermark_verify(const ln_watermark *w) {
    size_t listed = 0;
    if (!ln_heap_in_order(&w->promises)) return "the heap of promises is out of order";
    for (const ln_source *s = w->oldest; s; s = s->after, listed++) {
        if (!s->active) return "an idle source is listed as active";
        if (w->promises.entry[s->at].key != s->promise_us) return "a source and the heap differ in its promise";
        if (s->promise_us > w->high_us) return "a promise lies above the highest";
        if (s->after && s->after->heard_us < s->heard_us) return "the list of silence is out of order";
    }
    return listed == w->promises.count ? NULL : "the heap and the list of sources differ";
}
