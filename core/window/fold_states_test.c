/* States of declared folds: room by slot, always zeros at first, counted, given back, saved and loaded. */
#include "window/fold_states.h"

#include "base/test.h"

typedef struct spend {
    double total;
    int64_t last;
} spend;

static spend *at(ln_fold_states *s, uint32_t slot) { return (spend *)(void *)s->bytes + slot; }

static void room_by_slot(void) {
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    ln_fold_states s = {.size = sizeof(spend)}, none = {0};
    for (uint32_t slot = 1; slot < 5000; slot++) {
        CHECK_INT(ln_fold_states_ensure(&s, mem, slot), 0);
        CHECK(at(&s, slot)->total == 0 && at(&s, slot)->last == 0);
        at(&s, slot)->last = slot;
    }
    for (uint32_t slot = 1; slot < 5000; slot++) CHECK_INT(at(&s, slot)->last, slot);
    CHECK_INT(mem->used, s.cap * sizeof(spend));
    memset(s.bytes, 0, s.cap * s.size); /* as the driver has cleared them */
    ln_fold_states_trim(&s, mem);
    CHECK_INT(mem->used, 0);
    CHECK_INT(ln_fold_states_ensure(&s, mem, 7), 0);
    CHECK_INT(at(&s, 7)->last, 0);
    ln_fold_states_free(&s, mem);
    CHECK_INT(ln_fold_states_ensure(&none, mem, 7), 0);
    CHECK_INT(mem->used, 0);
    CHECK_INT(t.held, 0);
}

static void memory_runs_out(void) {
    test_mem t;
    ln_mem *mem = test_mem_init(&t, 1000);
    ln_fold_states s = {.size = sizeof(spend)};
    CHECK_INT(ln_fold_states_ensure(&s, mem, 7), 0);
    at(&s, 7)->last = 5;
    CHECK_INT(ln_fold_states_ensure(&s, mem, 700), -1);
    CHECK_INT(at(&s, 7)->last, 5);
    ln_fold_states_free(&s, mem);
    CHECK_INT(t.held, 0);
}

static void saved_and_loaded(void) {
    test_mem t;
    ln_mem *mem = test_mem_init(&t, SIZE_MAX / 2);
    ln_fold_states s = {.size = sizeof(spend), .layout = 99};
    ln_saved saved;
    ln_buf bytes;
    ln_buf_init(&bytes, mem);
    CHECK_INT(ln_fold_states_ensure(&s, mem, 3), 0);
    *at(&s, 3) = (spend){1.5, -7};
    ln_fold_states_save(&s, 3, &bytes);
    saved = (ln_saved){bytes.data, bytes.data + bytes.len, 0};
    CHECK_INT(ln_fold_states_load(&s, 2, &saved), LN_OK);
    CHECK(at(&s, 2)->total == 1.5 && at(&s, 2)->last == -7 && ln_saved_left(&saved) == 0);
    for (size_t len = 0; len < bytes.len; len++) {
        saved = (ln_saved){bytes.data, bytes.data + len, 0};
        CHECK_INT(ln_fold_states_load(&s, 1, &saved), LN_EINVALID);
    }
    s.layout = 98;
    saved = (ln_saved){bytes.data, bytes.data + bytes.len, 0};
    CHECK_INT(ln_fold_states_load(&s, 1, &saved), LN_EINVALID);
    CHECK_INT(at(&s, 1)->last, 0);
    ln_buf_free(&bytes);
    ln_fold_states_free(&s, mem);
    CHECK_INT(t.held, 0);
}

static const test_case cases[] = {
    {"room by slot", room_by_slot},
    {"memory runs out", memory_runs_out},
    {"saved and loaded", saved_and_loaded},
};
TEST_MAIN(cases)
