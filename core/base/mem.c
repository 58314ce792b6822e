/* Memory that counts itself. */
#include "base/mem.h"

#include "lunette.h"

#include <stdlib.h>
#include <string.h>

static void *heap_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
    (void)ctx;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, new_bytes);
}

void ln_mem_init(ln_mem *m) { *m = (ln_mem){.resize = heap_resize}; }

void ln_mem_init_in(ln_mem *m, const ln_allocator *a) {
    ln_mem_init(m);
    if (a && a->resize) *m = (ln_mem){.resize = a->resize, .ctx = a->ctx};
}

void *ln_mem_resize(ln_mem *m, void *p, size_t old_bytes, size_t new_bytes) {
    void *q = m->resize(m->ctx, p, old_bytes, new_bytes);
    if (!q && new_bytes) return NULL;
    m->used += new_bytes - old_bytes;
    m->allocations += new_bytes > old_bytes;
    return q;
}

void *ln_mem_zero(ln_mem *m, size_t bytes) {
    void *p = ln_mem_new(m, bytes);
    if (p) memset(p, 0, bytes);
    return p;
}

int ln_mem_grow(ln_mem *m, void *items, size_t *cap, size_t need, size_t size) {
    void *old, *grown;
    size_t to = *cap ? *cap : 8;
    if (need <= *cap) return 0;
    while (to < need) {
        if (to > SIZE_MAX / 2 / size) return -1;
        to *= 2;
    }
    memcpy(&old, items, sizeof old);
    grown = ln_mem_resize(m, old, *cap * size, to * size);
    if (!grown) return -1;
    memcpy(items, &grown, sizeof grown);
    *cap = to;
    return 0;
}

void ln_mem_shrink(ln_mem *m, void *items, size_t *cap, size_t count, size_t size) {
    void *old, *less;
    size_t to = 2 * count;
    if (*cap <= 1024 || count > *cap / 8) return;
    memcpy(&old, items, sizeof old);
    less = ln_mem_resize(m, old, *cap * size, to * size);
    if (!less && to) return; /* the larger one still serves */
    memcpy(items, &less, sizeof less);
    *cap = to;
}
