/* The heap: random additions, moves and removals against a plain list that is searched from end to end. */
#include "base/heap.h"
#include "base/test.h"
#include "base/test_random.h"

enum { ITEMS = 300, STEPS = 40000 };

typedef struct item {
    int64_t key;
    uint64_t tie;
    int inside;
    size_t place;
} item;

static item items[ITEMS];

static item *least(void) {
    item *best = NULL;
    for (int i = 0; i < ITEMS; i++) {
        item *a = &items[i];
        if (!a->inside) continue;
        if (!best || a->key < best->key || (a->key == best->key && a->tie < best->tie)) best = a;
    }
    return best;
}

static size_t count_inside(void) {
    size_t n = 0;
    for (int i = 0; i < ITEMS; i++) n += (size_t)items[i].inside;
    return n;
}

static void step(ln_heap *h, test_random *r, int64_t spread) {
    item *a = &items[test_random_below(r, ITEMS)];
    int64_t key = test_random_below(r, 50) ? test_random_between(r, -spread, spread) : INT64_MIN;
    if (!a->inside) {
        CHECK_INT(ln_heap_add(h, key, a->tie, a), 0);
        a->inside = 1;
        a->key = key;
    } else if (test_random_below(r, 2)) {
        ln_heap_move(h, a->place, key);
        a->key = key;
    } else if (test_random_below(r, 2)) {
        CHECK(ln_heap_remove(h, a->place) == a);
        a->inside = 0;
    } else {
        item *top = ln_heap_remove(h, 0);
        CHECK(top == least());
        top->inside = 0;
    }
}

static int holds_all(const ln_heap *h) {
    const item *top = least();
    int ok = CHECK(ln_heap_in_order(h)) & CHECK_INT(h->count, count_inside());
    ok &= CHECK(ln_heap_top(h) == top) & CHECK_INT(ln_heap_least(h), top ? top->key : INT64_MAX);
    for (int i = 0; i < ITEMS && ok; i++) {
        const item *a = &items[i];
        if (!a->inside) continue;
        ok &= CHECK(a->place < h->count) && CHECK(h->entry[a->place].item == a) &&
              CHECK_INT(h->entry[a->place].key, a->key);
    }
    return ok;
}

static void random_steps(void) {
    static const int64_t spreads[] = {0, 3, 100, INT64_MAX / 2};
    for (uint64_t run = 0; run < sizeof spreads / sizeof *spreads; run++) {
        test_random r = {run};
        test_mem t;
        ln_heap h;
        int ok = 1;
        ln_heap_init(&h, test_mem_init(&t, SIZE_MAX / 2), offsetof(item, place));
        memset(items, 0, sizeof items);
        for (uint64_t i = 0; i < ITEMS; i++) items[i].tie = i * 7919 % ITEMS;
        for (int i = 0; i < STEPS && ok; i++) {
            step(&h, &r, spreads[run]);
            if (i % 16 == 0) ok = holds_all(&h);
        }
        while (h.count && ok) {
            item *top = least();
            ok = CHECK(ln_heap_remove(&h, 0) == top);
            top->inside = 0;
        }
        ln_heap_free(&h);
        CHECK_INT(t.held, 0);
        CHECK_INT(t.mem.used, 0);
    }
}

/* Items that hold no place: nothing is written to them. */
static void items_without_a_place(void) {
    static const char *const words[] = {"d", "a", "c", "b", "e"};
    static const int64_t keys[] = {4, 1, 3, 1, 5};
    static const uint64_t ties[] = {0, 1, 0, 2, 0};
    char got[8] = "";
    test_mem t;
    ln_heap h;
    ln_heap_init(&h, test_mem_init(&t, SIZE_MAX / 2), LN_HEAP_NO_PLACE);
    CHECK(!ln_heap_top(&h));
    CHECK_INT(ln_heap_least(&h), INT64_MAX);
    for (int i = 0; i < 5; i++) CHECK_INT(ln_heap_add(&h, keys[i], ties[i], (void *)(uintptr_t)words[i]), 0);
    CHECK(ln_heap_in_order(&h));
    while (h.count) strncat(got, ln_heap_remove(&h, 0), 1);
    CHECK_TEXT(got, "abcde");
    ln_heap_free(&h);
    CHECK_INT(t.held, 0);
}

/* A heap that was large once takes little memory when it is small again. */
static void memory_follows(void) {
    enum { MANY = 20000 };
    test_mem t;
    ln_heap h;
    size_t most;
    item *many = calloc(MANY, sizeof *many);
    if (!many) abort();
    ln_heap_init(&h, test_mem_init(&t, SIZE_MAX / 2), offsetof(item, place));
    for (int i = 0; i < MANY; i++) CHECK_INT(ln_heap_add(&h, i * INT64_C(7919) % MANY, 0, &many[i]), 0);
    most = t.held;
    for (int i = 0; i < MANY - 10; i++) {
        if (i % 100 == 0) CHECK(ln_heap_in_order(&h));
        CHECK_INT(ln_heap_least(&h), i);
        ln_heap_remove(&h, 0);
    }
    CHECK(ln_heap_in_order(&h));
    CHECK(t.held < most / 10);
    ln_heap_free(&h);
    CHECK_INT(t.held, 0);
    free(many);
}

static void disorder_is_seen(void) {
    ln_mem mem;
    ln_heap h;
    item few[8] = {{0}};
    ln_mem_init(&mem);
    ln_heap_init(&h, &mem, offsetof(item, place));
    for (int i = 0; i < 8; i++) CHECK_INT(ln_heap_add(&h, i, 0, &few[i]), 0);
    CHECK(ln_heap_in_order(&h));
    h.entry[7].key = -1;
    CHECK(!ln_heap_in_order(&h));
    h.entry[7].key = 7;
    few[3].place = 2;
    CHECK(!ln_heap_in_order(&h));
    ln_heap_free(&h);
}

static void memory_runs_out(void) {
    test_mem t;
    ln_heap h;
    item few[40] = {{0}};
    int added = 0;
    ln_heap_init(&h, test_mem_init(&t, 40 * sizeof(ln_heap_entry)), offsetof(item, place));
    while (added < 40 && ln_heap_add(&h, -added, 0, &few[added]) == 0) added++;
    CHECK(added > 0 && added < 40);
    CHECK_INT(h.count, added);
    CHECK(ln_heap_in_order(&h));
    CHECK_INT(ln_heap_reserve(&h, 40), -1);
    /* What room was made for cannot fail. */
    CHECK(ln_heap_remove(&h, 0) == &few[added - 1]);
    t.fail_at = 1;
    CHECK_INT(ln_heap_add(&h, -99, 0, &few[added - 1]), 0);
    CHECK_INT(ln_heap_least(&h), -99);
    ln_heap_free(&h);
    CHECK_INT(t.held, 0);
}

static const test_case cases[] = {
    {"random steps", random_steps},       {"items without a place", items_without_a_place},
    {"memory follows", memory_follows},   {"disorder is seen", disorder_is_seen},
    {"memory runs out", memory_runs_out},
};
TEST_MAIN(cases)
