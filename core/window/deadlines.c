/* Windows that wait for W, by their end. */
#include "window/deadlines.h"

#include "base/assert.h"

static size_t home_of(int64_t end_us, int64_t start_us, size_t slots) {
    uint64_t x = ((uint64_t)end_us ^ (uint64_t)start_us << 20) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(x >> 32) & (slots - 1);
}

void ln_deadlines_init(ln_deadlines *d, ln_mem *mem, ln_mem *wheel_mem, const ln_slab *cells, int mixed_starts,
                       int64_t span_us) {
    *d = (ln_deadlines){.mem = mem, .wheel_mem = wheel_mem, .cells = cells, .wheel_shift = -1};
    d->mixed_starts = (uint8_t)mixed_starts;
    ln_heap_init(&d->ends, mem, LN_HEAP_NO_PLACE);
    ln_pool_init(&d->buckets, mem, sizeof(ln_bucket));
    if (span_us <= 0) return;
    d->wheel_shift = 0;
    while (span_us >> d->wheel_shift >= LN_WHEEL_SLOTS) d->wheel_shift++;
}

void ln_deadlines_free(ln_deadlines *d) {
    for (size_t i = 0; i < d->ends.count; i++) ln_pool_give(&d->buckets, d->ends.entry[i].item);
    ln_pool_free(&d->buckets);
    ln_heap_free(&d->ends);
    ln_mem_free(d->mem, d->table, d->slots * sizeof(ln_bucket *));
    ln_mem_free(d->wheel_mem, d->wheel, sizeof *d->wheel);
    ln_mem_free(d->mem, d->link, d->links * sizeof *d->link);
    ln_deadlines_init(d, d->mem, d->wheel_mem, d->cells, d->mixed_starts, 0);
}

/* ---- buckets ---------------------------------------------------------------------------------------------------- */

static void place(ln_deadlines *d, ln_bucket *b) {
    size_t i = home_of(b->end_us, b->start_us, d->slots);
    while (d->table[i]) i = (i + 1) & (d->slots - 1);
    d->table[i] = b;
}

static int resize(ln_deadlines *d, size_t slots) {
    ln_bucket **table = ln_mem_zero(d->mem, slots * sizeof(ln_bucket *)), **old = d->table;
    size_t old_slots = d->slots;
    if (!table) return -1;
    d->table = table;
    d->slots = slots;
    for (size_t i = 0; i < old_slots; i++)
        if (old[i]) place(d, old[i]);
    ln_mem_free(d->mem, old, old_slots * sizeof(ln_bucket *));
    return 0;
}

/* A start as the second key of the heap. */
static uint64_t tie_of(int64_t start_us) { return (uint64_t)start_us ^ UINT64_C(1) << 63; }

static ln_bucket *new_bucket(ln_deadlines *d, int64_t end_us, int64_t start_us) {
    ln_bucket *b;
    if (2 * (d->ends.count + 1) > d->slots && resize(d, d->slots ? 2 * d->slots : 16) < 0) return NULL;
    b = ln_pool_take(&d->buckets);
    if (!b) return NULL;
    if (ln_heap_add(&d->ends, end_us, tie_of(start_us), b) < 0) {
        ln_pool_give(&d->buckets, b);
        return NULL;
    }
    b->end_us = end_us;
    b->start_us = start_us;
    b->owner = d;
    b->first = b->last = LN_SLAB_NONE;
    place(d, b);
    return b;
}

static int is_of(const ln_bucket *b, int64_t end_us, int64_t start_us) {
    return b->end_us == end_us && b->start_us == start_us;
}

static ln_bucket *bucket_of(ln_deadlines *d, int64_t end_us, int64_t start_us) {
    if (!d->mixed_starts) start_us = 0;
    if (d->recent && is_of(d->recent, end_us, start_us)) return d->recent;
    if (d->slots) {
        for (size_t i = home_of(end_us, start_us, d->slots); d->table[i]; i = (i + 1) & (d->slots - 1))
            if (is_of(d->table[i], end_us, start_us)) return d->recent = d->table[i];
    }
    return d->recent = new_bucket(d, end_us, start_us);
}

