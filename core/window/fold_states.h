/* The states of folds that declare them, in the engine's memory and counted there: for each such fold an array of
 * structs by slot. What is in a slot is the driver's, which adds, merges and clears as it works off operations; a slot
 * that is new or clear holds zeros. */
#ifndef LN_WINDOW_FOLD_STATES_H
#define LN_WINDOW_FOLD_STATES_H

#include "base/buf.h"
#include "lunette.h"
#include "window/aggregate/saved.h"

typedef struct ln_fold_states {
    uint8_t *bytes;
    size_t cap;      /* slots that there is room for */
    uint32_t size;   /* of a struct; 0: the fold's accumulators live in Lua */
    uint64_t layout; /* tells structs of other fields apart */
} ln_fold_states;

/* Room for a slot; 0, or -1 where memory is short. */
int ln_fold_states_ensure(ln_fold_states *s, ln_mem *mem, uint32_t slot);
/* No slot is in use any more: gives back what has become too large. */
void ln_fold_states_trim(ln_fold_states *s, ln_mem *mem);
void ln_fold_states_free(ln_fold_states *s, ln_mem *mem);
/* One slot, as bytes. LN_OK, or LN_EINVALID for bytes of another layout. */
void ln_fold_states_save(const ln_fold_states *s, uint32_t slot, ln_buf *out);
int ln_fold_states_load(ln_fold_states *s, uint32_t slot, ln_saved *saved);

#endif
