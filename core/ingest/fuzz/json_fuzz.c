/* The JSON lines reader: the same rows for any split of the bytes; every record it makes is msgpack within the limits
 * and survives being written as JSON and read again; flat lines are no others; no more memory than the limits allow.
 *
 *   scripts/fuzz 600 json_fuzz
 *
 * An input is four bytes of setting, then the lines. */
#include "ingest/flat.h"
#include "ingest/fuzz/dump.h"

static const char *const paths[] = {"a", "b.c", "ts"};
enum { PATHS = sizeof paths / sizeof *paths, SETTING = 4 };

static void write_text(dump *d, const ln_value *v) {
    char escape[8];
    say(d, "\"", 1);
    for (uint32_t i = 0; i < v->len; i++) {
        if (v->at[i] < 0x20 || v->at[i] == '"' || v->at[i] == '\\')
            say(d, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", v->at[i]));
        else say(d, v->at + i, 1);
    }
    say(d, "\"", 1);
}

/* A value made from JSON, as JSON; the end of it. */
static const uint8_t *write_json(dump *d, const uint8_t *p, const uint8_t *end) {
    char number[40];
    ln_value v;
    p = ln_value_read(p, end, 0, &v);
    switch (v.type) {
    case LN_NULL: say(d, "null", 4); break;
    case LN_BOOL: say(d, v.i ? "true" : "false", v.i ? 4 : 5); break;
    case LN_INT: say(d, number, (size_t)snprintf(number, sizeof number, "%" PRId64, v.i)); break;
    case LN_UINT: say(d, number, (size_t)snprintf(number, sizeof number, "%" PRIu64, v.u)); break;
    case LN_DOUBLE:
        snprintf(number, sizeof number, "%.17g", v.d);
        say(d, number, strlen(number));
        if (!strpbrk(number, ".e")) say(d, ".0", 2);
        break;
    case LN_TEXT: write_text(d, &v); break;
    case LN_ARRAY:
    case LN_MAP:
        say(d, v.type == LN_MAP ? "{" : "[", 1);
        for (uint32_t i = 0; i < v.len; i++) {
            if (i) say(d, ",", 1);
            p = write_json(d, p, end);
            if (v.type == LN_ARRAY) continue;
            say(d, ":", 1);
            p = write_json(d, p, end);
        }
        say(d, v.type == LN_MAP ? "}" : "]", 1);
        break;
    default: broken(__FILE__, __LINE__, "a value that JSON does not have");
    }
    return p;
}

/* Each record of the batch is whole, within limits, and the same after a trip through JSON. */
static void check_batch(ln_json *json, ln_mem *mem, const ln_limits *limits, const ln_batch *b) {
    static const ln_limits roomy = {.record_bytes = 1 << 24, .nesting = LN_NESTING_MAX, .elements = 1 << 24};
    ln_buf again;
    ln_buf_init(&again, mem);
    for (uint32_t row = 0; row < b->rows; row++) {
        const uint8_t *p = b->record[row], *end = p + b->record_bytes[row];
        dump text = {0};
        ln_framer f;
        int made = b->malformed[row] == LN_OK || b->malformed[row] == LN_EINVALID;
        ln_framer_init(&f);
        REQUIRE(ln_framer_run(&f, made ? limits : &roomy, p, b->record_bytes[row]) == LN_OK);
        REQUIRE(f.at == b->record_bytes[row]);
        REQUIRE(made || b->record_bytes[row] <= limits->record_bytes + 5);
        if (!made) continue;
        REQUIRE(write_json(&text, p, end) == end);
        say(&text, (uint8_t[LN_JSON_PAD]){0}, LN_JSON_PAD);
        ln_buf_clear(&again);
        REQUIRE(ln_json_convert(json, &roomy, (const uint8_t *)text.text, text.len - LN_JSON_PAD, &again) == LN_OK);
        REQUIRE(again.len == b->record_bytes[row] && memcmp(again.data, p, again.len) == 0);
        free(text.text);
    }
    ln_buf_free(&again);
}

/* Each line that is accepted as flat is what the plain way makes of it. */
static void check_flat(ln_json *json, ln_mem *mem, const uint8_t *data, size_t len) {
    static const ln_limits roomy = {.record_bytes = 1 << 24, .nesting = LN_NESTING_MAX, .elements = 1 << 24};
    uint8_t *copy = calloc(1, len + LN_JSON_PAD), made[LN_FLAT_ROOM];
    const uint8_t *p = copy, *next;
    ln_buf plain;
    REQUIRE(copy);
    if (len) memcpy(copy, data, len);
    ln_buf_init(&plain, mem);
    for (; p && p < copy + len; p = memchr(p, '\n', (size_t)(copy + len - p)), p = p ? p + 1 : NULL) {
        uint32_t fields;
        size_t line;
        uint8_t *end = ln_flat_convert(p, made, made + sizeof made, &fields, &line, &next);
        if (!end) continue;
        ln_buf_clear(&plain);
        REQUIRE(next <= copy + len && next[-1] == '\n');
        REQUIRE(ln_json_convert(json, &roomy, p, line, &plain) == LN_OK);
        REQUIRE(plain.len == (size_t)(end - made) && memcmp(plain.data, made, plain.len) == 0);
    }
    ln_buf_free(&plain);
    free(copy);
}

static void check_trip(ln_reader *r, const ln_limits *limits, const uint8_t *data, size_t len) {
    ln_mem mem;
    ln_json *json;
    const ln_batch *b;
    ln_mem_init(&mem);
    json = ln_json_new(&mem);
    REQUIRE(json);
    ln_reader_restart(r);
    REQUIRE(ln_reader_push(r, data, len) == LN_OK);
    ln_reader_end(r);
    while (ln_reader_next(r, &b) == LN_OK && b->rows) check_batch(json, &mem, limits, b);
    check_flat(json, &mem, data, len);
    ln_json_delete(json, &mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
    const uint8_t *setting = data;
    ln_limits limits;
    test_mem t;
    dump whole = {0}, split = {0};
    ln_reader *r;
    size_t cuts;
    uint32_t rows;
    if (len < SETTING) return 0;
    data += SETTING;
    len -= SETTING;
    cuts = setting[3] % 16 < len ? setting[3] % 16 : len;
    rows = 1 + (setting[0] & 3);
    limits = (ln_limits){.nesting = 1 + (setting[1] & 31),
                         .elements = 1u << (setting[1] >> 5) << (setting[2] & 7),
                         .record_bytes = 8u << (setting[2] >> 3) % 20};
    r = ln_reader_new_with(test_mem_init(&t, SIZE_MAX / 4), LN_FORMAT_JSON, &limits, rows);
    REQUIRE(r);
    for (int i = 0; i < PATHS; i++) REQUIRE(ln_reader_column(r, paths[i], strlen(paths[i])) == i);
    run_reader(r, data, len, data + len - cuts, cuts, &split);
    REQUIRE(t.peak <= memory_bound(&limits, cuts ? 256 : len, rows, PATHS, 1));
    run_reader(r, data, len, NULL, 0, &whole);
    REQUIRE(same(&whole, &split));
    check_trip(r, &limits, data, len);
    ln_reader_delete(r);
    REQUIRE(t.held == 0);
    free(whole.text);
    free(split.text);
    return 0;
}
