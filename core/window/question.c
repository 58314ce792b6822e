/* What a predicate may read of the window that it is asked about: each value is worked out when it is read. */
#include "base/time.h"
#include "window/state.h"

ln_question *ln_engine_question(ln_engine *e) { return &e->question; }

static const ln_value *show(ln_engine *e, ln_value v) {
    e->shown = v;
    return &e->shown;
}

const ln_value *ln_engine_question_value(ln_engine *e, uint32_t i) {
    if (!e->asked.key || i >= e->plan.aggregates) return show(e, (ln_value){.type = LN_MISSING});
    if (ln_values_one(e, &e->asked, i, &e->shown) < 0) return show(e, (ln_value){.type = LN_NULL});
    return &e->shown;
}

const ln_value *ln_engine_question_bound(ln_engine *e, int end) {
    const ln_window *w = &e->asked;
    if (!w->key) return show(e, (ln_value){.type = LN_MISSING});
    ln_time_show(end ? w->end_us : w->start_us, e->plan.unit, &e->shown);
    return &e->shown;
}

const uint8_t *ln_engine_question_key(ln_engine *e, size_t *len) {
    const ln_key *key = e->asked.key;
    *len = key ? key->len : 0;
    return key ? ln_key_bytes(key) : NULL;
}
