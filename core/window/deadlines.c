/* Windows that wait for W, by their end. */
#include "window/deadlines.h"

static size_t home_of(int64_t end_us, int64_t start_us, size_t slots) {
    uint64_t x = ((uint64_t)end_us ^ (uint64_t)start_us << 20) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(x >> 32) & (slots - 1);
}

void ln_deadlines_init(ln_deadlines *d, ln_mem *mem, ln_mem *wheel_mem, int mixed_starts, int64_t span_us) {
    *d = (ln_deadlines){.mem = mem, .wheel_mem = wheel_mem, .mixed_starts = (uint8_t)mixed_starts, .wheel_shift = -1};
    ln_heap_init(&d->ends, mem, LN_HEAP_NO_PLACE);
    if (span_us <= 0) return;
    d->wheel_shift = 0;
    while (span_us >> d->wheel_shift >= LN_WHEEL_SLOTS) d->wheel_shift++;
}

void ln_deadlines_free(ln_deadlines *d) {
    for (size_t i = 0; i < d->ends.count; i++) ln_mem_free(d->mem, d->ends.entry[i].item, sizeof(ln_bucket));
    ln_heap_free(&d->ends);
    ln_mem_free(d->mem, d->table, d->slots * sizeof(ln_bucket *));
    ln_mem_free(d->wheel_mem, d->wheel, sizeof *d->wheel);
    ln_deadlines_init(d, d->mem, d->wheel_mem, d->mixed_starts, 0);
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
    b = ln_mem_zero(d->mem, sizeof *b);
    if (!b || ln_heap_add(&d->ends, end_us, tie_of(start_us), b) < 0) {
        ln_mem_free(d->mem, b, sizeof *b);
        return NULL;
    }
    b->end_us = end_us;
    b->start_us = start_us;
    b->owner = d;
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
    ln_mem_free(d->mem, top, sizeof *top);
    if (d->slots > 1024 && d->ends.count < d->slots / 16)
        (void)resize(d, d->slots / 4); /* else the larger one serves */
}

/* ---- cells in a bucket or a slot -------------------------------------------------------------------------------- */

static int comes_before(const ln_cell *a, const ln_cell *b) {
    if (a->end_us != b->end_us) return a->end_us < b->end_us;
    return a->start_us != b->start_us ? a->start_us < b->start_us : a->age < b->age;
}

static void append(ln_bucket *b, ln_cell *cell) {
    cell->bucket = b;
    cell->before = b->last;
    cell->after = NULL;
    b->sorted = 0;
    *(b->last ? &b->last->after : &b->first) = cell;
    b->last = cell;
}

void ln_deadlines_remove(ln_cell *cell) {
    ln_bucket *b = cell->bucket;
    *(cell->before ? &cell->before->after : &b->first) = cell->after;
    *(cell->after ? &cell->after->before : &b->last) = cell->before;
    cell->bucket = NULL;
    cell->before = cell->after = NULL;
}

static ln_cell *merged(ln_cell *a, ln_cell *b) {
    ln_cell *first = NULL, **to = &first;
    while (a && b) {
        ln_cell **least = comes_before(b, a) ? &b : &a;
        *to = *least;
        to = &(*least)->after;
        *least = (*least)->after;
    }
    *to = a ? a : b;
    return first;
}

/* Merge sort from below: run[k] is a sorted list of 2^k cells, or empty. */
static void sort(ln_bucket *b) {
    ln_cell *run[48] = {0}, *all = NULL, *next, *previous = NULL;
    size_t runs = 0;
    for (ln_cell *c = b->first; c; c = next) {
        size_t k = 0;
        next = c->after;
        c->after = NULL;
        for (; run[k]; k++) {
            c = merged(run[k], c);
            run[k] = NULL;
        }
        run[k] = c;
        if (k >= runs) runs = k + 1;
    }
    for (size_t k = 0; k < runs; k++) all = merged(run[k], all);
    b->first = all;
    for (ln_cell *c = all; c; previous = c, c = c->after) c->before = previous;
    b->last = previous;
    b->sorted = 1;
    b->owner->wheel->current = b;
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
    for (size_t i = 0; i < LN_WHEEL_SLOTS; i++) w->slot[i] = (ln_bucket){.owner = d, .in_wheel = 1, .sorted = 1};
    return 0;
}

static ln_bucket *slot_of(ln_wheel *w, int64_t number) { return &w->slot[number & (LN_WHEEL_SLOTS - 1)]; }

