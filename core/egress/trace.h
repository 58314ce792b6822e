/* A trace: what engines tell of their inside, as JSON lines. Each event is one line, whose first field names it.
 * Bounded: what comes past the limit is counted. */
#ifndef LN_EGRESS_TRACE_H
#define LN_EGRESS_TRACE_H

#include "base/buf.h"
#include "window/trace.h"

enum { LN_TRACE_KEYS_MAX = 64 };

typedef struct ln_trace {
    ln_buf text;   /* whole lines */
    ln_buf behind; /* lines that belong behind that of the record which is meeting its windows */
    ln_buf packed; /* one event */
    ln_buf keys;   /* those wanted, one after the other; none: all are */
    uint32_t key_bytes[LN_TRACE_KEYS_MAX];
    uint32_t keys_count;
    int holding;
    uint64_t bytes, bytes_max;
    uint64_t left_out; /* lines */
} ln_trace;

void ln_trace_init(ln_trace *t, ln_mem *mem);
void ln_trace_release(ln_trace *t);
/* LN_OK, or LN_ENOMEM. */
int ln_trace_status(const ln_trace *t);
int ln_trace_want_key(ln_trace *t, const char *bytes, size_t len);
int ln_trace_put(ln_trace *t, const ln_pane_shape *shape, const ln_trace_event *event);
/* A line that is whole already, without its line end; it does not count. */
void ln_trace_put_line(ln_trace *t, const char *text, size_t len);
/* The same, but it counts. */
void ln_trace_put_event(ln_trace *t, const char *text, size_t len);

#endif
