/* Numbers found by a hash. */
#include "base/index.h"

enum {
    SLOTS_MIN = 16,
    SLOTS_SMALL = 64, /* parts of no more than these become one again */
    SLOTS_MAX = 1 << LN_INDEX_BITS,
    DEPTH_MAX = 32 - LN_INDEX_BITS,
    SPARSE = 16 /* numbers for each entry of the directory, at the least, where it is to double */
};

/* The bit of a hash that the directory goes by first. */
#define FIRST_BIT (UINT32_C(1) << (31 - LN_INDEX_BITS))

/* A part begins with this, and its slots follow. */
typedef struct block {
    uint32_t count;
    uint32_t depth; /* bits of the hash that lead here */
    uint32_t slot[];
} block;

static block *block_of(const ln_index_part *p) { return (block *)((uint8_t *)p->slot - sizeof(block)); }
static size_t block_bytes(const ln_index *x, size_t slots) {
    return sizeof(block) + slots * sizeof(uint32_t) + (x->tagged ? slots + LN_INDEX_TAGS : 0);
}
static size_t entries(const ln_index *x) { return x->part ? (size_t)1 << x->depth : 0; }

void ln_index_init(ln_index *x, ln_mem *mem, const uint32_t *(*word)(const void *ctx, uint32_t number), const void *ctx,
                   int tagged) {
    *x = (ln_index){.mem = mem, .word = word, .ctx = ctx, .tagged = tagged};
}

static uint32_t hash_at(const ln_index *x, const uint32_t *word) { return x->tagged ? *word : ln_index_spread(*word); }
static uint32_t hash_of(const ln_index *x, uint32_t number) { return hash_at(x, x->word(x->ctx, number)); }

static void empty(const ln_index *x, const ln_index_part *p) {
    memset(p->slot, 0, block_bytes(x, (size_t)p->mask + 1) - sizeof(block));
}

static int make_part(ln_index *x, ln_index_part *p, uint32_t slots, uint32_t depth) {
    block *b = ln_mem_new(x->mem, block_bytes(x, slots));
    if (!b) return -1;
    x->bytes += block_bytes(x, slots);
    b->count = 0;
    b->depth = depth;
    *p = (ln_index_part){b->slot, slots - 1, (uint32_t)__builtin_clz(slots) + 1};
    empty(x, p);
    return 0;
}

static void free_part(ln_index *x, const ln_index_part *p) {
    size_t bytes = block_bytes(x, (size_t)p->mask + 1);
    ln_mem_free(x->mem, block_of(p), bytes);
    x->bytes -= bytes;
}

/* How many entries lead to the part. */
static size_t entries_of(const ln_index *x, const ln_index_part *p) {
    return (size_t)1 << (x->depth - block_of(p)->depth);
}

void ln_index_free(ln_index *x) {
    for (size_t i = 0, next; i < entries(x); i = next) {
        next = i + entries_of(x, &x->part[i]);
        free_part(x, &x->part[i]);
    }
    ln_mem_free(x->mem, x->part, entries(x) * sizeof *x->part);
    ln_index_init(x, x->mem, x->word, x->ctx, x->tagged);
}

void ln_index_clear(ln_index *x) {
    for (size_t i = 0; i < entries(x); i += entries_of(x, &x->part[i])) {
        empty(x, &x->part[i]);
        block_of(&x->part[i])->count = 0;
    }
    x->count = 0;
}

static void set(const ln_index *x, const ln_index_part *p, uint32_t i, uint32_t slot, uint8_t tag) {
    uint8_t *tags = ln_index_tags(p);
    p->slot[i] = slot;
    if (!x->tagged) return;
    tags[i] = tag;
    if (i < LN_INDEX_TAGS) tags[p->mask + 1 + i] = tag;
}

static void place(const ln_index *x, const ln_index_part *p, uint32_t hash, uint32_t number) {
    uint32_t i = ln_index_home(p, hash);
    while (p->slot[i]) i = (i + 1) & p->mask;
    set(x, p, i, number + 1, ln_index_tag(hash));
    block_of(p)->count++;
}