static void forget(ln_deadlines *d, const ln_bucket *b) {
    size_t mask = d->slots - 1, gap = home_of(b->end_us, b->start_us, d->slots);
    while (d->table[gap] != b) gap = (gap + 1) & mask;
    for (size_t i = (gap + 1) & mask; d->table[i]; i = (i + 1) & mask) {
        size_t home = home_of(d->table[i]->end_us, d->table[i]->start_us, d->slots);
        if (((i - home) & mask) < ((i - gap) & mask)) continue;
        d->table[gap] = d->table[i];
        gap = i;
    }
    d->table[gap] = NULL;
}

static void drop_top(ln_deadlines *d) {
    ln_bucket *top = ln_heap_remove(&d->ends, 0);
    forget(d, top);
    if (d->recent == top) d->recent = NULL;
    ln_pool_give(&d->buckets, top);
    if (d->slots > 1024 && d->ends.count < d->slots / 16)
        (void)resize(d, d->slots / 4); /* else the larger one serves */
}

/* ---- cells in a bucket or a slot -------------------------------------------------------------------------------- */

/* Room for the links of a cell; 0, or -1 where memory is short. */
static int ensure_links(ln_deadlines *d, const ln_cell *cell) {
    if (LN_LIKELY(cell->id < d->links)) return 0;
    return ln_mem_grow(d->mem, &d->link, &d->links, (size_t)cell->id + 1, sizeof *d->link);
}

void ln_deadlines_trim(ln_deadlines *d) { ln_mem_shrink(d->mem, &d->link, &d->links, 0, sizeof *d->link); }

static void append(ln_bucket *b, ln_cell *cell) {
    ln_links *link = b->owner->link;
    cell->bucket = b;
    cell->filed = ++b->owner->filings;
    link[cell->id] = (ln_links){b->last, LN_SLAB_NONE};
    *(b->last == LN_SLAB_NONE ? &b->first : &link[b->last].after) = cell->id;
    b->last = cell->id;
}

void ln_deadlines_remove(ln_cell *cell) {
    ln_bucket *b = cell->bucket;
    ln_links *link = b->owner->link, own = link[cell->id];
    *(own.before == LN_SLAB_NONE ? &b->first : &link[own.before].after) = own.after;
    *(own.after == LN_SLAB_NONE ? &b->last : &link[own.after].before) = own.before;
    cell->bucket = NULL;
}

/* The first cell of a bucket, or NULL. */
static ln_cell *first_of(const ln_deadlines *d, const ln_bucket *b) {
    return b->first == LN_SLAB_NONE ? NULL : ln_slab_at(d->cells, b->first);
}

/* The cell is about to be filed anew, without anything having happened to it. */
static void touch(const ln_deadlines *d, ln_cell *cell) {
    if (d->keys) ln_keys_touch(d->keys, &cell->key->key, cell->key->id);
}

static int add_to_bucket(ln_deadlines *d, ln_cell *cell) {
    ln_bucket *b = bucket_of(d, cell->end_us, cell->start_us);
    if (!b) return -1;
    append(b, cell);
    return 0;
}

/* ---- the wheel -------------------------------------------------------------------------------------------------- */

/* The wheel begins there, or as late as the slots behind its last one can still be counted. */
static void turn(ln_wheel *w, __int128 first) {
    int64_t latest = (INT64_MAX >> w->shift) - 2 * LN_WHEEL_SLOTS, earliest = INT64_MIN >> w->shift;
    w->first = first > latest ? latest : first < earliest ? earliest : (int64_t)first;
}

static int make_wheel(ln_deadlines *d, int64_t end_us) {
    ln_wheel *w = d->wheel = ln_mem_zero(d->wheel_mem, sizeof *w);
    if (!w) return -1;
    w->shift = d->wheel_shift;
    w->next_us = INT64_MAX;
    turn(w, (__int128)(end_us >> w->shift) - LN_WHEEL_SLOTS / 4); /* others may be nearer */
    for (size_t i = 0; i < LN_WHEEL_SLOTS; i++)
        w->slot[i] = (ln_bucket){.first = LN_SLAB_NONE, .last = LN_SLAB_NONE, .owner = d, .in_wheel = 1};
    return 0;
}

