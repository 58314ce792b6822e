/* The aggregates of a pipeline side by side. */
#include "window/states.h"

#include <string.h>

/* Those whose states are aligned come first, so that nothing lies between two states. */
static uint32_t lay_out(ln_states *s, uint32_t align, uint32_t at) {
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->part[i].ops->align != align) continue;
        s->part[i].at = at;
        at += s->part[i].ops->size;
    }
    return at;
}

int ln_states_init(ln_states *s, ln_mem *mem, const ln_plan *plan) {
    *s = (ln_states){.count = plan->aggregates, .align = 1, .plain = 1, .simple = 1};
    s->part = ln_mem_zero(mem, (s->count + 1) * sizeof *s->part);
    if (!s->part) return -1;
    for (uint32_t i = 0; i < s->count; i++) {
        const ln_aggregate_ops *ops = ln_aggregate_find(plan->aggregate[i].kind);
        s->part[i].kind = plan->aggregate[i].kind;
        s->part[i].ops = ops;
        s->part[i].spec = &plan->aggregate[i];
        if (ops->size && ops->align > s->align) s->align = ops->align;
        if (ops->clear) s->plain = 0;
        if (s->part[i].kind > LN_MAX) s->simple = 0;
        if (ops->show) s->shows = 1;
    }
    s->bytes = lay_out(s, 1, lay_out(s, 8, 0));
    return 0;
}

void ln_states_free(ln_states *s, ln_mem *mem) {
    ln_mem_free(mem, s->part, (s->count + 1) * sizeof *s->part);
    s->part = NULL;
}

void ln_states_enter(ln_states *s, const ln_rows *rows, const ln_plan *plan) {
    for (uint32_t i = 0; i < s->count; i++) {
        const ln_aggregate *a = &plan->aggregate[i];
        s->part[i].value = a->column < 0 ? NULL : ln_rows_value(rows, a->column, 0);
        s->part[i].by = a->has_by ? ln_rows_value(rows, a->by_column, 0) : NULL;
    }
}

int ln_states_add_values(const ln_states *s, ln_tally *t, uint8_t *run, const ln_value *values) {
    for (uint32_t i = 0; i < s->count; i++) {
        const ln_part *part = &s->part[i];
        const ln_aggregate *a = part->spec; /* not the columns of a batch: there may not have been one yet */
        if (a->column >= 0 && !ln_states_is_value(t, &values[i])) continue;
        if (a->has_by) {
            if (!ln_states_is_value(t, &values[s->count + i])) continue;
            t->by = &values[s->count + i];
        }
        if (ln_part_add(part, t, run, &values[i]) != LN_OK) return -1;
    }
    return 0;
}

int ln_states_take(const ln_states *s, ln_tally *t, uint8_t *into, const uint8_t *from) {
    for (const ln_part *part = s->part, *end = part + s->count; part < end; part++)
        if (ln_part_take(part, t, into, from) != LN_OK) return -1;
    return 0;
}

int ln_states_merge(const ln_states *s, ln_tally *t, uint8_t *into, uint8_t *from) {
    for (const ln_part *part = s->part, *end = part + s->count; part < end; part++)
        if (ln_aggregate_merge(part->ops, t, into + part->at, from + part->at) != LN_OK) return -1;
    return 0;
}

void ln_states_clear(const ln_states *s, ln_tally *t, uint8_t *run) {
    for (uint32_t i = 0; i < s->count && !s->plain; i++)
        if (s->part[i].ops->clear) s->part[i].ops->clear(t, run + s->part[i].at);
    memset(run, 0, s->bytes);
}
