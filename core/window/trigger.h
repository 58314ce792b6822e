/* Triggers: when a pane leaves. A trigger is a flat program of nodes, children before parents, and its state three
 * small words; no function here allocates, and nothing but predicates (`when`) needs an answer from outside. What has
 * come since the last pane is a fact of the window and passed in with each event. */
#ifndef LN_WINDOW_TRIGGER_H
#define LN_WINDOW_TRIGGER_H

#include "lunette.h"

/* A node is hot when it was ready since the last pane. */
typedef struct ln_trigger_state {
    uint64_t hot;
    uint64_t done;                    /* a once that is used up */
    uint8_t at[LN_TRIGGER_SEQUENCES]; /* the step each sequence has come to */
} ln_trigger_state;

/* What has come since the last pane: how many records, and the clock at the first and at the last of them. */
typedef struct ln_since {
    uint64_t count;
    int64_t first_us, last_us;
} ln_since;

enum ln_event_kind { LN_EVENT_RECORD = 0, LN_EVENT_CLOCK, LN_EVENT_WATERMARK };

typedef struct ln_event {
    int kind;
    int64_t from_us, to_us; /* of the clock or the watermark */
    int64_t set_us;         /* the clock was set forward by so much since the start: that time has not passed */
    uint64_t answers;       /* records: bit i where the predicate of node i said yes */
} ln_event;

/* Does the program keep state from event to event? */
int ln_trigger_stateful(const ln_trigger *t);
/* Bits of the nodes of these kinds (1 << kind). */
uint64_t ln_trigger_nodes(const ln_trigger *t, unsigned kinds);
/* The nodes that an event asks now. */
uint64_t ln_trigger_asked(const ln_trigger *t, const ln_trigger_state *s);
/* True when the event makes the trigger ready; notes which nodes were. */
int ln_trigger_ready(const ln_trigger *t, ln_trigger_state *s, const ln_since *since, const ln_event *e);
/* A pane leaves since the trigger was ready: what led to it is used up. Before ln_trigger_restart. */
void ln_trigger_consume(const ln_trigger *t, ln_trigger_state *s);
/* A pane has left, whatever the cause. */
static inline void ln_trigger_restart(ln_trigger_state *s) { s->hot = 0; }
/* Joins the state of a window merged into this one. */
void ln_trigger_merge(const ln_trigger *t, ln_trigger_state *into, const ln_trigger_state *from);
/* The clock at which a delay or an idleness that is asked becomes ready, if nothing comes; LN_FUTURE for never. */
int64_t ln_trigger_alarm(const ln_trigger *t, const ln_trigger_state *s, const ln_since *since);

static inline void ln_since_add(ln_since *s, int64_t clock_us) {
    if (!s->count++) s->first_us = clock_us;
    s->last_us = clock_us;
}
void ln_since_merge(ln_since *into, const ln_since *from);

#endif
