/* Where the parts of a message begin and end: the framer over a message that comes in pieces. A message is an array of
 * two to six values, or nil, which is a heartbeat.
 *
 * Invariant: what it says depends on the bytes alone; a message fails at the first head after which it could not end
 * within limits. */
#ifndef LN_FORWARD_FRAME_H
#define LN_FORWARD_FRAME_H

#include "ingest/scan.h"

enum { LN_FORWARD_PARTS = 6 };

typedef struct ln_forward_frame {
    uint32_t parts; /* 0: a heartbeat */
    uint32_t part;  /* the one that is being read */
    int begun;
    uint64_t elements;                 /* in the parts before */
    uint64_t at[LN_FORWARD_PARTS + 1]; /* the first byte of each part; of the one behind the last, the message's end */
    ln_framer framer;
} ln_forward_frame;

static inline void ln_forward_frame_init(ln_forward_frame *f) { f->begun = 0; }
/* LN_OK: the message is whole. LN_FRAME_MORE. LN_EINVALID: this is no message. Or what the framer found. The limits are
 * those of the message (nesting: of a part). */
int ln_forward_frame_run(ln_forward_frame *f, const ln_limits *limits, const uint8_t *bytes, size_t len);
/* The byte of the message that an error is about. */
uint64_t ln_forward_frame_error_at(const ln_forward_frame *f);
static inline uint64_t ln_forward_frame_end(const ln_forward_frame *f) { return f->at[f->parts]; }

#endif
