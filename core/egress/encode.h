/* Panes and rejects as msgpack maps. */
#ifndef LN_EGRESS_ENCODE_H
#define LN_EGRESS_ENCODE_H

#include "base/buf.h"
#include "window/pane.h"

/* The bounds of the pane before, as they were written. All zero: there was none. */
typedef struct ln_encoded_bounds {
    int64_t start_us, end_us;
    int unit;
    uint32_t len;
    uint8_t bytes[32];
} ln_encoded_bounds;

void ln_encode_pane(ln_buf *into, const ln_pane_shape *shape, const ln_pane *pane, ln_encoded_bounds *last);
void ln_encode_reject(ln_buf *into, const ln_pane_shape *shape, int reason, const uint8_t *record, uint32_t record_len,
                      const char *message, size_t message_len);

#endif
