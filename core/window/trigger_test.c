/* Triggers: random programs of every kind, nested in each other, against an evaluator that walks the tree as the rules
 * are written, and that keeps what has come since the last pane as a plain list of records. */
#include "window/trigger.h"

#include "base/instant.h"
#include "base/test.h"
#include "base/test_random.h"

enum { PARTS = 3, RECORDS = 512 };

/* ---- the evaluator ---- */

/* A part of a trigger; its state is another array with the same numbers. */
typedef struct part {
    int kind, event_time, if_new, parts;
    int64_t n;
    struct part *part[PARTS];
    uint32_t number; /* in the flat program */
} part;

typedef struct flags {
    int hot, done, step;
} flags;

/* A window as the rules see it. */
typedef struct window {
    flags of[LN_TRIGGER_NODES];
    int64_t record_us[RECORDS]; /* the clock at each record since the last pane */
    int records;
} window;

static int64_t earliest(const window *w) {
    int64_t t = w->record_us[0];
    for (int i = 1; i < w->records; i++) t = w->record_us[i] < t ? w->record_us[i] : t;
    return t;
}

static int64_t latest(const window *w) {
    int64_t t = w->record_us[0];
    for (int i = 1; i < w->records; i++) t = w->record_us[i] > t ? w->record_us[i] : t;
    return t;
}

static int passes_multiple(int64_t d, int64_t from_us, int64_t to_us) {
    if (from_us == LN_PAST || to_us == LN_FUTURE) return 0;
    for (int64_t t = from_us + 1; t <= to_us; t++)
        if (t % d == 0) return 1;
    return 0;
}

static int leaf(const part *p, const window *w, const ln_event *e) {
    int record = e->kind == LN_EVENT_RECORD, clock = e->kind == LN_EVENT_CLOCK;
    switch (p->kind) {
    case LN_EACH: return record;
    case LN_AFTER_COUNT: return record && w->records >= p->n;
    case LN_WHEN: return record && (e->answers >> p->number & 1);
    case LN_EVERY:
        if (p->event_time ? e->kind != LN_EVENT_WATERMARK : !clock) return 0;
        return (!p->if_new || w->records > 0) && passes_multiple(p->n, e->from_us, e->to_us);
    case LN_AFTER_DELAY: return clock && w->records > 0 && e->to_us - earliest(w) >= p->n;
    case LN_AFTER_IDLE: return clock && w->records > 0 && e->to_us - latest(w) >= p->n;
    default: return 0;
    }
}

/* Asks a part, and notes each that is ready, and in *asked each that was asked. */
static int ready(const part *p, window *w, const ln_event *e, uint64_t *asked) {
    flags *own = &w->of[p->number];
    int is = 0;
    *asked |= UINT64_C(1) << p->number;
    switch (p->kind) {
    case LN_ANY:
        for (int i = 0; i < p->parts; i++) is |= ready(p->part[i], w, e, asked);
        break;
    case LN_ALL:
        is = 1;
        for (int i = 0; i < p->parts; i++)
            if (!w->of[p->part[i]->number].hot) is &= ready(p->part[i], w, e, asked);
        break;
    case LN_SEQUENCE: is = ready(p->part[own->step], w, e, asked); break;
    case LN_ONCE: is = !own->done && ready(p->part[0], w, e, asked); break;
    default: is = leaf(p, w, e); break;
    }
    own->hot |= is;
    return is;
}

/* What led to the pane is used up, from the outside in; nothing inside a part that was not ready. */
static void consume(const part *p, window *w) {
    flags *own = &w->of[p->number];
    if (!own->hot) return;
    if (p->kind == LN_SEQUENCE) {
        consume(p->part[own->step], w);
        own->step += own->step < p->parts - 1;
        return;
    }
    if (p->kind == LN_ONCE) own->done = 1;
    for (int i = 0; i < p->parts; i++) consume(p->part[i], w);
}

static void restart(window *w) {
    w->records = 0;
    for (int i = 0; i < LN_TRIGGER_NODES; i++) w->of[i].hot = 0;
}