static int64_t start_of(const ln_wheel *w, int64_t number) { return (int64_t)((uint64_t)number << w->shift); }

static void fill(ln_wheel *w, int64_t number, ln_cell *cell) {
    size_t i = (size_t)number & (LN_WHEEL_SLOTS - 1);
    w->filled[i / 64] |= UINT64_C(1) << i % 64;
    append(&w->slot[i], cell);
    if (start_of(w, number) < w->next_us) w->next_us = start_of(w, number);
}

/* The number of the first slot that something may lie in; that after the last where none is. */
static int64_t first_filled(const ln_wheel *w) {
    int64_t number = w->first, stop = w->first + LN_WHEEL_SLOTS;
    while (number < stop) {
        size_t i = (size_t)number & (LN_WHEEL_SLOTS - 1);
        uint64_t bits = w->filled[i / 64] >> i % 64;
        if (bits) return number + __builtin_ctzll(bits) < stop ? number + __builtin_ctzll(bits) : stop;
        number += 64 - (int64_t)(i % 64);
    }
    return stop;
}

enum { AHEAD = 8, LINE = 64 };

/* Fetches a cell ahead of time; the id of the one behind it. */
static uint32_t fetch(const ln_deadlines *d, uint32_t id) {
    if (id == LN_SLAB_NONE) return id;
    __builtin_prefetch(ln_slab_at(d->cells, id));
    return d->link[id].after;
}

/* What is touched when it is due, soon: the rest of the cell, and its key. */
static void fetch_rest(const ln_cell *c) {
    __builtin_prefetch((const char *)c + LINE);
    __builtin_prefetch((const char *)c + 2 * LINE);
    __builtin_prefetch(c->key);
    __builtin_prefetch((const char *)c->key + LINE);
}

/* Takes the cells out of a slot that W has come into: those that end in it go into buckets, where their order shows;
 * those whose end has grown are filed anew. 1 when it is empty, 0 when `work` has been used up, -1 where memory is
 * short. */
static int empty_slot(ln_deadlines *d, int64_t number, uint32_t *work) {
    size_t i = (size_t)number & (LN_WHEEL_SLOTS - 1);
    ln_bucket *b = &d->wheel->slot[i];
    uint32_t ahead = b->first;
    for (int k = 0; k < AHEAD; k++) ahead = fetch(d, ahead);
    while (b->first != LN_SLAB_NONE) {
        ln_cell *c = first_of(d, b);
        if (!*work) return 0;
        --*work;
        ahead = fetch(d, ahead);
        touch(d, c);
        ln_deadlines_remove(c);
        if (c->end_us >> d->wheel->shift <= number) fetch_rest(c);
        if ((c->end_us >> d->wheel->shift > number ? ln_deadlines_add(d, c) : add_to_bucket(d, c)) == 0) continue;
        append(b, c);
        return -1;
    }
    d->wheel->filled[i / 64] &= ~(UINT64_C(1) << i % 64);
    return 1;
}