/* The numbers of a part from *at on, up to BLOCK, with their words, which come from memory side by side. */
enum { BLOCK = 64 };
static uint32_t gather(const ln_index *x, const ln_index_part *p, uint32_t *at, uint32_t *number,
                       const uint32_t **word) {
    uint32_t n = 0;
    for (; *at <= p->mask && n < BLOCK; ++*at) {
        if (!p->slot[*at]) continue;
        number[n] = p->slot[*at] - 1;
        word[n] = x->word(x->ctx, number[n]);
        __builtin_prefetch(word[n++]);
    }
    return n;
}

/* Puts the numbers of one part into one or two others, by this bit of the hash where they are two. */
static void move(const ln_index *x, const ln_index_part *from, const ln_index_part *zero, const ln_index_part *one,
                 uint32_t bit) {
    uint32_t number[BLOCK], n, at = 0;
    const uint32_t *word[BLOCK];
    while ((n = gather(x, from, &at, number, word)) > 0) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t hash = hash_at(x, word[i]);
            place(x, hash & bit ? one : zero, hash, number[i]);
        }
    }
}

/* Leads all entries whose first `depth` bits are those of the hash to a part. */
static void lead(ln_index *x, uint32_t hash, uint32_t depth, ln_index_part to) {
    size_t count = (size_t)1 << (x->depth - depth), at = (size_t)(ln_index_of(x, hash) - x->part) & ~(count - 1);
    for (size_t i = 0; i < count; i++) x->part[at + i] = to;
}

static int remake(ln_index *x, uint32_t hash, uint32_t slots) {
    ln_index_part was = *ln_index_of(x, hash), made;
    uint32_t depth = block_of(&was)->depth;
    if (make_part(x, &made, slots, depth) < 0) return -1;
    move(x, &was, &made, &made, 0);
    lead(x, hash, depth, made);
    free_part(x, &was);
    return 0;
}

/* ---- the directory ---------------------------------------------------------------------------------------------- */

static int begin(ln_index *x) {
    x->part = ln_mem_new(x->mem, sizeof *x->part);
    if (!x->part) return -1;
    if (make_part(x, x->part, SLOTS_MIN, 0) < 0) {
        ln_mem_free(x->mem, x->part, sizeof *x->part);
        x->part = NULL;
        return -1;
    }
    x->bytes += sizeof *x->part;
    x->deepest = 1;
    return 0;
}

static int resize(ln_index *x, uint32_t depth) {
    size_t was = entries(x), will = (size_t)1 << depth;
    ln_index_part *part = ln_mem_resize(x->mem, x->part, was * sizeof *part, will * sizeof *part);
    if (!part) return -1;
    x->bytes += (will - was) * sizeof *part;
    x->part = part;
    x->depth = depth;
    return 0;
}

/* The first half of the directory becomes all of it. */
static void stretch(ln_index *x) {
    for (size_t i = entries(x); i-- > 1;) x->part[i] = x->part[i / 2];
    x->deepest = 0;
}

static int double_it(ln_index *x) {
    if (resize(x, x->depth + 1) < 0) return -1;
    stretch(x);
    return 0;
}

/* While no part needs the last bit. */
static void halve(ln_index *x) {
    while (x->depth && !x->deepest) {
        size_t will = entries(x) / 2;
        for (size_t i = 0; i < will; i++) {
            x->part[i] = x->part[2 * i];
            x->deepest += block_of(&x->part[i])->depth == x->depth - 1;
        }
        if (resize(x, x->depth - 1) == 0) continue;
        stretch(x);
        return;
    }
}

static int split(ln_index *x, uint32_t hash) {
    ln_index_part was = *ln_index_of(x, hash), zero, one;
    uint32_t depth = block_of(&was)->depth, bit = FIRST_BIT >> depth;
    if (depth == x->depth && double_it(x) < 0) return -1;
    if (make_part(x, &zero, SLOTS_MAX, depth + 1) < 0) return -1;
    if (make_part(x, &one, SLOTS_MAX, depth + 1) < 0) {
        free_part(x, &zero);
        return -1;
    }
    move(x, &was, &zero, &one, bit);
    lead(x, hash & ~bit, depth + 1, zero);
    lead(x, hash | bit, depth + 1, one);
    if (depth + 1 == x->depth) x->deepest += 2;
    free_part(x, &was);
    return 0;
}

