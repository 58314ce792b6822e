/* What a predicate may read of the window that it is asked about: each value is worked out when it is read. */
#include "base/time.h"
#include "window/state.h"

ln_question *ln_engine_question(ln_engine *e) { return &e->question; }

static const ln_value *show(ln_engine *e, ln_value v) {
    e->shown = v;
    return &e->shown;
}

const ln_value *ln_engine_question_value(ln_engine *e, uint32_t i) {
    if (!e->join.asked || i >= e->plan.aggregates) return show(e, (ln_value){.type = LN_MISSING});
    if (ln_values_one(e, e->join.asked, i, &e->shown) < 0) return show(e, (ln_value){.type = LN_NULL});
    return &e->shown;
}

const ln_value *ln_engine_question_bound(ln_engine *e, int end) {
    const ln_cell *c = e->join.asked;
    if (!c) return show(e, (ln_value){.type = LN_MISSING});
    ln_time_show(end ? c->end_us : c->start_us, e->plan.unit, &e->shown);
    return &e->shown;
}

const uint8_t *ln_engine_question_key(ln_engine *e, size_t *len) {
    const ln_cell *c = e->join.asked;
    *len = c ? c->key->key.len : 0;
    return c ? ln_key_bytes(&c->key->key) : NULL;
}