int ln_deadlines_turn(ln_deadlines *d, int64_t upto_us, uint32_t *work) {
    ln_wheel *w = d->wheel;
    int64_t upto, number;
    int done;
    if (!ln_deadlines_turns(d, upto_us)) return 1;
    upto = upto_us >> w->shift;
    while ((number = first_filled(w)) <= upto && number < w->first + LN_WHEEL_SLOTS) {
        turn(w, number);
        done = empty_slot(d, number, work);
        if (done != 1) return done;
    }
    w->next_us = number == w->first + LN_WHEEL_SLOTS ? INT64_MAX : start_of(w, number);
    if (upto > w->first) turn(w, upto);
    return 1;
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

int ln_deadlines_add(ln_deadlines *d, ln_cell *cell) {
    if (ensure_links(d, cell) < 0) return -1;
    if (d->wheel_shift >= 0 && (d->wheel || make_wheel(d, cell->end_us) == 0)) {
        int64_t number = cell->end_us >> d->wheel->shift;
        if ((uint64_t)number - (uint64_t)d->wheel->first < LN_WHEEL_SLOTS) {
            fill(d->wheel, number, cell);
            return 0;
        }
    }
    return add_to_bucket(d, cell);
}

/* Is the cell where it belongs, or has it changed since it was filed? */
static int belongs(const ln_deadlines *d, const ln_bucket *b, const ln_cell *c) {
    return c->end_us <= b->end_us && (!d->mixed_starts || c->start_us == b->start_us);
}

ln_cell *ln_deadlines_due(ln_deadlines *d, int64_t upto_us, int *failed) {
    while (d->ends.count && ln_heap_least(&d->ends) <= upto_us) {
        ln_bucket *b = ln_heap_top(&d->ends);
        ln_cell *c = first_of(d, b);
        if (!c) {
            drop_top(d);
        } else if (belongs(d, b, c)) {
            return c;
        } else {
            touch(d, c);
            ln_deadlines_remove(c);
            /* What is due by now goes where the order shows: the wheel has been turned already. */
            if ((c->end_us <= upto_us ? add_to_bucket(d, c) : ln_deadlines_add(d, c)) == 0) continue;
            append(b, c);
            *failed = 1;
            return NULL;
        }
    }
    return NULL;
}

/* ---- saved and loaded ------------------------------------------------------------------------------------------- */

ln_span ln_deadlines_place(const ln_cell *c) {
    const ln_bucket *b = c->bucket;
    const ln_wheel *w = b->owner->wheel;
    int64_t slot, from_us;
    if (!b->in_wheel) return (ln_span){b->start_us, b->end_us};
    slot = b - w->slot;
    from_us = start_of(w, w->first + ((slot - w->first) & (LN_WHEEL_SLOTS - 1)));
    return (ln_span){from_us, from_us};
}

int ln_deadlines_put(ln_deadlines *d, ln_cell *cell, int in_wheel, ln_span place) {
    ln_bucket *b;
    if (ensure_links(d, cell) < 0) return -1;
    if (place.end_us > cell->end_us) place.end_us = cell->end_us;
    if (in_wheel && d->wheel) {
        int64_t number = place.end_us >> d->wheel->shift;
        if ((uint64_t)number - (uint64_t)d->wheel->first < LN_WHEEL_SLOTS) {
            fill(d->wheel, number, cell);
            return 0;
        }
    }
    if (in_wheel) return ln_deadlines_add(d, cell);
    b = bucket_of(d, place.end_us, place.start_us);
    if (!b) return -1;
    append(b, cell);
    return 0;
}

int ln_deadlines_set_wheel(ln_deadlines *d, int shift, int64_t first) {
    if (d->wheel_shift != shift || shift < 0) return 0;
    if (!d->wheel && make_wheel(d, 0) < 0) return -1;
    turn(d->wheel, first);
    return 0;
}

static const char *verify_list(const ln_deadlines *d, const ln_bucket *b) {
    uint32_t before = LN_SLAB_NONE;
    if (b->owner != d) return "a bucket has another owner";
    for (uint32_t id = b->first; id != LN_SLAB_NONE; before = id, id = d->link[id].after) {
        const ln_cell *c = ln_slab_at(d->cells, id);
        if (c->id != id || c->bucket != b) return "a window is not in the bucket it says";
        if (d->link[id].before != before) return "a bucket's list is torn";
        if (!b->in_wheel && c->end_us < b->end_us) return "a window waits past its end";
        if (c->end_us < ln_deadlines_next(d)) return "a window is due before the next one";
    }
    return b->last == before ? NULL : "a bucket's list ends elsewhere";
}

const char *ln_deadlines_verify(const ln_deadlines *d) {
    const char *wrong;
    if (!ln_heap_in_order(&d->ends)) return "the heap of ends is out of order";
    for (size_t i = 0; i < d->ends.count; i++)
        if ((wrong = verify_list(d, d->ends.entry[i].item))) return wrong;
    for (size_t i = 0; d->wheel && i < LN_WHEEL_SLOTS; i++) {
        if ((wrong = verify_list(d, &d->wheel->slot[i]))) return wrong;
        if (d->wheel->slot[i].first != LN_SLAB_NONE && !(d->wheel->filled[i / 64] >> i % 64 & 1))
            return "a slot is thought empty";
    }
    return NULL;
}
