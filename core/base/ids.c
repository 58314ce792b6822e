/* Numbers that were in use before. */
#include "base/ids.h"

#include <stdlib.h>

static int rising(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

int ln_ids_restore(ln_ids *ids, ln_mem *mem, uint32_t *list, size_t count) {
    uint32_t next = 1;
    if (!count) return 0;
    qsort(list, count, sizeof *list, rising);
    for (size_t i = 1; i < count; i++)
        if (list[i] == list[i - 1]) return -1;
    if (ln_mem_grow(mem, &ids->free, &ids->free_cap, list[count - 1], sizeof *ids->free) < 0) return -1;
    for (size_t i = 0; i < count; next = list[i++] + 1)
        for (; next < list[i]; next++) ids->free[ids->free_count++] = next;
    ids->last = list[count - 1];
    return 0;
}
