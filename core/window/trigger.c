/* Triggers: a flat program walked twice an event, down to find who is asked, up to find who is ready. */
#include "window/trigger.h"

#include "base/instant.h"

static inline uint64_t bit(uint32_t i) { return UINT64_C(1) << i; }

/* The bit of a sequence's present step. */
static uint64_t step_of(const ln_trigger_node *n, const ln_trigger_state *s) {
    uint64_t rest = n->children;
    for (unsigned k = s->at[n->step_slot]; k > 0; k--) rest &= rest - 1;
    return rest & (~rest + 1);
}

int ln_trigger_stateful(const ln_trigger *t) {
    return ln_trigger_nodes(t, 1u << LN_ALL | 1u << LN_SEQUENCE | 1u << LN_ONCE) != 0;
}

uint64_t ln_trigger_nodes(const ln_trigger *t, unsigned kinds) {
    uint64_t found = 0;
    for (uint32_t i = 0; i < t->count; i++)
        if (kinds >> t->node[i].kind & 1) found |= bit(i);
    return found;
}

uint64_t ln_trigger_asked(const ln_trigger *t, const ln_trigger_state *s) {
    uint64_t asked = t->count ? bit(t->count - 1) : 0;
    for (uint32_t i = t->count; i-- > 0;) {
        const ln_trigger_node *n = &t->node[i];
        if (!(asked & bit(i))) continue;
        switch (n->kind) {
        case LN_ANY: asked |= n->children; break;
        case LN_ALL: asked |= n->children & ~s->hot; break;
        case LN_SEQUENCE: asked |= step_of(n, s); break;
        case LN_ONCE: asked |= s->done & bit(i) ? 0 : n->children; break;
        default: break;
        }
    }
    return asked;
}

static int leaf_ready(const ln_trigger_node *n, uint64_t self, const ln_since *since, const ln_event *e) {
    switch (n->kind) {
    case LN_EACH: return e->kind == LN_EVENT_RECORD;
    case LN_AFTER_COUNT: return e->kind == LN_EVENT_RECORD && since->count >= (uint64_t)n->n;
    case LN_WHEN: return e->kind == LN_EVENT_RECORD && (e->answers & self) != 0;
    case LN_EVERY:
        if (e->kind != (n->event_time ? LN_EVENT_WATERMARK : LN_EVENT_CLOCK)) return 0;
        if (n->if_new && since->count == 0) return 0;
        return ln_time_crosses(n->n, e->from_us, e->to_us);
    case LN_AFTER_DELAY:
        return e->kind == LN_EVENT_CLOCK && since->count > 0 &&
               ln_time_add(since->first_us, n->n) <= ln_time_sub(e->to_us, e->set_us);
    case LN_AFTER_IDLE:
        return e->kind == LN_EVENT_CLOCK && since->count > 0 &&
               ln_time_add(since->last_us, n->n) <= ln_time_sub(e->to_us, e->set_us);
    default: return 0;
    }
}

int ln_trigger_ready(const ln_trigger *t, ln_trigger_state *s, const ln_since *since, const ln_event *e) {
    uint64_t asked = ln_trigger_asked(t, s), now = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const ln_trigger_node *n = &t->node[i];
        int ready;
        if (!(asked & bit(i))) continue;
        switch (n->kind) {
        case LN_ANY: ready = (now & n->children) != 0; break;
        case LN_ALL: ready = ((now | s->hot) & n->children) == n->children; break;
        case LN_SEQUENCE: ready = (now & step_of(n, s)) != 0; break;
        case LN_ONCE: ready = !(s->done & bit(i)) && (now & n->children) != 0; break;
        default: ready = leaf_ready(n, bit(i), since, e); break;
        }
        if (ready) now |= bit(i);
    }
    s->hot |= now;
    return t->count && (now & bit(t->count - 1)) != 0;
}

void ln_trigger_consume(const ln_trigger *t, ln_trigger_state *s) {
    uint64_t used = t->count ? bit(t->count - 1) : 0;
    for (uint32_t i = t->count; i-- > 0;) {
        const ln_trigger_node *n = &t->node[i];
        if (!(used & s->hot & bit(i))) continue;
        if (n->kind == LN_SEQUENCE) {
            uint64_t step = step_of(n, s);
            used |= step;
            if (n->children & ~(step | (step - 1))) s->at[n->step_slot]++;
        } else {
            used |= n->children;
            if (n->kind == LN_ONCE) s->done |= bit(i);
        }
    }
}

void ln_trigger_merge(const ln_trigger *t, ln_trigger_state *into, const ln_trigger_state *from) {
    uint64_t hot = into->hot | from->hot;
    for (uint32_t i = 0; i < t->count; i++) {
        const ln_trigger_node *n = &t->node[i];
        uint8_t a, b;
        if (n->kind != LN_SEQUENCE) continue;
        a = into->at[n->step_slot];
        b = from->at[n->step_slot];
        if (a == b) continue;
        hot = (hot & ~bit(i)) | ((a > b ? into->hot : from->hot) & bit(i));
        if (b > a) into->at[n->step_slot] = b;
    }
    into->hot = hot;
    into->done |= from->done;
}

int64_t ln_trigger_alarm(const ln_trigger *t, const ln_trigger_state *s, const ln_since *since) {
    int64_t alarm = LN_FUTURE;
    uint64_t asked;
    if (since->count == 0) return LN_FUTURE;
    asked = ln_trigger_asked(t, s);
    for (uint32_t i = 0; i < t->count; i++) {
        const ln_trigger_node *n = &t->node[i];
        int64_t due;
        if (!(asked & bit(i)) || (n->kind != LN_AFTER_DELAY && n->kind != LN_AFTER_IDLE)) continue;
        due = ln_time_add(n->kind == LN_AFTER_DELAY ? since->first_us : since->last_us, n->n);
        if (due < alarm) alarm = due;
    }
    return alarm;
}

void ln_since_merge(ln_since *into, const ln_since *from) {
    if (from->count == 0) return;
    if (into->count == 0) {
        *into = *from;
        return;
    }
    into->count += from->count;
    if (from->first_us < into->first_us) into->first_us = from->first_us;
    if (from->last_us > into->last_us) into->last_us = from->last_us;
}
