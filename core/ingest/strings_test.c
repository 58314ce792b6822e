/* The numbers of a column's texts, held against what they must mean: equal texts of a generation have equal numbers. */
#include "base/test.h"
#include "base/test_random.h"
#include "ingest/strings.h"

enum { ROWS = 64, TEXTS = 3000, LONGEST = 48, PAD = LN_STRINGS_READ };

/* Texts to choose from, each with room behind it that can be read. */
typedef struct texts {
    uint8_t byte[TEXTS][LONGEST + PAD];
    uint32_t len[TEXTS];
} texts;

static void texts_init(texts *t, test_random *r, uint32_t longest) {
    for (uint32_t i = 0; i < TEXTS; i++) {
        t->len[i] = test_random_below(r, (i % 8 && longest > 10 ? 10 : longest) + 1);
        for (uint32_t k = 0; k < sizeof t->byte[i]; k++) t->byte[i][k] = (uint8_t)test_random_below(r, 3);
    }
}

static int same(const ln_value *a, const ln_value *b) { return a->len == b->len && memcmp(a->at, b->at, a->len) == 0; }

/* What a driver does: it keeps the text of each number. */
typedef struct driver {
    ln_value *text;
    uint32_t count, generation;
} driver;

static void driver_enter(driver *d, const ln_strings *s, const ln_value *cell) {
    if (d->generation != s->generation) d->count = 0;
    d->generation = s->generation;
    CHECK_INT(s->count, d->count + s->rows);
    for (uint32_t i = 0; i < s->rows; i++) {
        const ln_value *v = &cell[s->row[i]];
        CHECK_INT(s->id[s->row[i]], d->count + 1);
        for (uint32_t k = 0; k < d->count; k++) CHECK(!same(&d->text[k], v));
        d->text[d->count++] = *v;
    }
}

/* Batches of texts, of which the first `of` are in use, with `spare` bytes of memory. */
static void run(size_t spare, uint32_t most, uint32_t of, uint32_t longest, int batches, uint32_t *generation) {
    static texts all;
    static ln_value kept[2 * TEXTS];
    test_random r = {most + of};
    driver d = {.text = kept};
    ln_string_table t;
    test_mem m;
    texts_init(&all, &r, longest);
    if (!CHECK_INT(ln_strings_init(&t, test_mem_init(&m, spare), ROWS, most, 7), 0)) return;
    for (int b = 0; b < batches; b++) {
        ln_value cell[ROWS];
        for (int i = 0; i < ROWS; i++) {
            uint32_t k = test_random_below(&r, of);
            cell[i] = (ln_value){.type = test_random_below(&r, 9) ? LN_TEXT : LN_BYTES, .len = all.len[k]};
            cell[i].at = all.byte[k];
        }
        ln_strings_batch(&t, cell, ROWS);
        driver_enter(&d, &t.shown, cell);
        for (int i = 0; i < ROWS; i++) {
            int32_t id = t.shown.id[i];
            CHECK(id >= 0 && (uint32_t)id <= d.count);
            if (id) CHECK(cell[i].type == LN_TEXT && cell[i].len <= LN_STRINGS_BYTES && same(&kept[id - 1], &cell[i]));
            else if (cell[i].type == LN_TEXT && cell[i].len <= LN_STRINGS_BYTES && !t.rest)
                CHECK(spare < SIZE_MAX || (cell[i].len >= 8 && t.too_narrow));
        }
        CHECK(t.shown.count < t.most + ROWS);
    }
    *generation = t.shown.generation;
    ln_strings_free(&t);
    CHECK_INT(m.held, 0);
}

static void equal_texts_have_equal_numbers(void) {
    uint32_t generation;
    run(SIZE_MAX, 0, 50, 7, 100, &generation);
    CHECK_INT(generation, 0);
    run(SIZE_MAX, 0, TEXTS, 7, 300, &generation);
    CHECK_INT(generation, 0);
    run(SIZE_MAX, 0, 50, LONGEST, 100, &generation);
    CHECK_INT(generation, 1); /* the first text of more than a word ends the first one */
    run(SIZE_MAX, 0, TEXTS, LONGEST, 300, &generation);
    CHECK_INT(generation, 1);
}

static void a_generation_ends_when_it_is_full(void) {
    uint32_t generation;
    run(SIZE_MAX, 100, TEXTS, LONGEST, 40, &generation);
    CHECK(generation > 1);
    run(SIZE_MAX, 1, 3, LONGEST, 400, &generation);
    CHECK(generation > 100);
}

/* Texts that never return have no numbers, but for a trial now and then. */
static void texts_that_never_return(void) {
    uint64_t next = 0, numbered = 0, all = 0;
    ln_string_table t;
    test_mem m;
    CHECK_INT(ln_strings_init(&t, test_mem_init(&m, SIZE_MAX), ROWS, 256, 1), 0);
    for (int b = 0; b < 8 * LN_STRINGS_REST; b++) {
        uint64_t byte[ROWS][4] = {0};
        ln_value cell[ROWS];
        for (int i = 0; i < ROWS; i++) {
            byte[i][0] = ++next;
            cell[i] = (ln_value){.type = LN_TEXT, .len = 8};
            cell[i].at = (const uint8_t *)byte[i];
        }
        ln_strings_batch(&t, cell, ROWS);
        for (int i = 0; i < ROWS; i++) numbered += t.shown.id[i] != 0;
        all += ROWS;
    }
    CHECK(numbered > 0 && numbered * 100 < all);
    ln_strings_free(&t);
}

/* Where memory is short texts have no number, and nothing else goes wrong. */
static void memory_that_runs_out(void) {
    test_mem m;
    ln_string_table t;
    uint32_t generation;
    for (uint64_t at = 1; at <= 3; at++) {
        test_mem_init(&m, SIZE_MAX)->used = 0;
        m.fail_at = at;
        CHECK_INT(ln_strings_init(&t, &m.mem, ROWS, 0, 7), -1);
        CHECK_INT(m.held, 0);
    }
    run(6000, 0, 200, LONGEST, 100, &generation);  /* the first table, and no larger one */
    run(10000, 0, 200, LONGEST, 100, &generation); /* a wide one, and no larger one */
}

static const test_case cases[] = {
    {"equal texts have equal numbers", equal_texts_have_equal_numbers},
    {"a generation ends when it is full", a_generation_ends_when_it_is_full},
    {"texts that never return", texts_that_never_return},
    {"memory that runs out", memory_that_runs_out},
};

TEST_MAIN(cases)
