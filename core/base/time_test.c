/* A record's time in every unit and every form, and times shown. */
#include "base/time.h"

#include "base/instant.h"
#include "base/test.h"
#include "base/test_random.h"
#include "base/test_values.h"

#include <math.h>

#define BYTES(kind, e, s) \
    { .type = (kind), .ext = (e), .len = sizeof(s) - 1, .at = (const uint8_t *)(s) }
#define EXT(e, s) BYTES(LN_EXT, e, s)
#define TEXT(s) BYTES(LN_TEXT, 0, s)

enum { NONE = -1, TIME = 0 };

typedef struct reading {
    int unit;
    ln_value v;
    int err;
    int64_t us;
} reading;

static const reading numbers[] = {
    {LN_UNIT_S, I(-3), TIME, -3000000},
    {LN_UNIT_MS, I(-3), TIME, -3000},
    {LN_UNIT_RFC3339, I(-3), TIME, -3000},
    {LN_UNIT_US, I(-3), TIME, -3},
    {LN_UNIT_TICK, I(-3), TIME, -3},
    /* nanoseconds floor */
    {LN_UNIT_NS, I(0), TIME, 0},
    {LN_UNIT_NS, I(999), TIME, 0},
    {LN_UNIT_NS, I(1000), TIME, 1},
    {LN_UNIT_NS, I(-1), TIME, -1},
    {LN_UNIT_NS, I(-999), TIME, -1},
    {LN_UNIT_NS, I(-1000), TIME, -1},
    {LN_UNIT_NS, I(-1001), TIME, -2},
    {LN_UNIT_NS, I(INT64_MAX), TIME, 9223372036854775},
    {LN_UNIT_NS, I(INT64_MIN), TIME, -9223372036854776},
    {LN_UNIT_NS, U(UINT64_MAX), TIME, 18446744073709551},
    /* the ends of the range */
    {LN_UNIT_US, I(LN_TIME_MAX), TIME, LN_TIME_MAX},
    {LN_UNIT_US, I(LN_TIME_MIN), TIME, LN_TIME_MIN},
    {LN_UNIT_US, I(INT64_MAX), NONE, 0},
    {LN_UNIT_US, I(INT64_MIN), NONE, 0},
    {LN_UNIT_TICK, I(INT64_MAX), NONE, 0},
    {LN_UNIT_US, U(UINT64_C(1) << 63), NONE, 0},
    {LN_UNIT_MS, I(9223372036854775), TIME, 9223372036854775000},
    {LN_UNIT_MS, I(9223372036854776), NONE, 0},
    {LN_UNIT_MS, I(-9223372036854775), TIME, -9223372036854775000},
    {LN_UNIT_MS, I(-9223372036854776), NONE, 0},
    {LN_UNIT_S, I(9223372036854), TIME, 9223372036854000000},
    {LN_UNIT_S, I(9223372036855), NONE, 0},
    {LN_UNIT_S, I(INT64_MAX), NONE, 0},
    {LN_UNIT_S, I(INT64_MIN), NONE, 0},
    {LN_UNIT_S, U(UINT64_MAX), NONE, 0},
    /* doubles go to the nearest microsecond */
    {LN_UNIT_S, D(1.0000004), TIME, 1000000},
    {LN_UNIT_S, D(1.0000006), TIME, 1000001},
    {LN_UNIT_S, D(-1.0000004), TIME, -1000000},
    {LN_UNIT_S, D(-1.0000006), TIME, -1000001},
    {LN_UNIT_S, D(1772400600.123456), TIME, 1772400600123456},
    {LN_UNIT_MS, D(0.0004), TIME, 0},
    {LN_UNIT_MS, D(0.0006), TIME, 1},
    {LN_UNIT_MS, D(-0.0006), TIME, -1},
    {LN_UNIT_MS, D(-0.0), TIME, 0},
    {LN_UNIT_RFC3339, D(1.5), TIME, 1500},
    {LN_UNIT_US, D(2.4), TIME, 2},
    {LN_UNIT_US, D(2.6), TIME, 3},
    {LN_UNIT_TICK, D(7), TIME, 7},
    {LN_UNIT_NS, D(1400), TIME, 1},
    {LN_UNIT_NS, D(1600), TIME, 2},
    {LN_UNIT_NS, D(-1400), TIME, -1},
    {LN_UNIT_NS, D(-1600), TIME, -2},
    {LN_UNIT_US, D(0x1.fffffffffffffp62), TIME, INT64_MAX - 1023},
    {LN_UNIT_US, D(-0x1.fffffffffffffp62), TIME, INT64_MIN + 1024},
    {LN_UNIT_US, D(0x1p63), NONE, 0},
    {LN_UNIT_US, D(-0x1p63), NONE, 0},
    {LN_UNIT_S, D(1e13), NONE, 0},
    {LN_UNIT_S, D(1e308), NONE, 0},
    {LN_UNIT_NS, D(1e23), NONE, 0},
    {LN_UNIT_MS, D(INFINITY), NONE, 0},
    {LN_UNIT_MS, D(-INFINITY), NONE, 0},
    {LN_UNIT_MS, D(NAN), NONE, 0},
    {LN_UNIT_NS, D(NAN), NONE, 0},
    /* what is no time at all */
    {LN_UNIT_MS, {.type = LN_MISSING}, NONE, 0},
    {LN_UNIT_MS, {.type = LN_NULL}, NONE, 0},
    {LN_UNIT_MS, {.type = LN_BOOL, .i = 1}, NONE, 0},
    {LN_UNIT_MS, TEXT("1970-01-01T00:00:00Z"), NONE, 0},
    {LN_UNIT_RFC3339, TEXT("1970-01-01T00:00:00Z"), TIME, 0},
    {LN_UNIT_RFC3339, TEXT("1970-01-01T00:00:00"), NONE, 0},
    {LN_UNIT_RFC3339, BYTES(LN_BYTES, 0, "1970-01-01T00:00:00Z"), NONE, 0},
    {LN_UNIT_MS, BYTES(LN_ARRAY, 0, "\x91\x01"), NONE, 0},
    {LN_UNIT_MS, BYTES(LN_MAP, 0, "\x80"), NONE, 0},
};