/* Flags and once-marks join; a sequence is the one that has come further, whose flag alone counts then. */
static void merge(const part *p, window *into, const window *from) {
    flags *a = &into->of[p->number];
    const flags *b = &from->of[p->number];
    a->done |= b->done;
    if (a->step == b->step) a->hot |= b->hot;
    else if (a->step < b->step) *a = (flags){b->hot, a->done, b->step};
    for (int i = 0; i < p->parts; i++) merge(p->part[i], into, from);
}

/* When the first delay or idleness among the asked is ready, if nothing comes. */
static int64_t alarm(const part *p, const window *w, uint64_t asked) {
    int64_t at = LN_FUTURE;
    if (w->records == 0 || !(asked >> p->number & 1)) return LN_FUTURE;
    if (p->kind == LN_AFTER_DELAY) return earliest(w) + p->n;
    if (p->kind == LN_AFTER_IDLE) return latest(w) + p->n;
    for (int i = 0; i < p->parts; i++) {
        int64_t of_part = alarm(p->part[i], w, asked);
        at = of_part < at ? of_part : at;
    }
    return at;
}

/* ---- random programs ---- */

static part parts[LN_TRIGGER_NODES];

static void make_leaf(test_random *r, part *p) {
    p->kind = (int)test_random_below(r, LN_WHEN + 1);
    p->n = p->kind == LN_AFTER_COUNT ? test_random_between(r, 1, 4) : test_random_between(r, 1, 30);
    if (p->kind != LN_EVERY) return;
    p->event_time = (int)test_random_below(r, 2);
    p->if_new = (int)test_random_below(r, 2);
}

/* Makes a part of at most this depth, children first, and appends it to the flat program. */
static part *make(test_random *r, ln_trigger *t, uint32_t depth) {
    part own = {0}, *p;
    ln_trigger_node node = {0};
    if (depth == 0 || test_random_below(r, 6) == 0) make_leaf(r, &own);
    else own.kind = LN_ANY + (int)test_random_below(r, 4);
    if (own.kind == LN_SEQUENCE && t->sequences == LN_TRIGGER_SEQUENCES) own.kind = LN_ANY;
    if (own.kind == LN_SEQUENCE) node.step_slot = (uint8_t)t->sequences++;
    if (own.kind >= LN_ANY) own.parts = own.kind == LN_ONCE ? 1 : 1 + (int)test_random_below(r, PARTS);
    for (int i = 0; i < own.parts; i++) {
        own.part[i] = make(r, t, depth - 1);
        node.children |= UINT64_C(1) << own.part[i]->number;
    }
    own.number = t->count++;
    node.kind = (uint8_t)own.kind;
    node.event_time = (uint8_t)own.event_time;
    node.if_new = (uint8_t)own.if_new;
    node.n = own.kind == LN_WHEN ? own.number : own.n;
    t->node[own.number] = node;
    if (own.kind == LN_ONCE) t->once |= UINT64_C(1) << own.number;
    p = &parts[own.number];
    *p = own;
    return p;
}

static const part *make_program(test_random *r, ln_trigger *t) {
    memset(t, 0, sizeof *t);
    return make(r, t, test_random_below(r, 4));
}

/* ---- both at once ---- */

typedef struct pair {
    window model;
    ln_trigger_state state;
    ln_since since;
} pair;

static uint64_t counts[LN_ONCE + 1]; /* how often a node of each kind was ready, over all programs */

static void add_record(pair *p, int64_t clock_us) {
    p->model.record_us[p->model.records++] = clock_us;
    ln_since_add(&p->since, clock_us);
}

static void pane(pair *p) {
    restart(&p->model);
    ln_trigger_restart(&p->state);
    p->since = (ln_since){0};
}

static void count_ready(const ln_trigger *t, const window *w) {
    for (uint32_t i = 0; i < t->count; i++) counts[t->node[i].kind] += (uint64_t)w->of[i].hot;
}

