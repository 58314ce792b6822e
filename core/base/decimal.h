/* Doubles as text: the fewest digits that read back as the same number. */
#ifndef LN_BASE_DECIMAL_H
#define LN_BASE_DECIMAL_H

#include <stddef.h>

enum { LN_DECIMAL_MAX = 40 };

#ifdef __cplusplus
extern "C" {
#endif
/* Writes a finite double into text, without a terminator; returns its length, at most LN_DECIMAL_MAX. A whole number
 * keeps a ".0", so that a reader sees that it is no integer. */
size_t ln_decimal_write(double d, char *text);
#ifdef __cplusplus
}
#endif

#endif
