/* Chunks that come again: what is remembered, for how long, and what is forgotten on purpose. */
#include "base/test.h"
#include "forward/seen.h"

#include <inttypes.h>

static const uint8_t key[LN_SEEN_KEY] = "a key";

static ln_seen_id name(const ln_seen *s, uint64_t number) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return ln_seen_name(s, "tag", 3, text, strlen(text));
}

static void begun_and_taken(void) {
    ln_mem mem;
    ln_seen *s;
    ln_seen_id id, other;
    ln_mem_init(&mem);
    s = ln_seen_new(&mem, key);
    id = name(s, 1);
    other = name(s, 2);
    CHECK_INT(ln_seen_look(s, &id), LN_SEEN_NOT);
    CHECK_INT(ln_seen_begin(s, &id), LN_SEEN_NOT);
    CHECK_INT(ln_seen_begin(s, &id), LN_SEEN_BEGUN);
    CHECK_INT(ln_seen_begin(s, &other), LN_SEEN_NOT);
    ln_seen_end(s, &id, LN_SEEN_TAKEN);
    CHECK_INT(ln_seen_begin(s, &id), LN_SEEN_TAKEN);
    CHECK_INT(ln_seen_look(s, &other), LN_SEEN_BEGUN);
    ln_seen_end(s, &other, LN_SEEN_NOT); /* it failed: it counts when it comes again */
    CHECK_INT(ln_seen_look(s, &other), LN_SEEN_NOT);
    CHECK_INT(ln_seen_begin(s, &other), LN_SEEN_NOT);
    CHECK_INT(ln_seen_begin(s, &other), LN_SEEN_BEGUN);
    ln_seen_delete(s);
    CHECK_INT(mem.used, 0);
}

static void a_chunk_is_its_tag_and_its_id(void) {
    ln_mem mem;
    ln_seen *s;
    ln_seen_id a, b;
    ln_mem_init(&mem);
    s = ln_seen_new(&mem, key);
    a = ln_seen_name(s, "ab", 2, "c", 1);
    b = ln_seen_name(s, "a", 1, "bc", 2);
    CHECK(memcmp(&a, &b, sizeof a) != 0);
    b = ln_seen_name(s, "ab", 2, "c", 1);
    CHECK(memcmp(&a, &b, sizeof a) == 0);
    ln_seen_delete(s);
}

static void the_latest_are_remembered(void) {
    enum { MANY = 5 * LN_SEEN_CHUNKS };
    uint64_t wrong = 0;
    ln_mem mem;
    ln_seen *s;
    ln_seen_id id;
    ln_mem_init(&mem);
    s = ln_seen_new(&mem, key);
    for (uint64_t i = 0; i < MANY; i++) {
        id = name(s, i);
        wrong += ln_seen_begin(s, &id) != LN_SEEN_NOT;
        ln_seen_end(s, &id, LN_SEEN_TAKEN);
        if (i + 1 < LN_SEEN_CHUNKS) continue;
        id = name(s, i + 1 - LN_SEEN_CHUNKS);
        wrong += ln_seen_look(s, &id) != LN_SEEN_TAKEN;
    }
    CHECK_INT(wrong, 0);
    id = name(s, MANY - 1 - 2 * LN_SEEN_CHUNKS);
    CHECK_INT(ln_seen_look(s, &id), LN_SEEN_NOT);
    CHECK(mem.used <= LN_SEEN_BYTES + 4096);
    ln_seen_delete(s);
    CHECK_INT(mem.used, 0);
}

static void without_memory_all_is_new(void) {
    test_mem heap;
    ln_seen *s = ln_seen_new(test_mem_init(&heap, 4096), key);
    ln_seen_id id;
    if (!CHECK(s != NULL)) return;
    id = name(s, 1);
    CHECK_INT(ln_seen_begin(s, &id), LN_SEEN_NOT);
    CHECK_INT(ln_seen_begin(s, &id), LN_SEEN_NOT);
    ln_seen_end(s, &id, LN_SEEN_TAKEN);
    CHECK_INT(ln_seen_look(s, &id), LN_SEEN_NOT);
    ln_seen_delete(s);
}

static const test_case cases[] = {
    {"begun and taken", begun_and_taken},
    {"a chunk is its tag and its id", a_chunk_is_its_tag_and_its_id},
    {"the latest are remembered", the_latest_are_remembered},
    {"without memory all is new", without_memory_all_is_new},
};
TEST_MAIN(cases)
