/* The steady state takes no memory: from bytes to panes, after a warm-up, records come without asking for any. Calls of
 * the C library's allocator are counted where the linker leads them here. A structure that doubles when it is full may
 * still do so at a new peak: a few calls, however many records. */
#include "base/pack.h"
#include "base/test.h"
#include "base/test_random.h"

enum { RECORDS = 300000, WARM_UP = 150000, PIECE = 500, KEYS = 2000, CALLS_MAX = 30 };
enum { T, KEY, VALUE, FIELDS };

static uint64_t calls;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *p, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);

void *__wrap_malloc(size_t bytes) {
    calls++;
    return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
    calls++;
    return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *p, size_t bytes) {
    calls++;
    return __real_realloc(p, bytes);
}

/* ---- pipelines ---- */

#define NAMED(k, c, n) \
    { .kind = (k), .column = (c), .name = (n), .name_len = sizeof(n) - 1 }
static const ln_aggregate aggregates[] = {NAMED(LN_MAX, VALUE, "hi"), NAMED(LN_MIN, VALUE, "lo"),
                                          NAMED(LN_COUNT, -1, "n"), NAMED(LN_SUM, VALUE, "s")};

static ln_plan plain_plan(void) {
    return (ln_plan){
        .name = "pipe",
        .name_len = 4,
        .time_column = T,
        .unit = LN_UNIT_MS,
        .clock_column = -1,
        .source_column = -1,
        .mark_column = -1,
        .delay_us = 2000000,
        .idle_us = -1,
        .max_ahead_us = -1,
        .key_column = {KEY},
        .key_columns = 1,
        .size_us = 5000000,
        .hop_us = 5000000,
        .max_us = -1,
        .at_watermark = 1,
        .aggregate = aggregates,
        .aggregates = sizeof aggregates / sizeof *aggregates,
        .computed_first = FIELDS,
        .limits = {.state_bytes = 1 << 30, .distinct_values = 1000},
    };
}

static void tumbling(ln_plan *p) { (void)p; }

static void hopping(ln_plan *p) {
    p->size_us = 60000000;
    p->slice_us = p->hop_us;
}

static void sessions(ln_plan *p) {
    p->window = LN_WINDOW_SESSION;
    p->merging = 1;
    p->gap_us = 5000000;
}

/* ---- the input: one record a millisecond, up to 2 s out of order ---- */

static size_t put_record(uint8_t *at, test_random *r, int64_t now_ms) {
    char key[32];
    int len = snprintf(key, sizeof key, "key number %" PRIu32, test_random_below(r, KEYS));
    uint8_t *to = ln_pack_head(at, LN_MAP, 3);
    to = ln_pack_head(to, LN_TEXT, 1);
    *to++ = 't';
    to = ln_pack_int(to, now_ms - (int64_t)test_random_below(r, 2000));
    to = ln_pack_head(to, LN_TEXT, 1);
    *to++ = 'k';
    to = ln_pack_head(to, LN_TEXT, (uint32_t)len);
    memcpy(to, key, (size_t)len);
    to += len;
    to = ln_pack_head(to, LN_TEXT, 1);
    *to++ = 'v';
    to = ln_pack_double(to, (double)test_random_below(r, 1000) / 4);
    return (size_t)(to - at);
}

/* ---- a driver ---- */

typedef struct run {
    ln_reader *reader;
    ln_output *output;
    ln_engine *engine;
    uint64_t pane_bytes;
} run;

static void work_off(run *r) {
    int step;
    do {
        size_t len;
        step = ln_engine_step(r->engine, UINT32_MAX);
        ln_output_take(r->output, LN_STREAM_PANES, &len);
        r->pane_bytes += len;
        ln_output_clear(r->output, LN_STREAM_PANES);
    } while (step == LN_STEP_MORE);
    CHECK_INT(step, LN_STEP_DONE);
}

static void feed(run *r, test_random *random, int64_t now_ms) {
    const ln_batch *batch;
    for (int i = 0; i < PIECE; i++) {
        uint8_t *room = ln_reader_space(r->reader, 100);
        ln_reader_commit(r->reader, put_record(room, random, now_ms + i));
    }
    while (ln_reader_next(r->reader, &batch) == LN_OK && batch->rows) {
        CHECK_INT(ln_engine_begin(r->engine, batch, 0), LN_OK);
        CHECK_INT(ln_engine_judge(r->engine), LN_OK);
        work_off(r);
    }
}

static void takes_no_memory(void (*change)(ln_plan *p)) {
    test_random random = {1};
    ln_plan plan = plain_plan();
    run r = {.reader = ln_reader_new(LN_FORMAT_MSGPACK, NULL, 0), .output = ln_output_new(LN_FORMAT_MSGPACK)};
    uint64_t before = 0;
    change(&plan);
    CHECK_INT(ln_reader_column(r.reader, "t", 1), T);
    CHECK_INT(ln_reader_column(r.reader, "k", 1), KEY);
    CHECK_INT(ln_reader_column(r.reader, "v", 1), VALUE);
    r.engine = ln_engine_new(&plan, ln_output_sink(r.output));
    for (int64_t i = 0; i < WARM_UP + RECORDS; i += PIECE) {
        if (i == WARM_UP) {
            CHECK(calls > 20); /* they are counted */
            before = calls;
            r.pane_bytes = 0;
        }
        feed(&r, &random, 1000000 + i);
    }
    if (!CHECK(calls - before <= CALLS_MAX)) fprintf(stderr, "  %" PRIu64 " calls\n", calls - before);
    CHECK(r.pane_bytes > RECORDS); /* windows were opened and completed all the time */
    ln_engine_delete(r.engine);
    ln_output_delete(r.output);
    ln_reader_delete(r.reader);
}

static void tumbling_windows(void) { takes_no_memory(tumbling); }
static void hopping_windows(void) { takes_no_memory(hopping); }
static void session_windows(void) { takes_no_memory(sessions); }

static const test_case cases[] = {
    {"tumbling windows", tumbling_windows},
    {"hopping windows", hopping_windows},
    {"session windows", session_windows},
};
TEST_MAIN(cases)
