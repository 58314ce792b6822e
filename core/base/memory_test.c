/* Memory: growing arrays, buffers, arenas, pools and small numbers, each to the byte, and where there is none. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/pool.h"
#include "base/test.h"
#include "base/test_random.h"

static void an_array_grows(void) {
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    uint32_t *items = NULL;
    size_t cap = 0;
    for (uint32_t n = 0; n < 1000; n++) {
        CHECK_INT(ln_mem_grow(mem, &items, &cap, n + 1, sizeof *items), 0);
        CHECK(cap > n && cap <= 2 * (size_t)n + 8);
        items[n] = n * n;
        CHECK_INT(mem->used, cap * sizeof *items);
        CHECK_INT(t.held, mem->used);
    }
    for (uint32_t n = 0; n < 1000; n++) CHECK_INT(items[n], n * n);
    CHECK_INT(ln_mem_grow(mem, &items, &cap, 5, sizeof *items), 0);
    CHECK_INT(cap, 1024);
    CHECK_INT(mem->allocations, 8); /* 8, 16 ... 1024 */
    /* Neither short memory nor a size beyond the machine harms it. */
    t.fail_at = 1;
    CHECK_INT(ln_mem_grow(mem, &items, &cap, 1025, sizeof *items), -1);
    CHECK_INT(ln_mem_grow(mem, &items, &cap, SIZE_MAX / 4, sizeof *items), -1);
    CHECK_INT(ln_mem_grow(mem, &items, &cap, SIZE_MAX, sizeof *items), -1);
    CHECK_INT(t.calls, 9); /* the last two were refused unasked */
    CHECK_INT(cap, 1024);
    CHECK_INT(items[999], 999 * 999);
    ln_mem_free(mem, items, cap * sizeof *items);
    CHECK_INT(mem->used, 0);
    CHECK_INT(t.held, 0);
}

/* Only what is large and nearly empty becomes smaller, and only where there is memory for it. */
static void an_array_shrinks(void) {
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    uint32_t *items = NULL;
    size_t cap = 0;
    CHECK_INT(ln_mem_grow(mem, &items, &cap, 1024, sizeof *items), 0);
    ln_mem_shrink(mem, &items, &cap, 1, sizeof *items);
    CHECK_INT(cap, 1024);
    CHECK_INT(ln_mem_grow(mem, &items, &cap, 4096, sizeof *items), 0);
    for (uint32_t n = 0; n < 512; n++) items[n] = n;
    ln_mem_shrink(mem, &items, &cap, 513, sizeof *items);
    CHECK_INT(cap, 4096);
    t.fail_at = 1;
    ln_mem_shrink(mem, &items, &cap, 512, sizeof *items);
    CHECK_INT(cap, 4096);
    t.fail_at = 0;
    ln_mem_shrink(mem, &items, &cap, 512, sizeof *items);
    CHECK_INT(cap, 1024);
    for (uint32_t n = 0; n < 512; n++) CHECK_INT(items[n], n);
    CHECK_INT(t.held, cap * sizeof *items);
    CHECK_INT(ln_mem_grow(mem, &items, &cap, 4096, sizeof *items), 0);
    t.fail_at = 1; /* to give back all needs none */
    ln_mem_shrink(mem, &items, &cap, 0, sizeof *items);
    CHECK(!items && cap == 0);
    CHECK_INT(t.held, 0);
    CHECK_INT(mem->used, 0);
}

static void a_buffer_keeps_its_failure(void) {
    test_mem t;
    ln_buf b;
    ln_buf_init(&b, test_mem_init(&t, 100));
    for (uint8_t i = 0; i < 60; i++) ln_buf_byte(&b, i);
    CHECK_INT(b.len, 60);
    CHECK(!b.failed);
    ln_buf_append(&b, b.data, 10); /* would take twice the memory */
    CHECK(b.failed);
    CHECK_INT(b.len, 60);
    ln_buf_byte(&b, 1); /* there is room, but something is missing before it */
    CHECK_INT(b.len, 60);
    for (uint8_t i = 0; i < 60; i++) CHECK_INT(b.data[i], i);
    ln_buf_clear(&b);
    ln_buf_append(&b, "", 0);
    ln_buf_byte(&b, 7);
    CHECK_INT(b.len, 1);
    CHECK(!b.failed);
    CHECK(!ln_buf_reserve(&b, SIZE_MAX / 2));
    CHECK(b.failed);
    ln_buf_free(&b);
    CHECK_INT(t.held, 0);
}

enum { COPIES = 3000 };

