/* Times as text. */
#include "base/rfc3339.h"

/* `digits` digits at s as a number; -1 where there is anything else. */
static int number(const char *s, int digits) {
    int n = 0;
    for (int i = 0; i < digits; i++) {
        if (s[i] < '0' || s[i] > '9') return -1;
        n = n * 10 + (s[i] - '0');
    }
    return n;
}

static int days_of_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap);
}

/* Days from 1970-01-01 in the Gregorian calendar, counted in years that begin with March, so that the leap day is the
 * last of its year. */
static int64_t days_from_epoch(int year, int month, int day) {
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Seconds east of UTC from the text's zone, which must be all of [s, end). */
static int zone(const char *s, const char *end, int *east_s) {
    int hours, minutes;
    if (end - s == 1 && (*s == 'Z' || *s == 'z')) {
        *east_s = 0;
        return 0;
    }
    if (end - s != 6 || (*s != '+' && *s != '-') || s[3] != ':') return -1;
    hours = number(s + 1, 2);
    minutes = number(s + 4, 2);
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return -1;
    *east_s = (hours * 60 + minutes) * 60 * (*s == '-' ? -1 : 1);
    return 0;
}

int ln_rfc3339_read(const char *text, size_t len, int64_t *us) {
    const char *s = text, *end = text + len;
    int year, month, day, hour, minute, second, east_s;
    int64_t fraction_us = 0;
    if (len < 20 || s[4] != '-' || s[7] != '-' || (s[10] != 'T' && s[10] != 't' && s[10] != ' ') || s[13] != ':' ||
        s[16] != ':')
        return -1;
    year = number(s, 4);
    month = number(s + 5, 2);
    day = number(s + 8, 2);
    hour = number(s + 11, 2);
    minute = number(s + 14, 2);
    second = number(s + 17, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month)) return -1;
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return -1;
    s += 19;
    if (s < end && *s == '.') {
        int64_t unit_us = 100000;
        const char *digits = ++s;
        for (; s < end && *s >= '0' && *s <= '9'; s++, unit_us /= 10) fraction_us += unit_us * (*s - '0');
        if (s == digits) return -1;
    }
    if (zone(s, end, &east_s) < 0) return -1;
    *us = ((days_from_epoch(year, month, day) * 24 + hour) * 60 + minute) * 60 + second - east_s;
    *us = *us * 1000000 + fraction_us;
    return 0;
}
