/* See values.h. */
#include "cli/values.h"

#include "cli/options.h"
#include "cli/words.h"
#include "server/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int ln_cli_parse_format(const char *option, const char *text, int auto_known, int *format) {
    static const char *const NAMES[] = {
        [LN_FORMAT_AUTO] = "auto", [LN_FORMAT_MSGPACK] = "msgpack", [LN_FORMAT_JSON] = "json"};
    for (int i = auto_known ? LN_FORMAT_AUTO : LN_FORMAT_MSGPACK; i <= LN_FORMAT_JSON; i++) {
        if (strcmp(text, NAMES[i]) != 0) continue;
        *format = i;
        return 0;
    }
    ln_cli_say("--%s %s: the formats are %smsgpack and json", option, text, auto_known ? "auto, " : "");
    return LN_EXIT_USAGE;
}

int ln_cli_check_address(const char *what, const char *text, int use) {
    lunette_address a;
    if (!*text) {
        ln_cli_say("%s: a file without a name; standard input and output are written -", what);
        return LN_EXIT_USAGE;
    }
    if (!lunette_address_parse(&a, text, use)) return 0;
    ln_cli_say("%s %s: %s", what, text, a.problem);
    return LN_EXIT_USAGE;
}

int ln_cli_parse_number(const char *option, const char *text, uint64_t most, uint64_t *number) {
    char *end;
    unsigned long long n;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && n >= 1 && n <= most) {
        *number = n;
        return 0;
    }
    ln_cli_say("--%s %s: write a whole number from 1 to %" PRIu64, option, text, most);
    return LN_EXIT_USAGE;
}

/* "500ms", "20s", "5m", "1h"; "0" is none. */
int ln_cli_parse_duration(const char *option, const char *text, int64_t *us) {
    static const struct {
        const char *unit;
        int64_t us;
    } UNITS[] = {{"ms", 1000}, {"s", 1000000}, {"m", 60000000}, {"h", 3600000000}};
    char *end;
    unsigned long long n;
    errno = 0;
    n = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !errno && n <= 1000000) {
        if (!n && !*end) {
            *us = 0;
            return 0;
        }
        for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++) {
            if (strcmp(end, UNITS[i].unit) != 0) continue;
            *us = (int64_t)n * UNITS[i].us;
            return 0;
        }
    }
    ln_cli_say("--%s %s: write a duration, such as 500ms, 20s, 5m or 1h; 0 is no limit", option, text);
    return LN_EXIT_USAGE;
}

int ln_cli_parse_period(const char *option, const char *text, int64_t least_us, int64_t *us) {
    int rc = ln_cli_parse_duration(option, text, us);
    if (rc || *us >= least_us) return rc;
    ln_cli_say("--%s %s: write at least %dms", option, text, (int)(least_us / 1000));
    return LN_EXIT_USAGE;
}

int ln_cli_parse_count(const char *option, const char *text, uint32_t *count) {
    uint64_t n = 0;
    int rc = ln_cli_parse_number(option, text, 1000000, &n);
    *count = (uint32_t)n;
    return rc;
}

int ln_cli_parse_bytes(const char *option, const char *text, size_t *bytes) {
    uint64_t n = 0;
    int rc = ln_cli_parse_number(option, text, UINT64_C(1) << 40, &n);
    *bytes = (size_t)n;
    return rc;
}

int ln_cli_parse_level(const char *text, int *level) {
    for (*level = 0; ln_log_level_name(*level); ++*level)
        if (!strcmp(text, ln_log_level_name(*level))) return 0;
    ln_cli_say("--log-level %s: the levels are error, warning, info and debug", text);
    return LN_EXIT_USAGE;
}

int ln_cli_parse_log_format(const char *text, int *format) {
    *format = strcmp(text, "json") ? LN_LOG_TEXT : LN_LOG_JSON;
    if (*format == LN_LOG_JSON || !strcmp(text, "text")) return 0;
    ln_cli_say("--log-format %s: the formats are text and json", text);
    return LN_EXIT_USAGE;
}
