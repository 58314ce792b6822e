/* gzip, unpacked piece by piece into a window of bounded size: any number of members, the one after the other.
 *
 * Invariant: no more than `most` bytes come out, whatever the input promises. The window grows beyond
 * LN_INFLATE_WINDOW only where its reader leaves more than half of that unread. */
#ifndef LN_FORWARD_INFLATE_H
#define LN_FORWARD_INFLATE_H

#include "base/buf.h"

#include <zlib.h>

enum { LN_INFLATE_WINDOW = 1 << 20, LN_INFLATE_FREE = 1 << 16 };
enum { LN_INFLATE_BROKEN = 100, LN_INFLATE_TOO_MUCH }; /* beside enum ln_err */

typedef struct ln_inflate {
    ln_mem *mem;
    ln_buf window; /* what has come out, from window.data + start on not yet read */
    size_t start;
    uint64_t out, most; /* bytes */
    z_stream z;
    const uint8_t *in, *in_end;
    int open;  /* z is in use */
    int ended; /* all has come out */
    int moved; /* bytes that had been read were dropped from the window */
} ln_inflate;

void ln_inflate_init(ln_inflate *x, ln_mem *mem);
/* Back to nothing held. */
void ln_inflate_close(ln_inflate *x);
/* From the first byte of the input, which must stay where it is. LN_OK or LN_ENOMEM. */
int ln_inflate_begin(ln_inflate *x, const uint8_t *in, size_t len, uint64_t most);
/* The same input once more. */
int ln_inflate_again(ln_inflate *x);
/* Adds to the window, whose bytes may move. LN_OK, LN_ENOMEM, LN_INFLATE_BROKEN, LN_INFLATE_TOO_MUCH. */
int ln_inflate_more(ln_inflate *x);

#endif
