/* What a run says: lines on standard error, as text for people or as JSON for collectors. Lines that strangers can
 * cause (a connection that is refused or breaks) are bounded in number; those left out are counted, and told of.
 * Writing never waits: where standard error has no room, the line is left out too. */
#ifndef LN_SERVER_LOG_H
#define LN_SERVER_LOG_H

#include <stdint.h>

enum ln_log_level { LN_LOG_ERROR = 0, LN_LOG_WARNING, LN_LOG_INFO, LN_LOG_DEBUG, LN_LOG_LEVELS };
enum ln_log_format { LN_LOG_TEXT = 0, LN_LOG_JSON };

typedef struct ln_log {
    int level;              /* enum ln_log_level: the least urgent that is written */
    int format;             /* enum ln_log_format */
    void (*before)(void *); /* called before a line is written; NULL: nothing is */
    void *ctx;
    double tokens;       /* lines that strangers may still cause */
    int64_t refilled_us; /* steady clock */
    uint64_t left_out;   /* lines, in all */
    uint64_t untold;     /* of these, since the last line that told of them */
} ln_log;

/* The name of a level; NULL for a number that is none. */
const char *ln_log_level_name(int level);

/* One line. */
void ln_log_say(ln_log *l, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* One line that strangers can cause. */
void ln_log_note(ln_log *l, int level, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
