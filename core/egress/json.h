/* msgpack to JSON lines. */
#ifndef LN_EGRESS_JSON_H
#define LN_EGRESS_JSON_H

#include "base/buf.h"

/* Writes each of the msgpack values in [p, p + len), which must be whole and at most 256 deep, as one line of JSON.
 * NaN and the infinities leave as null, bytes as base64, an extension as {"ext": type, "data": base64}; what is not
 * UTF-8 in a text leaves as U+FFFD. The names of a map that are no texts leave as the text of their JSON. */
void ln_json_lines(ln_buf *out, const uint8_t *p, size_t len);

#endif
