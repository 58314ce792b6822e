/* Panes and rejects as msgpack maps. */
#ifndef LN_EGRESS_ENCODE_H
#define LN_EGRESS_ENCODE_H

#include "base/buf.h"
#include "window/pane.h"

void ln_encode_pane(ln_buf *into, const ln_pane_shape *shape, const ln_pane *pane);
void ln_encode_reject(ln_buf *into, const ln_pane_shape *shape, int reason, const uint8_t *record, uint32_t record_len,
                      const char *message, size_t message_len);

#endif
