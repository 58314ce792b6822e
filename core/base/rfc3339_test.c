/* Times as text: every month of the calendar against a count of days, every field at its ends, every text cut. */
#include "base/rfc3339.h"
#include "base/test.h"

static const int64_t NO_TIME = INT64_MIN;

/* Reads a copy of exactly these bytes, so that a read beyond them is found. */
static int64_t read_bytes(const char *text, size_t len) {
    char *copy = malloc(len ? len : 1);
    int64_t us = 0;
    int err;
    if (!copy) abort();
    if (len) memcpy(copy, text, len);
    err = ln_rfc3339_read(copy, len, &us);
    free(copy);
    return err == 0 ? us : NO_TIME;
}

static int64_t read_text(const char *text) { return read_bytes(text, strlen(text)); }

typedef struct stated {
    const char *text;
    int64_t us;
} stated;

static const stated times[] = {
    {"1970-01-01T00:00:00Z", 0},
    {"1970-01-01t00:00:00z", 0},
    {"1970-01-01 00:00:00Z", 0},
    {"1970-01-01T00:00:00-00:00", 0},
    {"1970-01-01T00:00:01Z", 1000000},
    {"1969-12-31T23:59:59Z", -1000000},
    {"1969-12-31T23:59:59.999999Z", -1},
    {"1970-01-01T02:00:00+02:00", 0},
    {"1969-12-31T18:30:00-05:30", 0},
    {"1970-01-01T23:59:00+23:59", 0},
    {"1969-12-31T00:01:00-23:59", 0},
    {"2026-03-01T23:30:00.25+02:00", 1772400600250000},
    {"2000-02-29T12:00:00Z", 951825600000000},
    {"2004-02-29T00:00:00Z", 1078012800000000},
    {"2016-12-31T23:59:60Z", 1483228800000000},
    {"2016-12-31T23:59:60.5Z", 1483228800500000},
    {"2017-01-01T00:00:00Z", 1483228800000000},
    {"0000-01-01T00:00:00Z", -62167219200000000},
    {"0001-01-01T00:00:00Z", -62135596800000000},
    {"0001-01-01T00:00:00+23:59", -62135683140000000},
    {"9999-12-31T23:59:59.999999Z", 253402300799999999},
    {"9999-12-31T23:59:59.999999-23:59", 253402387139999999},
};
enum { TIMES = sizeof times / sizeof *times };

static void stated_times(void) {
    for (int i = 0; i < TIMES; i++) {
        test_name = times[i].text;
        CHECK_INT(read_text(times[i].text), times[i].us);
    }
}

static const char *const refused[] = {
    "",
    "now",
    "2026",
    "2026-03-01",
    "2026-03-01T23:30:00",
    "2026-03-01T23:30Z",
    "2026-03-01T23:30:00+02",
    "2026-03-01T23:30:00+0200",
    "2026-03-01T23:30:00+02:0",
    "2026-03-01T23:30:00+02:000",
    "2026-03-01T23:30:00+24:00",
    "2026-03-01T23:30:00+02:60",
    "2026-03-01T23:30:00 Z",
    "2026-03-01T23:30:00ZZ",
    "2026-03-01T23:30:00Z ",
    "2026-03-01T23:30:00.Z",
    "2026-03-01T23:30:00.5",
    "2026-03-01T23:30:00,5Z",
    "2026-03-01T23:30:00.-5Z",
    "2026-00-01T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-32T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2024-02-30T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2100-02-29T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:61Z",
    "20260-01-01T00:00:00Z",
    "-026-01-01T00:00:00Z",
    "+026-01-01T00:00:00Z",
    "2026-1-01T00:00:00.0Z",
    " 2026-01-01T00:00:00Z",
    "2026-01-01T 1:00:00Z",
    "2026-01-01T-1:00:00Z",
    "2026-01-01T00:00:00*02:00",
};
enum { REFUSED = sizeof refused / sizeof *refused };

static void refused_texts(void) {
    for (int i = 0; i < REFUSED; i++) {
        test_name = refused[i];
        CHECK_INT(read_text(refused[i]), NO_TIME);
    }
}

/* No time is another one cut short, and no character of one can be just anything. */
static void each_character_counts(void) {
    static const char wrong[] = {'x', '/', ':', ';', '\0', '\xff'};
    for (int i = 0; i < TIMES; i++) {
        size_t len = strlen(times[i].text);
        char text[64];
        test_name = times[i].text;
        for (size_t cut = 0; cut < len; cut++) CHECK_INT(read_bytes(times[i].text, cut), NO_TIME);
        for (size_t at = 0; at < len; at++) {
            memcpy(text, times[i].text, len);
            for (size_t k = 0; k < sizeof wrong; k++) {
                text[at] = wrong[k];
                if (wrong[k] != times[i].text[at]) CHECK_INT(read_bytes(text, len), NO_TIME);
            }
        }
    }
}

static void decimals(void) {
    static const char digits[] = "987654321987";
    int64_t us = 0, unit_us = 100000;
    for (int n = 1; n <= 12; n++, unit_us /= 10) {
        char text[64];
        us += (digits[n - 1] - '0') * unit_us;
        snprintf(text, sizeof text, "1970-01-01T00:00:05.%.*sZ", n, digits);
        CHECK_INT(read_text(text), 5000000 + us);
        snprintf(text, sizeof text, "1969-12-31T23:59:55.%.*s+00:00", n, digits);
        CHECK_INT(read_text(text), -5000000 + us);
    }
    CHECK_INT(us, 987654);
}

static int days_in(int year, int month) {
    if (month == 2) return year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

/* The text of noon of a day; the text of a year beyond 9999 or of a day beyond 99 is not needed. */
static int64_t noon(int year, int month, int day) {
    char text[64];
    snprintf(text, sizeof text, "%04d-%02d-%02dT12:00:00Z", year, month, day);
    return read_text(text);
}

static void every_month(void) {
    int64_t day_us = 86400 * INT64_C(1000000), first_us = noon(1, 1, 1);
    int ok = 1;
    CHECK_INT(first_us, -62135596800000000 + day_us / 2);
    for (int year = 1; year <= 9999 && ok; year++) {
        for (int month = 1; month <= 12 && ok; month++) {
            int days = days_in(year, month);
            ok &= CHECK_INT(noon(year, month, 1), first_us);
            ok &= CHECK_INT(noon(year, month, days), first_us + (days - 1) * day_us);
            ok &= CHECK_INT(noon(year, month, days + 1), NO_TIME);
            first_us += days * day_us;
            if (!ok) fprintf(stderr, "  in %d-%d\n", year, month);
        }
    }
}

static const test_case cases[] = {
    {"stated times", stated_times}, {"refused texts", refused_texts}, {"each character counts", each_character_counts},
    {"decimals", decimals},         {"every month", every_month},
};
TEST_MAIN(cases)
