/* Times as text: 2026-03-01T23:30:00.25+02:00. A zone offset is required. */
#ifndef LN_BASE_RFC3339_H
#define LN_BASE_RFC3339_H

#include <stddef.h>
#include <stdint.h>

/* Microseconds since 1970-01-01T00:00:00Z into *us; decimals beyond the sixth are cut. 0, or -1 for what is no such
 * text: a field out of range, a date that does not exist, no offset. A leap second (:60) is the second after it. */
int ln_rfc3339_read(const char *text, size_t len, int64_t *us);

#endif
