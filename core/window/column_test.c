/* Rows of a slice: keys in random order against a plain list, from one slice to the next, and passed over in pieces. */
#include "window/column.h"

#include "base/test.h"
#include "base/test_random.h"

enum { KEYS = 3000, ROW_BYTES = 20 };

static uint32_t row_of[KEYS]; /* LN_COLUMN_NONE: the key has none */

static void fill(ln_column *c, test_random *r, uint32_t rows) {
    for (int k = 0; k < KEYS; k++) row_of[k] = LN_COLUMN_NONE;
    while (c->rows < rows) {
        uint32_t key = test_random_below(r, KEYS), row;
        CHECK_INT(ln_column_find(c, key), row_of[key]);
        if (row_of[key] != LN_COLUMN_NONE) continue;
        row = ln_column_add(c, key);
        CHECK_INT(row, c->rows - 1); /* in the order in which they come */
        CHECK(ln_column_row(c, row)[ROW_BYTES - 1] == 0);
        ln_column_row(c, row)[ROW_BYTES - 1] = (uint8_t)key;
        row_of[key] = row;
    }
}

static void check_rows(const ln_column *c) {
    for (uint32_t k = 0; k < KEYS; k++) {
        if (!CHECK_INT(ln_column_find(c, k), row_of[k]) || row_of[k] == LN_COLUMN_NONE) continue;
        CHECK_INT(ln_column_key(c, row_of[k]), k);
        CHECK(ln_column_row(c, row_of[k])[ROW_BYTES - 1] == (uint8_t)k);
    }
}

static void one_slice_after_the_other(void) {
    static const uint32_t sizes[] = {1, 8, 9, 64, 65, 2000, 3, 0, 500, 2999, 1};
    test_random r = {1};
    test_mem t;
    ln_column c;
    ln_column_init(&c, test_mem_init(&t, SIZE_MAX / 2), ROW_BYTES);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        fill(&c, &r, sizes[i]);
        check_rows(&c);
        CHECK_INT(ln_column_bytes(&c), t.held);
        ln_column_clear(&c);
        CHECK_INT(c.rows, 0);
        CHECK_INT(ln_column_find(&c, 1), LN_COLUMN_NONE);
        CHECK_INT(ln_column_bytes(&c), t.held);
    }
    CHECK(t.held < 64 * 1024); /* one row has come last */
    ln_column_free(&c);
    CHECK_INT(t.held, 0);
    CHECK_INT(t.mem.used, 0);
}

/* The memory of a large one goes as it is passed over, and none is lost or freed twice. */
static void passed_in_pieces(void) {
    enum { MANY = 100000, WIDE = 64 };
    test_mem t;
    ln_column c;
    size_t full;
    ln_column_init(&c, test_mem_init(&t, SIZE_MAX / 2), WIDE);
    for (uint32_t k = 0; k < MANY; k++) CHECK_INT(ln_column_add(&c, k), k);
    full = t.held;
    for (uint32_t row = 0; row < MANY / 2;) {
        CHECK_INT(ln_column_key(&c, row), row);
        if (++row % LN_COLUMN_CHUNK == 0) ln_column_passed(&c, row);
    }
    CHECK(t.held < full - full / 3);
    CHECK_INT(ln_column_bytes(&c), t.held);
    CHECK_INT(ln_column_key(&c, MANY - 1), MANY - 1);
    ln_column_clear(&c);
    CHECK_INT(ln_column_add(&c, 7), 0);
    ln_column_free(&c);
    CHECK_INT(t.held, 0);
}

static void memory_runs_out(void) {
    test_mem t;
    ln_column c;
    uint64_t refused = 0;
    ln_column_init(&c, test_mem_init(&t, SIZE_MAX / 2), ROW_BYTES);
    for (uint32_t k = 0; k < KEYS; k++) {
        row_of[k] = LN_COLUMN_NONE;
        for (uint64_t n = 1; n <= 4 && row_of[k] == LN_COLUMN_NONE; n++) {
            t.fail_at = t.calls + n;
            row_of[k] = ln_column_add(&c, k);
            refused += row_of[k] == LN_COLUMN_NONE;
        }
        t.fail_at = 0;
        CHECK_INT(row_of[k], k);
    }
    CHECK(refused > KEYS / LN_COLUMN_CHUNK);
    for (uint32_t k = 0; k < KEYS; k++) CHECK_INT(ln_column_find(&c, k), k);
    ln_column_free(&c);
    CHECK_INT(t.held, 0);
}

static const test_case cases[] = {
    {"one slice after the other", one_slice_after_the_other},
    {"passed in pieces", passed_in_pieces},
    {"memory runs out", memory_runs_out},
};
TEST_MAIN(cases)
