/* Panes as structs, read from the bytes that they leave in: one at a time. */
#ifndef LN_HOST_PANES_H
#define LN_HOST_PANES_H

#include "base/mem.h"
#include "lunette.h"

typedef struct ln_panes {
    lunette_pane pane;
    lunette_field *field; /* its values */
    size_t cap;
    size_t at; /* in the packed panes of the output: how far they have been read */
} ln_panes;

/* Reads the pane at `p`; its end, or NULL where memory is short. */
const uint8_t *ln_panes_read(ln_panes *s, ln_mem *mem, const uint8_t *p, const uint8_t *end);
void ln_panes_free(ln_panes *s, ln_mem *mem);

#endif
