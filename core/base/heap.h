/* A binary heap of items by an int64, and among equal ones by a second number. The keys stand in the heap itself, so
 * that ordering touches no item. An item that is to be moved or removed while it is inside holds its place, which the
 * heap keeps up to date at a stated offset in it. */
#ifndef LN_BASE_HEAP_H
#define LN_BASE_HEAP_H

#include "base/mem.h"

#define LN_HEAP_NO_PLACE ((size_t)-1)

typedef struct ln_heap_entry {
    int64_t key;
    uint64_t tie;
    void *item;
} ln_heap_entry;

typedef struct ln_heap {
    ln_mem *mem;
    ln_heap_entry *entry; /* entry[0] is the least */
    size_t count, cap;
    size_t place; /* offset in an item of a size_t that holds its place, or LN_HEAP_NO_PLACE */
} ln_heap;

static inline void ln_heap_init(ln_heap *h, ln_mem *mem, size_t place) { *h = (ln_heap){.mem = mem, .place = place}; }
void ln_heap_free(ln_heap *h);
/* Makes room for `count` items, so that adding them cannot fail; 0, or -1 where memory is short. */
int ln_heap_reserve(ln_heap *h, size_t count);
/* 0, or -1 where memory is short. */
int ln_heap_add(ln_heap *h, int64_t key, uint64_t tie, void *item);
/* Gives the item at this place another key. */
void ln_heap_move(ln_heap *h, size_t at, int64_t key);
/* Takes out the item at this place; the least is at 0. */
void *ln_heap_remove(ln_heap *h, size_t at);
static inline void *ln_heap_top(const ln_heap *h) { return h->count ? h->entry[0].item : NULL; }
/* The least key; INT64_MAX where there is none. */
static inline int64_t ln_heap_least(const ln_heap *h) { return h->count ? h->entry[0].key : INT64_MAX; }
/* Is everything where it must be? */
int ln_heap_in_order(const ln_heap *h);

#endif
