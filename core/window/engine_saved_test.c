/* The whole engine, saved and loaded: while it goes on, while memory runs out, and from bytes that are broken. Each of
 * the pipelines is saved at some moment of its run and goes on in a new engine. */
#include "window/checked.h"
#include "window/state.h"
#include "window/test_pipelines.h"

enum { MOMENTS = 6, ENTRIES_MAX = 400 };

/* ---- a store: the newest of each entry -------------------------------------------------------------------------- */

typedef struct stored {
    int kind;
    uint64_t number;
    uint8_t *bytes;
    size_t len;
} stored;

typedef struct store {
    stored item[ENTRIES_MAX];
    size_t count;
} store;

static void drop(store *s, size_t i) {
    free(s->item[i].bytes);
    s->item[i] = s->item[--s->count];
    s->item[s->count].bytes = NULL;
}

static void put(store *s, const ln_entry *e) {
    for (size_t i = s->count; i-- > 0;) {
        const stored *had = &s->item[i];
        int gone = had->kind == LN_ENTRY_EXTENT && !e->bytes && had->number <= e->number;
        if (had->kind == e->kind && (had->number == e->number || gone)) drop(s, i);
    }
    if (!e->bytes || !CHECK(s->count < ENTRIES_MAX)) return;
    s->item[s->count] = (stored){e->kind, e->number, malloc(e->len), e->len};
    memcpy(s->item[s->count++].bytes, e->bytes, e->len);
}

static int by_number(const void *a, const void *b) {
    const stored *x = a, *y = b;
    if (x->kind != y->kind) return x->kind - y->kind;
    return (x->number > y->number) - (x->number < y->number);
}

static void free_store(store *s) {
    while (s->count) drop(s, 0);
}

/* The entries of a round into the store: LN_OK or LN_ENOMEM. */
static int drain(ln_engine *e, store *s) {
    ln_entry entry;
    for (;;) {
        int err = ln_engine_save_next(e, &entry);
        if (err != LN_OK || entry.kind == LN_ENTRY_NONE) return err;
        put(s, &entry);
    }
}

static int put_rest(ln_engine *e, store *s) {
    ln_entry entry;
    int err = ln_engine_save_rest(e, &entry);
    if (err == LN_OK) put(s, &entry);
    return err;
}

static int put_plan(ln_engine *e, store *s) {
    ln_entry entry;
    int err = ln_engine_save_plan(e, &entry);
    if (err == LN_OK) put(s, &entry);
    return err;
}

static int load(ln_engine *e, store *s, int exact) {
    int err = LN_OK;
    ln_entry out;
    qsort(s->item, s->count, sizeof *s->item, by_number);
    if (!s->count || s->item[0].kind != LN_ENTRY_PLAN) return LN_EINVALID;
    err = ln_engine_load(e, s->item[0].bytes, s->item[0].len, exact);
    for (size_t i = 1; i < s->count && err == LN_OK; i++) {
        const stored *x = &s->item[i];
        err = ln_engine_load_entry(e, x->kind, x->number, x->bytes, x->len, &out);
    }
    return err == LN_OK ? ln_engine_load_end(e, 0) : err;
}

/* ---- runs ------------------------------------------------------------------------------------------------------- */

/* Works on from moment `from` to moment `to`: each is a batch, or one of four moves of the clock behind it. */
static int feed(ln_engine *e, const ln_plan *p, output *o, int from, int to) {
    for (int m = from; m < to; m++) {
        int b = m / 5, tick = m % 5;
        int64_t clock_us = 1000 + 30 * b + 3 * tick;
        if (tick == 0) {
            if (ln_engine_begin(e, &batches[b], clock_us) != LN_OK) return REFUSED;
            (void)ln_engine_judge(e);
            if (fill(e, p, &batches[b]) != DONE) return REFUSED;
        } else if (ln_engine_clock(e, clock_us) != LN_OK) {
            return REFUSED;
        }
        if (work_off(e, o) != DONE) return REFUSED;
    }
    return DONE;
}

static int finish(ln_engine *e, output *o) {
    return ln_engine_finish(e) != LN_OK || work_off(e, o) != DONE ? REFUSED : DONE;
}

