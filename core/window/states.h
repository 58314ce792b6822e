/* The aggregates of a pipeline side by side: one state for each, laid out in a run of bytes. Cells, slices and keys
 * hold such runs, and this is all that is done with one. All bytes zero is a run of identities, and a run may be moved
 * by copying it. */
#ifndef LN_WINDOW_STATES_H
#define LN_WINDOW_STATES_H

#include "window/aggregate/basic.h"
#include "window/frame.h"

typedef struct ln_states {
    ln_part *part; /* in the order of the plan */
    uint32_t count;
    uint32_t bytes; /* of a run */
    uint32_t align; /* 8, or 1 where every state is packed */
    int simple;     /* the values of two runs together can be told without a third */
    int plain;      /* none holds memory of its own: clearing bytes clears it, and a copy is another run */
    int shows;      /* some value may be encoded when it is read */
} ln_states;

/* 0, or -1 where memory is short. */
int ln_states_init(ln_states *s, ln_mem *mem, const ln_plan *plan);
void ln_states_free(ln_states *s, ln_mem *mem);
/* Finds the values of the present batch. */
void ln_states_enter(ln_states *s, const ln_rows *rows, const ln_plan *plan);

/* Has an aggregate a use for the value? NaN is one that none can take. */
static inline int ln_states_is_value(ln_tally *t, const ln_value *v) {
    if (v->type <= LN_NULL) return 0;
    if (!ln_is_nan(v)) return 1;
    t->skipped++;
    return 0;
}

/* One value into one state, and where the aggregate has a second column the value there. LN_OK or LN_ENOMEM. */
static inline int ln_states_offer(const ln_part *part, ln_tally *t, uint8_t *run, const ln_value *v,
                                  const ln_value *by) {
    if (!ln_states_is_value(t, v)) return LN_OK;
    if (part->by) {
        if (!ln_states_is_value(t, by)) return LN_OK;
        t->by = by;
    }
    return ln_part_add(part, t, run, v);
}

/* Takes a row of the batch, whose place in time the tally tells. 0, or -1 where memory is short. */
static inline int ln_states_add(const ln_states *s, ln_tally *t, uint8_t *run, uint32_t row) {
    static const ln_value none = {0};
    for (const ln_part *part = s->part, *end = part + s->count; part < end; part++) {
        if (!part->value) {
            if (ln_part_add(part, t, run, &none) != LN_OK) return -1;
        } else if (ln_states_offer(part, t, run, &part->value[row], part->by ? &part->by[row] : NULL) != LN_OK) {
            return -1;
        }
    }
    return 0;
}

/* The same with values from elsewhere, one for each aggregate, and then the second ones if any aggregate has one. */
int ln_states_add_values(const ln_states *s, ln_tally *t, uint8_t *run, const ln_value *values);
/* Takes what `from` knows into `into`. Merging may change `from`, which the caller clears next. 0 or -1. */
int ln_states_take(const ln_states *s, ln_tally *t, uint8_t *into, const uint8_t *from);
int ln_states_merge(const ln_states *s, ln_tally *t, uint8_t *into, uint8_t *from);
/* Back to identities, with their memory given back. */
void ln_states_clear(const ln_states *s, ln_tally *t, uint8_t *run);
/* The value of one aggregate of two runs together, where they are simple. */
static inline void ln_states_result_of_two(const ln_states *s, ln_tally *t, const uint8_t *a, const uint8_t *b,
                                           uint32_t i, ln_value *out) {
    (void)ln_part_result_of_two(&s->part[i], t, a, b, out);
    if (ln_is_nan(out)) out->type = LN_NULL;
}

/* The value of one aggregate, not settled yet; NaN is null. 0 or -1. */
static inline int ln_states_result(const ln_states *s, ln_tally *t, const uint8_t *run, uint32_t i, ln_value *out) {
    if (ln_part_result(&s->part[i], t, run, out) != LN_OK) return -1;
    if (ln_is_nan(out)) out->type = LN_NULL;
    return 0;
}

#endif
