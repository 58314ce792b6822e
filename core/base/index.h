/* Numbers found by a hash: a table that grows and shrinks a small part at a time. A directory leads from some bits of
 * a hash to a part, which is a table of open addressing for itself; a part that is full becomes two, two that are
 * nearly empty become one. So what one more number costs is bounded by the size of a part, however many there are: a
 * single table that doubled held a step up for 14 ms at a million keys, a part does for 0.06 ms, 0.17 at the longest.
 *
 * A byte of its hash, the tag, may stand beside each number: few of the things that the numbers stand for are looked at
 * then but the one that is sought. That pays where looking at them is dear, as with keys (8 % of the time of tumbling,
 * 9 of sessions), and not where they are near, as with rows of a slice. */
#ifndef LN_BASE_INDEX_H
#define LN_BASE_INDEX_H

#include "base/assert.h"
#include "base/mem.h"

#include <string.h>

#define LN_INDEX_NONE UINT32_MAX
enum {
    LN_INDEX_BITS = 12, /* of a hash, the highest: places in a part that is split when it is full; the directory goes by
                           those that follow */
    LN_INDEX_TAGS = 8   /* looked at by one comparison */
};

/* What the directory knows of a part. Several entries, 2^n in a row, may share one. */
typedef struct ln_index_part {
    uint32_t *slot; /* numbers, from 1 up, 0 where it is empty; then the tags, 0 likewise, and the first LN_INDEX_TAGS
                       of them once more */
    uint32_t mask;  /* slots - 1; slots are a power of two, at most three quarters full */
    uint32_t shift; /* 32 - log2(slots) */
} ln_index_part;

typedef struct ln_index {
    ln_mem *mem;
    ln_index_part *part; /* 2^depth; NULL: there is nothing */
    uint32_t depth;
    uint32_t deepest; /* parts that a single entry leads to */
    size_t count;     /* numbers */
    size_t bytes;     /* of memory */
    const uint32_t *(*word)(const void *ctx, uint32_t number);
    const void *ctx;
    int tagged;
} ln_index;

/* `word` tells where the hash of a number lies that is in it, or, where it is not `tagged`, a word of which
 * ln_index_spread makes the hash: where, so that many can be fetched side by side. */
void ln_index_init(ln_index *x, ln_mem *mem, const uint32_t *(*word)(const void *ctx, uint32_t number), const void *ctx,
                   int tagged);
/* Of words that lie close together, such as the numbers of keys, the highest bits lie further from each other than if
 * they were drawn by chance (5 ns of a record of tumbling). */
static inline uint32_t ln_index_spread(uint32_t word) { return word * 0x9e3779b1u; }
void ln_index_free(ln_index *x);
/* Takes all numbers out and keeps the memory. */
void ln_index_clear(ln_index *x);
/* A number that is not there; 0, or -1 where memory is short. */
int ln_index_add(ln_index *x, uint32_t hash, uint32_t number);
/* A number that is there; its hash is still known. */
void ln_index_remove(ln_index *x, uint32_t hash, uint32_t number);

static inline uint8_t ln_index_tag(uint32_t hash) { return (uint8_t)(hash & 255 ? hash & 255 : 255); }
static inline uint8_t *ln_index_tags(const ln_index_part *p) { return (uint8_t *)(p->slot + p->mask + 1); }
static inline const ln_index_part *ln_index_of(const ln_index *x, uint32_t hash) {
    return &x->part[(uint64_t)(hash << LN_INDEX_BITS) >> (32 - x->depth)];
}
static inline uint32_t ln_index_home(const ln_index_part *p, uint32_t hash) { return hash >> p->shift; }

/* Fetches, ahead of time, what a search without tags will read first. */
static inline void ln_index_prefetch(const ln_index *x, uint32_t hash) {
    const ln_index_part *p;
    if (!x->part) return;
    p = ln_index_of(x, hash);
    __builtin_prefetch(&p->slot[ln_index_home(p, hash)]);
}

/* A search by tags: the numbers that may be the one with this hash come one after the other, then LN_INDEX_NONE. It
 * looks at LN_INDEX_TAGS slots at a time: the processor has one branch to foresee, found or not, where slot by slot it
 * has two or three. */
typedef struct ln_index_search {
    const ln_index_part *part;
    uint64_t tag;          /* in each byte */
    uint64_t found, empty; /* among the slots from `at` on: a bit of the byte of each */
    uint32_t at;
} ln_index_search;

/* The bytes that are zero, each by its highest bit. Behind the first, bytes of 1 may be among them. */
static inline uint64_t ln_index_zeros(uint64_t bytes) {
    const uint64_t each = UINT64_C(0x0101010101010101);
    return (bytes - each) & ~bytes & each << 7;
}

static inline void ln_index_look(ln_index_search *s) {
    uint64_t tags;
    memcpy(&tags, ln_index_tags(s->part) + s->at, sizeof tags);
    s->empty = ln_index_zeros(tags);
    s->found = ln_index_zeros(tags ^ s->tag) & ((s->empty & (0 - s->empty)) - 1); /* before the first that is empty */
}

static inline ln_index_search ln_index_begin(const ln_index *x, uint32_t hash) {
    ln_index_search s = {.empty = 1};
    if (!x->part) return s;
    s.part = ln_index_of(x, hash);
    s.tag = UINT64_C(0x0101010101010101) * ln_index_tag(hash);
    s.at = ln_index_home(s.part, hash);
    ln_index_look(&s);
    return s;
}

static inline uint32_t ln_index_next(ln_index_search *s) {
    for (;;) {
        if (s->found) {
            uint32_t at = s->at + (uint32_t)__builtin_ctzll(s->found) / 8;
            s->found &= s->found - 1;
            return s->part->slot[at & s->part->mask] - 1;
        }
        if (LN_LIKELY(s->empty)) return LN_INDEX_NONE;
        s->at = (s->at + LN_INDEX_TAGS) & s->part->mask;
        ln_index_look(s);
    }
}

/* The number that has this hash in all likelihood, LN_INDEX_NONE for none: a guess, found without a branch that could
 * go either way, to fetch ahead what it stands for. */
static inline uint32_t ln_index_likely(const ln_index *x, uint32_t hash) {
    const ln_index_part *p;
    uint64_t tags;
    uint32_t at;
    if (!x->part) return LN_INDEX_NONE;
    p = ln_index_of(x, hash);
    at = ln_index_home(p, hash);
    memcpy(&tags, ln_index_tags(p) + at, sizeof tags);
    tags = ln_index_zeros(tags ^ UINT64_C(0x0101010101010101) * ln_index_tag(hash));
    return tags ? p->slot[(at + (uint32_t)__builtin_ctzll(tags) / 8) & p->mask] - 1 : LN_INDEX_NONE;
}

#endif