typedef struct run {
    test_mem t;
    ln_plan plan;
    struct ln_sink sink;
    output o;   /* what the sink was given: it tells no steps apart */
    output ops; /* and the driver */
    ln_engine *e;
} run;

static void begin(run *r, const pipeline *pipe, uint64_t fail_at) {
    ln_mem *mem = test_mem_init(&r->t, SIZE_MAX / 2);
    r->plan = plain_plan();
    pipe->plan(&r->plan);
    r->o = r->ops = (output){0};
    r->sink = (struct ln_sink){&r->o, take_pane, stage_pane, take_reject, nothing_waits, NULL};
    r->t.fail_at = fail_at;
    r->e = ln_engine_new_with(&r->plan, &r->sink, mem);
}

static void end(run *r) {
    ln_engine_delete(r->e);
    CHECK_INT(r->t.held, 0);
}

/* Tables that grew at other moments reach a limit at others: then other records are refused. */
static int is_limited(const ln_plan *p) { return p->limits.state_bytes < 1 << 30; }

/* Numbers of slots, of handles and of records that have waited are the driver's, and may be others. */
static int may_differ(const pipeline *pipe, const ln_plan *p) { return pipe->ops || pipe->questions || is_limited(p); }

/* Saved in rounds, the last of which is drained when the engine has long gone on. */
static void saved_while_it_goes_on(void) {
    make_batches();
    for (int i = 0; i < PIPELINES; i++) {
        for (int at = 0; at <= MOMENTS; at++) {
            static store s;
            run a, b;
            if (pipelines[i].traced) continue;
            test_name = pipelines[i].name;
            begin(&a, &pipelines[i], 0);
            CHECK_INT(ln_engine_save(a.e, LN_SAVE_CUT), LN_OK);
            CHECK_INT(put_plan(a.e, &s), LN_OK);
            CHECK_INT(feed(a.e, &a.plan, &a.ops, 0, at / 2), DONE);
            CHECK_INT(drain(a.e, &s), LN_OK);
            CHECK_INT(feed(a.e, &a.plan, &a.ops, at / 2, at), DONE);
            CHECK_INT(ln_engine_save_cut(a.e), LN_OK);
            CHECK_INT(put_rest(a.e, &s), LN_OK);
            begin(&b, &pipelines[i], 0);
            b.o = a.o;
            CHECK_INT(feed(a.e, &a.plan, &a.ops, at, 10), DONE);
            CHECK_INT(drain(a.e, &s), LN_OK);
            CHECK_INT(finish(a.e, &a.ops), DONE);
            CHECK_INT(load(b.e, &s, 1), LN_OK);
            CHECK_INT(work_off(b.e, &b.ops), DONE);
            CHECK_TEXT(ln_engine_verify(b.e), "");
            CHECK_INT(feed(b.e, &b.plan, &b.ops, at, 10), DONE);
            CHECK_TEXT(ln_engine_verify(b.e), "");
            CHECK_INT(finish(b.e, &b.ops), DONE);
            if (!may_differ(&pipelines[i], &a.plan)) CHECK_INT(b.o.digest, a.o.digest);
            if (!pipelines[i].questions && !is_limited(&a.plan)) CHECK_INT(b.o.panes, a.o.panes);
            if (!pipelines[i].questions && !is_limited(&a.plan)) CHECK_INT(b.o.withdrawals, a.o.withdrawals);
            end(&a);
            end(&b);
            free_store(&s);
            if (test_failures) fprintf(stderr, "  %s, moment %d\n", pipelines[i].name, at);
        }
    }
}

/* ---- keys that come and go -------------------------------------------------------------------------------------- */

enum { CHURN_BATCHES = 40 };

/* Time goes on by 1 with each row, and each row has a key of its own. */
static const ln_batch *fresh_keys(int b) {
    for (int row = 0; row < ROWS; row++) {
        columns[0][T][row] = (ln_value){.type = LN_INT, .i = b * ROWS + row};
        columns[0][KEY][row] = (ln_value){.type = LN_INT, .i = b * ROWS + row};
    }
    return &batches[0];
}