static const reading timestamps[] = {
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x00\x01"), TIME, 1000000},
    {LN_UNIT_MS, EXT(-1, "\xff\xff\xff\xff"), TIME, 4294967295000000},
    /* 30 bits of nanoseconds, 34 of seconds */
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x00\x00\x00\x00\x00\x01"), TIME, 1000000},
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x0f\xa0\x00\x00\x00\x01"), TIME, 1000001},
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x0f\x9c\x00\x00\x00\x01"), TIME, 1000000},
    {LN_UNIT_MS, EXT(-1, "\xee\x6b\x27\xff\xff\xff\xff\xff"), TIME, 17179869183999999},
    {LN_UNIT_MS, EXT(-1, "\xee\x6b\x28\x00\x00\x00\x00\x00"), NONE, 0},
    {LN_UNIT_MS, EXT(-1, "\xff\xff\xff\xfc\x00\x00\x00\x00"), NONE, 0},
    /* nanoseconds, then 64 bits of seconds with a sign */
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x07\xcf\x00\x00\x00\x00\x00\x00\x00\x01"), TIME, 1000001},
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"), TIME, -1000000},
    {LN_UNIT_MS, EXT(-1, "\x3b\x9a\xc9\xff\xff\xff\xff\xff\xff\xff\xff\xff"), TIME, -1},
    {LN_UNIT_MS, EXT(-1, "\x3b\x9a\xca\x00\x00\x00\x00\x00\x00\x00\x00\x00"), NONE, 0},
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x00\x00\x00\x00\x08\x63\x7b\xd0\x5a\xf6"), TIME, 9223372036854000000},
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x00\x00\x00\x00\x08\x63\x7b\xd0\x5a\xf7"), NONE, 0},
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x00\x00\x80\x00\x00\x00\x00\x00\x00\x00"), NONE, 0},
    /* Fluent's: 32 bits of each */
    {LN_UNIT_MS, EXT(0, "\x00\x00\x00\x01\x00\x00\x07\xd0"), TIME, 1000002},
    {LN_UNIT_MS, EXT(0, "\xff\xff\xff\xff\x3b\x9a\xc9\xff"), TIME, 4294967295999999},
    {LN_UNIT_MS, EXT(0, "\x00\x00\x00\x01\x3b\x9a\xca\x00"), NONE, 0},
    {LN_UNIT_MS, EXT(0, "\x00\x00\x00\x01"), NONE, 0},
    {LN_UNIT_MS, EXT(0, "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00"), NONE, 0},
    {LN_UNIT_MS, EXT(0, ""), NONE, 0},
    {LN_UNIT_MS, EXT(-1, ""), NONE, 0},
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x00\x01\x00"), NONE, 0},
    {LN_UNIT_MS, EXT(-1, "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), NONE, 0},
    {LN_UNIT_MS, EXT(1, "\x00\x00\x00\x01\x00\x00\x07\xd0"), NONE, 0},
    {LN_UNIT_MS, EXT(-2, "\x00\x00\x00\x01"), NONE, 0},
};

static void reads(const reading *r, int unit, int err) {
    int64_t us = 12345;
    int ok = CHECK_INT(ln_time_read(&r->v, unit, &us), err);
    if (err == TIME) ok &= CHECK_INT(us, r->us);
    if (!ok) fprintf(stderr, "  in unit %d, for %" PRId64 "\n", unit, r->us);
}

static void every_number(void) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) reads(&numbers[i], numbers[i].unit, numbers[i].err);
}