/* Copies stay where they are, whatever comes after them. */
static void an_arena_in_rounds(void) {
    static uint8_t bytes[40000], *copy[COPIES];
    static size_t len[COPIES];
    test_random r = {1};
    test_mem t;
    ln_arena a;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 31 >> 3);
    ln_arena_init(&a, test_mem_init(&t, SIZE_MAX / 2));
    for (int round = 0; round < 4; round++) {
        size_t total = 0;
        for (int i = 0; i < COPIES; i++) {
            len[i] = test_random_below(&r, i % 100 ? 100 : sizeof bytes - COPIES);
            copy[i] = ln_arena_copy(&a, bytes + i, len[i]);
            total += len[i];
            CHECK(copy[i]);
        }
        for (int i = 0; i < COPIES; i++) CHECK(memcmp(copy[i], bytes + i, len[i]) == 0);
        CHECK(t.held >= total);
        ln_arena_reset(&a);
        CHECK(t.held < sizeof bytes + 1000);
        CHECK_INT(t.held, t.mem.used);
    }
    CHECK(ln_arena_copy(&a, bytes, 0));
    ln_arena_free(&a);
    CHECK_INT(t.held, 0);
    ln_arena_reset(&a);
    CHECK_INT(*ln_arena_copy(&a, bytes + 9, 1), bytes[9]);
    t.fail_at = 1;
    CHECK(!ln_arena_copy(&a, bytes, sizeof bytes));
    CHECK_INT(*ln_arena_copy(&a, bytes + 9, 1), bytes[9]);
    ln_arena_free(&a);
    CHECK_INT(t.held, 0);
}

static int is_zero(const uint8_t *block, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (block[i]) return 0;
    return 1;
}

enum { BLOCK = 4096, BLOCKS = 3 * LN_MEM_KEPT_MAX / BLOCK };

static void a_pool_of_blocks(void) {
    static void *block[BLOCKS];
    test_random r = {2};
    test_mem t;
    ln_pool p;
    ln_pool_init(&p, test_mem_init(&t, SIZE_MAX / 2), BLOCK);
    for (int round = 0, live = 0; round < 6; round++) {
        int want = round % 2 ? (int)test_random_below(&r, 5) : BLOCKS - (int)test_random_below(&r, 5);
        for (; live < want; live++) {
            block[live] = ln_pool_take(&p);
            if (!CHECK(block[live])) return;
            CHECK(is_zero(block[live], BLOCK));
            memset(block[live], 0xee, BLOCK);
        }
        for (; live > want; live--) ln_pool_give(&p, block[live - 1]);
        CHECK_INT(t.mem.used, (size_t)live * BLOCK);
        CHECK_INT(t.held, t.mem.used + p.kept_bytes);
        CHECK(p.kept_bytes <= LN_MEM_KEPT_MAX);
        CHECK_INT(p.kept_bytes, round % 2 ? LN_MEM_KEPT_MAX : 0);
        for (int i = 0; i < live; i++) CHECK_INT(*(uint8_t *)block[i], 0xee);
        if (round < 5) continue;
        while (live > 0) ln_pool_give(&p, block[--live]);
    }
    t.fail_at = 1;
    block[0] = ln_pool_take(&p);
    CHECK(block[0]); /* was kept */
    ln_pool_give(&p, block[0]);
    ln_pool_free(&p);
    CHECK_INT(t.held, 0);
    CHECK_INT(t.mem.used, 0);
    CHECK(!ln_pool_take(&p));
    CHECK_INT(t.mem.used, 0);
}

enum { IDS = 200, MANY = 5000 };

/* Numbers that all come back leave no memory behind that is worth a word. */
static void many_small_numbers(void) {
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    ln_ids ids = {0};
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t id = 1; id <= MANY; id++) CHECK_INT(ln_ids_take(&ids, mem), id);
        CHECK(t.held >= MANY * sizeof(uint32_t));
        for (uint32_t id = 1; id <= MANY; id++) ln_ids_give(&ids, mem, id);
        CHECK(t.held < MANY);
    }
    ln_ids_free(&ids, mem);
    CHECK_INT(t.held, 0);
}

static void small_numbers(void) {
    uint8_t out[IDS + 1] = {0};
    uint32_t back[IDS], live = 0, backs = 0, most = 0;
    test_random r = {3};
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    ln_ids ids = {0};
    for (int i = 0; i < 20000; i++) {
        if (live < IDS && (live == 0 || test_random_below(&r, 2))) {
            uint32_t id = ln_ids_take(&ids, mem);
            if (!CHECK(id >= 1 && id <= IDS) || !CHECK(!out[id])) return;
            if (backs) CHECK_INT(id, back[--backs]);
            else CHECK_INT(id, ++most);
            out[id] = 1;
            live++;
        } else {
            uint32_t id;
            do id = 1 + test_random_below(&r, IDS);
            while (!out[id]);
            t.fail_at = 1; /* giving back never fails */
            ln_ids_give(&ids, mem, id);
            t.fail_at = 0;
            out[id] = 0;
            back[backs++] = id;
            if (--live == 0) backs = most = 0; /* all begin anew */
        }
        CHECK_INT(ln_ids_live(&ids), live);
    }
    CHECK(most > IDS / 10);
    while (backs) CHECK_INT(ln_ids_take(&ids, mem), back[--backs]);
    t.fail_at = 1;
    while (ids.last < ids.free_cap) CHECK_INT(ln_ids_take(&ids, mem), ++most);
    CHECK_INT(ln_ids_take(&ids, mem), 0);
    CHECK_INT(ln_ids_live(&ids), most);
    ln_ids_free(&ids, mem);
    CHECK_INT(t.held, 0);
}

static const test_case cases[] = {
    {"an array grows", an_array_grows},
    {"an array shrinks", an_array_shrinks},
    {"a buffer keeps its failure", a_buffer_keeps_its_failure},
    {"an arena in rounds", an_arena_in_rounds},
    {"a pool of blocks", a_pool_of_blocks},
    {"small numbers", small_numbers},
    {"many small numbers", many_small_numbers},
};
TEST_MAIN(cases)
