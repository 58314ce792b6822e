/* See progress.h. */
#include "server/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const double PERIOD_S = 0.25;

void ln_progress_init(ln_progress *p, int choice, int files_only, double now) {
    int fits = files_only && isatty(STDERR_FILENO);
    *p = (ln_progress){.wanted = choice == LN_YES || (choice == LN_AUTO && fits), .last = now};
}

/* 12345678 as "12.3M", so that the line keeps its length. */
static const char *short_number(double n, char *room, size_t bytes) {
    static const char UNITS[] = " kMGT";
    size_t unit = 0;
    while (n >= (unit ? 999.95 : 9999.5) && unit < sizeof UNITS - 2) {
        n /= 1000;
        unit++;
    }
    snprintf(room, bytes, unit ? "%.1f%c" : "%.0f", n, UNITS[unit]);
    return room;
}

static const char *share_done(const ln_input *s, char *room, size_t bytes) {
    double done = (double)s->read_bytes;
    if (s->files_only && s->total_bytes) {
        double share = done / (double)s->total_bytes;
        snprintf(room, bytes, "%3.0f%%", share < 1 ? share * 100 : 100.0);
    } else {
        snprintf(room, bytes, "%.1f MB", done / 1e6);
    }
    return room;
}

void ln_progress_show(ln_progress *p, lunette *host, const ln_input *source, double now) {
    lunette_progress at;
    char share[32], rate[32];
    double passed = now - p->last;
    if (!p->wanted || passed < PERIOD_S || lunette_progress_get(host, &at) != LUNETTE_OK) return;
    short_number((double)(at.records - p->records) / passed, rate, sizeof rate);
    fprintf(stderr, "\r\033[K%s  %s records/s  watermark: %s  open windows: %" PRIu64 "  late: %" PRIu64,
            share_done(source, share, sizeof share), rate, *at.watermark ? at.watermark : "none yet", at.windows,
            at.late);
    fflush(stderr);
    p->shown = 1;
    p->last = now;
    p->records = at.records;
}

void ln_progress_clear(ln_progress *p) {
    if (!p->shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->shown = 0;
}