static void fill(ln_wheel *w, int64_t number, ln_cell *cell) {
    size_t i = (size_t)number & (LN_WHEEL_SLOTS - 1);
    w->filled[i / 64] |= UINT64_C(1) << i % 64;
    append(&w->slot[i], cell);
    if (cell->end_us < w->next_us) w->next_us = cell->end_us;
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

/* A cell whose end has grown out of its slot is filed anew; 0, or -1 where memory is short. */
static int refile(ln_deadlines *d, ln_cell *cell) {
    ln_deadlines_remove(cell);
    return ln_deadlines_add(d, cell);
}

/* The first cell in a slot, in order, with those filed anew that belong into later ones; NULL where nothing is left. */
static ln_cell *first_in_slot(ln_deadlines *d, int64_t number, int *failed) {
    ln_bucket *b = slot_of(d->wheel, number);
    while (b->first) {
        ln_cell *c = b->first, *next;
        if (b->sorted && c->end_us >> d->wheel->shift <= number) return c;
        for (; c; c = next) {
            next = c->after;
            if (c->end_us >> d->wheel->shift > number && refile(d, c) < 0) {
                *failed = 1;
                return NULL;
            }
        }
        sort(b);
    }
    return NULL;
}

static ln_cell *due_in_wheel(ln_deadlines *d, int64_t upto_us, int *failed) {
    ln_wheel *w = d->wheel;
    int64_t upto = upto_us >> w->shift;
    for (;;) {
        int64_t number = first_filled(w);
        size_t i = (size_t)number & (LN_WHEEL_SLOTS - 1);
        ln_cell *c;
        if (number > upto || number == w->first + LN_WHEEL_SLOTS) {
            int empty = number == w->first + LN_WHEEL_SLOTS;
            w->next_us = empty ? INT64_MAX : (int64_t)((uint64_t)number << w->shift);
            if (upto > w->first) turn(w, upto);
            return NULL;
        }
        turn(w, number);
        c = first_in_slot(d, number, failed);
        if (*failed) return NULL;
        if (c) {
            w->next_us = c->end_us;
            return c->end_us <= upto_us ? c : NULL;
        }
        w->filled[i / 64] &= ~(UINT64_C(1) << i % 64);
    }
}

/* ---- both ------------------------------------------------------------------------------------------------------- */

int ln_deadlines_add(ln_deadlines *d, ln_cell *cell) {
    ln_bucket *b;
    if (d->wheel_shift >= 0 && (d->wheel || make_wheel(d, cell->end_us) == 0)) {
        ln_wheel *w = d->wheel;
        int64_t number = cell->end_us >> w->shift;
        if ((uint64_t)number - (uint64_t)w->first < LN_WHEEL_SLOTS) {
            fill(w, number, cell);
            return 0;
        }
    }
    b = bucket_of(d, cell->end_us, cell->start_us);
    if (!b) return -1;
    append(b, cell);
    return 0;
}

/* Is the cell where it belongs, or has it changed since it was filed? */
static int belongs(const ln_deadlines *d, const ln_bucket *b, const ln_cell *c) {
    return c->end_us <= b->end_us && (!d->mixed_starts || c->start_us == b->start_us);
}

static ln_cell *due_in_buckets(ln_deadlines *d, int64_t upto_us, int *failed) {
    while (d->ends.count && ln_heap_least(&d->ends) <= upto_us) {
        ln_bucket *b = ln_heap_top(&d->ends);
        ln_cell *c = b->first;
        if (!c) {
            drop_top(d);
        } else if (belongs(d, b, c)) {
            return c;
        } else if (refile(d, c) < 0) {
            *failed = 1;
            return NULL;
        }
    }
    return NULL;
}

ln_cell *ln_deadlines_due(ln_deadlines *d, int64_t upto_us, int *failed) {
    ln_cell *a = due_in_buckets(d, upto_us, failed), *b;
    if (!d->wheel || *failed) return a;
    b = due_in_wheel(d, upto_us, failed);
    if (*failed) return NULL;
    if (!a || !b) return a ? a : b;
    return comes_before(a, b) ? a : b;
}

static const char *verify_list(const ln_deadlines *d, const ln_bucket *b) {
    const ln_cell *before = NULL;
    if (b->owner != d) return "a bucket has another owner";
    for (const ln_cell *c = b->first; c; before = c, c = c->after) {
        if (c->bucket != b) return "a window is not in the bucket it says";
        if (c->before != before) return "a bucket's list is torn";
        if (!b->in_wheel && c->end_us < b->end_us) return "a window waits past its end";
        if (c->end_us < ln_deadlines_next(d)) return "a window is due before the next one";
        if (b->in_wheel && b->sorted && before && !comes_before(before, c)) return "a slot is out of order";
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
        if (d->wheel->slot[i].first && !(d->wheel->filled[i / 64] >> i % 64 & 1)) return "a slot is thought empty";
    }
    return NULL;
}
