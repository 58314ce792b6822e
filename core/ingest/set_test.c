/* Readers of one set: streams side by side, in one table of batches, each as it would be alone. */
#include "ingest/test_rows.h"

/* A batch of any reader carries its number, and a column asked of one is a column of all. */
static void streams_side_by_side(void) {
    ln_reader *first = ln_reader_new(LN_FORMAT_AUTO, NULL, 0), *a = ln_reader_beside(first, 7),
              *b = ln_reader_beside(first, 8);
    const ln_batch *batch;
    CHECK_INT(ln_reader_column(first, "p", 1), 0);
    CHECK_INT(ln_reader_push(a, "\x81\xa1p\x05\x81\xa1", 6), LN_OK);
    CHECK_INT(ln_reader_push(b, "{\"p\":6,\"q\":1}\n{\"q\":", 19), LN_OK);
    CHECK_INT(ln_reader_next(a, &batch), LN_OK);
    CHECK(batch->rows == 1 && batch->source == 7 && batch->column[0][0].i == 5);
    CHECK_INT(ln_reader_next(b, &batch), LN_OK);
    CHECK(batch->rows == 1 && batch->source == 8 && batch->column[0][0].i == 6);
    CHECK_INT(ln_reader_column(b, "q", 1), 1);
    CHECK_INT(ln_reader_columns(first), 2);
    CHECK_INT(ln_reader_push(a, "q\x09", 2), LN_OK);
    CHECK_INT(ln_reader_next(a, &batch), LN_OK);
    CHECK(batch->rows == 1 && batch->columns == 2 && batch->column[0][0].type == LN_MISSING &&
          batch->column[1][0].i == 9);
    ln_reader_delete(a);
    CHECK_INT(ln_reader_push(b, "2}\n", 3), LN_OK);
    CHECK_INT(ln_reader_next(b, &batch), LN_OK);
    CHECK(batch->rows == 1 && batch->column[1][0].i == 2);
    ln_reader_delete(b);
    ln_reader_delete(first);
}

/* Room that is given back leaves the unfinished record where it was, at every cut of it. */
static void room_given_back(void) {
    static const char stream[] = "\x81\xa1p\xa3xyz\x81\xa1p\x02";
    const size_t len = sizeof stream - 1;
    for (size_t cut = 0; cut <= len; cut++) {
        ln_reader *r = ln_reader_new(LN_FORMAT_MSGPACK, NULL, 0);
        dump d = {0};
        CHECK_INT(ln_reader_column(r, "p", 1), 0);
        CHECK(ln_reader_space(r, 100000) != NULL);
        CHECK_INT(ln_reader_push(r, stream, cut), LN_OK);
        drain(r, &d);
        ln_reader_trim(r);
        CHECK(r->in_bytes <= LN_READER_PAD + len);
        CHECK_INT(ln_reader_push(r, stream + cut, len - cut), LN_OK);
        drain(r, &d);
        CHECK_TEXT(d.text, "'xyz' \n2 \n");
        ln_reader_delete(r);
        free(d.text);
    }
}

/* What is left after an error is one malformed row, once. */
static void the_rest_of_a_message(void) {
    ln_reader *r = ln_reader_new(LN_FORMAT_MSGPACK, NULL, 0);
    const ln_batch *batch;
    dump d = {0};
    CHECK_INT(ln_reader_column(r, "p", 1), 0);
    CHECK_INT(ln_reader_rest(r, &batch), LN_OK);
    CHECK_INT(batch->rows, 0);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(ln_reader_push(r, "\x81\xa1p\x01\x81\xa1p\xc1!", 9), LN_OK);
        CHECK_INT(drain(r, &d), LN_EMSGPACK);
        CHECK_INT(ln_reader_rest(r, &batch), LN_OK);
        say_batch(&d, batch);
        CHECK_INT(ln_reader_rest(r, &batch), LN_OK);
        CHECK_INT(batch->rows, 0);
        CHECK_TEXT(d.text, "1 \n!3 - \\c4\\05\\81\\a1p\\c1!\n");
        d.len = 0;
        ln_reader_restart(r);
    }
    ln_reader_delete(r);
    free(d.text);
}

static const test_case cases[] = {
    {"streams side by side", streams_side_by_side},
    {"room given back", room_given_back},
    {"the rest of a message", the_rest_of_a_message},
};
TEST_MAIN(cases)