/* Would a directory twice as large have much to lead to? Not where most hashes are alike: then a part doubles, and is
 * never split any more, since its numbers might not have room in one of the halves. */
static int may_split(const ln_index *x, const block *b) {
    return b->depth < DEPTH_MAX && (b->depth < x->depth || x->count >= SPARSE * 2 * entries(x));
}

/* A part of which little is left becomes smaller, or joins the one from which it was split. Where there is no memory
 * for that all stays as it is. */
static void shrink(ln_index *x, uint32_t hash) {
    const ln_index_part *p = ln_index_of(x, hash), *other;
    const block *b = block_of(p);
    uint32_t depth = b->depth, bit;
    ln_index_part was, was_other, made;
    if (p->mask >= SLOTS_SMALL) {
        if (b->count * 16 <= p->mask) (void)remake(x, hash, (p->mask + 1) / 4);
        return;
    }
    if (!depth || b->count * 4 > p->mask) return;
    bit = FIRST_BIT >> (depth - 1);
    other = ln_index_of(x, hash ^ bit);
    if (block_of(other)->depth != depth || other->mask >= SLOTS_SMALL ||
        (b->count + block_of(other)->count) * 4 > SLOTS_SMALL)
        return;
    if (make_part(x, &made, SLOTS_SMALL, depth - 1) < 0) return;
    was = *p;
    was_other = *other;
    move(x, &was, &made, &made, 0);
    move(x, &was_other, &made, &made, 0);
    lead(x, hash, depth - 1, made);
    free_part(x, &was);
    free_part(x, &was_other);
    if (depth != x->depth) return;
    x->deepest -= 2;
    halve(x);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

/* How many numbers a part takes. Those that can be split differ a little: numbers that come one after the other fill
 * all parts alike, and all of them at once would be split by a few (a reload of 1,000,000 windows held records up for
 * 13 ms). */
static uint32_t most_of(const ln_index_part *p, uint32_t hash) {
    uint32_t slots = p->mask + 1, most = slots / 4 * 3, depth = block_of(p)->depth;
    if (slots != SLOTS_MAX || !depth) return most;
    return most - slots / 512 * (((hash << LN_INDEX_BITS) >> (32 - depth)) * 0x9e3779b1u >> 27);
}

/* Room for one more in the part; 0 or -1. */
static int make_room(ln_index *x, uint32_t hash) {
    for (;;) {
        const ln_index_part *p = ln_index_of(x, hash);
        const block *b = block_of(p);
        if (b->count < most_of(p, hash)) return 0;
        if (p->mask + 1 != SLOTS_MAX || !may_split(x, b))
            return p->mask >> 30 ? -1 : remake(x, hash, 2 * (p->mask + 1));
        if (split(x, hash) < 0) return -1;
    }
}

int ln_index_add(ln_index *x, uint32_t hash, uint32_t number) {
    if (!x->part && begin(x) < 0) return -1;
    if (make_room(x, hash) < 0) return -1;
    place(x, ln_index_of(x, hash), hash, number);
    x->count++;
    return 0;
}

/* Empties a slot and moves up those behind it that had gone past it, so that no search stops short. */
static void close_gap(const ln_index *x, const ln_index_part *p, uint32_t gap) {
    for (uint32_t i = (gap + 1) & p->mask; p->slot[i]; i = (i + 1) & p->mask) {
        uint32_t hash = hash_of(x, p->slot[i] - 1);
        if (((i - ln_index_home(p, hash)) & p->mask) < ((i - gap) & p->mask)) continue;
        set(x, p, gap, p->slot[i], ln_index_tag(hash));
        gap = i;
    }
    set(x, p, gap, 0, 0);
}

void ln_index_remove(ln_index *x, uint32_t hash, uint32_t number) {
    const ln_index_part *p = ln_index_of(x, hash);
    uint32_t i = ln_index_home(p, hash);
    while (p->slot[i] != number + 1) {
        LN_DASSERT(p->slot[i]);
        i = (i + 1) & p->mask;
    }
    close_gap(x, p, i);
    block_of(p)->count--;
    x->count--;
    shrink(x, hash);
}