static void churn(run *r, int from, int to) {
    for (int b = from; b < to; b++) {
        const ln_batch *batch = fresh_keys(b);
        CHECK_INT(ln_engine_begin(r->e, batch, 0), LN_OK);
        (void)ln_engine_judge(r->e);
        CHECK_INT(fill(r->e, &r->plan, batch), DONE);
        CHECK_INT(work_off(r->e, &r->ops), DONE);
    }
}

static void churn_on(const pipeline *pipe, store *s, output at_cut, int from, const output *whole) {
    run b;
    begin(&b, pipe, 0);
    CHECK_INT(load(b.e, s, 1), LN_OK);
    CHECK_INT(work_off(b.e, &b.ops), DONE);
    b.o = at_cut;
    churn(&b, from, CHURN_BATCHES);
    CHECK_INT(finish(b.e, &b.ops), DONE);
    CHECK_INT(b.o.panes, whole->panes);
    CHECK_INT(b.o.digest, whole->digest);
    end(&b);
}

static void at_the_watermark(ln_plan *p) { p->aggregates = 1; }

/* Numbers of keys are given again between a cut and the end of its round. */
static void saved_while_keys_come_and_go(void) {
    static const pipeline pipe = {.name = "churn", .plan = at_the_watermark};
    output whole;
    run a;
    make_batches();
    memset(malformed, 0, sizeof malformed);
    begin(&a, &pipe, 0);
    churn(&a, 0, CHURN_BATCHES);
    CHECK_INT(finish(a.e, &a.ops), DONE);
    whole = a.o;
    end(&a);
    for (uint64_t seed = 1; seed <= 30 && !test_failures; seed++) {
        static store s;
        test_random r = {seed};
        int cut = 0;
        output at_cut = {0};
        ln_entry entry;
        begin(&a, &pipe, 0);
        CHECK_INT(ln_engine_save(a.e, LN_SAVE_CUT), LN_OK);
        CHECK_INT(put_plan(a.e, &s), LN_OK);
        CHECK_INT(put_rest(a.e, &s), LN_OK);
        for (int b = 0; b < CHURN_BATCHES; b++) {
            churn(&a, b, b + 1);
            for (uint32_t n = test_random_below(&r, 60); n-- > 0;) {
                CHECK_INT(ln_engine_save_next(a.e, &entry), LN_OK);
                if (entry.kind != LN_ENTRY_NONE) {
                    put(&s, &entry);
                    continue;
                }
                churn_on(&pipe, &s, at_cut, cut, &whole);
                CHECK_INT(ln_engine_save_cut(a.e), LN_OK);
                CHECK_INT(put_rest(a.e, &s), LN_OK);
                at_cut = a.o;
                cut = b + 1;
                break;
            }
        }
        CHECK(cut > 10);
        end(&a);
        free_store(&s);
    }
    malformed[5] = LN_EINVALID;
    malformed[6] = LN_EJSON;
}

/* The state of a pipeline at some moment. */
static void take_state(const pipeline *pipe, int at, store *s) {
    run a;
    begin(&a, pipe, 0);
    CHECK_INT(feed(a.e, &a.plan, &a.ops, 0, at), DONE);
    CHECK_INT(ln_engine_save(a.e, LN_SAVE_CHASE), LN_OK);
    CHECK_INT(put_plan(a.e, s), LN_OK);
    CHECK_INT(drain(a.e, s), LN_OK);
    CHECK_INT(put_rest(a.e, s), LN_OK);
    end(&a);
}

static void memory_runs_out(void) {
    make_batches();
    for (int i = 0; i < PIPELINES; i++) {
        static store s;
        int err = LN_ENOMEM;
        if (pipelines[i].traced) continue;
        test_name = pipelines[i].name;
        take_state(&pipelines[i], 6, &s);
        for (uint64_t n = 1; err != LN_OK && !test_failures; n++) {
            run b;
            begin(&b, &pipelines[i], 0);
            b.t.fail_at = b.t.calls + n;
            err = load(b.e, &s, 1);
            CHECK(err == LN_OK || err == LN_ENOMEM);
            if (err != LN_OK) CHECK(*ln_engine_error(b.e));
            end(&b);
        }
        free_store(&s);
    }
}