/* The same in any unit, but ticks are no time that a timestamp could name. */
static void every_timestamp(void) {
    for (size_t i = 0; i < sizeof timestamps / sizeof *timestamps; i++)
        for (int unit = LN_UNIT_S; unit <= LN_UNIT_RFC3339; unit++)
            reads(&timestamps[i], unit, unit == LN_UNIT_TICK ? NONE : timestamps[i].err);
}

static void every_length_and_type_of_ext(void) {
    static const uint8_t zeros[32];
    for (int kind = -128; kind < 128; kind++) {
        for (uint32_t len = 0; len <= 32; len++) {
            ln_value v = {.type = LN_EXT, .ext = (int8_t)kind, .len = len, .at = zeros};
            int time = (kind == -1 && (len == 4 || len == 8 || len == 12)) || (kind == 0 && len == 8);
            int64_t us;
            CHECK_INT(ln_time_read(&v, LN_UNIT_S, &us), time ? TIME : NONE);
        }
    }
}

static void shows(int64_t us, int unit, const ln_value *want) {
    ln_value v;
    memset(&v, 0xee, sizeof v);
    ln_time_show(us, unit, &v);
    if (!CHECK_INT(v.type, want->type)) return;
    if (v.type == LN_INT) CHECK_INT(v.i, want->i);
    if (v.type == LN_DOUBLE) CHECK(v.d == want->d);
}

static void shown(void) {
    static const ln_value null = {.type = LN_NULL};
    static const int64_t per[] = {1000000, 1000, 1, 0, 1, 1000};
    for (int unit = LN_UNIT_S; unit <= LN_UNIT_RFC3339; unit++) {
        shows(LN_PAST, unit, &null);
        shows(LN_FUTURE, unit, &null);
        if (unit == LN_UNIT_NS) continue;
        shows(-7 * per[unit], unit, &(ln_value)I(-7));
        CHECK(ln_time_number(-7 * per[unit], unit) == -7.0);
        shows(LN_TIME_MAX / per[unit] * per[unit], unit, &(ln_value)I(LN_TIME_MAX / per[unit]));
    }
    shows(1500, LN_UNIT_MS, &(ln_value)D(1.5));
    shows(-1500, LN_UNIT_RFC3339, &(ln_value)D(-1.5));
    shows(-1, LN_UNIT_S, &(ln_value)D(-1e-6));
    shows(-7, LN_UNIT_NS, &(ln_value)I(-7000));
    shows(9223372036854775, LN_UNIT_NS, &(ln_value)I(9223372036854775000));
    shows(9223372036854776, LN_UNIT_NS, &(ln_value)D(9223372036854776000.0));
    shows(LN_TIME_MIN, LN_UNIT_NS, &(ln_value)D(-9223372036854775808e3));
    CHECK(ln_time_number(-7, LN_UNIT_NS) == -7000.0);
    CHECK(ln_time_number(1, LN_UNIT_MS) == 0.001);
}

/* What is shown reads as what it was, in any unit. */
static void there_and_back(void) {
    test_random r = {1};
    for (int i = 0; i < 60000; i++) {
        int64_t us = test_random_wide(&r) >> 12, back; /* with 51 bits a double in seconds has some to spare */
        int unit = (int)test_random_below(&r, 6);
        ln_value v;
        ln_time_show(us, unit, &v);
        CHECK_INT(ln_time_read(&v, unit, &back), TIME);
        if (!CHECK_INT(back, us)) fprintf(stderr, "  in unit %d\n", unit);
    }
}

static const test_case cases[] = {
    {"every number", every_number},
    {"every timestamp", every_timestamp},
    {"every length and type of ext", every_length_and_type_of_ext},
    {"shown", shown},
    {"there and back", there_and_back},
};
TEST_MAIN(cases)
