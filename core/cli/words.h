/* What the program says to people: stderr, one line each, under the program's name. Data never goes this way. */
#ifndef LN_CLI_WORDS_H
#define LN_CLI_WORDS_H

#include <stddef.h>

void ln_cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The known word that was probably meant; NULL where none is near. */
const char *ln_cli_nearest(const char *word, const char *const *known, size_t count);

#endif
