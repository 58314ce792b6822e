/* See words.h. */
#include "cli/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORD_BYTES = 24, FAR = WORD_BYTES + 1 };

void ln_cli_say(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fputs("lunette: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

/* How many letters must be put in, taken out, or changed to make one word of the other; FAR for long words. */
static unsigned distance(const char *a, const char *b) {
    size_t a_len = strlen(a), b_len = strlen(b);
    unsigned row[WORD_BYTES + 1];
    if (a_len > WORD_BYTES || b_len > WORD_BYTES) return FAR;
    for (unsigned j = 0; j <= b_len; j++) row[j] = j;
    for (unsigned i = 1; i <= a_len; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b_len; j++) {
            unsigned above = row[j];
            row[j] = least(diagonal + (a[i - 1] != b[j - 1]), least(above, row[j - 1]) + 1);
            diagonal = above;
        }
    }
    return row[b_len];
}

const char *ln_cli_nearest(const char *word, const char *const *known, size_t count) {
    const char *best = NULL;
    unsigned best_distance = 3;
    for (size_t i = 0; i < count; i++) {
        unsigned d = distance(word, known[i]);
        if (d >= best_distance || d >= strlen(known[i])) continue;
        best = known[i];
        best_distance = d;
    }
    return best;
}
