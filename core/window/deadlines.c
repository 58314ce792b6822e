/* Windows that wait for W, by their end. */
#include "window/deadlines.h"

static size_t home_of(int64_t end_us, size_t slots) {
    uint64_t x = (uint64_t)end_us * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(x >> 32) & (slots - 1);
}

void ln_deadlines_init(ln_deadlines *d, ln_mem *mem, int mixed_starts) {
    *d = (ln_deadlines){.mem = mem, .mixed_starts = (uint8_t)mixed_starts};
    ln_heap_init(&d->ends, mem, LN_HEAP_NO_PLACE);
}

void ln_deadlines_free(ln_deadlines *d) {
    for (size_t i = 0; i < d->ends.count; i++) ln_mem_free(d->mem, d->ends.entry[i].item, sizeof(ln_bucket));
    ln_heap_free(&d->ends);
    ln_mem_free(d->mem, d->table, d->slots * sizeof(ln_bucket *));
    ln_deadlines_init(d, d->mem, d->mixed_starts);
}

/* ---- buckets ---------------------------------------------------------------------------------------------------- */

static void place(ln_deadlines *d, ln_bucket *b) {
    size_t i = home_of(b->end_us, d->slots);
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

static ln_bucket *new_bucket(ln_deadlines *d, int64_t end_us) {
    ln_bucket *b;
    if (2 * (d->ends.count + 1) > d->slots && resize(d, d->slots ? 2 * d->slots : 16) < 0) return NULL;
    b = ln_mem_zero(d->mem, sizeof *b);
    if (!b || ln_heap_add(&d->ends, end_us, 0, b) < 0) {
        ln_mem_free(d->mem, b, sizeof *b);
        return NULL;
    }
    b->end_us = end_us;
    b->owner = d;
    place(d, b);
    return b;
}

static ln_bucket *bucket_of(ln_deadlines *d, int64_t end_us) {
    if (d->recent && d->recent->end_us == end_us) return d->recent;
    if (d->slots) {
        for (size_t i = home_of(end_us, d->slots); d->table[i]; i = (i + 1) & (d->slots - 1))
            if (d->table[i]->end_us == end_us) return d->recent = d->table[i];
    }
    return d->recent = new_bucket(d, end_us);
}

static void forget(ln_deadlines *d, const ln_bucket *b) {
    size_t mask = d->slots - 1, gap = home_of(b->end_us, d->slots);
    while (d->table[gap] != b) gap = (gap + 1) & mask;
    for (size_t i = (gap + 1) & mask; d->table[i]; i = (i + 1) & mask) {
        size_t home = home_of(d->table[i]->end_us, d->slots);
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

/* ---- cells in a bucket ------------------------------------------------------------------------------------------ */

int ln_deadlines_add(ln_deadlines *d, ln_cell *cell) {
    ln_bucket *b = bucket_of(d, cell->end_us);
    if (!b) return -1;
    cell->bucket = b;
    cell->before = b->last;
    cell->after = NULL;
    *(b->last ? &b->last->after : &b->first) = cell;
    b->last = cell;
    b->sorted = 0;
    return 0;
}

void ln_deadlines_remove(ln_cell *cell) {
    ln_bucket *b = cell->bucket;
    *(cell->before ? &cell->before->after : &b->first) = cell->after;
    *(cell->after ? &cell->after->before : &b->last) = cell->before;
    cell->bucket = NULL;
    cell->before = cell->after = NULL;
}

static int comes_before(const ln_cell *a, const ln_cell *b) {
    return a->start_us != b->start_us ? a->start_us < b->start_us : a->age < b->age;
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
    for (ln_cell *c = b->first; c; c = next) {
        size_t k = 0;
        next = c->after;
        c->after = NULL;
        for (; run[k]; k++) {
            c = merged(run[k], c);
            run[k] = NULL;
        }
        run[k] = c;
    }
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) all = merged(run[k], all);
    b->first = all;
    for (ln_cell *c = all; c; previous = c, c = c->after) c->before = previous;
    b->last = previous;
    b->sorted = 1;
}

ln_cell *ln_deadlines_due(ln_deadlines *d, int64_t upto_us, int *failed) {
    while (d->ends.count && ln_heap_least(&d->ends) <= upto_us) {
        ln_bucket *b = ln_heap_top(&d->ends);
        ln_cell *c = b->first;
        if (!c) {
            drop_top(d);
        } else if (c->end_us > b->end_us) {
            ln_deadlines_remove(c);
            if (ln_deadlines_add(d, c) < 0) {
                *failed = 1;
                return NULL;
            }
        } else if (d->mixed_starts && !b->sorted) {
            sort(b);
        } else {
            return c;
        }
    }
    return NULL;
}

const char *ln_deadlines_verify(const ln_deadlines *d) {
    if (!ln_heap_in_order(&d->ends)) return "the heap of ends is out of order";
    for (size_t i = 0; i < d->ends.count; i++) {
        const ln_bucket *b = d->ends.entry[i].item;
        const ln_cell *before = NULL;
        if (b->owner != d) return "a bucket has another owner";
        for (const ln_cell *c = b->first; c; before = c, c = c->after) {
            if (c->bucket != b) return "a window is not in the bucket it says";
            if (c->before != before) return "a bucket's list is torn";
            if (c->end_us < b->end_us) return "a window waits past its end";
        }
        if (b->last != before) return "a bucket's list ends elsewhere";
    }
    return NULL;
}
