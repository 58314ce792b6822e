/* Checksums of entries. */
#include "window/checked.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

void ln_check(ln_buf *out, size_t from) {
    if (!out->failed) ln_save_word(out, XXH3_64bits(out->data + from, out->len - from));
}

int ln_checked(const uint8_t **bytes, size_t *len) {
    ln_saved s;
    if (*len < LN_CHECK_BYTES) return 0;
    *len -= LN_CHECK_BYTES;
    s = (ln_saved){*bytes + *len, *bytes + *len + LN_CHECK_BYTES, 0};
    return ln_saved_word(&s) == XXH3_64bits(*bytes, *len);
}