/* One event: both are ready or not, asked the same parts and noted the same; a pane leaves where they are. */
static int offer(const ln_trigger *t, const part *root, pair *p, const ln_event *e) {
    uint64_t asked = 0, hot = 0, asked_before = ln_trigger_asked(t, &p->state);
    int want = ready(root, &p->model, e, &asked), ok;
    if (!ln_trigger_stateful(t)) p->state = (ln_trigger_state){0}; /* then any state will do */
    ok = CHECK_INT(ln_trigger_ready(t, &p->state, &p->since, e), want) & CHECK_INT(asked_before, asked);
    for (uint32_t i = 0; i < t->count; i++) hot |= (uint64_t)p->model.of[i].hot << i;
    if (ln_trigger_stateful(t)) ok &= CHECK_INT(p->state.hot, hot);
    count_ready(t, &p->model);
    if (want) {
        consume(root, &p->model);
        ln_trigger_consume(t, &p->state);
        pane(p);
    }
    asked = ln_trigger_asked(t, &p->state);
    return ok & CHECK_INT(ln_trigger_alarm(t, &p->state, &p->since), alarm(root, &p->model, asked));
}

static int same_state(const ln_trigger *t, const pair *p) {
    int ok = 1;
    for (uint32_t i = 0; i < t->count && ln_trigger_stateful(t); i++) {
        const flags *own = &p->model.of[i];
        ok &= CHECK_INT(p->state.hot >> i & 1, own->hot) & CHECK_INT(p->state.done >> i & 1, own->done);
        if (t->node[i].kind == LN_SEQUENCE) ok &= CHECK_INT(p->state.at[t->node[i].step_slot], own->step);
    }
    ok &= CHECK_INT(p->since.count, p->model.records);
    if (p->model.records)
        ok &= CHECK_INT(p->since.first_us, earliest(&p->model)) & CHECK_INT(p->since.last_us, latest(&p->model));
    return ok;
}

static int join(const ln_trigger *t, const part *root, pair *into, const pair *from) {
    window *a = &into->model;
    const window *b = &from->model;
    if (a->records + b->records >= RECORDS) return 1;
    merge(root, a, b);
    for (int i = 0; i < b->records; i++) a->record_us[a->records++] = b->record_us[i];
    ln_trigger_merge(t, &into->state, &from->state);
    ln_since_merge(&into->since, &from->since);
    return same_state(t, into);
}

/* Moves the clock or W; now and then from or to infinity. */
static ln_event move(test_random *r, int kind, int64_t *now_us) {
    ln_event e = {.kind = kind, .from_us = *now_us, .to_us = *now_us + test_random_between(r, 1, 25)};
    *now_us = e.to_us;
    if (kind == LN_EVENT_CLOCK) return e;
    if (test_random_below(r, 20) == 0) e.from_us = LN_PAST;
    if (test_random_below(r, 20) == 0) e.to_us = LN_FUTURE;
    return e;
}

static int step(test_random *r, const ln_trigger *t, const part *root, pair *two, int64_t *clock_us, int64_t *w_us) {
    pair *p = &two[test_random_below(r, 2)];
    ln_event e = {.kind = LN_EVENT_RECORD};
    switch (test_random_below(r, 12)) {
    default:
        if (p->model.records == RECORDS - 1) pane(p);
        add_record(p, *clock_us);
        e.answers = test_random_next(r);
        e.answers &= test_random_next(r); /* one in four says yes */
        return offer(t, root, p, &e);
    case 0:
    case 1:
    case 2: e = move(r, LN_EVENT_CLOCK, clock_us); return offer(t, root, &two[0], &e) & offer(t, root, &two[1], &e);
    case 3:
    case 4: e = move(r, LN_EVENT_WATERMARK, w_us); return offer(t, root, &two[0], &e) & offer(t, root, &two[1], &e);
    case 5: pane(p); return same_state(t, p); /* from another cause */
    case 6:
        if (test_random_below(r, 8)) return 1;
        if (!join(t, root, p, &two[p == two])) return 0;
        two[p == two] = (pair){0}; /* a new window */
        return 1;
    }
}

