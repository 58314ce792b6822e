/* The plan of an engine as far as one must know it to read what that engine saved, and what its parts are in the plan
 * of the engine that loads: aggregates are matched by name, nodes of triggers by kind and place. */
#ifndef LN_WINDOW_SAVED_PLAN_H
#define LN_WINDOW_SAVED_PLAN_H

#include "window/state.h"

enum { LN_SAVED_VERSION = 1, LN_SAVED_NONE = 255 };

typedef struct ln_saved_aggregate {
    int kind;
    uint32_t to;  /* its number in the plan of the engine that loads */
    int declared; /* a fold whose state lies in the engine's memory */
} ln_saved_aggregate;

typedef struct ln_saved_trigger {
    ln_trigger trigger;           /* kinds, children, slots of sequences */
    uint8_t to[LN_TRIGGER_NODES]; /* of each node: its number in the new trigger, or LN_SAVED_NONE */
} ln_saved_trigger;

typedef struct ln_saved_plan {
    int sliced, hopping, headed, stateful, folds, by, rare, at_watermark, staged;
    int64_t slice_us;
    int completing_shift, expiring_shift; /* of the wheels; -1: none */
    uint64_t state_bytes;
    uint64_t keys, rows; /* about how many: of keys, and of rows in a slice */
    uint32_t aggregates;
    ln_saved_aggregate *aggregate;
    ln_saved_trigger early, late;
    int same_triggers; /* delays included */
} ln_saved_plan;

void ln_saved_plan_write(const ln_engine *e, ln_buf *out);
/* Reads a plan and matches it with that of `e`. LN_OK, LN_ENOMEM, or LN_EINVALID with *why. */
int ln_saved_plan_read(ln_engine *e, const uint8_t *bytes, size_t len, ln_saved_plan *p, const char **why);
void ln_saved_plan_free(ln_engine *e, ln_saved_plan *p);

#endif
