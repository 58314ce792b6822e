/* Bytes to gzip, at once. */
#ifndef LN_FORWARD_GZIP_H
#define LN_FORWARD_GZIP_H

#include "base/buf.h"

#include <zlib.h>

/* zlib's memory from an ln_mem. */
void *ln_zlib_alloc(void *mem, unsigned items, unsigned size);
void ln_zlib_free(void *mem, void *block);

/* Appends the compressed bytes, with room for `more` behind them. LN_OK or LN_ENOMEM. */
int ln_gzip(ln_buf *out, ln_mem *mem, const uint8_t *bytes, size_t len, size_t more);

#endif
