/* What a message says about itself: its tag, its mode and its options. */
#ifndef LN_FORWARD_MESSAGE_H
#define LN_FORWARD_MESSAGE_H

#include "forward/frame.h"

enum ln_forward_mode {
    LN_FORWARD_ONE,    /* Message: a time and a record */
    LN_FORWARD_LIST,   /* Forward: an array of entries */
    LN_FORWARD_PACKED, /* PackedForward: entries one after the other in a text or bytes */
    LN_FORWARD_GZIP    /* CompressedPackedForward */
};

typedef struct ln_forward_message {
    int mode;
    int refused;             /* enum ln_forward_reason: a message that is well made and not for us */
    ln_value tag;            /* a text */
    ln_value chunk;          /* a text, or LN_MISSING */
    const uint8_t *at, *end; /* the entries: their list, their packed bytes, or the time and the record */
} ln_forward_message;

/* 1 for a tag of 1 to LN_FORWARD_TAG printable ASCII characters without slashes, not all dots. */
int ln_forward_tag_is_plain(const ln_value *tag);

/* Reads a whole message of two to four parts. NULL; or what is wrong with it, in words. */
const char *ln_forward_message_read(ln_forward_message *m, const ln_forward_frame *frame, const uint8_t *bytes);

#endif
