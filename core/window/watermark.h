/* The watermark: how far event time has come. Each source promises that nothing older than its promise follows; W is
 * the least promise of the sources that are not idle, and never goes back. A source that is gone for good is idle and
 * forgotten. Reads no clock: every call is told the time.
 *
 * Active sources are held twice: in a heap by promise, whose top is W, and in a list by the clock at which they were
 * last heard, whose head is the next to become idle. */
#ifndef LN_WINDOW_WATERMARK_H
#define LN_WINDOW_WATERMARK_H

#include "base/heap.h"
#include "lunette.h"

typedef struct ln_source {
    int64_t promise_us;
    int64_t heard_us;                 /* clock at its last record */
    struct ln_source *before, *after; /* by heard_us, while active */
    size_t at;                        /* its place in the heap, while active */
    int active;
    uint64_t hash;
    uint32_t len;
    uint8_t name[]; /* canonical msgpack of the source field */
} ln_source;

typedef struct ln_watermark {
    ln_mem *mem;
    int64_t delay_us; /* LN_FUTURE: only marks promise */
    int64_t idle_us;  /* -1: never idle */
    int advance_on_idle;
    uint32_t sources_min;
    int64_t apart_us; /* how far the caller's clock has run ahead without silence: see ln_watermark_unheard */
    int64_t now_us;   /* W, never going back */
    int64_t high_us;  /* the highest promise of all sources */
    int64_t heard_us; /* clock at the last record of any source */
    ln_heap promises;
    ln_source *oldest, *newest; /* of the active ones */
    ln_source *recent;          /* the source found or added last */
    ln_source **table;          /* every source by name */
    size_t slots, count;
    uint64_t heard; /* sources ever, those that are gone included */
    uint64_t seed;
    void (*on_idle)(void *ctx, const ln_source *s); /* told of each that becomes idle; NULL: nobody is */
    void *on_idle_ctx;
} ln_watermark;

void ln_watermark_init(ln_watermark *w, const ln_plan *plan, ln_mem *mem);
void ln_watermark_free(ln_watermark *w);
/* The source of this name; NULL where it has not been heard of. */
ln_source *ln_watermark_find(ln_watermark *w, const uint8_t *name, uint32_t len);
/* A new source, which must not be there; NULL where memory is short. */
ln_source *ln_watermark_add(ln_watermark *w, const uint8_t *name, uint32_t len);
/* The source is gone: nothing of it is left but what it has done to W, and that it was heard. W moves when it is next
 * asked for. */
void ln_watermark_remove(ln_watermark *w, ln_source *s);
/* A source that has just been added stands as it did when it was saved. Those that are active come in the order in
 * which they were last heard. */
void ln_watermark_restore(ln_watermark *w, ln_source *s, int64_t promise_us, int64_t heard_us, int active);
/* No source is known any more; W stays. */
void ln_watermark_forget(ln_watermark *w);
/* The caller's clock is `by_us` ahead of where it would be had only time passed in which sources could be heard: that
 * much is no silence of theirs. May be negative. */
void ln_watermark_unheard(ln_watermark *w, int64_t by_us);
/* A record at t from the source, at the given clock; mark_us is LN_PAST where it carries no mark. Returns W. */
int64_t ln_watermark_record(ln_watermark *w, ln_source *s, int64_t t_us, int64_t mark_us, int64_t clock_us);
/* The clock has moved: sources may have become idle. Returns W. */
int64_t ln_watermark_clock(ln_watermark *w, int64_t clock_us);
/* The source that holds W, or would if W were not ahead of it; NULL where none does. */
const ln_source *ln_watermark_holder(const ln_watermark *w);
/* NULL, or what is wrong with the structure. */
const char *ln_watermark_verify(const ln_watermark *w);

#endif
