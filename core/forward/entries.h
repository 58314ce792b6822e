/* The entries of one message, one after the other, wherever they lie: in the message, packed, or compressed. Each run
 * over them gives the same entries; a later one passes over the first LN_ENTRIES_KNOWN quickly, unless compressed. */
#ifndef LN_FORWARD_ENTRIES_H
#define LN_FORWARD_ENTRIES_H

#include "forward/entry.h"
#include "forward/inflate.h"
#include "forward/message.h"

enum { LN_ENTRIES_END = -2 }; /* beside enum ln_err */
enum { LN_ENTRIES_KNOWN = 1 << 16, LN_ENTRIES_KEPT = 1 << 12 /* bytes of lengths kept between messages */ };

typedef struct ln_forward_entries {
    ln_limits limits; /* of a record */
    ln_inflate inflate;
    ln_forward_message message;
    const uint8_t *at;
    uint64_t left;        /* in a list */
    ln_buf lengths;       /* of the first entries of a message, as uint32_t, that the first run has found */
    uint64_t next, known; /* entries */
    int again;            /* not the first run */
} ln_forward_entries;

void ln_forward_entries_init(ln_forward_entries *s, ln_mem *mem, const ln_limits *limits);
void ln_forward_entries_free(ln_forward_entries *s);
/* LN_OK or LN_ENOMEM. `inflated`: the most bytes that compressed entries may come to. */
int ln_forward_entries_begin(ln_forward_entries *s, const ln_forward_message *message, uint64_t inflated);
int ln_forward_entries_again(ln_forward_entries *s);
/* The next one, which lives until the following call: LN_OK, LN_ENTRIES_END, LN_EINVALID (this is no entry), what the
 * framer found, LN_ETRUNCATED, or what ln_inflate_more gives. */
int ln_forward_entries_next(ln_forward_entries *s, ln_forward_entry *e);
/* Nothing of the message is needed any more. */
void ln_forward_entries_end(ln_forward_entries *s);

#endif
