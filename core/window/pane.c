/* Copies of panes, kept for a withdrawal. */
#include "window/pane.h"

#include <string.h>

/* One block: its size, the pane, its values, then the bytes they point to. */
typedef struct copied {
    size_t bytes;
    ln_pane pane;
    ln_value value[];
} copied;

static int has_bytes(const ln_value *v) { return v->type >= LN_TEXT; }

ln_pane *ln_pane_copy(ln_mem *mem, const ln_pane *pane, uint32_t values) {
    size_t bytes = sizeof(copied) + values * sizeof(ln_value);
    uint8_t *to;
    copied *c;
    for (uint32_t i = 0; i < values; i++) bytes += has_bytes(&pane->value[i]) ? pane->value[i].len : 0;
    c = ln_mem_new(mem, bytes);
    if (!c) return NULL;
    c->bytes = bytes;
    c->pane = *pane;
    c->pane.value = c->value;
    c->pane.absorbed_count = 0;
    c->pane.absorbed_us = NULL;
    to = (uint8_t *)(c->value + values);
    for (uint32_t i = 0; i < values; i++) {
        c->value[i] = pane->value[i];
        if (!has_bytes(&pane->value[i])) continue;
        if (pane->value[i].len) memcpy(to, pane->value[i].at, pane->value[i].len);
        c->value[i].at = to;
        to += pane->value[i].len;
    }
    return &c->pane;
}

void ln_pane_free(ln_mem *mem, ln_pane *pane) {
    copied *c;
    if (!pane) return;
    c = (copied *)((uint8_t *)pane - offsetof(copied, pane));
    ln_mem_free(mem, c, c->bytes);
}