static void show(const part *p, int indent) {
    static const char *const names[] = {"never", "each", "after_count", "every",    "after_delay", "after_idle",
                                        "when",  "any",  "all",         "sequence", "once"};
    fprintf(stderr, "  %*s%d: %s %" PRId64 "\n", indent, "", (int)p->number, names[p->kind], p->n);
    for (int i = 0; i < p->parts; i++) show(p->part[i], indent + 2);
}

static void random_programs(void) {
    static pair two[2];
    for (uint64_t seed = 0; seed < 3000; seed++) {
        test_random r = {seed};
        ln_trigger t;
        const part *root = make_program(&r, &t);
        int64_t clock_us = -100, w_us = -200;
        int ok = 1;
        memset(two, 0, sizeof two);
        for (int i = 0; i < 120 && ok; i++) ok = step(&r, &t, root, two, &clock_us, &w_us);
        ok &= same_state(&t, &two[0]) & same_state(&t, &two[1]);
        if (ok) continue;
        fprintf(stderr, "  seed %" PRIu64 ":\n", seed);
        show(root, 0);
        return;
    }
    CHECK_INT(counts[LN_NEVER], 0);
    for (int kind = LN_EACH; kind <= LN_ONCE; kind++)
        if (!CHECK(counts[kind] > 500)) fprintf(stderr, "  kind %d: %" PRIu64 "\n", kind, counts[kind]);
}

/* ---- what programs consist of ---- */

static void kinds_in_a_program(void) {
    test_random r = {1};
    for (int i = 0; i < 500; i++) {
        unsigned kinds = (unsigned)test_random_below(&r, 1u << (LN_ONCE + 1));
        uint64_t want = 0;
        int stateful = 0;
        ln_trigger t;
        make_program(&r, &t);
        for (uint32_t k = 0; k < t.count; k++) {
            if (kinds & 1u << parts[k].kind) want |= UINT64_C(1) << k;
            stateful |= parts[k].kind == LN_ALL || parts[k].kind == LN_SEQUENCE || parts[k].kind == LN_ONCE;
        }
        CHECK_INT(ln_trigger_nodes(&t, kinds), want);
        CHECK_INT(ln_trigger_stateful(&t), stateful);
    }
}

/* No program at all is `never`. */
static void no_program(void) {
    static const ln_trigger none;
    ln_trigger_state s = {0}, other = {.done = 4};
    ln_since since = {.count = 3};
    const ln_event e = {.kind = LN_EVENT_RECORD, .answers = UINT64_MAX};
    CHECK(!ln_trigger_ready(&none, &s, &since, &e));
    CHECK_INT(ln_trigger_asked(&none, &s), 0);
    CHECK_INT(ln_trigger_alarm(&none, &s, &since), LN_FUTURE);
    ln_trigger_consume(&none, &s);
    CHECK_INT(s.done, 0);
    ln_trigger_merge(&none, &s, &other);
    CHECK_INT(s.done, 4);
}

/* A delay that would end after the last time there is ends with it. */
static void delays_beyond_time(void) {
    const ln_trigger t = {.count = 1, .node = {{.kind = LN_AFTER_DELAY, .n = INT64_MAX}}};
    ln_trigger_state s = {0};
    ln_since since = {0};
    ln_event e = {.kind = LN_EVENT_CLOCK, .from_us = 0, .to_us = LN_TIME_MAX - 1};
    ln_since_add(&since, 1);
    CHECK_INT(ln_trigger_alarm(&t, &s, &since), LN_TIME_MAX);
    CHECK(!ln_trigger_ready(&t, &s, &since, &e));
}

static const test_case cases[] = {
    {"random programs", random_programs},
    {"kinds in a program", kinds_in_a_program},
    {"no program", no_program},
    {"delays beyond time", delays_beyond_time},
};
TEST_MAIN(cases)
