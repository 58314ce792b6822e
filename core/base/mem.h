/* Memory that counts itself. Every object of the engine allocates through one ln_mem, so that what a pipeline holds is
 * known to the byte and can be bounded, and so that a test can make any allocation fail. */
#ifndef LN_BASE_MEM_H
#define LN_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that a structure may keep for what it will be asked for next. What is kept does not count as used. */
enum { LN_MEM_KEPT_MAX = 4 << 20 };

typedef struct ln_mem {
    /* Like realloc: new == 0 frees and returns NULL; NULL otherwise means failure, and p stays valid. */
    void *(*resize)(void *ctx, void *p, size_t old_bytes, size_t new_bytes);
    void *ctx;
    size_t used;          /* bytes alive */
    uint64_t allocations; /* calls that asked for memory, ever */
} ln_mem;

/* The heap of the C library. */
void ln_mem_init(ln_mem *m);
struct ln_allocator;
/* A host's allocator; NULL or one without a function: the heap of the C library. */
void ln_mem_init_in(ln_mem *m, const struct ln_allocator *a);
/* NULL on failure; the old block then stays as it was. */
void *ln_mem_resize(ln_mem *m, void *p, size_t old_bytes, size_t new_bytes);
static inline void *ln_mem_new(ln_mem *m, size_t bytes) { return ln_mem_resize(m, NULL, 0, bytes); }
void *ln_mem_zero(ln_mem *m, size_t bytes);
static inline void ln_mem_free(ln_mem *m, void *p, size_t bytes) {
    if (p) ln_mem_resize(m, p, bytes, 0);
}

/* Grows *items, an array of *cap things of `size` bytes, to hold at least `need`; 0 on success, -1 where memory is
 * short (and the array is as it was). */
int ln_mem_grow(ln_mem *m, void *items, size_t *cap, size_t need, size_t size);

/* Gives back most of an array that has become much too large for the `count` things in it. */
void ln_mem_shrink(ln_mem *m, void *items, size_t *cap, size_t count, size_t size);

#endif
