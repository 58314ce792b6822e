/* See log.h. A line of at most PIPE_BUF bytes is written in one piece, and without waiting where poll finds room. */
#define _GNU_SOURCE
#include "server/log.h"

#include "server/clock.h"

#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 1024, LINE_BYTES = 4096, BURST = 50, PER_SECOND = 10 };
_Static_assert(LINE_BYTES <= PIPE_BUF, "a line goes into a pipe whole");

static const char *const NAMES[LN_LOG_LEVELS] = {"error", "warning", "info", "debug"};

const char *ln_log_level_name(int level) { return level >= 0 && level < LN_LOG_LEVELS ? NAMES[level] : NULL; }

/* Text for JSON or for a terminal: what could end the line or the string is replaced. */
static size_t put_escaped(char *to, size_t room, const char *text, int json) {
    size_t len = 0;
    for (; *text && len + 8 < room; text++) {
        unsigned char c = (unsigned char)*text;
        if (json && (c == '"' || c == '\\')) {
            to[len++] = '\\';
            to[len++] = (char)c;
        } else if (c < 0x20 || c == 0x7f) {
            len += (size_t)snprintf(to + len, room - len, json ? "\\u%04x" : "\\x%02x", c);
        } else {
            to[len++] = (char)c;
        }
    }
    to[len] = '\0';
    return len;
}

static size_t put_head(char *to, size_t room, int level) {
    int64_t now_us = ln_clock_wall_us();
    time_t seconds = (time_t)(now_us / 1000000);
    struct tm t;
    char stamp[32];
    gmtime_r(&seconds, &t);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &t);
    return (size_t)snprintf(to, room, "{\"time\":\"%s.%06dZ\",\"level\":\"%s\",\"text\":\"", stamp,
                            (int)(now_us % 1000000), NAMES[level]);
}

static void write_line(ln_log *l, int level, const char *text) {
    char line[LINE_BYTES];
    size_t len;
    struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (l->format == LN_LOG_JSON) {
        len = put_head(line, sizeof line, level);
        len += put_escaped(line + len, sizeof line - len - 4, text, 1);
        len += (size_t)snprintf(line + len, sizeof line - len, "\"}\n");
    } else {
        len = (size_t)snprintf(line, sizeof line, "lunette: ");
        len += put_escaped(line + len, sizeof line - len - 2, text, 0);
        line[len++] = '\n';
    }
    if (l->before) l->before(l->ctx);
    if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT) || write(STDERR_FILENO, line, len) < 0) {
        l->left_out++;
        l->untold++;
    }
}

static void say(ln_log *l, int level, const char *format, va_list args) {
    char text[TEXT_BYTES];
    vsnprintf(text, sizeof text, format, args);
    write_line(l, level, text);
}

static void tell_left_out(ln_log *l) {
    char text[64];
    if (!l->untold) return;
    snprintf(text, sizeof text, "%" PRIu64 " lines like these were left out", l->untold);
    l->untold = 0;
    if (l->level >= LN_LOG_WARNING) write_line(l, LN_LOG_WARNING, text);
}

void ln_log_say(ln_log *l, int level, const char *format, ...) {
    va_list args;
    if (level > l->level) return;
    va_start(args, format);
    say(l, level, format, args);
    va_end(args);
}

void ln_log_note(ln_log *l, int level, const char *format, ...) {
    int64_t now_us = ln_clock_steady_us();
    va_list args;
    if (level > l->level) return;
    l->tokens += (double)(now_us - l->refilled_us) / 1e6 * PER_SECOND;
    l->refilled_us = now_us;
    if (l->tokens > BURST) l->tokens = BURST;
    if (l->tokens < 1) {
        l->left_out++;
        l->untold++;
        return;
    }
    l->tokens--;
    tell_left_out(l);
    va_start(args, format);
    say(l, level, format, args);
    va_end(args);
}
