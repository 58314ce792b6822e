/* A lunette while memory runs out: a small run is made again for every allocation that it asks for, with that one
 * failing, alone or with all that follow. Each call then says so, what was refused can be tried again, and in the end
 * not a byte is left. The Lua state asks the most while it is made: there every n-th of its allocations is tried, or
 * all with LUNETTE_TEST_EVERY=1 in the environment. */
#include "host/test_host.h"

/* Blocks are counted, and not only bytes: LuaJIT that was short of memory may tell another size than it asked for. */
typedef struct failing {
    test_mem heap;
    size_t blocks;
    uint64_t calls, fail_at; /* from 1; 0: never */
    int lasting;
} failing;

static void *failing_resize(void *ctx, void *block, size_t old_bytes, size_t new_bytes) {
    failing *f = ctx;
    if (new_bytes && (++f->calls == f->fail_at || (f->lasting && f->fail_at && f->calls > f->fail_at))) return NULL;
    f->blocks += (new_bytes != 0) - (size_t)(block != NULL);
    return test_mem_resize(&f->heap, block, old_bytes, new_bytes);
}

static const char SCRIPT[] =
    "local ln = require 'lunette'\n"
    "return { ln.pipeline { name = 'cells', time = { field = 't' }, key = 'k', window = ln.session(100),\n"
    "  panes = 'retracting', trigger = ln.at_watermark { early = ln.each() },\n"
    "  aggregate = { n = ln.count(), d = ln.distinct 'k', q = ln.quantile('t', 0.5), c = ln.collect 'k',\n"
    "    f = ln.fold { init = function() return {} end, add = function(a, r) a[#a + 1] = r.k; return a end,\n"
    "      merge = function(a, b) return a end, result = function(a) return #a end } },\n"
    "  emit = function(p) p.more = p.key .. '!'; return p end },\n"
    "  ln.pipeline { name = 'grid', time = { field = 't' }, key = { 'k', 't' }, window = ln.hopping(200, 100),\n"
    "  aggregate = { n = ln.count(), top = ln.top('k', 2) } } }\n";

enum { OPENED = 1, STEPPED = 2, RAN = 4 };

typedef struct outcome {
    int reached;
    uint64_t calls_opened, calls_ran; /* allocations up to there; how many they are differs a little from run to run */
    size_t panes;
} outcome;

/* What may come of a call while memory fails. */
static int is_told(const lunette *l, int code) {
    int broken = code == LUNETTE_BROKEN && l && strstr(lunette_error((lunette *)(uintptr_t)l), "out of memory");
    CHECK(broken || code == LUNETTE_FAILED || code == LUNETTE_REFUSED || code == LUNETTE_FULL ||
          code == LUNETTE_PROBLEMS);
    CHECK(l == NULL || lunette_error((lunette *)(uintptr_t)l)[0] != '\0');
    return 0;
}

static int take(lunette *l, size_t *panes) {
    const lunette_pane *p;
    while ((p = lunette_pane_next(l))) {
        CHECK(p->whole.type == LN_MAP);
        ++*panes;
    }
    return 1;
}

static int feed(lunette *l, int i) {
    char line[64];
    int code, len = snprintf(line, sizeof line, "{\"t\":%d,\"k\":\"key %d of several\"}\n", i * 7, i % 5);
    code = lunette_push(l, line, (size_t)len);
    if (code == LUNETTE_REFUSED) code = lunette_push(l, line, (size_t)len); /* a failure that does not last */
    if (code) return is_told(l, code);
    lunette_record_begin(l);
    lunette_record_int(l, "t", i * 7 + 1);
    lunette_record_text(l, "k", "by calls", 8);
    code = lunette_record_end(l);
    return code ? is_told(l, code) : 1;
}

