/* One line of JSON to one msgpack value. Whole numbers stay whole and exact, all others (1.0, -0) are doubles; a map
 * keeps every name that it repeats, in order. The whole line is checked, whoever reads its fields. */
#ifndef LN_INGEST_JSON_H
#define LN_INGEST_JSON_H

#include "base/buf.h"
#include "lunette.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LN_JSON_PAD = 64 }; /* bytes beyond a line that must be readable; their content is free */

typedef struct ln_json ln_json;

/* NULL where memory is short. The parser's own tables grow with the longest line, about 14 bytes for each of its bytes,
 * and come from the C++ heap, not from `mem`. */
ln_json *ln_json_new(ln_mem *mem);
void ln_json_delete(ln_json *j, ln_mem *mem);

/* Appends the line, as msgpack, to `out`. LN_OK, LN_ENOMEM, or what is wrong with the line: LN_EJSON, LN_EBIGINT (a
 * number that is correct JSON, but whole and outside of 64 bits, or outside of the range of doubles), LN_EDEPTH,
 * LN_EELEMENTS, LN_ERECORD (of the msgpack); `out` is then as it was. Limits must be stated, and mean what they mean in
 * ingest/scan.h. */
int ln_json_convert(ln_json *j, const ln_limits *limits, const uint8_t *line, size_t len, ln_buf *out);

#ifdef __cplusplus
}
#endif

#endif