/* The same for saving: an engine that could not be saved goes on. */
static void memory_runs_out_of_a_save(void) {
    make_batches();
    for (int i = 0; i < PIPELINES; i++) {
        int err = LN_ENOMEM;
        if (pipelines[i].traced) continue;
        test_name = pipelines[i].name;
        for (uint64_t n = 1; err != LN_OK && !test_failures; n++) {
            static store s;
            run a;
            begin(&a, &pipelines[i], 0);
            CHECK_INT(feed(a.e, &a.plan, &a.ops, 0, 6), DONE);
            a.t.fail_at = a.t.calls + n;
            err = ln_engine_save(a.e, LN_SAVE_CUT);
            if (err == LN_OK) err = put_plan(a.e, &s);
            if (err == LN_OK) err = drain(a.e, &s);
            if (err == LN_OK) err = put_rest(a.e, &s);
            CHECK(err == LN_OK || err == LN_ENOMEM);
            a.t.fail_at = 0;
            CHECK_INT(feed(a.e, &a.plan, &a.ops, 6, 10), DONE);
            end(&a);
            free_store(&s);
        }
    }
}

/* Changes an entry, and puts its checksum right: it is refused, or it is a state like any other. */
static void breaks(const pipeline *pipe, const store *whole, test_random *r, uint64_t *refused) {
    static store s;
    stored *x;
    ln_buf sum;
    ln_mem mem;
    run b;
    int err;
    for (size_t i = 0; i < whole->count; i++) {
        const stored *w = &whole->item[i];
        ln_entry e = {.kind = w->kind, .number = w->number, .bytes = w->bytes, .len = w->len};
        put(&s, &e);
    }
    if (!CHECK(s.count)) return;
    x = &s.item[test_random_below(r, (uint32_t)s.count)];
    if (test_random_below(r, 8) == 0) x->number = test_random_below(r, 300);
    if (test_random_below(r, 8) == 0 && x->len > 12) x->len -= 1 + test_random_below(r, 4);
    for (uint32_t n = test_random_below(r, 3); n < 3; n++)
        x->bytes[test_random_below(r, (uint32_t)x->len - 8)] ^= (uint8_t)(1 << test_random_below(r, 8));
    ln_mem_init(&mem);
    ln_buf_init(&sum, &mem);
    ln_buf_append(&sum, x->bytes, x->len - 8);
    ln_check(&sum, 0);
    memcpy(x->bytes, sum.data, x->len);
    ln_buf_free(&sum);
    begin(&b, pipe, 0);
    err = load(b.e, &s, (int)test_random_below(r, 2));
    CHECK(err == LN_OK || err == LN_EINVALID || err == LN_ENOMEM);
    *refused += err != LN_OK;
    if (err == LN_OK && work_off(b.e, &b.ops) == DONE && feed(b.e, &b.plan, &b.ops, 6, 10) == DONE)
        (void)finish(b.e, &b.ops);
    end(&b);
    free_store(&s);
}

static void broken_bytes(void) {
    uint64_t refused = 0;
    make_batches();
    for (int i = 0; i < PIPELINES; i++) {
        static store s;
        if (pipelines[i].traced) continue;
        test_name = pipelines[i].name;
        take_state(&pipelines[i], 6, &s);
        for (uint64_t round = 0; round < 2000 && !test_failures; round++) {
            test_random r = {round * 77 + 5};
            breaks(&pipelines[i], &s, &r, &refused);
        }
        if (!CHECK(s.count)) continue;
        s.item[0].bytes[3] ^= 1; /* without the checksum put right it is always refused */
        {
            run b;
            begin(&b, &pipelines[i], 0);
            CHECK_INT(load(b.e, &s, 1), LN_EINVALID);
            end(&b);
        }
        free_store(&s);
    }
    CHECK(refused > 2000);
}

static const test_case cases[] = {
    {"saved while it goes on", saved_while_it_goes_on},
    {"saved while keys come and go", saved_while_keys_come_and_go},
    {"memory runs out", memory_runs_out},
    {"memory runs out of a save", memory_runs_out_of_a_save},
    {"broken bytes", broken_bytes},
};
TEST_MAIN(cases)
