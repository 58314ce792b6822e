/* Numbers compared by their exact values: a table in rising order, all pairs of it, and random ones in 128 bits. */
#include "base/number.h"
#include "base/test.h"
#include "base/test_random.h"
#include "base/test_values.h"

#include <float.h>
#include <math.h>

/* Those with the same rank are equal. */
typedef struct ranked {
    int rank;
    ln_value v;
} ranked;

static const ranked table[] = {
    {0, D(-INFINITY)},
    {1, D(-DBL_MAX)},
    {2, D(-0x1p64)},
    {3, D(-0x1.0000000000001p63)},
    {4, D(-0x1p63)},
    {4, I(INT64_MIN)},
    {5, I(INT64_MIN + 1)},
    {6, I(INT64_MIN + 1023)},
    {7, D(-0x1.fffffffffffffp62)},
    {7, I(INT64_MIN + 1024)},
    {8, D(-0x1.0000000000001p53)},
    {8, I(-9007199254740994)},
    {9, I(-9007199254740993)},
    {10, D(-0x1p53)},
    {10, I(-9007199254740992)},
    {11, I(-9007199254740991)},
    {11, D(-9007199254740991.0)},
    {12, D(-1.5)},
    {13, D(-1)},
    {13, I(-1)},
    {14, D(-0.5)},
    {15, D(-DBL_TRUE_MIN)},
    {16, D(-0.0)},
    {16, I(0)},
    {16, D(0.0)},
    {17, D(DBL_TRUE_MIN)},
    {18, D(0.5)},
    {19, I(1)},
    {19, D(1)},
    {20, D(1.5)},
    {21, I(2)},
    {22, D(4503599627370495.5)},
    {23, I(4503599627370496)},
    {23, D(0x1p52)},
    {24, D(0x1.0000000000001p52)},
    {24, I(4503599627370497)},
    {25, I(9007199254740991)},
    {25, D(9007199254740991.0)},
    {26, D(0x1p53)},
    {26, I(9007199254740992)},
    {27, I(9007199254740993)},
    {28, D(0x1.0000000000001p53)},
    {28, I(9007199254740994)},
    {29, D(0x1.fffffffffffffp62)},
    {29, I(INT64_MAX - 1023)},
    {30, I(INT64_MAX - 1022)},
    {31, I(INT64_MAX)},
    {32, D(0x1p63)},
    {32, U(UINT64_C(1) << 63)},
    {33, U((UINT64_C(1) << 63) + 1)},
    {34, U((UINT64_C(1) << 63) + 2047)},
    {35, D(0x1.0000000000001p63)},
    {35, U((UINT64_C(1) << 63) + 2048)},
    {36, D(0x1.fffffffffffffp63)},
    {36, U(UINT64_MAX - 2047)},
    {37, U(UINT64_MAX - 2046)},
    {38, U(UINT64_MAX)},
    {39, D(0x1p64)},
    {40, D(DBL_MAX)},
    {41, D(INFINITY)},
};
enum { TABLE = sizeof table / sizeof *table };

static const char *shown(const ln_value *v) {
    static char text[2][64];
    static int which;
    which = !which;
    if (v->type == LN_DOUBLE) snprintf(text[which], 64, "%.17g", v->d);
    else if (v->type == LN_INT) snprintf(text[which], 64, "%" PRId64, v->i);
    else snprintf(text[which], 64, "%" PRIu64 "u", v->u);
    return text[which];
}

static int compared(const ln_value *a, const ln_value *b, int want) {
    int ok = CHECK_INT(ln_number_compare(a, b), want) & CHECK_INT(ln_number_compare(b, a), -want);
    if (!ok) fprintf(stderr, "  of %s and %s\n", shown(a), shown(b));
    return ok;
}

static void all_pairs(void) {
    for (int i = 0; i < TABLE; i++)
        for (int j = 0; j < TABLE; j++)
            compared(&table[i].v, &table[j].v, (table[i].rank > table[j].rank) - (table[i].rank < table[j].rank));
}

/* A whole number against the doubles around it. */
static void around_random_wholes(void) {
    test_random r = {1};
    int ok = 1;
    for (int i = 0; i < 200000 && ok; i++) {
        uint64_t bits = test_random_next(&r) >> test_random_below(&r, 64);
        int64_t wide = test_random_wide(&r);
        ln_value whole = bits > INT64_MAX ? (ln_value)U(bits) : (ln_value)I(wide), near = {.type = LN_DOUBLE};
        __int128 n = whole.type == LN_UINT ? (__int128)whole.u : whole.i, floor_of;
        near.d = ln_number_double(&whole);
        if (test_random_below(&r, 3) == 0) near.d = nextafter(near.d, -INFINITY);
        if (test_random_below(&r, 3) == 0) near.d = nextafter(near.d, INFINITY);
        if (test_random_below(&r, 4) == 0) near.d += 0.25;
        floor_of = (__int128)floor(near.d);
        ok = compared(&whole, &near, n > floor_of ? 1 : n < floor_of || near.d != floor(near.d) ? -1 : 0);
    }
}

/* A double that is whole becomes the integer that equals it; any other number stays as it is. */
static void normalised(void) {
    for (int i = 0; i < TABLE; i++) {
        const ln_value *v = &table[i].v;
        ln_value n = *v;
        int whole = v->type != LN_DOUBLE || (v->d == floor(v->d) && v->d >= -0x1p63 && v->d < 0x1p64);
        test_name = shown(v);
        ln_number_normalise(&n);
        CHECK_INT(n.type == LN_DOUBLE, !whole);
        if (n.type == LN_UINT) CHECK(n.u > INT64_MAX);
        CHECK_INT(ln_number_compare(v, &n), 0);
        if (n.type == LN_DOUBLE) CHECK(v->type == LN_DOUBLE && n.u == v->u);
    }
}

static void what_is_a_number(void) {
    ln_value v = D(NAN);
    CHECK(ln_is_nan(&v));
    ln_number_normalise(&v);
    CHECK(ln_is_nan(&v));
    for (int type = LN_MISSING; type <= LN_EXT; type++) {
        v = (ln_value){.type = (uint8_t)type};
        CHECK_INT(ln_is_number(&v), type == LN_INT || type == LN_UINT || type == LN_DOUBLE);
        CHECK(!ln_is_nan(&v));
    }
}

static const test_case cases[] = {
    {"all pairs", all_pairs},
    {"around random wholes", around_random_wholes},
    {"normalised", normalised},
    {"what is a number", what_is_a_number},
};
TEST_MAIN(cases)