static outcome run(failing *f, int records) {
    static const lunette_text text = {"test.lua", SCRIPT, sizeof SCRIPT - 1};
    lunette_config config = LUNETTE_CONFIG_INIT;
    lunette_options options = LUNETTE_OPTIONS_INIT;
    outcome o = {0};
    lunette *l;
    int code;
    config.allocator = (ln_allocator){failing_resize, f};
    config.seed = 1 << 20;
    options.texts = &text;
    options.texts_count = 1;
    l = lunette_new(&config);
    if (!l) return o;
    code = lunette_open(l, "test.lua", &options);
    o.calls_opened = f->calls;
    if (!code) o.reached |= OPENED;
    else (void)is_told(l, code);
    for (int i = 0; !code && i < records; i++) {
        if (!feed(l, i)) continue;
        code = lunette_step(l, i, &(lunette_budget){.records = 3});
        if (code == LUNETTE_MORE || code == LUNETTE_DRAIN) code = LUNETTE_OK;
        if (code) (void)is_told(l, code);
        else o.reached |= STEPPED;
        take(l, &o.panes);
    }
    if (code == LUNETTE_FAILED && o.reached) { /* closed: every call says so */
        CHECK_INT(lunette_push(l, "{}", 2), LUNETTE_FAILED);
        CHECK_INT(lunette_step(l, 0, NULL), LUNETTE_FAILED);
        CHECK(lunette_pane_next(l) == NULL);
    }
    if (!code && !lunette_end(l)) {
        while ((code = lunette_step(l, 1000, NULL)) == LUNETTE_DRAIN) take(l, &o.panes);
        take(l, &o.panes);
        if (!code) {
            o.reached |= RAN;
            o.calls_ran = f->calls;
        } else {
            (void)is_told(l, code);
        }
    }
    lunette_delete(l);
    return o;
}

static outcome run_failing(uint64_t at, int lasting, uint64_t *calls) {
    failing f = {.fail_at = at, .lasting = lasting};
    outcome o;
    test_mem_init(&f.heap, SIZE_MAX / 2);
    o = run(&f, 12);
    CHECK_INT(f.blocks, 0);
    if (!at) CHECK_INT(f.heap.held, 0);
    if (calls) *calls = f.calls;
    return o;
}

static void test_every_allocation(void) {
    int every = getenv("LUNETTE_TEST_EVERY") != NULL;
    uint64_t calls;
    outcome whole = run_failing(0, 0, &calls), o;
    size_t worked_on = 0, refused_ones = 0;
    CHECK(whole.reached == (OPENED | STEPPED | RAN) && whole.panes > 20);
    CHECK(calls > whole.calls_opened && whole.calls_opened > 1000);
    for (int lasting = 0; lasting < 2; lasting++) {
        for (uint64_t at = 1; at <= calls; at += every ? 1 : at < whole.calls_opened ? 97 : 13) {
            o = run_failing(at, lasting, NULL);
            refused_ones += !(o.reached & RAN);
            worked_on += !lasting && (o.reached & RAN);
            if (test_failures > 20) return;
        }
    }
    CHECK(worked_on > 0);    /* some failures are survived, */
    CHECK(refused_ones > 0); /* and some are told */
}

/* The Lua state has a limit of its own: a script that keeps more than that closes the lunette. */
static void test_the_lua_state_is_bounded(void) {
    static const char script[] = "local ln = require 'lunette'\nlocal kept = {}\n"
                                 "return ln.pipeline { time = { field = 't' }, window = ln.tumbling(10),\n"
                                 "  where = function(r) kept[#kept + 1] = ('x'):rep(1000) .. r.t; return true end,\n"
                                 "  aggregate = { n = ln.count() } }\n";
    host h;
    lunette_usage usage = {.size = sizeof usage};
    int code = LUNETTE_OK;
    char line[32];
    host_init(&h);
    h.config.lua_bytes_max = 8 << 20;
    if (!host_open(&h, script, NULL)) {
        for (int i = 0; i < 20000 && code == LUNETTE_OK; i++) {
            snprintf(line, sizeof line, "{\"t\":%d}\n", i);
            host_push(&h, line);
            if (i % 100 == 99) code = lunette_step(h.l, 0, NULL);
            host_take(&h, LN_STREAM_PANES, line, sizeof line);
        }
        CHECK_INT(code, LUNETTE_FAILED);
        CHECK(*lunette_error(h.l));
        (void)lunette_usage_get(h.l, &usage);
        CHECK(usage.lua_bytes <= (8 << 20) + (2 << 20) + (4 << 20));
        CHECK(usage.lua_bytes > 8 << 20);
    }
    host_close(&h);
    h.config.lua_bytes_max = 100 << 10; /* too little for a Lua state with its libraries and modules */
    h.l = lunette_new(&h.config);
    if (h.l) CHECK(host_load(&h, COUNTING, NULL) != LUNETTE_OK);
    host_close(&h);
}

static const test_case cases[] = {
    {"the Lua state is bounded", test_the_lua_state_is_bounded},
    {"every allocation fails once", test_every_allocation},
};
TEST_MAIN(cases)
