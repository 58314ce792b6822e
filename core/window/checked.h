/* The checksum at the end of each entry: what comes back from a disk is held against it before it is read. */
#ifndef LN_WINDOW_CHECKED_H
#define LN_WINDOW_CHECKED_H

#include "window/aggregate/saved.h"

enum { LN_CHECK_BYTES = 8 };

/* Ends an entry that begins at this place of the buffer. */
void ln_check(ln_buf *out, size_t from);
/* Takes the checksum off; 0 where it is not that of the bytes before it. */
int ln_checked(const uint8_t **bytes, size_t *len);

#endif
