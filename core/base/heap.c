/* A binary heap of items by an int64. */
#include "base/heap.h"

#include <string.h>

static int before(const ln_heap_entry *a, const ln_heap_entry *b) {
    return a->key < b->key || (a->key == b->key && a->tie < b->tie);
}

static void put(ln_heap *h, size_t at, ln_heap_entry entry) {
    h->entry[at] = entry;
    if (h->place != LN_HEAP_NO_PLACE) memcpy((uint8_t *)entry.item + h->place, &at, sizeof at);
}

/* Puts the entry at `at` or above it. */
static void rise(ln_heap *h, size_t at, ln_heap_entry entry) {
    for (; at > 0 && before(&entry, &h->entry[(at - 1) / 2]); at = (at - 1) / 2) put(h, at, h->entry[(at - 1) / 2]);
    put(h, at, entry);
}

/* Puts the entry at `at` or below it. */
static void sink(ln_heap *h, size_t at, ln_heap_entry entry) {
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= h->count) break;
        if (child + 1 < h->count && before(&h->entry[child + 1], &h->entry[child])) child++;
        if (!before(&h->entry[child], &entry)) break;
        put(h, at, h->entry[child]);
        at = child;
    }
    put(h, at, entry);
}

static void settle(ln_heap *h, size_t at, ln_heap_entry entry) {
    if (at > 0 && before(&entry, &h->entry[(at - 1) / 2])) rise(h, at, entry);
    else sink(h, at, entry);
}

void ln_heap_free(ln_heap *h) {
    ln_mem_free(h->mem, h->entry, h->cap * sizeof *h->entry);
    ln_heap_init(h, h->mem, h->place);
}

int ln_heap_reserve(ln_heap *h, size_t count) {
    return ln_mem_grow(h->mem, &h->entry, &h->cap, count, sizeof *h->entry);
}

int ln_heap_add(ln_heap *h, int64_t key, uint64_t tie, void *item) {
    if (ln_heap_reserve(h, h->count + 1) < 0) return -1;
    rise(h, h->count++, (ln_heap_entry){key, tie, item});
    return 0;
}

void ln_heap_move(ln_heap *h, size_t at, int64_t key) {
    ln_heap_entry entry = h->entry[at];
    entry.key = key;
    settle(h, at, entry);
}

void *ln_heap_remove(ln_heap *h, size_t at) {
    void *item = h->entry[at].item;
    ln_heap_entry last = h->entry[--h->count];
    if (at < h->count) settle(h, at, last);
    ln_mem_shrink(h->mem, &h->entry, &h->cap, h->count, sizeof *h->entry);
    return item;
}

int ln_heap_in_order(const ln_heap *h) {
    for (size_t i = 0; i < h->count; i++) {
        size_t place;
        if (i && before(&h->entry[i], &h->entry[(i - 1) / 2])) return 0;
        if (h->place == LN_HEAP_NO_PLACE) continue;
        memcpy(&place, (const uint8_t *)h->entry[i].item + h->place, sizeof place);
        if (place != i) return 0;
    }
    return 1;
}
