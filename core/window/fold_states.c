/* States of declared folds, by slot. */
#include "window/fold_states.h"

#include "base/assert.h"

#include <string.h>

int ln_fold_states_ensure(ln_fold_states *s, ln_mem *mem, uint32_t slot) {
    size_t before = s->cap;
    if (!s->size || slot < s->cap) return 0;
    if (ln_mem_grow(mem, &s->bytes, &s->cap, (size_t)slot + 1, s->size) < 0) return -1;
    memset(s->bytes + before * s->size, 0, (s->cap - before) * s->size);
    return 0;
}

void ln_fold_states_trim(ln_fold_states *s, ln_mem *mem) {
    if (s->size) ln_mem_shrink(mem, &s->bytes, &s->cap, 0, s->size);
}

void ln_fold_states_free(ln_fold_states *s, ln_mem *mem) {
    ln_mem_free(mem, s->bytes, s->cap * s->size);
    s->bytes = NULL;
    s->cap = 0;
}

void ln_fold_states_save(const ln_fold_states *s, uint32_t slot, ln_buf *out) {
    LN_ASSERT(slot < s->cap);
    ln_save_word(out, s->layout);
    ln_save_bytes(out, s->bytes + (size_t)slot * s->size, s->size);
}

int ln_fold_states_load(ln_fold_states *s, uint32_t slot, ln_saved *saved) {
    uint64_t layout = ln_saved_word(saved);
    size_t len;
    const uint8_t *bytes = ln_saved_bytes(saved, &len);
    LN_ASSERT(slot < s->cap);
    if (!bytes || layout != s->layout || len != s->size) return LN_EINVALID;
    memcpy(s->bytes + (size_t)slot * s->size, bytes, len);
    return LN_OK;
}
