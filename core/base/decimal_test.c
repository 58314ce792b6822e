/* Numbers as text against the plain ways: whole numbers against printf, doubles against std::to_chars. */
#include "base/decimal.h"
#include "base/test.h"
#include "base/test_random.h"

static void same_int(int64_t i) {
    char got[LN_DECIMAL_MAX + 1], want[LN_DECIMAL_MAX];
    got[ln_decimal_int(i, got)] = '\0';
    snprintf(want, sizeof want, "%" PRId64, i);
    CHECK_TEXT(got, want);
    got[ln_decimal_uint((uint64_t)i, got)] = '\0';
    snprintf(want, sizeof want, "%" PRIu64, (uint64_t)i);
    CHECK_TEXT(got, want);
}

static void whole_numbers(void) {
    test_random r = {.state = 1};
    int64_t ten = 1;
    for (int k = 0; k < 18; k++, ten *= 10)
        for (int64_t d = -1; d <= 1; d++) same_int(ten + d), same_int(-ten + d);
    for (unsigned bit = 0; bit < 64; bit++)
        for (int d = -1; d <= 1; d++) same_int((int64_t)((UINT64_C(1) << bit) + (uint64_t)d));
    same_int((int64_t)UINT64_C(10000000000000000000));
    same_int((int64_t)UINT64_C(9999999999999999999));
    for (int i = 0; i < 100000; i++) same_int(test_random_wide(&r));
}

/* 1 where the number is one of those that are written without the plain way. */
static int same_double(double d) {
    char got[LN_DECIMAL_MAX + 1], want[LN_DECIMAL_MAX + 1];
    got[ln_decimal_write(d, got)] = '\0';
    want[ln_decimal_write_any(d, want)] = '\0';
    CHECK_TEXT(got, want);
    return ln_decimal_fixed(fabs(d)) >= 0;
}

static void doubles_by_hand(void) {
    static const struct {
        double d;
        const char *text;
        int fixed;
    } each[] = {
        {0, "0.0", 1},
        {-0.0, "-0.0", 1},
        {1, "1.0", 1},
        {-17190.25, "-17190.25", 1},
        {0.1, "0.1", 1},
        {0.001, "0.001", 1},
        {0.0012, "0.0012", 1},
        {0.0001, "1e-04", 0},
        {0.0009, "9e-04", 0},
        {10000, "10000.0", 1},
        {100000, "1e+05", 0},
        {1200000, "1200000.0", 0},
        {100000.5, "100000.5", 1},
        {0.3, "0.3", 1},
        {0.1 + 0.2, NULL, 0},
        {99999999999.9999, "99999999999.9999", 1},
        {1e11, "1e+11", 0},
        {1e300, "1e+300", 0},
        {123456.78, "123456.78", 1},
        {5e-324, "5e-324", 0},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        char got[LN_DECIMAL_MAX + 1];
        CHECK_INT(same_double(each[i].d), each[i].fixed);
        got[ln_decimal_write(each[i].d, got)] = '\0';
        if (each[i].text) CHECK_TEXT(got, each[i].text);
    }
}

static void doubles(void) {
    test_random r = {.state = 2};
    int fixed = 0, others = 0;
    for (int i = 0; i < 20000; i++) same_double((double)i / 1e4);
    for (int i = 0; i < 400000; i++) {
        static const double part[] = {1, 4, 10, 100, 1000, 1e4, 1e5, 3};
        double d = (double)test_random_wide(&r) / part[test_random_below(&r, 8)];
        int was = same_double(d);
        fixed += was;
        others += !was;
        was = same_double(nextafter(d, 0));
        fixed += was;
        others += !was;
    }
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = test_random_next(&r);
        double d;
        memcpy(&d, &bits, sizeof d);
        if (isfinite(d)) same_double(d);
    }
    CHECK(fixed > 50000 && others > 50000);
}

static const test_case cases[] = {
    {"whole numbers", whole_numbers},
    {"doubles by hand", doubles_by_hand},
    {"doubles", doubles},
};
TEST_MAIN(cases)
